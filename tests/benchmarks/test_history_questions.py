"""Figures of the history benchmark, and the baselines that search commit messages."""

from __future__ import annotations

import pytest
from benchmarks.history.labels import (
    HARD,
    PLAIN,
    history_repositories,
    read_changes,
    read_places,
    read_questions,
    read_removed_functions,
)
from benchmarks.history.message_search import Message, MessageIndex
from benchmarks.history.recorded_expansions import serve_expansions
from benchmarks.quality.history_oracle import QuestionRanks
from benchmarks.quality.history_oracle import summarize as summarize_lists
from benchmarks.quality.history_questions import (
    Case,
    HistoryScore,
    expanded_cases,
    find_rank,
    first_rank,
    pair_recorded,
    summarize,
)

from rootle.errors import UnavailableError
from rootle.expansion.chat_expander import ChatExpander

MESSAGES = [
    Message("a" * 40, "Retry a download once"),
    Message("b" * 40, "Remove the retry on 404\n\nA missing page stays missing."),
    Message("c" * 40, "Update the manual"),
]


def test_the_first_labeled_commit_gives_the_rank() -> None:
    assert first_rank({"b", "c"}, ["a", "c", "b"], 10) == 2
    assert first_rank({"b"}, ["a", "c", "b"], 2) is None
    assert first_rank({"d"}, [], 10) is None


def test_a_line_needs_its_commit_among_the_first_three() -> None:
    found = ["a", "b", "c", "d"]
    assert find_rank(Case("why", "f.py:1", frozenset("d")), found) is None
    assert find_rank(Case("plain", "when", frozenset("d")), found) == 4


def test_figures_are_grouped_by_system_and_task() -> None:
    scores = [
        HistoryScore("bm25", "plain", 1),
        HistoryScore("bm25", "plain", 4),
        HistoryScore("bm25", "hard", None),
    ]
    figures = summarize(scores)
    assert figures["bm25"]["plain"] == {"number": 2, "first": 0.5, "hit": 1.0, "mrr": 0.625}
    assert figures["bm25"]["hard"] == {"number": 1, "first": 0.0, "hit": 0.0, "mrr": 0.0}


def test_bm25_finds_the_message_with_the_words_of_the_query() -> None:
    index = MessageIndex(MESSAGES)
    assert index.search("when did we remove the retry")[0] == "b" * 40
    assert index.search("nothing matches here") == []


def test_the_rarest_known_words_of_a_query_come_first() -> None:
    index = MessageIndex(MESSAGES)
    assert index.rare_words("which commit did remove the unknown retry") == ["remove", "retry"]


def test_each_label_names_full_hashes() -> None:
    names = [one.name for one in history_repositories()]
    questions = [one for name in names for one in read_questions(name)]
    places = [one for name in names for one in read_places(name)]
    removed = [one for name in names for one in read_removed_functions(name)]
    changes = [one for name in names for one in read_changes(name)]
    assert (len(questions), len(places), len(removed), len(changes)) == (150, 60, 40, 57)
    assert {one.kind for one in questions} == {PLAIN, HARD}
    answers = [one.commits for one in questions]
    answers += [one.commits for one in changes]
    answers += [one.commits for one in places]
    answers += [one.commits for one in removed]
    for commits in answers:
        assert 1 <= len(commits) <= 3
        assert all(len(commit) == 40 for commit in commits)


def test_a_commit_in_one_of_the_lists_counts_for_the_share_of_any() -> None:
    ranks = [
        QuestionRanks("tune", HARD, {"answer": None, "vectors": 40, "words": None, "code": 7}),
        QuestionRanks("tune", HARD, {"answer": 3, "vectors": None, "words": None, "code": None}),
    ]
    shares = summarize_lists(ranks)["hard, tune split"]
    assert (shares["answer@10"], shares["code@10"], shares["any@10"]) == (0.5, 0.5, 1.0)
    assert (shares["vectors@10"], shares["vectors@50"]) == (0.0, 0.5)


def test_the_server_of_recordings_expands_only_known_questions() -> None:
    with serve_expansions({"who did it": "retry download"}) as url:
        expander = ChatExpander(url)
        assert expander.expand("who did it") == "retry download"
        with pytest.raises(UnavailableError):
            expander.expand("who else")


def test_only_hard_questions_are_expanded_with_the_words_of_the_agent() -> None:
    names = [one.name for one in history_repositories()]
    hard = [one.query for name in names for one in read_questions(name) if one.kind == HARD]
    expanded = [one for name in names for one in expanded_cases(name)]
    assert [one.query for one in expanded] == hard
    words = {one.query: text for name in names for one, text in pair_recorded(name)}
    assert all(words[query] and not words[query].startswith("in:") for query in hard)
