"""Features, paths, spans and the order of files."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ranking_sample import floats, make_inputs

from rootle.rank.features import (
    NAMES,
    file_features,
    max_per_file,
    path_table,
    share_of_max,
    top_three_per_file,
    word_similarity,
)
from rootle.rank.path_features import path_parts, quotes_messages
from rootle.rank.rankers.features_ranker import WEIGHTS, rank_files
from rootle.rank.ranking_inputs import ChunkInputs, RankingInputs
from rootle.rank.span_choice import (
    INITIAL_LINES_WITH_MATCH,
    MAX_LINES,
    ScoredSpan,
    choose_spans,
    has_room,
    span_scores,
)
from rootle.text.translated_paths import contains_texts


def test_the_three_best_chunks_have_decreasing_weights() -> None:
    scores = floats([2.0, 8.0, 4.0, 6.0, 5.0, 3.0])
    files = np.array([0, 0, 0, 0, 2, 0])
    both = top_three_per_file([scores, -scores + 9], files, 3)
    assert both[0].tolist() == pytest.approx([8 + 6 / 2 + 4 / 3, 0, 5])
    assert both[1].tolist() == pytest.approx([7 + 6 / 2 + 5 / 3, 0, 4])
    assert max_per_file(scores, files, 3).tolist() == [8, 0, 5]
    (empty,) = top_three_per_file([floats([])], np.array([], dtype=np.int64), 2)
    assert empty.tolist() == [0, 0]


def test_scores_are_divided_by_the_highest_one() -> None:
    assert share_of_max(floats([-1.0, 2.0, 4.0])).tolist() == [0, 0.5, 1]
    assert share_of_max(floats([-1.0, 0.0])).tolist() == [0, 0]


def _feature(name: str, inputs: RankingInputs) -> list[float]:
    """Return the values of one feature, one per file."""
    values: list[float] = file_features(inputs)[:, NAMES.index(name)].tolist()
    return values


def _add_definition(inputs: RankingInputs, at: int) -> RankingInputs:
    """Return the inputs with one chunk that defines a name of the question."""
    defines = np.arange(len(inputs.chunks.ids)) == at
    return replace(inputs, chunks=replace(inputs.chunks, defines=defines))


def test_a_file_that_defines_the_searched_symbol_has_its_features() -> None:
    paths = ["src/other.py", "src/retry_policy.py"]
    defining = _add_definition(make_inputs("RetryPolicy", paths, [2.0, 1.0]), 1)
    assert _feature("defines_symbol", defining) == [0, 1]
    assert _feature("symbol_is_stem", defining) == [0, 1]
    # A definition does not raise the rank if the question is not the name of a symbol.
    sentence = _add_definition(make_inputs("what is the retry policy", paths, [2.0, 1.0]), 1)
    assert _feature("defines_symbol", sentence) == [0, 0]


def test_a_file_that_defines_a_name_does_not_mention_it() -> None:
    inputs = make_inputs("who calls retry_backoff", ["src/retry.py", "src/client.py"], [2.0, 1.0])
    assert _feature("mentions", _add_definition(inputs, 0)) == [0, 1]


def test_the_words_of_folders_do_not_count_as_words_of_the_file_name() -> None:
    inputs = make_inputs("retry backoff", ["retry/zebra.py", "src/retry.py"], [2.0, 1.0])
    assert _feature("stem_in_question", inputs) == [0, 1]
    assert _feature("folders", inputs) == [1, 0]


@pytest.mark.parametrize(
    ("left", "right", "alike"),
    [
        ("retry", "retry", 1.0),
        ("retry", "retries", 0.0),
        ("valid", "validate", 0.8),
        ("api", "apis", 0.8),
        ("token", "tokens", 0.8),
        ("parsed", "parser", 0.6),
        ("to", "token", 0.0),
        ("cat", "dog", 0.0),
    ],
)
def test_words_are_similar_if_they_share_a_prefix(left: str, right: str, alike: float) -> None:
    assert word_similarity(left, right) == word_similarity(right, left) == alike


@pytest.mark.parametrize(
    ("path", "is_test"),
    [
        ("tests/a.py", True),
        ("src/test_a.py", True),
        ("src/a_test.go", True),
        ("src/a.spec.ts", True),
        ("src/__tests__/a.js", True),
        ("src/test/java/ATest.java", True),
        ("conftest.py", True),
        ("App.Tests/UnitTests.cs", True),
        ("Component/Form/Tests/Fixtures/Author.php", True),
        ("client/config/testing.go", True),
        ("nomad/mock/job.go", True),
        ("admin/lib/testing_support/moveable.rb", True),
        ("test-support/src/main/java/Server.java", True),
        ("pkg/testutil/dir.go", True),
        ("src/testimonials/page.ts", False),
        ("src/contest.py", False),
        ("src/latest/a.py", False),
        ("src/attestation.py", False),
        ("src/testify.py", False),
    ],
)
def test_test_files_are_recognized_by_their_path(path: str, is_test: bool) -> None:
    assert path_table((path,)).kinds["is_test"].tolist() == [is_test]


@pytest.mark.parametrize(
    ("path", "is_migration"),
    [
        ("shop/migrations/0044_add_address.py", True),
        ("core/db/migrate/20161014221052_add_address.rb", True),
        ("database/migrations/2014_10_12_000000_create_users_table.php", True),
        ("db/migration/V2__add_address.sql", True),
        ("prisma/migrations/20240101120000_init/migration.sql", True),
        ("alembic/migrations/versions/ae1027a6acf_add_address.py", True),
        ("shop/migrations/operations.py", False),
        ("docs/migration/from-v1.md", False),
        ("src/migrate/runner.go", False),
    ],
)
def test_migrations_are_recognized(path: str, *, is_migration: bool) -> None:
    assert path_table((path,)).kinds["is_migration"].tolist() == [is_migration]


@pytest.mark.parametrize(
    ("path", "is_manifest"),
    [
        ("package.json", True),
        ("core/solidus_core.gemspec", True),
        ("pyproject.toml", True),
        ("requirements-dev.txt", True),
        ("build-logic/src/java.compile.gradle.kts", True),
        (".dockerdev/Dockerfile", True),
        ("src/App.csproj", True),
        ("src/package.json.ts", False),
        ("src/setup.js", False),
        ("docs/requirements.md", False),
    ],
)
def test_files_that_state_requirements_are_recognized(path: str, *, is_manifest: bool) -> None:
    assert path_table((path,)).kinds["is_manifest"].tolist() == [is_manifest]


@pytest.mark.parametrize(
    ("path", "is_record"),
    [
        ("CHANGELOG.md", True),
        ("docs/history.rst", True),
        ("LICENSE", True),
        ("changes/4452.bugfix", True),
        ("docs/releases/6.2.md", True),
        ("docs/history/whatsnew-5.6.rst", True),
        ("docs/tls-1.3.md", False),
        ("guides/python-3.11.md", False),
        ("docs/releases/1.10.1-rc1.txt", True),
        ("docs/releases/release_process.md", False),
        ("docs/api/v2.md", False),
        ("lib/pg_9.6.sql", False),
        ("models/copying.py", False),
        ("src/History.php", False),
        ("client/state/upgrade.go", False),
        ("news/views.py", False),
    ],
)
def test_changelogs_and_the_like_are_recognized_but_not_code_with_such_a_name(
    path: str, *, is_record: bool
) -> None:
    assert path_table((path,)).kinds["is_record"].tolist() == [is_record]


@pytest.mark.parametrize(
    ("path", "quotes"),
    [
        ("tests/test_delay.py", True),
        ("CHANGELOG", True),
        ("docs/delay.md", True),
        ("src/generated/delay.py", True),
        ("src/delay.py", False),
        ("config/delay.toml", False),
    ],
)
def test_tests_changelogs_documents_and_generated_code_only_quote_messages(
    path: str, *, quotes: bool
) -> None:
    assert quotes_messages(path) == quotes


def test_a_path_is_split_into_words() -> None:
    parts = path_parts("src/http_client/RetryPolicy.test.ts")
    assert parts.folders == ("src", "http", "client")
    assert parts.stem == ("retry", "policy", "test")
    assert path_parts("src/retry/__init__.py").stem == ("retry",)
    assert path_parts("src/retry/index.ts").whole == "retry"
    assert path_parts("main.py").stem == ("main",)


def test_more_matching_words_rank_higher_and_scores_stay_between_0_and_1() -> None:
    ranked = rank_files(make_inputs("backoff", ["a.py", "b.py", "c.py"], [1.0, 3.0, 2.0]))
    assert ranked.order == (1, 2, 0)
    assert ranked.scores.min() >= 0
    assert ranked.scores.max() <= 1


def test_files_with_equal_scores_are_ordered_by_path() -> None:
    paths = ["src/b.py", "src/a.py", "lib/z.py"]
    for order in ([0, 1, 2], [2, 1, 0], [1, 2, 0]):
        shuffled = [paths[at] for at in order]
        ranked = rank_files(make_inputs("qqq", shuffled, [1.0] * 3))
        assert [shuffled[at] for at in ranked.order] == sorted(paths)


def test_test_files_rank_below_the_tested_file_unless_requested() -> None:
    paths = ["tests/test_backoff.py", "src/backoff.py"]
    assert rank_files(make_inputs("backoff delay", paths, [3.0, 2.5])).order == (1, 0)
    assert rank_files(make_inputs("tests of backoff delay", paths, [3.0, 2.5])).order == (0, 1)
    # A query that describes a change ("fix …") also asks for tests, so they are not ranked lower.
    paths, place = ["tests/pauses.py", "src/delay.py"], "overflow of long waits between failed jobs"
    assert rank_files(make_inputs(place, paths, [3.0, 2.5])).order == (1, 0)
    assert rank_files(make_inputs(f"fix {place}", paths, [3.0, 2.5])).order == (0, 1)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("app/resources/l10n/App_en.properties", True),
        ("config/locales/en.yml", True),
        ("web/locales/en-US/common.json", True),
        ("mods/languages/rules/en.ftl", True),
        ("src/locale/de_DE/LC_MESSAGES/django.po", True),
        ("res/values-de/strings.xml", True),
        ("src/main/resources/messages_de.properties", True),
        ("templates/page.ftl", False),  # FreeMarker
        ("config/en.yml", False),
        ("languages/python.toml", False),
        ("src/messages.py", False),
    ],
)
def test_the_texts_of_a_user_interface_are_recognized_by_their_path(
    path: str, *, expected: bool
) -> None:
    assert contains_texts(path) == expected


def test_the_texts_of_a_user_interface_rank_below_code_unless_requested() -> None:
    paths = ["app/locales/en.yml", "app/twice.rb"]
    assert rank_files(make_inputs("import the reference again", paths, [3.0, 2.5])).order == (1, 0)
    assert rank_files(make_inputs("label for the reference", paths, [3.0, 2.5])).order == (0, 1)


def test_the_contributions_sum_to_the_score() -> None:
    ranked = rank_files(make_inputs("retry backoff", ["retry.py", "b.py"], [2.0, 1.0], [0.5, 0.4]))
    assert ranked.features.sum(axis=1).tolist() == pytest.approx(ranked.scores.tolist())
    assert ranked.features.shape == (2, len(WEIGHTS))


def test_a_ranking_without_candidates_is_empty() -> None:
    assert rank_files(make_inputs("x", [], [])).order == ()


def test_a_file_without_candidate_chunks_can_be_ranked() -> None:
    evidence = make_inputs("retry", ["retry.py", "b.py"], [1.0, 2.0])
    chunks = ChunkInputs(*(getattr(evidence.chunks, name)[1:] for name in _CHUNK_FIELDS))
    ranked = rank_files(replace(evidence, chunks=chunks))
    assert sorted(ranked.order) == [0, 1]


_CHUNK_FIELDS = ("ids", "files", "bm25", "dense", "symbols", "notes", "defines")

_SPANS = st.lists(
    st.tuples(st.integers(1, 300), st.integers(1, 120), st.floats(0, 5)), max_size=12
).map(
    lambda rows: [
        ScoredSpan(number, start, start + length - 1, score)
        for number, (start, length, score) in enumerate(rows)
    ]
)


@pytest.mark.slow
def test_words_vectors_and_definitions_raise_the_score_of_a_chunk() -> None:
    bm25, dense = floats([4.0, 1.0, 0.0]), floats([0.4, 0.8, 0.0])
    defines = np.array([False, False, True])
    # The best chunk by words gets 1, and the best one by vectors gets 0.75. A definition gets 0.3,
    # or 2 if the question is the name of a symbol.
    found = span_scores(bm25, dense, defines, is_symbol=False)
    assert found.tolist() == pytest.approx([1 + 0.375, 0.25 + 0.75, 0.3])
    assert span_scores(bm25, dense, defines, is_symbol=True)[2] == pytest.approx(2.0)


@given(_SPANS)
def test_spans_have_at_most_sixty_lines_and_do_not_overlap(spans: list[ScoredSpan]) -> None:
    chosen = choose_spans(spans)
    assert bool(chosen) == bool(spans)
    assert len(chosen) <= 4
    lines = [line for span in chosen for line in range(span.start_line, span.end_line + 1)]
    assert len(lines) == len(set(lines)) <= MAX_LINES
    assert all(span.end_line >= span.start_line for span in chosen)
    scores = [span.score for span in chosen]
    assert scores == sorted(scores, reverse=True)
    by_id = {span.chunk_id: span for span in spans}
    for span in chosen:
        whole = by_id[span.chunk_id]
        assert whole.start_line <= span.start_line <= span.end_line <= whole.end_line


def test_a_long_best_span_leaves_lines_for_a_second_span() -> None:
    chosen = choose_spans([ScoredSpan(1, 10, 200, 2.0), ScoredSpan(2, 300, 305, 1.0)])
    assert [(span.start_line, span.end_line) for span in chosen] == [(10, 63), (300, 305)]


def test_four_long_spans_show_their_first_lines_and_the_best_span_gets_the_rest() -> None:
    long = [ScoredSpan(at, 100 * at + 1, 100 * at + 50, 4.0 - at) for at in range(4)]
    chosen = choose_spans(long)
    assert [(span.start_line, span.end_line) for span in chosen] == [
        (1, 36), (101, 108), (201, 208), (301, 308)
    ]  # fmt: skip


def test_remaining_lines_are_computed_before_spans_are_extended() -> None:
    """Skip overlapping windows first, so that later windows can still be chosen."""
    chosen = choose_spans([ScoredSpan(n, 40 * n + 1, 40 * n + 60, 9.0 - n) for n in (1, 2, 3)])
    assert sum(span.end_line - span.start_line + 1 for span in chosen) == MAX_LINES
    assert len(chosen) < 4
    assert has_room(chosen)
    assert not has_room(chosen, initial_lines=MAX_LINES)


def test_a_single_long_span_gets_all_lines() -> None:
    chosen = choose_spans([ScoredSpan(1, 10, 200, 2.0)])
    assert [(span.start_line, span.end_line) for span in chosen] == [(10, 69)]


def test_short_spans_leave_room_for_another_one() -> None:
    short = [ScoredSpan(at, 100 * at, 100 * at + 2, 1.0) for at in (1, 2, 3)]
    assert has_room(short, INITIAL_LINES_WITH_MATCH)
