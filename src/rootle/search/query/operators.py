"""The operators of a question, such as quotes, `path:`, `lang:`, `-word` and `/regex/`.

Most questions have no operators, but pasted code often contains the characters of operators.
Therefore these characters form an operator only at the start of a word. Quotes and slashes must
also be closed, and quotes in pasted error messages do not count. All other characters are part of
the question and stay unchanged. docs/reference/query-language.md describes the rules for users.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import accumulate
from typing import Final

from rootle.errors import QueryError
from rootle.rank.question.intent import classify_intent, description_end
from rootle.search.query.regex_parsing import find_literals
from rootle.text.languages import resolve_language
from rootle.text.terms import STOP_WORDS, WORD, compose

# A question without any of these characters has no operators.
_OPERATOR_CHARS: Final = frozenset('"“-:/')
_QUOTED: Final = r'(?:"[^"]*"|“[^“”]*”)'
_OPERATOR: Final = re.compile(
    rf"""(?<!\S)(?:
        (?P<minus>-?)(?P<name>path|lang|language):(?P<value>{_QUOTED}|[^\s":/][^\s"]*|/[^\s"/][^\s"]*)
      | (?P<limit>in|author|since|until):(?P<wanted>{_QUOTED}|[^\s":][^\s"]*)
      | (?P<not>-?)(?P<phrase>{_QUOTED})(?=[\s.,;:!?)]|$)(?!,\ line\ \d)
      | -(?P<word>[^\W\d_]\w{{2,}})(?!\S)
    )""",
    re.VERBOSE,
)
# `/* a comment */` may be pasted. It is not a pattern, because no pattern begins with a star.
_SLASHED_PATTERN: Final = re.compile(r"/(?!\*)((?:[^/\\\n]|\\.)+)/")
_NAMED_PATTERN: Final = re.compile(rf"(?<!\S)regex:({_QUOTED}|\S.*)", re.DOTALL)
_SPACES: Final = re.compile(r"\s+")
# The values of `in:`. PROJECT_KINDS select parts of the project itself. COLLECTION_KINDS select
# collections outside the project, such as installed packages.
PROJECT_KINDS: Final = ("code", "docs", "history")
COLLECTION_KINDS: Final = ("deps", "web", "memory")
KINDS: Final = (*PROJECT_KINDS, *COLLECTION_KINDS)


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A question, split into its words and its operators."""

    text: str  # the words outside the operators, and those in the phrases and the regex
    # Only the words outside the operators. They need not be compared, because `text` contains them.
    words: str = field(default="", compare=False, kw_only=True)
    phrases: tuple[str, ...] = ()  # a file must contain all of them
    excluded: tuple[str, ...] = ()  # words and phrases that results must not show
    paths: tuple[str, ...] = ()
    excluded_paths: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    excluded_languages: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()  # as in KINDS
    authors: tuple[str, ...] = ()  # parts of names or email addresses
    since: str = ""  # a date
    until: str = ""
    regex: str | None = None

    @property
    def is_exact(self) -> bool:
        """Whether files must contain a phrase or match a regular expression."""
        return bool(self.phrases or self.regex)

    @property
    def excluded_pattern(self) -> re.Pattern[str] | None:
        """A pattern that matches the excluded words as whole words, ignoring case."""
        return _whole_word_pattern(self.excluded) if self.excluded else None

    @property
    def asks_more_than_phrases(self) -> bool:
        """Whether the question has words outside its phrases; False if it has a regex."""
        return self.regex is None and WORD.search(self.words) is not None

    @property
    def has_filters(self) -> bool:
        """Whether the question contains a filter, such as `path:`."""
        return bool(
            (self.paths or self.excluded_paths or self.languages or self.excluded_languages)
            or (self.kinds or self.authors or self.since or self.until)
        )

    def without_filters(self) -> ParsedQuery:
        """Return the question without its filters."""
        return ParsedQuery(
            self.text, self.phrases, self.excluded, regex=self.regex, words=self.words
        )


@lru_cache(maxsize=64)
def _whole_word_pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(phrase_pattern, words))})(?!\w)", re.IGNORECASE)


def phrase_pattern(phrase: str) -> str:
    """Return a pattern that matches a phrase with any white space between the words."""
    return r"\s+".join(map(re.escape, phrase.split()))


def lines_with_match(pattern: re.Pattern[str] | None, lines: Sequence[str]) -> frozenset[int]:
    """Return the numbers of the lines that contain a match or a part of a match."""
    if pattern is None:
        return frozenset()
    lines = compose("\n".join(lines)).split("\n")
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
    return frozenset(
        number
        for match in pattern.finditer("\n".join(lines))
        for number in range(
            bisect_right(starts, match.start()), bisect_right(starts, match.end() - 1) + 1
        )
    )


@lru_cache(maxsize=64)  # each query is parsed twice: to validate it and to answer it
def parse_query(text: str) -> ParsedQuery:
    """Separate a question from its operators. Raise QueryError if an operator is invalid."""
    text = compose(text)
    if _OPERATOR_CHARS.isdisjoint(text):
        return ParsedQuery(text)
    rest, regex = _split_pattern(text)
    found = list(_OPERATOR.finditer(rest))
    if not found and regex is None:
        return ParsedQuery(text)
    return _validate(text, _collect(rest, _select_intended(rest, found), regex))


def restrictions_in(text: str) -> str:
    """Return the filters and the excluded words and phrases of a question, as they were written."""
    found = _select_intended(text, list(_OPERATOR.finditer(text)))
    return " ".join(match[0] for match in found if _restricts(match))


def final_restrictions(text: str) -> str:
    """Return the filters and the excluded words and phrases at the end of a question."""
    start = len(text)
    for match in reversed(list(_OPERATOR.finditer(text))):
        if not _restricts(match) or text[match.end() : start].strip():
            break
        start = match.start()
    return text[start:].strip()


def _split_pattern(text: str) -> tuple[str, str | None]:
    """Return a question without its regex, and the regex.

    Besides a regex between slashes, the question may contain nothing but filters and excluded
    words.
    """
    if text.count("/") > 1:
        found = [match for match in _OPERATOR.finditer(text) if _restricts(match)]
        outer = _outer_operators(text, found)
        # An excluded word in the middle belongs to the pattern.
        others = [match for match in found if _is_filter(match) or match in outer]
        rest = " ".join(_texts_between(text, others)).strip()
        if whole := _SLASHED_PATTERN.fullmatch(rest):
            return " ".join(match[0] for match in others), whole[1]
    return _split_named_pattern(text)


def _is_filter(match: re.Match[str]) -> bool:
    return bool(match["name"] or match["limit"])


def _restricts(match: re.Match[str]) -> bool:
    return _is_filter(match) or bool(match["word"] or match["not"])


def _texts_between(text: str, operators: list[re.Match[str]]) -> Iterable[str]:
    """Return the parts of a text before, between and after its operators."""
    ends = [0, *(match.end() for match in operators)]
    starts = [*(match.start() for match in operators), len(text)]
    return (text[end:start] for end, start in zip(ends, starts, strict=True))


def _split_named_pattern(text: str) -> tuple[str, str | None]:
    """Return a question without its `regex:` pattern, and this pattern."""
    start, end, regex = _find_named_pattern(text)
    return text[:start] + text[end:], regex


def _find_named_pattern(text: str) -> tuple[int, int, str | None]:
    """Return the start and end of `regex:` with its pattern, and the pattern.

    A pattern without quotes ends before the next filter, and before excluded words at the end. The
    pattern is None if the text has no `regex:`.
    """
    match = _NAMED_PATTERN.search(text)
    if match is None:
        return len(text), len(text), None
    quoted = re.match(_QUOTED, match[1])
    if quoted:
        return match.start(), match.start(1) + quoted.end(), quoted[0][1:-1]
    after = next(filter(_is_filter, _OPERATOR.finditer(text, match.start(1))), None)
    limit = after.start() if after else len(text)
    end = _start_of_exclusions(text, match.start(1), limit)
    return match.start(), end, text[match.start(1) : end].strip()


def _start_of_exclusions(text: str, start: int, end: int) -> int:
    """Return the start of the excluded words at the end of a range."""
    for match in reversed(list(_OPERATOR.finditer(text, start, end))):
        if match.start() == start or not _restricts(match) or text[match.end() : end].strip():
            break
        end = match.start()
    return end


def _select_intended(text: str, operators: list[re.Match[str]]) -> list[re.Match[str]]:
    """Return the operators that the user intended.

    Quotes in error messages, and in code that a language model guessed, are usually not meant as
    operators. The same is true of command-line options, such as `-race`.
    """
    end = description_end(text)
    # If code follows a description, the quotes in the description are not operators either.
    has_code = bool(text[end:].strip())
    operators = [
        match
        for match in operators
        if _is_filter(match) or (match.start() <= end and not (has_code and match["phrase"]))
    ]
    if any(match["phrase"] for match in operators) and _is_message(text, operators):
        operators = [match for match in operators if not match["phrase"]]
    if any(match["word"] for match in operators) and _is_sentence(text, operators):
        outer = _outer_operators(text, operators)
        operators = [match for match in operators if not match["word"] or match in outer]
    return [match for match in operators if not match["phrase"] or _unquote(match["phrase"])]


def _is_message(text: str, operators: list[re.Match[str]]) -> bool:
    """Return whether a text is an error message. Words inside quotes do not count.

    For example, "not found" in quotes does not turn a question into an error message.
    """
    for match in reversed(operators):
        if match["phrase"]:
            text = f'{text[: match.start()]}"x"{text[match.end() :]}'
    return classify_intent(text, is_symbol=False) == "error"


def _is_sentence(text: str, operators: list[re.Match[str]]) -> bool:
    """Return whether a text is a sentence, not a list of keywords.

    `-race` is an option in the sentence "what does go test -race do", but an exclusion in a list.
    """
    excluded = {match["word"].lower() for match in operators if match["word"]}
    words = {word.lower() for word in WORD.findall(text)} - excluded
    return not STOP_WORDS.isdisjoint(words)


def _outer_operators(text: str, operators: list[re.Match[str]]) -> list[re.Match[str]]:
    """Return the operators before the first and after the last plain word."""
    head = []
    end = 0
    for match in operators:
        if text[end : match.start()].strip():
            break
        head.append(match)
        end = match.end()
    tail = []
    start = len(text)
    for match in reversed(operators):
        if text[match.end() : start].strip(" ?.!"):
            break
        tail.append(match)
        start = match.start()
    return [*head, *tail]


def _collect(text: str, operators: list[re.Match[str]], regex: str | None) -> ParsedQuery:
    values: dict[str, list[str]] = {
        "phrases": [], "excluded": [], "paths": [], "excluded_paths": [],
        "languages": [], "excluded_languages": [], "kinds": [], "authors": [],
    }  # fmt: skip
    dates = {"since": "", "until": ""}
    parts = list(_texts_between(text, operators))
    for place, match in enumerate(operators, start=1):
        if match["name"]:
            field = "paths" if match["name"] == "path" else "languages"
            values[f"excluded_{field}" if match["minus"] else field].append(_filter_value(match))
        elif match["limit"] in dates:
            dates[match["limit"]] = _read_value(match["wanted"])
        elif match["limit"]:
            values["kinds" if match["limit"] == "in" else "authors"] += _split_values(match)
        elif match["phrase"] and not match["not"]:
            values["phrases"].append(_unquote(match["phrase"]))
            # The words of a phrase are also searched as plain words.
            parts[place] = _unquote(match["phrase"]) + parts[place]
        else:
            values["excluded"].append(match["word"] or _unquote(match["phrase"]))
    rest = " ".join("".join(parts).split()) if operators else text
    words = " ".join("".join(_texts_between(text, operators)).split())
    unique = {name: tuple(dict.fromkeys(found)) for name, found in values.items()}
    since, until = dates["since"], dates["until"]
    return ParsedQuery(rest, since=since, until=until, regex=regex, words=words, **unique)


def replace_kinds(text: str, kinds: Sequence[str]) -> str:
    """Return a query with these values of `in:` instead of the values that it has."""
    start, end, _ = _find_named_pattern(text)
    found = (*_OPERATOR.finditer(text, 0, start), *_OPERATOR.finditer(text, end))
    limits = [match for match in found if match["limit"] == "in"]
    without = "".join(_texts_between(text, limits)).strip()
    return f"in:{','.join(kinds)} {without}" if kinds else without


def _filter_value(match: re.Match[str]) -> str:
    return _read_value(match["value"])


def _split_values(match: re.Match[str]) -> list[str]:
    """Return the values of `in:` or the one value of `author:`."""
    value = _read_value(match["wanted"])
    return [part for part in value.split(",") if part] if match["limit"] == "in" else [value]


def _read_value(text: str) -> str:
    return _unquote(text) if text[0] in '"“' else text.rstrip(",;")


def _unquote(quoted: str) -> str:
    return _SPACES.sub(" ", quoted[1:-1]).strip()


def _validate(text: str, query: ParsedQuery) -> ParsedQuery:
    _check_languages((*query.languages, *query.excluded_languages))
    _check_kinds(query.kinds)
    if query.regex is not None:
        _check_pattern(query.regex)
        words = " ".join([query.text.strip(), *find_literals(query.regex)]).strip()
        return replace(query, text=words)
    if re.fullmatch(_QUOTED, text.strip()) and not _unquote(text.strip()).strip():
        raise QueryError(f"the phrase {text.strip()} is empty; put words between the quotes")
    if query.text.strip():
        return query
    if query.excluded and not query.has_filters:
        return ParsedQuery(text)  # the question `-race` is about the option
    has_others = replace(query, kinds=()).has_filters
    if query.kinds == ("history",) and has_others and not query.excluded:
        return query  # asks for all commits that pass the filters
    raise QueryError(
        f'"{text.strip()}" only says where to search; add words or a quoted phrase to search for'
    )


def _check_pattern(pattern: str) -> None:
    from rootle.search.query.regex_matching import LineRegex  # takes 4 ms to import

    LineRegex(pattern)


def _check_kinds(kinds: Iterable[str]) -> None:
    for kind in kinds:
        if kind not in KINDS:
            raise QueryError(
                f'unknown kind of text "{kind}"; use one of {", ".join(KINDS)}, or quote '
                f'"in:{kind}" to search for these words'
            )


def _check_languages(names: Iterable[str]) -> None:
    for name in names:
        if resolve_language(name) is None:
            raise QueryError(
                f'unknown language "{name}" in lang:{name}; try one like lang:python or lang:ts, '
                f'or quote "lang:{name}" to search for the text'
            )
