"""Questions from chunks: about error messages, headings, names and their uses."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from benchmarks.common.labels import content_words

from rootle.text.languages import PROSE
from rootle.text.terms import WORD, split_identifier
from training.corpus.source_chunks import SourceChunk
from training.corpus.text_cleaning import is_prose
from training.pairs.code_pairs import MESSAGE
from training.questions.comment_cleaning import UNFINISHED
from training.questions.phrasing import hash_choice
from training.questions.placeholders import PLACEHOLDER, fill_placeholders

NEAR_LINES: Final = 24  # maximum lines of a span around the subject of a question
LEADING_LINES: Final = 4  # lines of this span that precede a definition
MAX_SPAN_LINES: Final = 60
MAX_USERS: Final = 5
MIN_MESSAGE_WORDS: Final = 4
MIN_NAME_CHARS, MAX_NAME_CHARS = 8, 40
MIN_SECTION_CHARS: Final = 160
MIN_TITLE_WORDS, MAX_TITLE_WORDS = 2, 8

_RAISED: Final = re.compile(
    r"rais|throw|err|panic|fail|abort|warn|exception|assert|bail|\bdie\b|fatal|invalid|reject"
    r"|expect\(|ensure|require|log|unwrap|\bmsg|message",
    re.IGNORECASE,
)
_MARKUP: Final = re.compile(
    r"https?://|</?\w+>|\[/?(?:bold|dim|red|green)|\\u|\\x|\$\(|^\s*--?\w|select \w+|[{}]\s*$"
    r"|^usage|^todo|\w-\w+\s[\w-]+-\w",
    re.I,
)
_EXCLUDED_DOCS: Final = re.compile(
    r"^\.|\.[a-z]{2}(?:-\w+)?\.md$|change|history|news|release|licen|copying|contribut|code_of"
    r"|security|author|credit|upgrad"
    r"|thanks|migrat",
    re.IGNORECASE,
)
_EMPTY_HEADING: Final = re.compile(
    r"\d+\.\d|table of contents|^contents|licen[sc]e|contribut|sponsor|^see also|acknowledg"
    r"|unreleased|changelog|^bug ?fixes|^features$|^index$|^note|https?:|^\W|[{}<>=]|^todo"
    r"|credits|authors|^step \d",
    re.IGNORECASE,
)
_NOT_CODE: Final = re.compile(
    r"^\s*(?://|#(?!include)|\*|/\*|--|import\b|from\b|use\b|using\b|require|#include|package\b"
    r"|alias\b|export \*|export \{|@param|\"\"\"|\.\. )"
)

LineSpan = tuple[str, int, int]  # path, first and last line, from 1


@dataclass(frozen=True, slots=True)
class CodeQuestion:
    """A question and all places that answer it."""

    query: str
    kind: str
    targets: tuple[LineSpan, ...]


def message_questions(chunks: Sequence[SourceChunk]) -> Iterator[CodeQuestion]:
    """Yield questions from messages that occur in one place only, with placeholders filled."""
    found: dict[str, list[tuple[SourceChunk, int]]] = defaultdict(list)
    for chunk in chunks:
        if chunk.language in PROSE or chunk.is_test:
            continue
        comments = "\n".join(line for block in chunk.comments for line in block)
        for match in MESSAGE.finditer(chunk.text):
            literal = match[1] or match[2] or match[3]
            if literal not in comments and _is_message(literal, chunk.text, match.start()):
                found[literal].append((chunk, chunk.text.count("\n", 0, match.start())))
    for literal, places in found.items():
        if len(places) == 1:
            chunk, row = places[0]
            yield CodeQuestion(fill_placeholders(literal), "error", (span_near(chunk, row),))


def _is_message(literal: str, text: str, start: int) -> bool:
    if (
        literal != literal.strip()
        or UNFINISHED.search(literal)
        or len(literal.split()) < MIN_MESSAGE_WORDS
        or _MARKUP.search(literal)
    ):
        return False
    context = text[max(0, start - 160) : start + len(literal) + 20]
    return is_prose(PLACEHOLDER.sub("x", literal)) and _RAISED.search(context) is not None


def heading_questions(chunks: Sequence[SourceChunk]) -> Iterator[CodeQuestion]:
    """Yield questions from document headings that occur only once."""
    found: dict[str, list[SourceChunk]] = defaultdict(list)
    for chunk in chunks:
        title = _heading(chunk)
        if title:
            found[title.lower()].append(chunk)
    for title, sections in found.items():
        if len(sections) == 1:
            forms: tuple[str, ...] = (
                "{}",
                "{} documentation",
                "docs on {}",
                "{}",
                "how does {} work",
                "{} guide",
            )
            if re.match(r"(?:how|what|why|when|where|can|is|do|on|about)\b", title):
                forms = ("{}",)
            elif re.match(r"\w+ing\b", title):
                forms = ("{}", "docs on {}", "guide to {}")
            query = forms[hash_choice(title, len(forms))].format(title)
            span = span_near(sections[0], 0, MAX_SPAN_LINES)
            yield CodeQuestion(query, "documentation", (span,))


def _heading(chunk: SourceChunk) -> str:
    """Return the heading of a section as the words of a query, or "" if it is not suitable."""
    if chunk.language not in PROSE or not chunk.scope or _EXCLUDED_DOCS.search(chunk.path):
        return ""
    title = re.sub(r"[`*_]|\[([^]]*)\]\([^)]*\)", r"\1", chunk.scope[-1]).strip(" :.#")
    start = "\n".join(chunk.text.split("\n")[:3])
    is_short = len(chunk.text) < MIN_SECTION_CHARS
    if chunk.scope[-1] not in start or is_short or _EMPTY_HEADING.search(title):
        return ""
    if len(content_words(title)) < MIN_TITLE_WORDS and len(chunk.scope) > 1:
        title = f"{chunk.scope[-2].strip(' :.#`')} {title[:1].lower()}{title[1:]}"
    is_suitable = MIN_TITLE_WORDS <= len(content_words(title)) <= MAX_TITLE_WORDS
    return title if is_suitable and title.isascii() else ""


def name_questions(
    chunks: Sequence[SourceChunk],
) -> tuple[list[CodeQuestion], list[CodeQuestion]]:
    """Return questions about names that are defined once, and about their uses in other files.

    The questions about uses cover only names that one to five other files mention.
    """
    code = [chunk for chunk in chunks if chunk.language not in PROSE]
    definitions: dict[str, list[SourceChunk]] = defaultdict(list)
    mentions: dict[str, set[str]] = defaultdict(set)
    by_path: dict[str, list[SourceChunk]] = defaultdict(list)
    for chunk in code:
        by_path[chunk.path].append(chunk)
        for name in chunk.symbols:
            definitions[name].append(chunk)
        for word in set(WORD.findall(chunk.text)):
            mentions[word].add(chunk.path)
    symbols, usages = [], []
    for name, homes in definitions.items():
        if len(homes) > 1 or not _is_distinctive(name) or homes[0].is_test:
            continue
        home = homes[0]
        rows = enumerate(home.text.split("\n"))
        row = next((number for number, line in rows if name in line), 0)
        span = span_near(home, row, is_start=True)
        symbols.append(CodeQuestion(_symbol_query(name), "symbol", (span,)))
        users = sorted(mentions[name] - {home.path})
        spans = [_first_use(by_path[path], name) for path in users[: MAX_USERS + 1]]
        if 1 <= len(spans) <= MAX_USERS and all(spans):
            used = tuple(span for span in spans if span)
            usages.append(CodeQuestion(_usage_query(name), "usage", used))
    return symbols, usages


def span_near(
    chunk: SourceChunk, row: int, limit: int = NEAR_LINES, *, is_start: bool = False
) -> LineSpan:
    """Return at most `limit` lines around a row; if `is_start`, most of them are after it."""
    rows = chunk.text.count("\n") + 1
    before = LEADING_LINES if is_start else limit // 2
    first = max(0, min(row - before, rows - limit)) if rows > limit else 0
    last = chunk.first_line + min(rows, first + limit) - 1
    return chunk.path, chunk.first_line + first, last


def _is_distinctive(name: str) -> bool:
    return (
        MIN_NAME_CHARS <= len(name) <= MAX_NAME_CHARS
        and len(split_identifier(name)) > 1
        and name.isidentifier()
        and not name.startswith(("__", "test", "Test"))
    )


def _symbol_query(name: str) -> str:
    forms = ("{}", "{}", "where is {} defined", "definition of {}", "{}", "{} implementation")
    return forms[hash_choice(name, len(forms))].format(name)


def _usage_query(name: str) -> str:
    forms: tuple[str, ...] = (
        "where is {} used",
        "usages of {}",
        "which code uses {}",
        "what uses {}?",
    )
    if not name[0].isupper():
        forms = ("who calls {}", "callers of {}", "where is {} called?", *forms)
    return forms[hash_choice(name[::-1], len(forms))].format(name)


def _first_use(chunks: Sequence[SourceChunk], name: str) -> LineSpan | None:
    """Return the lines around the first use of a name outside comments and imports, if any."""
    pattern = re.compile(rf"\b{re.escape(name)}\b")
    for chunk in chunks:
        for row, line in enumerate(chunk.text.split("\n")):
            if pattern.search(line) and not _NOT_CODE.match(line):
                return span_near(chunk, row)
    return None
