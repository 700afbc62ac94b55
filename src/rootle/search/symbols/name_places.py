"""Find where a name occurs in a text, except as part of a longer name.

Which characters can be part of a name depends on the language: `save!` is a name in Ruby, and
`.btn-primary` is a name in CSS.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final

# Characters that can be anywhere in a name, besides letters, digits and "_".
_WITHIN: Final = {
    **dict.fromkeys(("java", "javascript", "tsx", "typescript", "vue"), "$"),
    **dict.fromkeys(("css", "scss"), "-"),
    **dict.fromkeys(("clojure", "scheme"), "-?!*<>=+"),
}
# Characters that can only be at the end of a name.
_AT_END: Final = {
    **dict.fromkeys(("elixir", "ruby"), "?!"),
    **dict.fromkeys(("clojure", "fsharp", "haskell", "ocaml"), "'"),
    "julia": "!",
}
# In these languages, "-" can be an operator, or a character in the middle of a name.
_WITH_DASHES: Final = frozenset({"bash", "nix", "powershell"})
# Text before the name of a variable.
_BEFORE_VARIABLE: Final = re.compile(r"\$\{?[!#]?\Z|\(\((?:(?!\)\))[^\n]){0,100}\Z")
# Text before a "-" that is part of the next name or option, as in "--build".
_BEFORE_DASH: Final = re.compile(r"(?:\A|[\w\-\s\"'=])\Z")
# Text before a default value, as in ${name:-value}. Its "-" is an operator.
_DEFAULT_VALUE: Final = re.compile(r"\$\{\w{1,100}:?-\Z")
# Text before a word in a name between backticks, as in fun `returns an error`().
_IN_QUOTED_NAME: Final = re.compile(
    r"(?:\b(?:fun|class|val|var|object|interface|def|trait)[ \t]+(?:[\w<>?]+\.)?|\.)`[^`\n]*\Z"
)
_WITH_QUOTED_NAMES: Final = frozenset({"kotlin", "scala"})
_OPERATOR_CHARS: Final = frozenset("+-*/%^&|~!=<>,")
# The Ruby setter "save=" is called by `x.save = 1` and `x.save += 1`.
_SETTER: Final = re.compile(r"(?:[^\W\d]|_)\w*=")
_ASSIGNMENT: Final = re.compile(r"[ \t]*(?:\*\*|\|\||&&|<<|>>|[-+*/%|&^])?=(?![=~>])")
_BEFORE_SETTER_NAME: Final = re.compile(r"(?:\bdef[ \t]+(?:self\.)?|\balias[ \t]+|:)\Z")
_MAX_BEFORE: Final = 120
# The number of searches after which the places of all words of a text are collected, which takes as
# long as about a hundred searches.
_MAX_SEARCHES: Final = 100
_WORD: Final = re.compile(r"\w+")


def written_name(name: str, language: str) -> str:
    """Return the part of a name that all its uses contain: "save" for the Ruby setter "save="."""
    return name[:-1] if language == "ruby" and _SETTER.fullmatch(name) else name


def may_end_names(mark: str, languages: Container[str]) -> bool:
    """Return whether names can end in a character, such as "?", in one of these languages."""
    return any(
        mark in chars and language in languages
        for table in (_WITHIN, _AT_END)
        for language, chars in table.items()
    )


def find_name(
    text: str, name: str, language: str, starts: Iterable[int] | None = None
) -> Iterator[int]:
    """Yield the positions at which a name occurs, except as part of a longer name.

    If `starts` is given, only these positions are examined, at which the text contains the name.
    """
    written = written_name(name, language)
    is_setter = written != name
    within, ending = _WITHIN.get(language, ""), _AT_END.get(language, "")
    starts_word, ends_word = _is_in_name(written[0], within), _is_in_name(written[-1], within)
    can_grow = ends_word or (written[-1] in ending and written[-1] == "'")
    has_mark = written[-1] == "!" and "!" in ending
    is_operator = not ends_word and written.startswith("operator")
    has_dashes = language in _WITH_DASHES
    has_quoted_names = language in _WITH_QUOTED_NAMES
    for at in _find_text(text, written) if starts is None else starts:
        end = at + len(written)
        after = text[end : end + 1]
        is_part = (
            (starts_word and at > 0 and _is_in_name(text[at - 1], within))
            or (ends_word and _is_in_name(after, within))
            or (can_grow and after and after in ending and _continues(text, at, end))
            or (has_mark and after == "=")  # in `x!=1`, the name is x
            or (is_operator and after in _OPERATOR_CHARS)
            or (has_dashes and _is_dashed(text, at, end))
            or (has_quoted_names and _is_in_quoted_name(text, at, end))
            or (language == "ruby" and is_setter is not _is_setter(text, at, end, is_setter))
        )
        if not is_part:
            yield at


def _find_text(text: str, part: str, start: int = 0, stop: int | None = None) -> Iterator[int]:
    """Yield the positions at which a text contains another one, between two offsets.

    `str.find` is ten times as fast as a regular expression that begins with a lookbehind.
    """
    at = text.find(part, start, stop)
    while at >= 0:
        yield at
        at = text.find(part, at + len(part), stop)


def _is_in_name(char: str, within: str) -> bool:
    return char == "_" or char.isalnum() or (char in within and char != "")


def _continues(text: str, start: int, end: int) -> bool:
    """Return whether the character at `end` belongs to the name before it."""
    if text[end] == "!":
        return text[end + 1 : end + 2] != "="
    return text[end] != "'" or start == 0 or text[start - 1] != "'"  # not a quoted name


def _is_dashed(text: str, start: int, end: int) -> bool:
    """Return whether a "-" connects a name to another word, as in "build-all" and "--build"."""
    is_before = start > 0 and text[start - 1] == "-"
    is_after = text[end : end + 1] == "-" and _is_in_name(text[end + 1 : end + 2], "")
    if not is_before and not is_after:
        return False
    before = text[max(0, start - _MAX_BEFORE) : start]
    if _BEFORE_VARIABLE.search(before) or _DEFAULT_VALUE.search(before):
        return False
    return is_after or _BEFORE_DASH.search(before[:-1]) is not None


def _is_in_quoted_name(text: str, start: int, end: int) -> bool:
    """Return whether a name is only a part of a longer name between backticks."""
    line_start = text.rfind("\n", 0, start) + 1
    before = _IN_QUOTED_NAME.search(text, max(line_start, start - _MAX_BEFORE), start)
    if before is None:
        return False
    return text[start - 1 : start] != "`" or text[end : end + 1] != "`"


def _is_setter(text: str, start: int, end: int, is_asked: bool) -> bool:
    """Return whether a name in Ruby code refers to a setter.

    Assignments such as `x.save = 1` count if the question is about a setter (`is_asked`).
    """
    is_written = text[end : end + 1] == "=" and text[end + 1 : end + 2] not in ("=", ">", "~")
    if is_asked and text[start - 1 : start] == "." and _ASSIGNMENT.match(text, end):
        return True
    before = text[max(0, start - _MAX_BEFORE) : start] if is_written else ""
    return is_written and _BEFORE_SETTER_NAME.search(before) is not None


class OtherNames:
    """The places of names in a text.

    A file can import thousands of names, and each of them is looked up if it is a receiver.
    """

    def __init__(self, text: str, language: str) -> None:
        self._text = text
        self._language = language
        self._searches = 0

    def find(self, name: str) -> Sequence[int]:
        """Return the positions at which a name occurs, except as part of a longer name."""
        starts = self._list_starts(name)
        return list(find_name(self._text, name, self._language, starts))

    def find_between(self, name: str, start: int, end: int) -> Sequence[int]:
        """Return the positions of a name between two offsets, as in a text without a language."""
        found = self._list_starts(name)
        if found is None:
            return list(find_name(self._text, name, "", _find_text(self._text, name, start, end)))
        inner = found[bisect_left(found, start) : bisect_left(found, end)]
        return list(find_name(self._text, name, "", inner))

    def _list_starts(self, name: str) -> Sequence[int] | None:
        """Return where a word occurs; None if the text must be searched."""
        self._searches += 1
        if self._searches <= _MAX_SEARCHES or _WORD.fullmatch(name) is None:
            return None
        return self._words.get(name, ())

    @cached_property
    def _words(self) -> Mapping[str, Sequence[int]]:
        """The positions of each word."""
        words: defaultdict[str, list[int]] = defaultdict(list)
        for match in _WORD.finditer(self._text):
            words[match.group()].append(match.start())
        return words
