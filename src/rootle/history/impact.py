"""Predict which files must change together with given files."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from rootle.errors import QueryError
from rootle.history.cochange import ChangeHistory
from rootle.history.commit_request import OpenCommits, check_limit, elapsed_ms, prepare_commits
from rootle.history.commit_results import describe_commit
from rootle.history.commit_view import CommitView
from rootle.history.impact_features import ImpactCandidate, ImpactFeatures, estimate_probabilities
from rootle.index.reader import IndexReader
from rootle.search.symbols.definitions import is_test_place
from rootle.text.languages import PROSE, file_language
from rootle.types import CommitFacts, ImpactAnswer, ImpactedFile

DEFAULT_LIMIT: Final = 10
MAX_LIMIT: Final = 200

_MAX_SEEDS: Final = 40  # files of a change that are used; a note names the limit
_MAX_COMMITS: Final = 3
_MAX_REFERENCES: Final = 5


@dataclass(frozen=True, slots=True)
class _Estimate:
    probability: float
    seed: str
    candidate: ImpactCandidate


def find_impact(
    seeds: Sequence[str],
    limit: int | None,
    open_commits: OpenCommits,
    open_files: Callable[[], IndexReader],
) -> ImpactAnswer:
    """Return the files that probably change together with `seeds`, most probable first.

    Raise QueryError if there are no seeds, the limit is invalid, or no commits can be searched.
    """
    started_s = time.perf_counter()
    count = check_limit(limit, DEFAULT_LIMIT, MAX_LIMIT)
    if not seeds:
        raise QueryError("no file has changed; name a file, pass a diff, or describe a task")
    commits = prepare_commits(open_commits)
    view = commits.view
    history = ChangeHistory(()) if view is None else commits.search.changes.get(view)
    features = ImpactFeatures(open_files(), history)
    seeds = _relative_to_folder(seeds, features, commits.search.updates.prefix)
    best = _estimate(features, seeds[:_MAX_SEEDS])
    return ImpactAnswer(
        seeds,
        tuple(_describe(view, history, one) for one in best[:count]),
        commits.degraded,
        (*commits.suggestions, *_note_limit(seeds)),
        elapsed_ms(started_s),
    )


def _note_limit(seeds: Sequence[str]) -> tuple[str, ...]:
    """Return a note if the change has more files than are used."""
    if len(seeds) <= _MAX_SEEDS:
        return ()
    return (
        f"only the first {_MAX_SEEDS} of {len(seeds):,} changed files were used; name the others "
        "in another request",
    )


def _relative_to_folder(
    seeds: Sequence[str], features: ImpactFeatures, folder: str
) -> tuple[str, ...]:
    """Return the seeds relative to the folder. Paths in a diff may be relative to the work tree."""
    return tuple(seed if features.has(seed) else seed.removeprefix(folder) for seed in seeds)


def _estimate(features: ImpactFeatures, seeds: Sequence[str]) -> list[_Estimate]:
    """Return the best estimate for each file outside of the seeds, most probable first."""
    found: dict[str, _Estimate] = {}
    for seed in seeds:
        candidates = features.candidates(seed)
        probabilities = estimate_probabilities([one.features for one in candidates])
        for candidate, probability in zip(candidates, probabilities, strict=True):
            known = found.get(candidate.path)
            if candidate.path in seeds or (known and known.probability >= probability):
                continue
            found[candidate.path] = _Estimate(probability, seed, candidate)
    return sorted(found.values(), key=lambda one: (-one.probability, one.candidate.path))


def _describe(view: CommitView | None, history: ChangeHistory, estimate: _Estimate) -> ImpactedFile:
    candidate = estimate.candidate
    return ImpactedFile(
        candidate.path,
        _kind(candidate.path),
        round(estimate.probability, 4),
        estimate.seed,
        candidate.cochange.count,
        len(history.list_changes(estimate.seed)),
        round(candidate.cochange.share, 4),
        _describe_commits(view, candidate.cochange.commits[:_MAX_COMMITS]),
        candidate.references[:_MAX_REFERENCES],
        round(min(1.0, candidate.similarity), 4),
    )


def _describe_commits(view: CommitView | None, ids: Sequence[int]) -> tuple[CommitFacts, ...]:
    if view is None:
        return ()
    states = view.index.files(ids)
    return tuple(describe_commit(view, states[commit]) for commit in ids)


def _kind(path: str) -> str:
    if is_test_place(path, ""):
        return "test"
    return "document" if file_language(path) in PROSE else "code"
