"""What a score is worth: the chance that a result answers, and that any of them does."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from rootle.models.shipped import RANKER_V1, model_file
from rootle.rank.features import best_of_file, defining_files, noise_level
from rootle.rank.rankers.feature_sum import RankedFiles
from rootle.rank.ranking_inputs import Floats, RankingInputs

# Of the whole answer. Each is a plain number; the weights bring them to one scale.
QUESTION_SIGNALS: Final = (
    "top_score",  # of the weighted sum
    "lead",  # how far the first is above the sixth
    "best_passage",  # the largest share of the question's words in one chunk
    "top_passage",
    "best_coverage",  # of the words by rarity, in one file
    "top_coverage",
    "unknown",  # the share of the words that stand nowhere
    "best_cosine",
    "top_cosine",
    "words_score",  # BM25 of the best chunk of all, a word of the question
    "top_words_score",
    "legs_agree",  # on the file of the best chunk
    "detail",
    "is_symbol",
    "names_defined",  # a name of the question is defined here
    "names_missing",  # it has names, and none is
    "cosine_lead",  # of the best chunk above the noise
    "whole_passage",  # one chunk holds every word of the question
)
# Of one result beside the others.
RESULT_SIGNALS: Final = ("share", "place", "passage", "coverage", "cosine", "words", "defines")


@dataclass(frozen=True, slots=True)
class Calibration:
    """Two logistic models over the signals, fitted by `training/ranker/calibration.py`."""

    answer: Floats  # weights of QUESTION_SIGNALS, then the intercept
    result: Floats  # weights of QUESTION_SIGNALS and RESULT_SIGNALS, then the intercept
    threshold: float  # an answer is confident from this chance on
    odds: float  # so many times rarer than in the fit are questions without an answer


@dataclass(frozen=True, slots=True)
class Confidence:
    """The chances of one ranking."""

    confident: bool
    chance: float  # that the first ten results hold an answer
    scores: Floats  # the chance of every candidate file; never rising in their order


@lru_cache(maxsize=4)
def shipped_calibration(ranker: str) -> Calibration:
    """What was fitted to the answers of one ranker."""
    path = model_file(RANKER_V1, "calibration.json")
    stored = json.loads(path.read_text(encoding="utf-8"))[ranker]
    return Calibration(
        _weights(stored["answer"], QUESTION_SIGNALS),
        _weights(stored["result"], (*QUESTION_SIGNALS, *RESULT_SIGNALS)),
        float(stored["threshold"]),
        float(stored["odds"]),
    )


def _weights(stored: dict[str, float], names: Sequence[str]) -> Floats:
    return np.array([*(stored[name] for name in names), stored["intercept"]])


def judge(evidence: RankingInputs, ranked: RankedFiles, calibration: Calibration) -> Confidence:
    """How much a ranking can be trusted: not at all where it is empty."""
    if not ranked.order:
        return Confidence(False, 0.0, np.zeros(0))
    asked = question_signals(evidence, ranked)
    of_results = result_signals(evidence, ranked)
    evident = float(asked @ calibration.answer[:-1] + calibration.answer[-1])
    weights = calibration.result
    common = asked @ weights[: len(asked)] + weights[-1]
    chances = 1 / (1 + np.exp(-_cut(common + of_results @ weights[len(asked) : -1])))
    # A result is worth no more than the whole answer, nor than one that is ranked above it.
    chances = np.minimum(chances, _logistic(evident + math.log(calibration.odds)))
    chance = _logistic(evident)
    scores = np.zeros(len(chances))
    scores[list(ranked.order)] = np.minimum.accumulate(chances)
    return Confidence(chance >= calibration.threshold, chance, scores)


def question_signals(evidence: RankingInputs, ranked: RankedFiles) -> Floats:
    """One number a name in QUESTION_SIGNALS; there must be a candidate."""
    question, files, chunks = evidence.question, evidence.files, evidence.chunks
    top, sixth = ranked.order[0], ranked.order[min(5, len(ranked.order) - 1)]
    by_words = best_of_file(chunks.bm25, chunks.files, len(files.ids))
    terms = max(1, len(question.content_terms))
    is_defined = bool(defining_files(evidence).any())
    return np.array(
        [
            ranked.scores[top],
            ranked.scores[top] - ranked.scores[sixth],
            files.passage.max(),
            files.passage[top],
            files.coverage.max(),
            files.coverage[top],
            evidence.unknown,
            files.dense_best.max(),
            files.dense_best[top],
            by_words.max() / terms,
            by_words[top] / terms,
            by_words.argmax() == files.dense_best.argmax(),
            question.detail,
            question.is_symbol,
            bool(question.names) and is_defined,
            bool(question.names) and not is_defined,
            chunks.dense.max(initial=0.0) - noise_level(chunks.dense),
            files.passage.max() >= 1,
        ],
        dtype=np.float64,
    )


def result_signals(evidence: RankingInputs, ranked: RankedFiles) -> Floats:
    """One row a candidate file in its order, one column a name in RESULT_SIGNALS."""
    files, chunks = evidence.files, evidence.chunks
    order = np.array(ranked.order, dtype=np.int64)
    by_words = best_of_file(chunks.bm25, chunks.files, len(files.ids))
    best = max(float(ranked.scores[order[0]]), 1e-12)
    columns = [
        ranked.scores / best,
        np.zeros(len(order)),
        files.passage,
        files.coverage,
        files.dense_best,
        by_words / max(1, len(evidence.question.content_terms)),
        defining_files(evidence),
    ]
    table: Floats = np.array(columns, dtype=np.float64).T.take(order, axis=0)
    table[:, RESULT_SIGNALS.index("place")] = np.log1p(np.arange(len(order)))
    return table


def _cut(values: Floats) -> Floats:
    return np.minimum(np.maximum(values, -30.0), 30.0)


def _logistic(value: float) -> float:
    return 1 / (1 + math.exp(-min(max(value, -30.0), 30.0)))
