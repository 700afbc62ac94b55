"""What the learned ranker sees of a candidate file: the features, raw scores, places and kinds."""

from __future__ import annotations

from typing import Final, get_args

import numpy as np

from rootle.rank.features import NAMES, defining_files, kinds_of, noise_level
from rootle.rank.question.intent import Intent
from rootle.rank.rankers.feature_sum import RankedFiles
from rootle.rank.ranking_inputs import Floats, RankingInputs

_INTENTS: Final[tuple[Intent, ...]] = get_args(Intent)
# Not simply all of `paths.KINDS`: one more is one more column, for which there is no model yet.
_KINDS: Final = ("is_test", "is_record", "is_prose", "is_config", "is_example", "is_hidden")

# Each 0 to 1 unless it says otherwise. A model is trained for these columns in this order.
COLUMNS: Final = (
    *NAMES,  # shares of the best among the candidates
    "score",  # of the weighted sum
    "score_share",  # of the best one's
    "score_place",  # from 0
    "bm25_place",
    "dense_place",
    "path_place",
    "cosine",  # of its nearest chunk
    "cosine_above_noise",
    "coverage",
    "passage",
    "chunks",  # candidate chunks of it, as a logarithm
    *_KINDS,
    "defines",
    # Of the question, the same for all of its candidates.
    "words",  # how many
    "detail",
    "unknown",
    "best_passage",
    "best_cosine",
    "is_symbol",
    "is_about_tests",
    *(f"intent_{intent}" for intent in _INTENTS),
)


def model_columns(evidence: RankingInputs, ranked: RankedFiles) -> Floats:
    """One row a candidate file, one column a name in COLUMNS; `ranked` is by the weighted sum."""
    files, count = evidence.files, len(evidence.files.ids)
    noise, kinds = noise_level(evidence.chunks.dense), kinds_of(evidence)
    of_files = [
        ranked.scores,
        ranked.scores / max(float(ranked.scores.max(initial=0.0)), 1e-12),
        _places(ranked.scores),
        _places(files.bm25),
        _places(files.dense_best),
        _places(files.path_bm25),
        files.dense_best,
        files.dense_best - noise,
        files.coverage,
        files.passage,
        np.log1p(np.bincount(evidence.chunks.files, minlength=count)),
        *(kinds[name] for name in _KINDS),
        defining_files(evidence),
    ]
    asked = _of_question(evidence)
    of_question = np.broadcast_to(asked, (count, len(asked)))
    return np.column_stack([ranked.table, *of_files, of_question])


def _of_question(evidence: RankingInputs) -> Floats:
    question, files = evidence.question, evidence.files
    return np.array(
        [
            len(question.words),
            question.detail,
            evidence.unknown,
            files.passage.max(initial=0.0),
            files.dense_best.max(initial=0.0),
            question.is_symbol,
            question.is_about_tests,
            *(question.intent == intent for intent in _INTENTS),
        ],
        dtype=np.float64,
    )


def _places(values: Floats) -> Floats:
    """The place of each value, the largest first; equal ones in the order they stand in."""
    places = np.empty(len(values))
    places[(-values).argsort(kind="stable")] = np.arange(len(values))
    return places
