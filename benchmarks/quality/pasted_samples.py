"""Samples of text that an agent copies into a query, each with the lines that it comes from.

The samples need no labels: the right answers are the lines on which the text occurs.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final, TypeVar

from benchmarks.common.labels import Span

_Item = TypeVar("_Item")
_Draw = Callable[["_Repository", random.Random], Iterator["Sample"]]
# Extensions of the files from which samples are drawn.
_CODE: Final = frozenset(
    ".c .cc .cpp .cs .ex .exs .go .h .java .js .kt .php .py .rb .rs .scala .swift .ts .tsx".split()
)
_LITERAL: Final = re.compile(r"\"([^\"\\]{24,160})\"|'([^'\\]{24,160})'|`([^`\\]{24,160})`")
# Fields of printf, str.format, template strings and the like.
_FIELD: Final = re.compile(
    r"\$\{[^{}]{0,60}\}|#\{[^{}]{0,60}\}|\{[^{}]{0,60}\}|%(?:\(\w{1,40}\))?[-+ #0]*\d*(?:\.\d+)?"
    r"(?:ll|l|z|h)?[sdiuxXfgpcrvq]"
)
_WORD: Final = re.compile(r"[A-Za-z]{3,}")
# The whole name of an option: with hyphens, with dots, or in capitals with underscores.
_OPTION: Final = re.compile(
    r"(?<![\w.$/@-])(?:[a-z][a-z0-9]+(?:-[a-z0-9]+){2,5}|[a-z][a-zA-Z0-9]+(?:\.[a-z][a-zA-Z0-9]+){2,5}"
    r"|[A-Z][A-Z0-9]+(?:_[A-Z0-9]+){2,5})(?![\w/@(-]|\.\w)"
)
_VALUES: Final = (
    "42", "1536", "10.0.3.17", "/var/lib/app/data.db", "worker-3", "orders", "0x7f3a2c", "3.5",
    "user@example.com", "a1b2c3d", "true",
)  # fmt: skip
_PREFIXES: Final = (
    "", "ERROR: ", "2026-03-14 09:26:53,589 WARN  [main] ", "E0314 09:26:53.589793 12345 ",
    "[14/Mar/2026:09:26:53 +0000] error: ", "fatal: ", '{"level":"error","msg":"',
)  # fmt: skip
_FRAMES: Final[Mapping[str, str]] = {
    ".py": '  File "/srv/app/{path}", line {line}, in run',
    ".js": "    at process (/srv/app/{path}:{line}:13)",
    ".ts": "    at process (/srv/app/{path}:{line}:13)",
    ".rb": "/srv/app/{path}:{line}:in `call'",
    ".java": "\tat {package}.{stem}.run({name}:{line})",
    ".kt": "\tat {package}.{stem}Kt.run({name}:{line})",
    ".cs": "   at App.Run() in /srv/app/{path}:line {line}",
    ".go": "\t/srv/app/{path}:{line} +0x1d",
    ".rs": "             at ./{path}:{line}:9",
    ".php": "#0 /srv/app/{path}({line}): run()",
    ".ex": "    {path}:{line}: anonymous fn/1",
    ".c": "#3  0x0000555555 in run () at {path}:{line}",
}


@dataclass(frozen=True)
class Sample:
    """A text to search for, and the lines that contain it; any of them is an answer."""

    query: str
    spans: tuple[Span, ...]


class _Repository:
    """The texts of a repository, in which the occurrences of a text can be found."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self.files = dict(sorted(files.items()))
        self.code = {
            path: text for path, text in self.files.items() if PurePosixPath(path).suffix in _CODE
        }
        self._all = "\n".join(self.files.values())

    def is_unique(self, text: str) -> bool:
        return self._all.count(text) == 1

    def lines_with(self, name: str, most: int) -> tuple[Span, ...]:
        """Return the lines with a whole name; none if it occurs more than `most` times as text."""
        if self._all.count(name) > most:
            return ()
        whole = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])")
        return tuple(
            Span(path, number, number)
            for path, text in self.files.items()
            if name in text
            for number, line in enumerate(text.split("\n"), start=1)
            if whole.search(line)
        )


def draw_samples(files: Mapping[str, str], each: int, seed: int = 7) -> dict[str, list[Sample]]:
    """Return up to `each` samples of every kind; `files` maps paths to texts.

    The kinds are `message` (a string literal without fields), `log` (a literal whose fields are
    filled in, as a program would log it), `option` (the name of an option, on at most three
    lines), `code` (a line of code) and `frame` (a frame of a stack trace).
    """
    repository = _Repository(files)
    samples: dict[str, list[Sample]] = {}
    for kind, draw in _KINDS.items():
        chosen: dict[str, Sample] = {}
        for sample in draw(repository, random.Random(f"{seed} {kind}")):
            chosen.setdefault(sample.query, sample)
            if len(chosen) == each:
                break
        samples[kind] = list(chosen.values())
    return samples


def _draw_messages(repository: _Repository, rng: random.Random) -> Iterator[Sample]:
    for path, number, text in _literals(repository, rng):
        words = len(_WORD.findall(text))
        if (
            words >= 4
            and len(text.split()) >= 3
            and not _FIELD.search(text)
            and repository.is_unique(text)
        ):
            yield Sample(text, (Span(path, number, number),))


def _draw_logs(repository: _Repository, rng: random.Random) -> Iterator[Sample]:
    for path, number, text in _literals(repository, rng):
        words = len(_WORD.findall(_FIELD.sub(" ", text)))
        if words >= 4 and _is_sentence(text) and repository.is_unique(text):
            filled = _FIELD.sub(lambda _: rng.choice(_VALUES), text)
            yield Sample(rng.choice(_PREFIXES) + filled.strip(), (Span(path, number, number),))


def _is_sentence(text: str) -> bool:
    """Return whether a literal has fields and several words, unlike a URL."""
    return _FIELD.search(text) is not None and len(text.split()) >= 4


def _draw_options(repository: _Repository, rng: random.Random) -> Iterator[Sample]:
    names = {
        name
        for text in repository.code.values()
        for literal in _LITERALS_OF_NAMES.finditer(text)
        for name in _OPTION.findall(literal[0][1:-1])
    }
    for name in _shuffle(sorted(names), rng):
        if spans := repository.lines_with(name, most=3):
            yield Sample(name, spans)


_LITERALS_OF_NAMES: Final = re.compile(r"\"[^\"\\\n]{6,60}\"|'[^'\\\n]{6,60}'")


def _draw_code(repository: _Repository, rng: random.Random) -> Iterator[Sample]:
    for path, number, line in _code_lines(repository, rng):
        text = line.strip()
        if len(_WORD.findall(text)) >= 3 and len(text) >= 30 and repository.is_unique(text):
            yield Sample(text, (Span(path, number, number),))


def _draw_frames(repository: _Repository, rng: random.Random) -> Iterator[Sample]:
    for path, number, line in _code_lines(repository, rng):
        pure = PurePosixPath(path)
        form = _FRAMES.get(pure.suffix)
        if form is not None and line.startswith((" ", "\t")):
            package = re.search(r"^package ([\w.]+)", repository.files[path], re.MULTILINE)
            frame = form.format(
                path=path, line=number, name=pure.name, stem=pure.stem,
                package=package[1] if package else "com.example",
            )  # fmt: skip
            yield Sample(frame, (Span(path, number, number),))


_KINDS: Final[Mapping[str, _Draw]] = {
    "message": _draw_messages,
    "log": _draw_logs,
    "option": _draw_options,
    "code": _draw_code,
    "frame": _draw_frames,
}


def _literals(repository: _Repository, rng: random.Random) -> Iterator[tuple[str, int, str]]:
    for path, number, line in _code_lines(repository, rng):
        for match in _LITERAL.finditer(line):
            yield path, number, match[match.lastindex or 0]


def _code_lines(repository: _Repository, rng: random.Random) -> Iterator[tuple[str, int, str]]:
    """Yield the lines of code in random order, one line of each file in turn."""
    rows = {
        path: _shuffle(list(_number_lines(text)), rng) for path, text in repository.code.items()
    }
    while rows:
        for path in _shuffle(sorted(rows), rng):
            if rows[path]:
                yield path, *rows[path].pop()
            else:
                del rows[path]


def _number_lines(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if 20 <= len(line) <= 300:
            yield number, line


def _shuffle(items: Sequence[_Item], rng: random.Random) -> list[_Item]:
    return rng.sample(items, len(items))
