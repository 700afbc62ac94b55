"""The signs of a search box in a question: quotes, `path:`, `lang:`, `-word` and `/regex/`.

Most questions have none, and code is full of the same signs. So a sign counts only where a person
would set it: at the start of a word, closed, and not inside a message that a program printed. All
else is part of the question, which then comes out as it went in.
docs/reference/query-language.md tells the rules as users see them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from rootle.errors import QueryError
from rootle.rank.question.intent import classify_intent
from rootle.search.query.regex import check_pattern, literals_of
from rootle.text.languages import resolve_language
from rootle.text.terms import STOP_WORDS, WORD

# Without any of these a question is plain; most are told apart by this alone.
_SIGNS: Final = frozenset('"“-:/')
_QUOTED: Final = r'(?:"[^"]*"|“[^”]*”)'
_SIGN: Final = re.compile(
    rf"""(?<!\S)(?:
        (?P<minus>-?)(?P<name>path|lang|language):(?P<value>{_QUOTED}|[^\s":/][^\s"]*|/[^\s"/][^\s"]*)
      | (?P<not>-?)(?P<phrase>{_QUOTED})(?=[\s.,;:!?)]|$)
      | -(?P<word>[^\W\d_]\w{{2,}})(?!\S)
    )""",
    re.VERBOSE,
)
# Not `/* a comment */`, which may be pasted: no pattern begins with a star.
_WHOLE_PATTERN: Final = re.compile(r"/(?!\*)((?:[^/\\\n]|\\.)+)/")
_NAMED_PATTERN: Final = re.compile(rf"(?<!\S)regex:({_QUOTED}|\S.*)", re.DOTALL)
_SPACES: Final = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A question without its signs, and what they ask for."""

    text: str  # what is left to be asked in words
    phrases: tuple[str, ...] = ()  # must stand in the file
    excluded: tuple[str, ...] = ()  # words and phrases that must not stand in what is shown
    paths: tuple[str, ...] = ()
    excluded_paths: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    excluded_languages: tuple[str, ...] = ()
    regex: str | None = None

    @property
    def is_exact(self) -> bool:
        return bool(self.phrases or self.regex)

    @property
    def unwanted(self) -> re.Pattern[str] | None:
        """Finds the excluded words, as whole words and in any case."""
        return _any_whole_word(self.excluded) if self.excluded else None

    @property
    def asks_more_than_phrases(self) -> bool:
        """Whether it can be answered without its phrases."""
        rest = self.text
        for phrase in self.phrases:
            rest = rest.replace(phrase, " ", 1)
        return self.regex is None and WORD.search(rest) is not None

    @property
    def has_filters(self) -> bool:
        return bool(self.paths or self.excluded_paths or self.languages or self.excluded_languages)


@lru_cache(maxsize=64)
def _any_whole_word(words: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(any_spacing, words))})(?!\w)", re.IGNORECASE)


def any_spacing(phrase: str) -> str:
    """A pattern for a phrase in which any white space stands for any other."""
    return r"\s+".join(map(re.escape, phrase.split()))


@lru_cache(maxsize=64)  # asked for by the check, by the agent, and again for every page
def parse_query(text: str) -> ParsedQuery:
    """Take the signs out of a question; raises QueryError for one that cannot be meant."""
    if _SIGNS.isdisjoint(text):
        return ParsedQuery(text)
    rest, regex = _without_pattern(text)
    found = list(_SIGN.finditer(rest))
    if not found and regex is None:
        return ParsedQuery(text)
    return _checked(text, _parsed(rest, _meant(rest, found), regex))


def _without_pattern(text: str) -> tuple[str, str | None]:
    """A question and the regular expression in it, which is anything but words and signs."""
    if text.count("/") > 1:
        filters = [sign for sign in _SIGN.finditer(text) if sign["name"]]
        rest = " ".join(_between(text, filters)).strip()
        if whole := _WHOLE_PATTERN.fullmatch(rest):
            return " ".join(sign[0] for sign in filters), whole[1]
    return _without_named_pattern(text)


def _between(text: str, signs: list[re.Match[str]]) -> Iterable[str]:
    """The pieces of a text before, between and after its signs."""
    ends = [0, *(sign.end() for sign in signs)]
    starts = [*(sign.start() for sign in signs), len(text)]
    return (text[end:start] for end, start in zip(ends, starts, strict=True))


def _without_named_pattern(text: str) -> tuple[str, str | None]:
    """`regex:` takes all that follows up to the next filter."""
    match = _NAMED_PATTERN.search(text)
    if match is None:
        return text, None
    quoted = re.match(_QUOTED, match[1])
    if quoted:
        return text[: match.start()] + text[match.start(1) + quoted.end() :], quoted[0][1:-1]
    after = next((sign for sign in _SIGN.finditer(text, match.start(1)) if sign["name"]), None)
    end = after.start() if after else len(text)
    return text[: match.start()] + text[end:], text[match.start(1) : end].strip()


def _meant(text: str, signs: list[re.Match[str]]) -> list[re.Match[str]]:
    """The signs that a person set: no quotes of a message, no flags of a command."""
    if any(sign["phrase"] for sign in signs) and _is_message(text, signs):
        signs = [sign for sign in signs if not sign["phrase"]]
    if any(sign["word"] for sign in signs) and _is_sentence(text, signs):
        outer = _outer(text, signs)
        signs = [sign for sign in signs if not sign["word"] or sign in outer]
    return [sign for sign in signs if not sign["phrase"] or _content(sign["phrase"])]


def _is_message(text: str, signs: list[re.Match[str]]) -> bool:
    """Judged without what stands in the quotes: `"not found" page` is a question."""
    for sign in reversed(signs):
        if sign["phrase"]:
            text = f'{text[: sign.start()]}"x"{text[sign.end() :]}'
    return classify_intent(text, is_symbol=False) == "error"


def _is_sentence(text: str, signs: list[re.Match[str]]) -> bool:
    """A sentence names flags (`what does go test -race do`), a list of keywords excludes words."""
    own = {sign["word"].lower() for sign in signs if sign["word"]}
    words = {word.lower() for word in WORD.findall(text)} - own
    return not STOP_WORDS.isdisjoint(words)


def _outer(text: str, signs: list[re.Match[str]]) -> list[re.Match[str]]:
    """The signs before the first and after the last plain word."""
    head = []
    end = 0
    for sign in signs:
        if text[end : sign.start()].strip():
            break
        head.append(sign)
        end = sign.end()
    tail = []
    start = len(text)
    for sign in reversed(signs):
        if text[sign.end() : start].strip(" ?.!"):
            break
        tail.append(sign)
        start = sign.start()
    return [*head, *tail]


def _parsed(text: str, signs: list[re.Match[str]], regex: str | None) -> ParsedQuery:
    taken: dict[str, list[str]] = {
        "phrases": [], "excluded": [], "paths": [], "excluded_paths": [],
        "languages": [], "excluded_languages": [],
    }  # fmt: skip
    pieces = list(_between(text, signs))
    for place, sign in enumerate(signs, start=1):
        if sign["name"]:
            field = "paths" if sign["name"] == "path" else "languages"
            taken[f"excluded_{field}" if sign["minus"] else field].append(_value(sign))
        elif sign["phrase"] and not sign["not"]:
            taken["phrases"].append(_content(sign["phrase"]))
            # Its words are asked for as well.
            pieces[place] = _content(sign["phrase"]) + pieces[place]
        else:
            taken["excluded"].append(sign["word"] or _content(sign["phrase"]))
    rest = " ".join("".join(pieces).split()) if signs else text
    unique = {name: tuple(dict.fromkeys(values)) for name, values in taken.items()}
    return ParsedQuery(rest, **unique, regex=regex)


def _value(sign: re.Match[str]) -> str:
    value = sign["value"]
    return _content(value) if value[0] in '"“' else value.rstrip(",;")


def _content(quoted: str) -> str:
    return _SPACES.sub(" ", quoted[1:-1]).strip()


def _checked(text: str, query: ParsedQuery) -> ParsedQuery:
    query = replace(
        query,
        languages=tuple(_languages(query.languages)),
        excluded_languages=tuple(_languages(query.excluded_languages)),
    )
    if query.regex is not None:
        check_pattern(query.regex)
        words = " ".join([query.text.strip(), *literals_of(query.regex)]).strip()
        return replace(query, text=words)
    if re.fullmatch(_QUOTED, text.strip()) and not query.phrases:
        raise QueryError(f"the phrase {text.strip()} is empty; put words between the quotes")
    if query.text.strip():
        return query
    if query.excluded and not query.has_filters:
        return ParsedQuery(text)  # `-race` alone asks for what it names
    raise QueryError(
        f'"{text.strip()}" only says where to look; add what to look for, in words or quotes'
    )


def _languages(names: Iterable[str]) -> Iterable[str]:
    for name in names:
        if resolve_language(name) is None:
            raise QueryError(
                f'unknown language "{name}" in lang:{name}; try one like lang:python or lang:ts, '
                f'or quote "lang:{name}" to look for the text'
            )
        yield name
