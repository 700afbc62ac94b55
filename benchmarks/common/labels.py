"""Labeled questions from `benchmarks/labels/`, each with the lines that answer it."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.common.metrics import Hit
from benchmarks.common.repositories import read_repositories, select_repositories
from rootle.text.terms import WORD, split_identifier, word_terms

LABELS: Final = Path(__file__).parents[1] / "labels"
LABEL_REPOSITORIES: Final = LABELS / "repositories.json"
LARGE_LABELS: Final = LABELS / "large"  # questions about repositories of 2,900 to 13,000 files
KINDS: Final = (
    "behaviour", "architecture", "symbol", "error", "usage", "configuration", "documentation",
    "tests", "none",
)  # fmt: skip
SHOWN_LINES: Final = 60  # lines of a hit that are scored; no labeled answer may be longer
HARD_SHARE: Final = 0.5
# Words that phrase a question but do not name its subject.
FUNCTION_WORDS: Final = frozenset(
    "a about after all also an and any are as at be because been before being between both but by "
    "can could did do does doing done down during each else even ever every for from get gets give "
    "given goes got had happen happens has have how i if in instead into is it its itself just let "
    "like long made make makes many me more most much must my no not of off on once one only onto "
    "or other our out over own per rather same say says should so some someone something still "
    "such take takes than that the their them then there these they thing this those through to "
    "too under until up upon us use used uses using very via want was way we were what when where "
    "whether which while who whole whose why will with within without would you your".split()
)


@dataclass(frozen=True)
class Span:
    """A range of lines in a file, both ends inclusive."""

    path: str
    start_line: int
    end_line: int


Target = tuple[Span, ...]  # the best span, then equivalent ones; any of them answers the question


@dataclass(frozen=True)
class Label:
    """A question with its targets."""

    repository: str
    query: str
    kind: str
    targets: tuple[Target, ...]  # empty for a question without an answer

    def spans(self) -> Iterator[Span]:
        """Yield the spans of all targets."""
        for target in self.targets:
            yield from target


@dataclass(frozen=True)
class LabeledRepository:
    """A checkout and the questions about it."""

    name: str
    split: str
    root: Path
    labels: tuple[Label, ...]

    def answerable(self) -> list[Label]:
        """Return the questions that have an answer."""
        return [label for label in self.labels if label.targets]


def labeled_repositories(
    checkouts: Path,
    split: str | None = None,
    only: Collection[str] = (),
    labels: Path | None = None,
) -> list[LabeledRepository]:
    """Return the labeled repositories of one split, or of both splits by default.

    `labels` is the folder of `repositories.json` and of the label files, by default `LABELS`.
    """
    listed = select_repositories(
        read_repositories(LABEL_REPOSITORIES if labels is None else labels / "repositories.json"),
        only,
        split,
    )
    return [
        LabeledRepository(
            one.name, one.split, one.root(checkouts), tuple(read_labels(one.name, labels))
        )
        for one in listed
    ]


def read_labels(name: str, folder: Path | None = None) -> list[Label]:
    """Return the questions about one repository. Raise ValueError if a line is malformed."""
    return parse_labels(name, ((folder or LABELS) / f"{name}.jsonl").read_text(encoding="utf-8"))


def parse_labels(name: str, text: str) -> list[Label]:
    """Return the questions in the text of a label file."""
    labels = []
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            labels.append(_parse_label(name, json.loads(line)))
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{name}.jsonl:{number}: {error!r}") from error
    return labels


def _parse_label(name: str, record: Mapping[str, Any]) -> Label:
    targets = tuple(
        tuple(Span(span["path"], *_parse_lines(span["lines"])) for span in target)
        for target in record["targets"]
    )
    return Label(name, record["query"], record["kind"], targets)


def _parse_lines(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\d+)-(\d+)", text)
    if match is None:
        raise ValueError(f"lines must look like 12-34, not {text!r}")
    return int(match[1]), int(match[2])


def overlaps_target(hit: Hit, target: Target) -> bool:
    """Return whether a hit shows at least one line of a target."""
    return any(
        hit.path == span.path and hit.overlaps(span.start_line, span.end_line) for span in target
    )


def is_in_target_file(hit: Hit, target: Target) -> bool:
    """Return whether a hit is in a file of a target."""
    return any(hit.path == span.path for span in target)


def content_words(query: str) -> list[str]:
    """Return the distinct content words of a question, with identifiers split."""
    parts = [part for word in WORD.findall(query) for part in split_identifier(word)]
    return [word for word in dict.fromkeys(parts) if word not in FUNCTION_WORDS and len(word) > 1]


def word_overlap(query: str, answer: str) -> float:
    """Return the share of a question's content words that occur in the answer, 0 to 1.

    Words match if they are equal, or if they differ only in their endings: "retries" matches
    "retry". An ending has up to three letters in the shorter word and up to four in the longer one;
    at least four letters precede it. The result is more often too high than too low.
    """
    terms = {term for word in WORD.findall(answer) for term in word_terms(word)}
    words = content_words(query)
    if not words:
        return 1.0
    return sum(any(_is_same_word(word, term) for term in terms) for word in words) / len(words)


def _is_same_word(word: str, term: str) -> bool:
    if word == term:
        return True
    shorter, longer = sorted((len(word), len(term)))
    stem = max(4, shorter - 3)
    return shorter >= 4 and word[:stem] == term[:stem] and longer - stem <= 4


def span_text(root: Path, span: Span) -> str:
    """Return the lines of a span."""
    lines = (root / span.path).read_text(encoding="utf-8", errors="replace").split("\n")
    return "\n".join(lines[span.start_line - 1 : span.end_line])


def is_hard(label: Label, root: Path) -> bool:
    """Return whether each answer contains at most half of the question's content words."""
    spans = list(label.spans())
    return bool(spans) and all(
        word_overlap(label.query, span_text(root, span)) <= HARD_SHARE for span in spans
    )
