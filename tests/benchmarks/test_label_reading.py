"""Label files, word overlap, and lists of repositories."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks.common.labels import (
    LABEL_REPOSITORIES,
    Span,
    content_words,
    is_hard,
    is_in_target_file,
    overlaps_target,
    parse_labels,
    read_labels,
    span_text,
    word_overlap,
)
from benchmarks.common.metrics import Hit
from benchmarks.common.repositories import (
    RepositoryListError,
    read_repositories,
    select_repositories,
)
from label_examples import make_label

_RECORD = {
    "query": "how are retries limited",
    "kind": "behaviour",
    "targets": [[{"path": "a.py", "lines": "3-9"}, {"path": "b.py", "lines": "1-2"}], []],
}


def test_a_label_has_targets_with_equivalent_spans() -> None:
    (label,) = parse_labels("demo", json.dumps(_RECORD))
    assert (label.repository, label.query, label.kind) == ("demo", _RECORD["query"], "behaviour")
    assert label.targets == ((Span("a.py", 3, 9), Span("b.py", 1, 2)), ())
    assert list(label.spans()) == [Span("a.py", 3, 9), Span("b.py", 1, 2)]


def test_a_malformed_label_is_reported_with_its_line() -> None:
    wrong = {**_RECORD, "targets": [[{"path": "a.py", "lines": "3"}]]}
    with pytest.raises(ValueError, match=r"demo\.jsonl:2: .*must look like 12-34"):
        parse_labels("demo", f"{json.dumps(_RECORD)}\n{json.dumps(wrong)}")


def test_all_label_files_can_be_read() -> None:
    repositories = read_repositories(LABEL_REPOSITORIES)
    counts = {one.name: len(read_labels(one.name)) for one in repositories}
    assert len(counts) == 14
    assert set(counts.values()) == {36}
    assert {one.split for one in repositories} == {"tune", "test"}


def test_content_words_exclude_function_words() -> None:
    words = content_words("how are the RetryLimits of a connection retried")
    assert words == ["retry", "limits", "connection", "retried"]


def test_words_match_up_to_a_short_ending() -> None:
    assert word_overlap("retries limited", "def retry(limit): ...") == 1.0
    assert word_overlap("retries limited", "def retry(): ...") == 0.5
    assert word_overlap("art", "artist") == 0.0  # words of up to three letters must be equal
    assert word_overlap("of the", "anything") == 1.0
    assert word_overlap("port", "porters") == 1.0
    assert word_overlap("port", "portable") == 1.0
    assert word_overlap("port", "portables") == 0.0  # the ending "ables" is too long


def test_a_question_is_hard_if_every_answer_shares_few_words(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("first\na question about words\nlast\n")
    assert span_text(tmp_path, Span("a.py", 2, 3)) == "a question about words\nlast"
    plain, other = ("a.py", 2, 2), ("a.py", 3, 3)
    assert is_hard(make_label([other]), tmp_path)
    assert not is_hard(make_label([other, plain]), tmp_path)
    assert not is_hard(make_label(), tmp_path)  # an unanswerable question


def test_a_hit_matches_a_target_by_lines_or_by_file() -> None:
    target = (Span("a.py", 10, 20), Span("b.py", 1, 2))
    assert overlaps_target(Hit("b.py", ((2, 8),)), target)
    assert not overlaps_target(Hit("a.py", ((1, 2),)), target)
    assert is_in_target_file(Hit("a.py", ((1, 2),)), target)
    assert not is_in_target_file(Hit("c.py", ((10, 20),)), target)


def test_repositories_are_selected_by_name_and_split(tmp_path: Path) -> None:
    listing = tmp_path / "repos.json"
    common = {"language": "c", "url": "u", "revision": "r"}
    listing.write_text(json.dumps([
        {"name": "one", "split": "tune", "benchmark_root": "src", **common},
        {"name": "two", "split": "test", "benchmark_root": None, **common},
    ]))  # fmt: skip
    one, two = read_repositories(listing)
    assert one.root(tmp_path) == tmp_path / "one/src"
    assert two.root(tmp_path) == tmp_path / "two"
    assert select_repositories([one, two]) == [one, two]
    assert select_repositories([one, two], split="test") == [two]
    assert select_repositories([one, two], ["one"], "tune") == [one]
    with pytest.raises(RepositoryListError, match="not in the list: three"):
        select_repositories([one, two], ["one", "three"])


def test_a_missing_list_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(RepositoryListError, match="no list of repositories"):
        read_repositories(tmp_path / "repos.json")
