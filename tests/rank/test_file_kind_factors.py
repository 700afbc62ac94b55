"""Tests, changelogs, copies and other kinds of files rank lower or higher."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from ranking_sample import make_inputs

from rootle.rank.file_kind_factors import apply_kind_factors

# Code, a test, a changelog, a copy of another project, generated code, texts of a user interface,
# a document, and a file that states requirements.
_PATHS = [
    "src/delay.py", "tests/test_delay.py", "CHANGELOG.md", "vendor/pauses.py",
    "src/generated/pauses.py", "src/locales/en.json", "docs/waiting.md", "package.json",
]  # fmt: skip


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("retry backoff", [1, 0.5, 0.5, 0.5, 0.5, 0.5, 1, 1]),
        # The test keeps its score; the scores of all other files are reduced as well.
        ("where is the backoff tested", [0.6, 1, 0.3, 0.3, 0.3, 0.3, 0.6, 0.6]),
        ("when did the backoff change", [1, 0.5, 1, 0.5, 0.5, 0.5, 1, 1]),
        ("the vendored backoff", [1, 0.5, 0.5, 1, 1, 0.5, 1, 1]),
        ("error: retry limit exceeded", [1, 0.5, 0.5, 0.5, 0.5, 1, 1, 1]),
        ("translation of the retry message", [1, 0.5, 0.5, 0.5, 0.5, 1, 1, 1]),
        # A changelog is a document, too.
        ("which option limits the backoff", [1, 0.5, 0.5, 0.5, 0.5, 0.5, 2, 1]),
        ("what is the default of the backoff", [1, 0.5, 0.5, 0.5, 0.5, 0.5, 2, 1]),
        ("where is the option of the backoff read", [1, 0.5, 0.5, 0.5, 0.5, 0.5, 1, 1]),
        ("how do I configure the backoff", [1, 0.5, 1, 0.5, 0.5, 0.5, 2, 1]),
        ("which node version is needed", [0.5, 0.25, 0.5, 0.25, 0.25, 0.5, 1, 2.5]),
    ],
)
def test_the_kind_of_a_file_changes_its_score(question: str, expected: list[float]) -> None:
    inputs = make_inputs(question, _PATHS, [1.0] * len(_PATHS))
    contributions = np.full((len(_PATHS), 2), [2.0, 10.0])
    found = apply_kind_factors(contributions, inputs)
    assert found[:, 0].tolist() == pytest.approx([2 * factor for factor in expected])
    assert found[:, 1].tolist() == pytest.approx([10 * factor for factor in expected])
    assert contributions.min() == 2.0  # the argument is not changed


@pytest.mark.parametrize(
    ("path", "factor"),
    [
        ("deps/pthreads/condition.c", 0.5),
        ("external/json.hpp", 0.5),
        ("subprojects/zlib/inflate.c", 0.5),
        ("src/api/deps/session.py", 1.0),
        ("src/deps.c", 1.0),
    ],
)
def test_copies_in_the_folder_of_dependencies_rank_lower(path: str, factor: float) -> None:
    inputs = make_inputs("how long does it wait", [path], [1.0])
    assert apply_kind_factors(np.ones((1, 1)), inputs).tolist() == [[factor]]


def test_the_file_that_defines_a_name_is_no_use_of_it() -> None:
    inputs = make_inputs("who calls retry_backoff", ["src/delay.py", "src/client.py"], [1.0, 1.0])
    chunks = replace(inputs.chunks, defines=np.array([True, False]))
    found = apply_kind_factors(np.ones((2, 1)), replace(inputs, chunks=chunks))
    assert found[:, 0].tolist() == [0.5, 1.0]


@pytest.mark.parametrize(
    ("question", "factor"),
    [("keep the address of a user", 0.5), ("which migration adds the address column", 1.0)],
)
def test_migrations_rank_lower_unless_the_question_is_about_tables(
    question: str, factor: float
) -> None:
    paths = ["models/user.py", "shop/migrations/0044_add_address.py"]
    found = apply_kind_factors(np.ones((2, 1)), make_inputs(question, paths, [1.0, 1.0]))
    assert found[:, 0].tolist() == [1.0, factor]


def test_a_copy_that_the_question_names_keeps_its_score() -> None:
    inputs = make_inputs("where does pauses wait", ["vendor/pauses.py", "vendor/other.py"], [1, 1])
    assert apply_kind_factors(np.ones((2, 1)), inputs)[:, 0].tolist() == [1.0, 0.5]
