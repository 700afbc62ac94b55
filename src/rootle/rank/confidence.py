"""Calibrated confidence: the probability that a result, or any result, answers the question."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, Literal

import numpy as np

from rootle.models.shipped import RANKER_V1, model_file
from rootle.rank.features import (
    WORD_ORDER,
    defining_files,
    max_per_file,
    noise_level,
    only_definers,
)
from rootle.rank.rankers.features_ranker import RankedFiles
from rootle.rank.ranking_inputs import Floats, RankingInputs

# Signals of the whole answer. They have different scales, which the model weights balance.
QUESTION_SIGNALS: Final = (
    "top_score",  # score of the first result, without the features of WORD_ORDER
    "lead",  # top_score minus the score of the sixth result
    "best_passage",  # largest share of the question words in one chunk
    "top_passage",
    "best_coverage",  # largest share of the words in one file, weighted by rarity
    "top_coverage",
    "unknown",  # share of the words that do not occur in the index
    "best_cosine",
    "top_cosine",
    "words_score",  # BM25 of the best chunk, per question word
    "top_words_score",
    "legs_agree",  # full-text and vector search have their best chunks in the same file
    "detail",
    "is_symbol",
    "names_defined",  # a candidate defines a name of the question
    "names_missing",  # the question has names, and no candidate defines one
    "cosine_lead",  # cosine of the best chunk minus the noise level
    "whole_passage",  # one chunk contains every word of the question
    "word_count",  # at most forty
    "unknown_words",  # number of words that do not occur in the index
    "names",  # number of names, at most six
)
_MAX_NAMES: Final = 6
# An answer is confident if one of its first files, up to this place, has the only definition of a
# name of the question.
_MAX_DEFINITION_PLACE: Final = 3
_MAX_WORDS: Final = 40
# People ask questions, whereas language models compose queries from a description, names and code.
# In a composed query, more words are missing from the index, even if there is an answer. Therefore
# each of these two kinds of queries, called voices, has its own models.
Voice = Literal["asked", "composed"]

# Signals of a single result.
RESULT_SIGNALS: Final = ("share", "place", "passage", "coverage", "cosine", "words", "defines")


@dataclass(frozen=True, slots=True)
class Calibration:
    """Two logistic regression models, fitted by `training/ranker/calibration.py`."""

    answer: Floats  # weights of QUESTION_SIGNALS, then the intercept
    result: Floats  # weights of QUESTION_SIGNALS and RESULT_SIGNALS, then the intercept
    threshold: float  # minimum probability of a confident answer
    odds: float  # factor by which unanswerable questions are rarer than in the training data


@dataclass(frozen=True, slots=True)
class Confidence:
    """Probabilities for one ranking."""

    confident: bool
    chance: float  # estimated probability that the first ten results contain an answer
    scores: Floats  # probability of every candidate file; non-increasing in rank order
    max_rejected_score: float = 0.0  # maximum score of a result if `confident` is False


@lru_cache(maxsize=8)
def shipped_calibration(ranker: str, voice: Voice) -> Calibration:
    """Return the calibration that was fitted for a ranker and a voice."""
    path = model_file(RANKER_V1, "calibration.json")
    stored = json.loads(path.read_text(encoding="utf-8"))[ranker][voice]
    return Calibration(
        _weights(stored["answer"], QUESTION_SIGNALS),
        _weights(stored["result"], (*QUESTION_SIGNALS, *RESULT_SIGNALS)),
        float(stored["threshold"]),
        float(stored["odds"]),
    )


def _weights(stored: dict[str, float], names: Sequence[str]) -> Floats:
    return np.array([*(stored[name] for name in names), stored["intercept"]])


def detect_voice(inputs: RankingInputs) -> Voice:
    """Return the voice of the question, which determines the calibration."""
    return "composed" if inputs.question.is_composed else "asked"


def estimate_confidence(
    inputs: RankingInputs, ranked: RankedFiles, calibration: Calibration
) -> Confidence:
    """Return calibrated probabilities for a ranking. An empty ranking has a `chance` of 0."""
    if not ranked.order:
        return Confidence(False, 0.0, np.zeros(0))
    of_question = question_signals(inputs, ranked)
    of_results = result_signals(inputs, ranked)
    log_odds = float(of_question @ calibration.answer[:-1] + calibration.answer[-1])
    threshold = math.log(calibration.threshold / (1 - calibration.threshold))
    if _has_definition(inputs, ranked):
        log_odds = max(log_odds, threshold)
    weights = calibration.result
    common = of_question @ weights[: len(of_question)] + weights[-1]
    chances = 1 / (1 + np.exp(-_clip(common + of_results @ weights[len(of_question) : -1])))
    # No result is more probable than the whole answer, or than a result that is ranked above it.
    rarity = math.log(calibration.odds)
    chances = np.minimum(chances, _logistic(log_odds + rarity))
    chance = _logistic(log_odds)
    scores = np.zeros(len(chances))
    scores[list(ranked.order)] = np.minimum.accumulate(chances)
    return Confidence(log_odds >= threshold, chance, scores, _logistic(threshold + rarity))


def _has_definition(inputs: RankingInputs, ranked: RankedFiles) -> bool:
    """Return whether one of the first files has the only definition of a name of the question.

    The result is False if a name has no definition, because then the names are guesses.
    """
    if round(float(inputs.files.definers.sum())) < len(inputs.question.names):
        return False
    first = list(ranked.order[:_MAX_DEFINITION_PLACE])
    return bool(only_definers(inputs)[first].any())


def reject(confidence: Confidence) -> Confidence:
    """Return the confidence with `confident` set to False, and with limited scores."""
    scores = np.minimum(confidence.scores, confidence.max_rejected_score)
    return replace(confidence, confident=False, scores=scores)


def question_signals(inputs: RankingInputs, ranked: RankedFiles) -> Floats:
    """Return the signals in the order of QUESTION_SIGNALS. There must be at least one candidate.

    The order of words is ignored, because some file usually has a few of the words in the same
    order by chance.
    """
    question, files, chunks = inputs.question, inputs.files, inputs.chunks
    scores = ranked.scores_without(WORD_ORDER)
    order = (-scores).argsort(kind="stable")
    top, sixth = int(order[0]), int(order[min(5, len(order) - 1)])
    by_words = max_per_file(chunks.bm25, chunks.files, len(files.ids))
    terms = max(1, len(question.content_terms))
    is_defined = bool(defining_files(inputs).any())
    content = sum(
        term.weight >= 1 and term.text not in question.code_terms for term in question.content_terms
    )
    return np.array(
        [
            scores[top],
            scores[top] - scores[sixth],
            files.described.max(),
            files.described[top],
            files.coverage.max(),
            files.coverage[top],
            inputs.unknown,
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
            files.described.max() >= 1,
            min(len(question.words), _MAX_WORDS),
            inputs.unknown * content,
            min(len(question.names), _MAX_NAMES),
        ],
        dtype=np.float64,
    )


def result_signals(inputs: RankingInputs, ranked: RankedFiles) -> Floats:
    """Return the signals, shape (files, RESULT_SIGNALS), in rank order."""
    files, chunks = inputs.files, inputs.chunks
    order = np.array(ranked.order, dtype=np.int64)
    by_words = max_per_file(chunks.bm25, chunks.files, len(files.ids))
    best = max(float(ranked.scores[order[0]]), 1e-12)
    columns = [
        ranked.scores / best,
        np.zeros(len(order)),
        files.passage,
        files.coverage,
        files.dense_best,
        by_words / max(1, len(inputs.question.content_terms)),
        defining_files(inputs),
    ]
    table: Floats = np.array(columns, dtype=np.float64).T.take(order, axis=0)
    table[:, RESULT_SIGNALS.index("place")] = np.log1p(np.arange(len(order)))
    return table


def _clip(values: Floats) -> Floats:
    return np.minimum(np.maximum(values, -30.0), 30.0)


def _logistic(value: float) -> float:
    return 1 / (1 + math.exp(-min(max(value, -30.0), 30.0)))
