"""Find the names of functions and types that a text declares, as in a guessed signature."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from rootle.text.terms import STOP_WORDS

# The number of characters of a text that are examined. Signatures are short, and the limit bounds
# the time for a pasted file.
_MAX_CHARS: Final = 2_000
_NAME: Final = r"(?:\w{1,100}(?:::|\.)){0,5}([^\W\d]\w*[?!]?)"
_TYPE_ARGUMENTS: Final = r"(?:<[^<>()]{0,100}>|\[[^\[\]()]{0,100}\])?"
# A name after a keyword, as in "def name", "fn name" and "func (r *Receiver) name". Descriptions
# rarely contain these keywords.
_KEYWORD: Final = re.compile(
    rf"\b(?:def|fn|fun|func|defp|defn|defun|proc)\s+(?:\([^()]{{0,100}}\)\s*)?{_NAME}"
)
# Other keywords and types also occur in descriptions, so the brackets of the parameters must follow
# the name.
_FUNCTION: Final = re.compile(rf"\b(?:function|sub)\s*(?:\*\s*)?{_NAME}\s?{_TYPE_ARGUMENTS}\(")
# A type or modifiers and a name: "static int name(", at the start of a text, a line or a sentence.
_TYPE: Final = r"(?:[\w<>\[\],*&:?@.]{0,80}[\w>\]*&?@]|\w{1,40}<[\w<>,?]{0,40},)"
_TYPED: Final = re.compile(
    rf"(?:^|[.;:{{}}]\s{{1,20}}|\n\s{{0,80}})(?P<types>(?:{_TYPE}\s{{1,20}}){{1,8}}?)"
    rf"[*&]{{0,3}}{_NAME}\s?{_TYPE_ARGUMENTS}\("
)
# A type: its name is followed by a bracket, a colon, its parents or the end of the line. In prose,
# such as "a class for errors", an ordinary word follows the keyword.
_DECLARED_TYPE: Final = re.compile(
    r"\b(?:class|struct|interface|enum|trait|record|object|module|protocol|impl)\s+"
    r"(?:\w{1,100}(?:::|\.)){0,5}([^\W\d]\w*)"
    r"(?=\s{0,20}(?:[<({:;\[]|(?:extends|implements|with|for)\b|\n|$))"
)
_MACRO: Final = re.compile(r"#[ \t]{0,9}define[ \t]{1,9}([^\W\d]\w*)")
_WORD: Final = re.compile(r"[A-Za-z]+")
# These words precede a call or a block, not the name of a declaration.
_NOT_TYPES: Final = STOP_WORDS | frozenset(
    "return new await throw raise yield if for while switch catch else elif unless "
    "call calls use uses see def function".split()
)
_NOT_NAMES: Final = STOP_WORDS | frozenset("catch func function return sizeof switch".split())


def find_declared_names(text: str) -> frozenset[str]:
    """Return the names of the functions that a text declares, without their owners."""
    text = text[:_MAX_CHARS]
    found = {match[1] for match in _KEYWORD.finditer(text)}
    return frozenset(found | (set(_names_in_signatures(text)) - _NOT_NAMES))


def find_declared_types(text: str) -> frozenset[str]:
    """Return the names of the types that a text declares, without their owners."""
    return frozenset(_DECLARED_TYPE.findall(text[:_MAX_CHARS])) - _NOT_NAMES


def find_declared_macros(text: str) -> frozenset[str]:
    """Return the names of the macros of C that a text declares, as in "#define NAME(a)"."""
    return frozenset(_MACRO.findall(text[:_MAX_CHARS]))


def find_macro_lines(
    lines: Sequence[str], names: Collection[str]
) -> Iterator[tuple[str, int, int]]:
    """Yield the name and the first and last line (from 1) of each definition of these macros."""
    for number, line in enumerate(lines if names else (), 1):
        match = _MACRO.match(line.lstrip()) if "define" in line else None
        if match is not None and match[1] in names:
            last = number
            while lines[last - 1].endswith("\\") and last < len(lines):
                last += 1
            yield match[1], number, last


def _names_in_signatures(text: str) -> Iterator[str]:
    yield from (found[1] for found in _FUNCTION.finditer(text))
    for found in _TYPED.finditer(text):
        words = {word.lower() for word in _WORD.findall(found["types"])}
        if words and words.isdisjoint(_NOT_TYPES):
            yield found[2]
