"""Recognize questions about one name: where it is defined, who uses it, what tests it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

from rootle.rank.question.name_forms import (
    AFTER,
    FIRST_MARKED_FORM,
    LIKE_CODE,
    NAME,
    NOUN,
    PATTERNS,
    SHOW,
)
from rootle.text.languages import UNKNOWN, file_language
from rootle.text.patterns.lazy_pattern import LazyPattern, words_in
from rootle.types import SymbolAspect

# Longer questions describe something instead of naming it.
_MAX_CHARS: Final = 160
# The end of a question is ignored if the answer is the same without it: "and why", "in this repo".
_REASON: Final = re.compile(
    r",?\s+(?:and (?:why|how|when|where|from where|what for)"
    r"|(?:in|of|from|across) (?:the|this|our) (?:(?:whole|entire) )?"
    r"(?:repo|repository|project|codebase|code base|code|workspace))[?.!\s]*$",
    re.IGNORECASE,
)
_PLACE: Final = re.compile(
    r"(.*\S)\s+(?:in|inside|within|from|of|under)\s+(?:the\s+)?"
    r"(?:(?:file|folder|directory|module|package|class|crate|library)\s+)?"
    r"[`'\"]?([\w.@~][\w.@~/+\[\]()-]{1,159})[`'\"]?"
    r"(?:\s+(?:file|folder|directory|module|package|class|crate|library|code))?[?.!\s]*",
    re.IGNORECASE,
)
# The thing that has a field, as in "what sets max_size of a pool". It is not looked for.
_OWNER: Final = re.compile(
    r"(.*\S)\s+(?:of|on|in|for)\s+(?:an?|each|every|any|one)\s+(?:[\w-]+\s+){0,2}[\w-]+[?.!\s]*",
    re.IGNORECASE,
)
# The value in "what sets the_name to None".
_VALUE: Final = re.compile(
    r"(.*\S)\s+(?:to|as|=)\s+(?:the (?:value|constant)\s+)?[`'\"]?([\w.:-]{1,60})[`'\"]?[?.!\s]*",
    re.IGNORECASE,
)
# The default of a setting or an option. Code spells a name with hyphens with underscores.
_DEFAULT_NAME: Final = (
    rf"(?:[`'\"]?-{{0,2}}([A-Za-z]\w{{0,40}}(?:-\w{{1,40}}){{1,8}})[`'\"]?|{LIKE_CODE}{NAME})"
)
_DEFAULT: Final = LazyPattern(
    rf"{SHOW}default(?: value)? (?:of|for)\s+{NOUN}{_DEFAULT_NAME}{AFTER}[?.!\s]*"
    rf"|{SHOW}{_DEFAULT_NAME}\s+default(?: value)?[?.!\s]*",
    (frozenset(("default",)),),
)
_BARE: Final = re.compile(NAME)
# A definition in a file, as in "src/cart.py#total".
_IN_FILE: Final = re.compile(r"([\w.@~+/\[\]()-]{1,159}\.[a-z]\w{0,9})#" + NAME)
_OPERATOR_NAMES: Final = (
    r"(symbol|definitions?|uses|callers|assignments|reads|tests|implementations)"
)
# The number of the first use on the requested page, at the end of a question that lists uses.
_FROM: Final = re.compile(r"\s+from:(\d{1,6})[?.!\s]*$")
_OPERATOR: Final = re.compile(_OPERATOR_NAMES + r":\s*" + NAME)
_FIRST_OPERATOR: Final = re.compile(rf"\s*({_OPERATOR_NAMES}:{NAME})(?=\s+\S)")
_OPERATORS: Final[dict[str, SymbolAspect]] = {
    "symbol": "definitions",
    "definition": "definitions",
    "definitions": "definitions",
    "uses": "uses",
    "callers": "uses",
    "assignments": "assignments",
    "reads": "reads",
    "tests": "tests",
    "implementations": "implementations",
}
_MARKED: Final = re.compile(r"_|[a-z0-9][A-Z]|[A-Z]|::|->|\(\)|\w[.#:]\w|[`$@]")


# Names such as `isPublic`, `max_size`, `Shop::price`, `Shop:price`, `pointer.Of`, `run()` and
# `@cached`.
_CODE_NAME: Final = re.compile(
    r"\w_\w|^[a-z][a-z0-9]*[A-Z]|::|\w:\w|->|\(\)|[`@]|\.[A-Z]|^\w*[A-Z]\w*\.\w"
)
# These words say that a name next to them is in the code. "class" and "type" do not: in "the base
# class", "base" is an adjective.
_KINDS: Final = r"(?:function|method|struct|trait|macro|enum)"


@dataclass(frozen=True, slots=True)
class NameQuestion:
    """A question about one name."""

    name: str
    aspect: SymbolAspect
    is_explicit: bool  # the name cannot be an ordinary word
    offset: int = 0  # number of uses to skip
    is_bare: bool = False  # the question is just the name
    is_operator: bool = False  # the question is an operator with the name, such as "symbol:NAME"
    # Whether the question is about the name only if it is rare. Such a question often asks about an
    # ordinary word, as in "where is the limit set".
    must_be_rare: bool = False
    # Whether the name is certainly that of a definition. A proper name, such as "OAuth", is not.
    is_code_name: bool = False
    place: str = ""  # the end of the question, if it may be a path, as in "who calls NAME in PATH"
    # Whether the question also says to which thing the name belongs, as in "what sets NAME of a
    # pool", or asks for its default. Without an occurrence of the name, this still describes what
    # is searched for.
    names_owner: bool = False
    value: str = ""  # the value in "what sets NAME to VALUE"
    # The name with the "?" or "!" after it, which belongs to the name in Ruby and Elixir; "" if no
    # such character follows it.
    marked_name: str = ""
    # Whether this character is not the end of the sentence, as in "where is valid? checked" and
    # "uses:valid?". Hardly any question ends in "!".
    is_surely_marked: bool = False

    @property
    def needs_mark(self) -> bool:
        """Whether the question is about a name only if the "?" or "!" is part of that name."""
        return self.is_surely_marked and self.must_be_rare and self.aspect == "uses"


def parse_name_question(text: str) -> NameQuestion | None:
    """Return the name and aspect that a question asks for, or None for any other question."""
    if len(text) > _MAX_CHARS:
        return None
    page = _FROM.search(text)
    found = _parse_name(text[: page.start()] if page else text)
    if page is None or found is None:
        return found
    return None if found.is_bare else replace(found, offset=max(int(page[1]) - 1, 0))


def _parse_name(text: str) -> NameQuestion | None:
    text = text.strip()
    if operator := _OPERATOR.fullmatch(text):
        marked = _keep_mark(operator[2])
        return NameQuestion(
            _clean(operator[2]),
            _OPERATORS[operator[1]],
            True,
            is_operator=True,
            marked_name=marked,
            is_surely_marked=bool(marked),
        )
    if (in_file := _IN_FILE.fullmatch(text)) and file_language(in_file[1]) != UNKNOWN:
        name, place = _clean(in_file[2]), in_file[1]
        return NameQuestion(name, "definitions", True, is_code_name=True, place=place)
    if bare := _BARE.fullmatch(text):
        marked = _keep_mark(bare[1])
        return NameQuestion(
            _clean(bare[1]), "definitions", _is_marked(text), is_bare=True, marked_name=marked
        )
    whole, text = text, _REASON.sub("", text)
    if (found := _parse_form(text, has_more=text != whole)) is not None:
        return found
    if (found := _parse_assigned(text) or _parse_default(text)) is not None:
        return found
    # `_PLACE` also matches the end of "callers of NAME", so forms without a place are tried first.
    placed = _PLACE.fullmatch(text)
    found = None
    if placed is not None:
        found = _parse_form(_REASON.sub("", placed[1]), has_more=True)
    if placed is not None and found is not None:
        return replace(found, place=placed[2].rstrip(".?!"))
    owned = _OWNER.fullmatch(text)
    found = None if owned is None else _parse_form(owned[1], has_more=True)
    return replace(found, names_owner=True) if found is not None and found.is_code_name else None


def _parse_assigned(text: str) -> NameQuestion | None:
    """Return the question if it asks for the assignments of a value to a name from the code."""
    valued = _VALUE.fullmatch(text)
    found = None if valued is None else _parse_form(valued[1], has_more=True)
    if valued is None or found is None or found.aspect != "assignments":
        return None
    if not (found.is_explicit or found.is_code_name):
        return None
    return replace(found, value=valued[2].strip(".:-") or valued[2])


def _parse_default(text: str) -> NameQuestion | None:
    """Return the question for the definition of `max_size` in "default of max-size".

    A document may state the default of an option that no code defines by its name.
    """
    if not _DEFAULT.may_match(words_in(text)):
        return None
    found = _DEFAULT.compiled.fullmatch(text)
    if found is None:
        return None
    hyphenated = found[1] or found[3]
    name = hyphenated.replace("-", "_") if hyphenated else _clean(found[2] or found[4])
    return NameQuestion(name, "definitions", True, is_code_name=True, names_owner=True)


def _parse_form(text: str, *, has_more: bool) -> NameQuestion | None:
    """Return the question. Set `has_more` if more words of the question follow the text."""
    words = words_in(text)
    for at, (aspect, pattern) in enumerate(PATTERNS):
        if pattern.may_match(words) and (match := pattern.compiled.fullmatch(text)):
            at_name = next(group for group, name in enumerate(match.groups(), 1) if name)
            name = match[at_name]
            marked = _keep_mark(name)
            rest = text[match.end(at_name) :].strip("?!. \t\n")
            is_surely_marked = marked.endswith("!") or bool(marked and (rest or has_more))
            is_word = at >= FIRST_MARKED_FORM and not _MARKED.search(name)
            if is_word and aspect in ("definitions", "uses") and not is_surely_marked:
                return None
            return NameQuestion(
                _clean(name),
                aspect,
                _is_marked(match[0]) and not is_word,
                is_code_name=_is_code_name(match[0], name),
                must_be_rare=is_word,
                marked_name=marked,
                is_surely_marked=is_surely_marked,
            )
    return None


def find_plain_operator(text: str) -> str | None:
    """Return an operator, such as "uses:NAME", at the start of a question with other words.

    Such a question is not treated as a question about one name.
    """
    if len(text) > _MAX_CHARS or (found := _FIRST_OPERATOR.match(text)) is None:
        return None
    return None if parse_name_question(text) is not None else found[1]


def _clean(name: str) -> str:
    return name.removesuffix("()").rstrip("?!") if not name.endswith(("?()", "!()")) else name[:-2]


def _keep_mark(name: str) -> str:
    """Return a name that ends in "?" or "!", without "()"; "" for any other name."""
    name = name.removesuffix("()")
    return name if name.endswith(("?", "!")) else ""


def _is_marked(text: str) -> bool:
    return _MARKED.search(text[1:]) is not None


def _is_code_name(text: str, name: str) -> bool:
    """Return whether the name in a text is written like code, or is next to a word like "macro"."""
    near = rf"\b{_KINDS}\s+[`'\"]?{re.escape(name)}|{re.escape(name)}[`'\"]?\s+{_KINDS}\b"
    quoted = f"`{name}`" if f"`{name}`" in text else name
    return _CODE_NAME.search(quoted) is not None or re.search(near, text) is not None
