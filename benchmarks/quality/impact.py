"""Predict the other files of a commit from one of them.

    python -m benchmarks.quality.impact REPOSITORY...

The newest commits of each repository are held out: rootle indexes a clone of the commit before
them. For each held-out commit with 2 to 29 files, the first file by path is given, and the other
files are wanted if they exist in the clone. Recall@5 is the share of the wanted files that are
among the first five predictions, averaged over the commits. The calibration error is computed from
the first ten predictions of each commit, in ten bins of equal width: it is the difference between
the mean probability and the share of correct predictions in a bin, averaged over the bins in
proportion to their sizes.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.common.arguments import REPOSITORIES, command_parser, option
from benchmarks.common.git import run_git
from benchmarks.common.internals import index_commits, index_snapshot
from benchmarks.common.statistics import mean
from rootle import App, open_app
from rootle.history.cochange import ChangeHistory, read_history
from rootle.history.commit_view import CommitView
from rootle.history.impact_features import ImpactCandidate, ImpactFeatures, estimate_probabilities
from rootle.types import MAX_INDEXED_FILES

HELD_OUT = 150  # commits of the main branch
HELD_OUT_COMMITS = option(
    "--held-out", type=int, default=HELD_OUT, metavar="COMMITS",
    help="number of newest commits that are predicted (default: %(default)s)",
)  # fmt: skip
DEPTH = 5
CALIBRATED = 10
BINS = 10


@dataclass(frozen=True, slots=True)
class Prediction:
    """The candidates for one held-out commit, and the files that it changed."""

    seed: str
    wanted: frozenset[str]
    candidates: tuple[ImpactCandidate, ...]
    by_count: tuple[str, ...]  # the files that changed most often together with the seed


def predict_held_out(repository: Path, held_out: int = HELD_OUT) -> Iterator[Prediction]:
    """Yield a prediction for each held-out commit of a repository."""
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "clone"
        run_git(Path(folder), "clone", "-q", "--no-checkout", str(repository.resolve()), str(clone))
        head = run_git(clone, "rev-parse", "HEAD").strip()
        cut = run_git(clone, "rev-parse", f"{head}~{held_out}").strip()
        changes = list(_list_changes(clone, f"{cut}..{head}"))
        run_git(clone, "checkout", "-q", "--detach", cut)
        with open_app(clone, index_dir=Path(folder) / "index") as app:
            app.index()
            yield from _predict(app, changes)


def _predict(app: App, changes: Sequence[Sequence[str]]) -> Iterator[Prediction]:
    history = read_history(CommitView(index_commits(app)))
    features = ImpactFeatures(index_snapshot(app), history)
    for paths in changes:
        known = sorted(path for path in paths if features.has(path))
        if len(paths) < MAX_INDEXED_FILES and len(known) > 1:
            seed, *others = known
            found = tuple(features.candidates(seed))
            yield Prediction(seed, frozenset(others), found, _sort_by_count(history, seed))


def _sort_by_count(history: ChangeHistory, seed: str) -> tuple[str, ...]:
    partners = history.partners(seed)
    return tuple(sorted(partners, key=lambda path: (-partners[path].count, path)))


def _list_changes(root: Path, commits: str) -> Iterator[list[str]]:
    options = ("--no-merges", "--format=%x00", "--name-only", "--no-renames")
    for entry in run_git(root, "log", *options, commits).split("\0")[1:]:
        yield [line for line in entry.split("\n") if line]


def recall(ranked: Sequence[str], wanted: frozenset[str]) -> float:
    """Return the share of the wanted files that are among the first ranked ones."""
    return len(wanted & set(ranked[:DEPTH])) / len(wanted)


def calibration_error(probabilities: Sequence[float], outcomes: Sequence[bool]) -> float:
    """Return the expected calibration error."""
    values, correct = np.array(probabilities), np.array(outcomes, float)
    bins = np.minimum((values * BINS).astype(int), BINS - 1)
    errors = [
        abs(values[bins == at].mean() - correct[bins == at].mean()) * (bins == at).sum()
        for at in range(BINS)
        if (bins == at).any()
    ]
    return float(sum(errors) / len(values))


def main() -> None:
    """Print the figures of each repository and of all together."""
    args = command_parser(__doc__, REPOSITORIES, HELD_OUT_COMMITS).parse_args()
    everything: list[Prediction] = []
    print("repository           commits  recall@5  by count  calibration error")
    for repository in args.repositories:
        found = list(predict_held_out(repository, args.held_out))
        everything += found
        _report(repository.name, found)
    _report("all", everything)


def _report(name: str, predictions: Sequence[Prediction]) -> None:
    own, counted, probabilities, outcomes = [], [], [], []
    for one in predictions:
        estimates = estimate_probabilities([each.features for each in one.candidates])
        paths = [each.path for each in one.candidates]
        scored = sorted(zip(estimates, paths, strict=True), key=lambda pair: (-pair[0], pair[1]))
        own.append(recall([path for _, path in scored], one.wanted))
        counted.append(recall(one.by_count, one.wanted))
        probabilities += [probability for probability, _ in scored[:CALIBRATED]]
        outcomes += [path in one.wanted for _, path in scored[:CALIBRATED]]
    error = calibration_error(probabilities, outcomes) if outcomes else 0.0
    figures = f"{mean(own):8.3f}  {mean(counted):8.3f}  {error:17.3f}"
    print(f"{name:20} {len(own):7}  {figures}", flush=True)


if __name__ == "__main__":
    main()
