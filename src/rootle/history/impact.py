"""Predict which files must change together with others."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from rootle.errors import QueryError
from rootle.history.cochange import read_history
from rootle.history.commit_results import describe_commit
from rootle.history.commit_search import CommitSearch
from rootle.history.commit_view import CommitView
from rootle.history.impact_features import ImpactCandidate, ImpactFeatures, estimate_probability
from rootle.index.reader import IndexReader
from rootle.search.symbols.definitions import is_test_place
from rootle.text.languages import PROSE, language_of
from rootle.types import ImpactAnswer, ImpactedFile

DEFAULT_LIMIT: Final = 10
MAX_LIMIT: Final = 200

_MAX_SEEDS: Final = 40  # a larger change is described by its first files
_MAX_COMMITS: Final = 3
_MAX_REFERENCES: Final = 5
_PARTIAL: Final = "history"


@dataclass(frozen=True, slots=True)
class _Estimate:
    probability: float
    seed: str
    candidate: ImpactCandidate


def find_impact(
    seeds: Sequence[str],
    limit: int | None,
    open_commits: Callable[[], CommitSearch | None],
    open_files: Callable[[], IndexReader],
) -> ImpactAnswer:
    """Return the files that probably change together with `seeds`, most probable first.

    Raise QueryError if there are no seeds, the limit is invalid, or no commits can be searched.
    """
    started_s = time.perf_counter()
    count = DEFAULT_LIMIT if limit is None else limit
    if not 1 <= count <= MAX_LIMIT:
        raise QueryError(f"limit must be from 1 to {MAX_LIMIT}, not {count}")
    if not seeds:
        raise QueryError("no file has changed; name a file, pass a diff, or describe a task")
    commits = open_commits()
    if commits is None:
        raise QueryError(
            "no commits can be searched here: the folder is not in a git repository, or "
            "maxHistoryCommits is 0"
        )
    note = commits.prepare()
    index = commits.index()
    features = ImpactFeatures(open_files(), read_history(index, commits.updates.prefix))
    shown = tuple(seeds[:_MAX_SEEDS])
    best = _estimate(features, shown)
    return ImpactAnswer(
        tuple(seeds),
        tuple(_describe(index, one) for one in best[:count]),
        (_PARTIAL,) if note else (),
        (note,) if note else (),
        round((time.perf_counter() - started_s) * 1000, 3),
    )


def _estimate(features: ImpactFeatures, seeds: Sequence[str]) -> list[_Estimate]:
    """Return the best estimate for each file outside of the seeds, most probable first."""
    found: dict[str, _Estimate] = {}
    for seed in seeds:
        for candidate in features.candidates(seed):
            probability = estimate_probability(candidate.features)
            known = found.get(candidate.path)
            if candidate.path in seeds or (known and known.probability >= probability):
                continue
            found[candidate.path] = _Estimate(probability, seed, candidate)
    return sorted(found.values(), key=lambda one: (-one.probability, one.candidate.path))


def _describe(index: IndexReader, estimate: _Estimate) -> ImpactedFile:
    candidate = estimate.candidate
    commits = candidate.cochange.commits
    return ImpactedFile(
        candidate.path,
        _kind(candidate.path),
        round(estimate.probability, 4),
        estimate.seed,
        candidate.cochange.count,
        round(candidate.cochange.share, 4),
        tuple(describe_commit(CommitView(index), state) for state in commits[:_MAX_COMMITS]),
        candidate.references[:_MAX_REFERENCES],
        round(min(1.0, candidate.similarity), 4),
    )


def _kind(path: str) -> str:
    if is_test_place(path, ""):
        return "test"
    return "document" if language_of(path) in PROSE else "code"
