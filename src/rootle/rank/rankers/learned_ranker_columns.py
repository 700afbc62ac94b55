"""The input columns of the learned ranker: features, raw scores, ranks and file kinds."""

from __future__ import annotations

from typing import Final, get_args

import numpy as np

from rootle.rank.features import NAMES, WORD_ORDER, defining_files, flag_kinds, noise_level
from rootle.rank.question.intent import Intent
from rootle.rank.rankers.features_ranker import RankedFiles
from rootle.rank.ranking_inputs import Floats, RankingInputs

_INTENTS: Final[tuple[Intent, ...]] = get_args(Intent)
# The kinds of `path_features.KINDS` that the shipped model was trained for.
_KINDS: Final = ("is_test", "is_record", "is_prose", "is_config", "is_example", "is_hidden")

# The decision trees ignore the order of words. They were trained on synthetic questions that were
# made from comments. The comments were then removed from the code, so no text had the words of a
# question in the same order.
_TREE_NAMES: Final = NAMES[: len(NAMES) - len(WORD_ORDER)]

# Values are from 0 to 1 unless noted. A model is trained for these columns in this order.
COLUMNS: Final = (
    *_TREE_NAMES,  # relative to the best candidate
    "score",  # by the weighted sum
    "score_share",  # relative to the best score
    "score_place",  # rank, from 0
    "bm25_place",
    "dense_place",
    "path_place",
    "cosine",  # of the nearest chunk
    "cosine_above_noise",
    "coverage",
    "passage",
    "chunks",  # logarithm of 1 + number of candidate chunks
    *_KINDS,
    "defines",
    # Columns of the question, which are the same for all candidates.
    "words",  # number of words in the question
    "detail",
    "unknown",
    "best_passage",
    "best_cosine",
    "is_symbol",
    "is_about_tests",
    *(f"intent_{intent}" for intent in _INTENTS),
)


def model_columns(inputs: RankingInputs, ranked: RankedFiles) -> Floats:
    """Return the columns, shape (files, COLUMNS). `ranked` is the result of the weighted sum."""
    files, count = inputs.files, len(inputs.files.ids)
    noise, kinds = noise_level(inputs.chunks.dense), flag_kinds(inputs)
    scores = ranked.scores_without(WORD_ORDER)
    of_files = [
        scores,
        scores / max(float(scores.max(initial=0.0)), 1e-12),
        _ranks(scores),
        _ranks(files.bm25),
        _ranks(files.dense_best),
        _ranks(files.path_bm25),
        files.dense_best,
        files.dense_best - noise,
        files.coverage,
        files.passage,
        np.log1p(np.bincount(inputs.chunks.files, minlength=count)),
        *(kinds[name] for name in _KINDS),
        defining_files(inputs),
    ]
    question_row = _question_columns(inputs)
    of_question = np.broadcast_to(question_row, (count, len(question_row)))
    return np.column_stack([ranked.table[:, : len(_TREE_NAMES)], *of_files, of_question])


def _question_columns(inputs: RankingInputs) -> Floats:
    question, files = inputs.question, inputs.files
    return np.array(
        [
            len(question.words),
            question.detail,
            inputs.unknown,
            files.passage.max(initial=0.0),
            files.dense_best.max(initial=0.0),
            question.is_symbol,
            question.is_about_tests,
            *(question.intent == intent for intent in _INTENTS),
        ],
        dtype=np.float64,
    )


def _ranks(values: Floats) -> Floats:
    """Return the rank of each value in descending order, from 0; ties keep their order."""
    ranks = np.empty(len(values))
    ranks[(-values).argsort(kind="stable")] = np.arange(len(values))
    return ranks
