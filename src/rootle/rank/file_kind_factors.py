"""Factors that rank tests, vendored, generated and other kinds of files lower or higher."""

from __future__ import annotations

from typing import Final

from rootle.rank.features import (
    copied_files,
    defining_files,
    flag_kinds,
    prose_files,
    record_files,
    test_files,
)
from rootle.rank.ranking_inputs import Floats, RankingInputs

TEST_FACTOR: Final = 0.5  # for tests, unless the question is about tests or describes a change
CODE_FACTOR: Final = 0.6  # for files without tests, if the question asks for a test
RECORD_FACTOR: Final = 0.5  # for changelogs and the like, unless the question is about history
COPY_FACTOR: Final = 0.5  # for vendored and generated files, unless the question is about them
TEXTS_FACTOR: Final = 0.5  # for the texts of a user interface, unless the question is about them
MIGRATION_FACTOR: Final = 0.5  # for migrations of a database, unless the question is about tables
DOCUMENT_FACTOR: Final = 2.0  # for documents, if the question asks how to do something
OPTION_FACTOR: Final = 2.0  # for documents but not changelogs, if the question asks for an option
# If the question asks which version of a tool the project requires:
MANIFEST_FACTOR: Final = 2.5  # for files that state requirements, such as package.json
REQUIREMENT_FACTOR: Final = 0.5  # for other code
DEFINER_FACTOR: Final = 0.5  # for files that define a name, if the question asks for its uses


def apply_kind_factors(contributions: Floats, inputs: RankingInputs) -> Floats:
    """Return the contributions of each file to its score, multiplied by the factors of its kinds.

    The contributions have one row per candidate file.
    """
    question, multiplied = inputs.question, contributions.copy()
    if not (question.is_about_tests or question.is_change):
        multiplied[test_files(inputs)] *= TEST_FACTOR
    if question.intent == "test":
        multiplied[~test_files(inputs)] *= CODE_FACTOR
    if question.intent != "history":
        multiplied[record_files(inputs)] *= RECORD_FACTOR
    if not question.is_about_copies:
        multiplied[copied_files(inputs)] *= COPY_FACTOR
    if question.intent != "error" and not question.is_about_texts:
        multiplied[flag_kinds(inputs)["is_texts"]] *= TEXTS_FACTOR
    if not question.is_about_tables:
        multiplied[flag_kinds(inputs)["is_migration"]] *= MIGRATION_FACTOR
    if question.asks_for_requirement:
        kinds = flag_kinds(inputs)
        multiplied[kinds["is_manifest"]] *= MANIFEST_FACTOR
        others = kinds["is_manifest"] | kinds["is_config"] | kinds["is_prose"]
        multiplied[~others] *= REQUIREMENT_FACTOR
    elif question.asks_for_option:
        multiplied[prose_files(inputs) & ~record_files(inputs)] *= OPTION_FACTOR
    elif question.intent == "howto":
        multiplied[prose_files(inputs)] *= DOCUMENT_FACTOR
    if question.intent == "usage":
        multiplied[defining_files(inputs)] *= DEFINER_FACTOR
    return multiplied
