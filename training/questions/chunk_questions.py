"""Questions out of chunks: error messages, headings, names, and who uses a name."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rootle.text.languages import PROSE
from rootle.text.terms import WORD, split_identifier
from training.corpus.chunks import Place
from training.corpus.text_cleaning import is_prose
from training.pairs.code_pairs import MESSAGE
from training.questions.phrasing import UNFINISHED, choice, content_words

NEAR: Final = 24  # lines around what was asked for
MAX_SPAN: Final = 60
MAX_USERS: Final = 5
MIN_NAME: Final = 8  # characters of a name that is asked for alone

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
_PLACEHOLDER: Final = re.compile(
    r"%\((\w+)\)[a-z]|\$\{([^{}]*)\}|#\{([^{}]*)\}|\\\(([^()]*)\)|\{([^{}]*)\}|\$(\w+)"
    r"|(%[-+0-9.#]*(?:l{0,2}|z)[diuxX])|(%[-+0-9.#]*[a-zA-Z@]|~[pswaB])"
)
_NUMBER: Final = re.compile(
    r"(?:count|num|size|len|length|index|idx|line|code|port|max|min|limit|status|id|n|i|version"
    r"|bytes|offset|width|height|timeout|ms|pid)$",
    re.IGNORECASE,
)
_FILE: Final = re.compile(r"path|file|dir|folder|root|location|source|dest", re.IGNORECASE)
_TYPE: Final = re.compile(r"type|class|kind|struct|interface", re.IGNORECASE)
_URL: Final = re.compile(r"url|uri|host|addr|endpoint", re.IGNORECASE)
_NUMBERS: Final = ("3", "12", "42", "404", "0", "8080", "17", "256")
_FILES: Final = ("/srv/app/data.json", "config.yml", "/tmp/build/out", "src/main.c", "./notes.txt")
_TYPES: Final = ("String", "Int", "User", "Order", "object", "list")
_URLS: Final = ("http://localhost:8080", "10.0.0.5", "example.org")
_VALUES: Final = ("foo", "users", "worker", "orders", "admin", "my-app", "bar", "item_1")
_CAUSES: Final = (
    "permission denied", "No such file or directory", "connection refused", "unexpected EOF",
    "invalid argument", "timed out",
)  # fmt: skip
_UNREAD_DOCS: Final = re.compile(
    r"^\.|\.[a-z]{2}(?:-\w+)?\.md$|change|history|news|release|licen|copying|contribut|code_of|security|author|credit|upgrad"
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

Span = tuple[str, int, int]  # path, first and last line, from 1


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and all the places that answer it."""

    query: str
    kind: str
    targets: tuple[Span, ...]


def message_questions(places: Sequence[Place]) -> Iterator[Asked]:
    """Literals that are raised or printed at one place only, with their gaps filled in."""
    found: dict[str, list[tuple[Place, int]]] = defaultdict(list)
    for place in places:
        if place.language in PROSE or place.is_test:
            continue
        told = "\n".join(line for block in place.comments for line in block)
        for match in MESSAGE.finditer(place.text):
            literal = match[1] or match[2] or match[3]
            if literal not in told and _is_message(literal, place.text, match.start()):
                found[literal].append((place, place.text.count("\n", 0, match.start())))
    for literal, at in found.items():
        if len(at) == 1:
            place, row = at[0]
            yield Asked(fill_in(literal), "error", (near(place, row),))


def _is_message(literal: str, text: str, start: int) -> bool:
    if (
        literal != literal.strip()
        or UNFINISHED.search(literal)
        or len(literal.split()) < 4
        or _MARKUP.search(literal)
    ):
        return False
    said = _PLACEHOLDER.sub("x", literal)
    around = text[max(0, start - 160) : start + len(literal) + 20]
    return is_prose(said) and _RAISED.search(around) is not None


def fill_in(literal: str) -> str:
    """A message as somebody gets to see it: its placeholders replaced by likely values."""

    def value(match: re.Match[str]) -> str:
        name = next((group for group in match.groups()[:6] if group is not None), "")
        name = re.sub(r"[:!|].*|\(.*?\)", "", name).strip().rpartition(".")[2]
        key = f"{literal}{match.start()}"
        is_cause = match.end() == len(literal) and literal[: match.start()].endswith(": ")
        if is_cause and not match[7]:
            table = _CAUSES
        elif match[7] or _NUMBER.search(name):
            table = _NUMBERS
        elif _FILE.search(name):
            table = _FILES
        elif _TYPE.search(name):
            table = _TYPES
        else:
            table = _URLS if _URL.search(name) else _VALUES
        return table[choice(key, len(table))]

    filled = re.sub(r"\\[nrt]", " ", _PLACEHOLDER.sub(value, literal))
    return " ".join(filled.replace("\\", "").replace("%%", "%").split())


def heading_questions(places: Sequence[Place]) -> Iterator[Asked]:
    """Headings of documents that stand over one section only."""
    found: dict[str, list[Place]] = defaultdict(list)
    for place in places:
        if place.language not in PROSE or not place.scope or _UNREAD_DOCS.search(place.path):
            continue
        title = re.sub(r"[`*_]|\[([^]]*)\]\([^)]*\)", r"\1", place.scope[-1]).strip(" :.#")
        begins = "\n".join(place.text.split("\n")[:3])
        if place.scope[-1] not in begins or len(place.text) < 160 or _EMPTY_HEADING.search(title):
            continue
        if len(content_words(title)) < 2 and len(place.scope) > 1:
            title = f"{place.scope[-2].strip(' :.#`')} {title[:1].lower()}{title[1:]}"
        if 2 <= len(content_words(title)) <= 8 and title.isascii():
            found[title.lower()].append(place)
    for title, at in found.items():
        if len(at) == 1:
            forms = ("{}", "{} documentation", "docs on {}", "{}", "how does {} work", "{} guide")
            if re.match(r"(?:how|what|why|when|where|can|is|do|on|about)\b", title):
                forms = ("{}",)
            elif re.match(r"\w+ing\b", title):
                forms = ("{}", "docs on {}", "guide to {}")
            query = forms[choice(title, len(forms))].format(title)
            yield Asked(query, "documentation", (near(at[0], 0, MAX_SPAN),))


def name_questions(places: Sequence[Place]) -> tuple[list[Asked], list[Asked]]:
    """Names that are defined once, and of these, who else mentions them (one to five files)."""
    code = [place for place in places if place.language not in PROSE]
    homes: dict[str, list[Place]] = defaultdict(list)
    mentioned: dict[str, set[str]] = defaultdict(set)
    by_path: dict[str, list[Place]] = defaultdict(list)
    for place in code:
        by_path[place.path].append(place)
        for name in place.symbols:
            homes[name].append(place)
        for word in set(WORD.findall(place.text)):
            mentioned[word].add(place.path)
    symbols, usages = [], []
    for name, at in homes.items():
        if len(at) > 1 or not _is_telling(name) or at[0].is_test:
            continue
        home = at[0]
        row = next((n for n, line in enumerate(home.text.split("\n")) if name in line), 0)
        symbols.append(Asked(_symbol_query(name), "symbol", (near(home, row, ahead=True),)))
        users = sorted(mentioned[name] - {home.path})
        spans = [_first_use(by_path[path], name) for path in users[: MAX_USERS + 1]]
        if 1 <= len(spans) <= MAX_USERS and all(spans):
            used = tuple(span for span in spans if span)
            usages.append(Asked(_usage_query(name), "usage", used))
    return symbols, usages


def near(place: Place, row: int, most: int = NEAR, *, ahead: bool = False) -> Span:
    """At most so many lines of a place around one of its rows, or from it on."""
    rows = place.text.count("\n") + 1
    before = 4 if ahead else most // 2
    first = max(0, min(row - before, rows - most)) if rows > most else 0
    return place.path, place.first_line + first, place.first_line + min(rows, first + most) - 1


def _is_telling(name: str) -> bool:
    return (
        len(name) >= MIN_NAME and len(split_identifier(name)) > 1 and name.isidentifier()
        and not name.startswith(("__", "test", "Test")) and len(name) <= 40
    )  # fmt: skip


def _symbol_query(name: str) -> str:
    forms = ("{}", "{}", "where is {} defined", "definition of {}", "{}", "{} implementation")
    return forms[choice(name, len(forms))].format(name)


def _usage_query(name: str) -> str:
    forms = ("where is {} used", "usages of {}", "which code uses {}", "what uses {}?")
    if not name[0].isupper():
        forms = ("who calls {}", "callers of {}", "where is {} called?", *forms)
    return forms[choice(name[::-1], len(forms))].format(name)


def _first_use(places: Sequence[Place], name: str) -> Span | None:
    """Where a file mentions a name outside of comments and imports; None where it does not."""
    pattern = re.compile(rf"\b{re.escape(name)}\b")
    for place in places:
        for row, line in enumerate(place.text.split("\n")):
            if pattern.search(line) and not _NOT_CODE.match(line):
                return near(place, row)
    return None


def count_words(texts: Mapping[str, str]) -> list[str]:
    """Each text as its words alone, so that a sentence is found whatever it is wrapped in."""
    return [f" {' '.join(WORD.findall(text.lower()))} " for text in texts.values()]


def times_said(sentence: str, words: Sequence[str]) -> int:
    """How often the words of a sentence stand in the texts, up to two."""
    wanted = f" {' '.join(WORD.findall(sentence.lower()))} "
    times = 0
    for text in words:
        times += text.count(wanted)
        if times > 1:
            break
    return times
