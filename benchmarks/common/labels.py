"""The labels in `benchmarks/labels/`: questions with the lines that answer them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from rootle.text.terms import WORD, split_identifier, word_terms

LABELS = Path(__file__).parents[1] / "labels"
KINDS = (
    "behaviour", "architecture", "symbol", "error", "usage", "configuration", "documentation",
    "tests", "none",
)  # fmt: skip
MAX_SPAN_LINES = 60  # of a result so many lines count, so a longer answer could not be shown
HARD_SHARE = 0.5
# Words that say how something is asked, not what is asked for.
FUNCTION_WORDS = frozenset(
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
    path: str
    start_line: int
    end_line: int


@dataclass(frozen=True)
class Label:
    """One question; each target is met by any of its spans (the first, or an equivalent)."""

    repository: str
    query: str
    kind: str
    targets: tuple[tuple[Span, ...], ...]


def read_labels(name: str) -> list[Label]:
    """The questions about one repository; `ValueError` names the line that is wrong."""
    return labels_in(name, (LABELS / f"{name}.jsonl").read_text(encoding="utf-8"))


def labels_in(name: str, text: str) -> list[Label]:
    """The questions of a file's text."""
    labels = []
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            labels.append(_label(name, json.loads(line)))
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{name}.jsonl:{number}: {error!r}") from error
    return labels


def _label(name: str, record: dict) -> Label:
    targets = tuple(
        tuple(Span(span["path"], *_lines(span["lines"])) for span in target)
        for target in record["targets"]
    )
    return Label(name, record["query"], record["kind"], targets)


def _lines(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\d+)-(\d+)", text)
    if match is None:
        raise ValueError(f"lines {text!r} are not like 12-34")
    return int(match[1]), int(match[2])


def content_words(query: str) -> list[str]:
    """The distinct words of a question that say what is asked for, identifiers split."""
    parts = [part for word in WORD.findall(query) for part in split_identifier(word)]
    return [word for word in dict.fromkeys(parts) if word not in FUNCTION_WORDS and len(word) > 1]


def shared_words(query: str, answer: str) -> float:
    """The share of a question's content words that the answer has, 0 to 1.

    Two words are the same when they agree but for an ending of up to three letters: "retries" is
    "retry" here, which counts rather too much as shared than too little.
    """
    terms = {term for word in WORD.findall(answer) for term in word_terms(word)}
    words = content_words(query)
    if not words:
        return 1.0
    found = sum(any(_same_word(word, term) for term in terms) for word in words)
    return found / len(words)


def _same_word(word: str, term: str) -> bool:
    if word == term:
        return True
    stem = max(4, min(len(word), len(term)) - 3)
    return (
        min(len(word), len(term)) >= 4 and word[:stem] == term[:stem]
        and max(len(word), len(term)) - stem <= 4
    )  # fmt: skip


def span_text(repo: Path, span: Span) -> str:
    lines = (repo / span.path).read_text(encoding="utf-8", errors="replace").split("\n")
    return "\n".join(lines[span.start_line - 1 : span.end_line])


def is_hard(label: Label, repo: Path) -> bool:
    """True where every span that answers shares at most half of the question's content words."""
    spans = [span for target in label.targets for span in target]
    return bool(spans) and all(
        shared_words(label.query, span_text(repo, span)) <= HARD_SHARE for span in spans
    )
