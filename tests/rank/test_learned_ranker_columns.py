"""The input columns of the learned ranker."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from ranking_sample import floats, make_inputs

from rootle.rank.rankers.features_ranker import rank_files
from rootle.rank.rankers.learned_ranker_columns import COLUMNS, model_columns


def test_the_columns_contain_raw_values_ranks_and_the_best_values_of_the_question() -> None:
    inputs = make_inputs("where is the backoff tested", ["a.py", "tests/b.py"], [1.0, 3.0])
    files = replace(
        inputs.files,
        passage=floats([0.25, 0.125]),
        dense_best=floats([0.5, 0.75]),
        coverage=floats([0.5, 1.0]),
    )
    inputs = replace(inputs, files=files, unknown=0.5)
    columns = model_columns(inputs, rank_files(inputs))
    assert columns.shape == (2, len(COLUMNS))
    found = {name: columns[:, at].tolist() for at, name in enumerate(COLUMNS)}
    expected = {
        "bm25_place": [1, 0],
        "dense_place": [1, 0],
        "path_place": [0, 1],  # ties keep their order
        "cosine": [0.5, 0.75],
        "coverage": [0.5, 1.0],
        "passage": [0.25, 0.125],
        "chunks": [np.log(2)] * 2,
        "is_test": [0, 1],
        "defines": [0, 0],
        "unknown": [0.5, 0.5],
        "best_passage": [0.25, 0.25],
        "best_cosine": [0.75, 0.75],
        "is_symbol": [0, 0],
        "is_about_tests": [1, 1],
        "intent_test": [1, 1],
        "intent_search": [0, 0],
    }
    assert {name: found[name] for name in expected} == {
        name: pytest.approx(values) for name, values in expected.items()
    }


def test_the_columns_of_a_question_without_candidates_are_empty() -> None:
    inputs = make_inputs("retry backoff", [], [])
    assert model_columns(inputs, rank_files(inputs)).shape == (0, len(COLUMNS))
