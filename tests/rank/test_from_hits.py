"""The same ranking over hits alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from rootle.rank.from_hits import CandidateChunk, evidence_from_hits
from rootle.rank.heuristic import rank_files
from rootle.rank.question import parse_question


class Statistics:
    """A small corpus in which every word is equally rare."""

    def document_frequencies(self, terms: Sequence[str]) -> tuple[int, Sequence[int]]:
        return 100, [5] * len(terms)

    def definers(self, names: Sequence[str]) -> Mapping[str, Sequence[int]]:
        return {name: [1] for name in names}


def hit(number: int, path: str, text: str, **more: object) -> CandidateChunk:
    values: dict[str, object] = {"symbols": (), "scope": "", "bm25": 1.0, "dense": 0.1, **more}
    return CandidateChunk(number, path, text, **values)  # type: ignore[arg-type]


def best_paths(question: str, hits: Sequence[CandidateChunk]) -> list[str]:
    evidence = evidence_from_hits(
        parse_question(question, str.split), hits, str.split, Statistics()
    )
    return [evidence.files.paths[at] for at in rank_files(evidence).order]


def test_the_file_with_more_of_the_question_in_it_comes_first():
    paths = best_paths(
        "retry backoff",
        [
            hit(1, "a/queue.py", "the retry of a job waits with backoff"),
            hit(2, "a/other.py", "the retry of a job"),
        ],
    )
    assert paths == ["a/queue.py", "a/other.py"]


def test_the_file_that_defines_the_symbol_comes_before_those_that_use_it():
    paths = best_paths(
        "RetryPolicy",
        [
            hit(1, "a/uses.py", "RetryPolicy RetryPolicy", bm25=3.0),
            hit(2, "a/policy.py", "class RetryPolicy", symbols=("RetryPolicy",), bm25=2.0),
        ],
    )
    assert paths[0] == "a/policy.py"


def test_hits_in_any_order_give_the_same_evidence():
    hits = [
        hit(3, "b.py", "backoff", bm25=2.0),
        hit(1, "a.py", "retry", dense=0.4),
        hit(2, "b.py", "retry", scope="class Retry"),
    ]
    question = parse_question("retry backoff", str.split)
    one = evidence_from_hits(question, hits, str.split, Statistics())
    other = evidence_from_hits(question, hits[::-1], str.split, Statistics())
    assert np.array_equal(one.chunks.ids, [1, 2, 3])
    assert np.array_equal(rank_files(one).features, rank_files(other).features)


def test_coverage_counts_words_of_all_chunks_of_a_file():
    question = parse_question("retry backoff", str.split)
    hits = [
        hit(1, "a.py", "retry"),
        hit(2, "a.py", "backoff retrybackoff"),
        hit(3, "b.py", "retry"),
    ]
    files = evidence_from_hits(question, hits, str.split, Statistics()).files
    assert files.paths == ("a.py", "b.py")
    assert np.isclose(files.coverage[0], 1.0)
    assert files.coverage[1] < 0.5
