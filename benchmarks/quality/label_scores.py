"""Scores of answers to labeled questions: by span, by file, and in tokens to read."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.common.labels import (
    SHOWN_LINES,
    Label,
    is_hard,
    is_in_target_file,
    overlaps_target,
)
from benchmarks.common.metrics import ROOTLE, TOP_K, Answer, Hit, match_targets, ndcg
from benchmarks.common.statistics import cluster_interval, mean
from rootle.text.terms import CHARS_PER_TOKEN


@dataclass(frozen=True)
class QuestionScore:
    """The score of one system's answer to one question."""

    label: Label
    is_hard: bool
    span_ranks: frozenset[int]  # ranks of the hits that show a target's lines
    file_ranks: frozenset[int]  # ranks of the hits in a target's file
    tokens: float  # in the hits up to the first that answers, or in all if none does
    is_confident: bool = True  # False: the system reported that nothing answers the question

    @property
    def span_ndcg(self) -> float:
        return ndcg(self.span_ranks, len(self.label.targets))

    @property
    def file_ndcg(self) -> float:
        return ndcg(self.file_ranks, len(self.label.targets))


ScoresByRepository = Mapping[str, Sequence[QuestionScore]]


def score_answers(
    root: Path,
    labels: Sequence[Label],
    answers: Iterable[Answer],
    confident: Iterable[bool] | None = None,
) -> list[QuestionScore]:
    """Return the score of each answer, in order; `confident` holds the system's verdicts."""
    verdicts = [True] * len(labels) if confident is None else confident
    return [
        score_answer(root, label, answer, is_confident=verdict)
        for label, answer, verdict in zip(labels, answers, verdicts, strict=True)
    ]


def score_answer(
    root: Path, label: Label, answer: Answer, *, is_confident: bool = True
) -> QuestionScore:
    """Return the score of one answer; only the first 60 lines of each hit count."""
    hits = [hit.first_lines(SHOWN_LINES) for hit in answer.hits[:TOP_K]]
    span_ranks = match_targets(label.targets, hits, overlaps_target)
    return QuestionScore(
        label,
        is_hard(label, root),
        frozenset(span_ranks),
        frozenset(match_targets(label.targets, hits, is_in_target_file)),
        count_tokens(root, hits[: min(span_ranks, default=len(hits))]),
        is_confident,
    )


def count_tokens(root: Path, hits: Sequence[Hit]) -> float:
    """Return the number of tokens in the paths and lines of hits."""
    chars = 0
    for hit in hits:
        try:
            lines = (root / hit.path).read_text("utf-8", errors="replace").split("\n")
        except OSError:
            continue
        chars += len(hit.path)
        chars += sum(len(line) + 1 for start, end in hit.ranges for line in lines[start - 1 : end])
    return chars / CHARS_PER_TOKEN


def summarize(scores: ScoresByRepository) -> dict[str, Any]:
    """Return the figures of one system over some repositories."""
    every = [one for repository_scores in scores.values() for one in repository_scores]
    answerable = [one for one in every if one.label.targets]
    unanswerable = [one for one in every if not one.label.targets]
    hard = [one for one in answerable if one.is_hard]
    clusters = [
        [one.span_ndcg for one in repository_scores if one.label.targets]
        for repository_scores in scores.values()
    ]
    return {
        "repositories": len(scores),
        "questions": len(answerable),
        "span_ndcg": mean(one.span_ndcg for one in answerable),
        "span_ndcg_interval": cluster_interval(clusters),
        "file_ndcg": mean(one.file_ndcg for one in answerable),
        "span_hit1": mean(1 in one.span_ranks for one in answerable),
        "span_hit10": mean(bool(one.span_ranks) for one in answerable),
        "file_hit1": mean(1 in one.file_ranks for one in answerable),
        "file_hit10": mean(bool(one.file_ranks) for one in answerable),
        "hard_span_hit10": mean(bool(one.span_ranks) for one in hard),
        "hard_file_hit10": mean(bool(one.file_ranks) for one in hard),
        "unanswerable_recognized": mean(not one.is_confident for one in unanswerable),
        "answerable_refused": mean(not one.is_confident for one in answerable),
        "median_tokens": statistics.median(one.tokens for one in answerable),
        "kinds": {
            kind: mean(one.span_ndcg for one in answerable if one.label.kind == kind)
            for kind in sorted({one.label.kind for one in answerable})
        },
    }


def format_row(label: str, system: str, scores: ScoresByRepository) -> str:
    """Return one line of figures; verdicts are shown only for rootle."""
    f = summarize(scores)
    text = (
        f"{label:12} {system:10} NDCG@10 by span {f['span_ndcg']:.3f} by file {f['file_ndcg']:.3f}"
        f"  hit@1 {f['span_hit1']:.2f}  hit@10 {f['span_hit10']:.2f}/{f['file_hit10']:.2f}"
        f"  hard {f['hard_span_hit10']:.2f}/{f['hard_file_hit10']:.2f}"
        f"  {f['median_tokens']:5.0f} tokens"
    )
    if system == ROOTLE:
        text += (
            f"  recognized {f['unanswerable_recognized']:.2f} refused {f['answerable_refused']:.2f}"
        )
    if len(scores) > 1:
        low, high = f["span_ndcg_interval"]
        text += f"  95 % {low:.3f}-{high:.3f}"
    return text
