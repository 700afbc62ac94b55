"""Measure the precision and the recall of the outdated names that `rootle drift` reports.

    python -m benchmarks.quality.drift precision LABELS CHECKOUTS [--split test] [--keep FOLDER]
    python -m benchmarks.quality.drift recall LABELS CHECKOUTS [--keep FOLDER]

LABELS is a file with one JSON object per line: repository, commit, path and name. CHECKOUTS holds
one git repository with its whole history for each repository in LABELS, named `owner+name` or
`name`.

For `precision`, each label is a reported name with a verdict: "gone", "changed" or "wrong". For
`recall`, each label is the name of a removed function, in a document that a later commit corrected.
Each repository is cloned, and checked at each commit of its labels. `--keep` keeps the clones and
their indexes in FOLDER for later runs. `--split` uses only the labels of one split: "seen" or
"test".
"""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.common.arguments import (
    CHECKOUTS,
    KEEP,
    LABEL_FILE,
    SPLIT,
    add_options,
    command_parser,
)
from rootle import open_app

Label = Mapping[str, Any]


class DriftName(NamedTuple):
    """A name in a text of a repository at a commit."""

    repository: str
    commit: str
    path: str
    name: str


class Precision(NamedTuple):
    """Counts of reported and of labeled names."""

    right: int
    wrong: int
    missing: int  # labels of names that are no longer reported
    unlabelled: int  # reported names that have no label, not even at another commit

    @property
    def share(self) -> float:
        """The share of gone and changed names among the reported names with a label."""
        return self.right / (self.right + self.wrong) if self.right + self.wrong else 0.0


def main() -> None:
    """Print the figures."""
    parser = command_parser(__doc__)
    parser.add_argument("figure", choices=("precision", "recall"))
    add_options(
        parser,
        LABEL_FILE,
        CHECKOUTS,
        KEEP.with_settings(metavar="FOLDER", help="folder for the clones and indexes"),
        SPLIT.with_settings(choices=["seen", "test"]),
    )
    args = parser.parse_args()
    found = [json.loads(line) for line in args.labels.read_text(encoding="utf-8").splitlines()]
    labels = [label for label in found if args.split in (None, label.get("split"))]
    with tempfile.TemporaryDirectory() as folder:
        reported = _report(labels, args.checkouts, args.keep or Path(folder))
    if args.figure == "recall":
        count = count_found(labels, reported)
        print(f"found {count} of {len(labels)}: {count / len(labels):.3f}")
        return
    result = measure_precision(labels, reported)
    print(f"right {result.right}, wrong {result.wrong}: {result.share:.3f}")
    print(f"labelled, but no longer reported: {result.missing}")
    print(f"reported, but not labelled: {result.unlabelled}")


def make_name(label: Label) -> DriftName:
    """Return the name that a label is about."""
    name = str(label["name"])
    return DriftName(label["repository"], label["commit"], label["path"], name)


def measure_precision(labels: Sequence[Label], reported: Iterable[DriftName]) -> Precision:
    """Return how many of the names that are both labeled and reported are gone or changed."""
    known = set(reported)
    verdicts = [label["verdict"] for label in labels if make_name(label) in known]
    right = sum(verdict in ("gone", "changed") for verdict in verdicts)
    places = {_place(make_name(label)) for label in labels}
    unlabelled = {place for one in known if (place := _place(one)) not in places}
    wrong, missing = len(verdicts) - right, len(labels) - len(verdicts)
    return Precision(right, wrong, missing, len(unlabelled))


def _place(name: DriftName) -> tuple[str, str, str]:
    """Return the repository, text and name, so that a label counts for all commits."""
    return name.repository, name.path, name.name


def count_found(labels: Sequence[Label], reported: Iterable[DriftName]) -> int:
    """Return how many labels are reported. Only the last part of a qualified name is compared."""
    known = {one._replace(name=_last_part(one.name)) for one in reported}
    names = map(make_name, labels)
    return sum(one._replace(name=_last_part(one.name)) in known for one in names)


def _last_part(name: str) -> str:
    plain = name.partition("(")[0].rstrip("?!")
    return plain.replace("::", ".").replace("#", ".").rpartition(".")[2]


def _report(labels: Sequence[Label], checkouts: Path, work: Path) -> list[DriftName]:
    commits: dict[str, dict[str, None]] = defaultdict(dict)
    for label in labels:
        commits[label["repository"]][label["commit"]] = None
    found: list[DriftName] = []
    for repository, hashes in commits.items():
        folder = work / repository.replace("/", "+")
        clone, index = folder / "clone", folder / "index"
        if not clone.exists():
            source = _find_repository(checkouts, repository)
            _git("clone", "-q", "--no-checkout", source, clone, check=True)
        for commit in hashes:
            _check_out(clone, commit)
            found += _report_commit(repository, commit, clone, index)
    return found


def _report_commit(repository: str, commit: str, clone: Path, index: Path) -> list[DriftName]:
    with open_app(clone, index_dir=index) as app:
        app.index()
        app.index_history()
        started_s = time.process_time()
        reports = app.drift().reports
        spent_s = time.process_time() - started_s
    print(f"{repository} {commit[:12]}: {len(reports)} names, {spent_s:.1f} s of CPU", flush=True)
    return [DriftName(repository, commit, report.path, report.name) for report in reports]


def _find_repository(checkouts: Path, repository: str) -> Path:
    folder = checkouts / repository.replace("/", "+")
    return folder if folder.exists() else checkouts / repository.rpartition("/")[2]


def _check_out(clone: Path, commit: str) -> None:
    """Check out a commit. Files that git cannot read are left out, as in a partial clone."""
    _git("-C", clone, "checkout", "-q", "-f", commit, check=False)
    head = _git("-C", clone, "rev-parse", "HEAD", check=True).strip()
    if head != commit:
        raise ValueError(f"{clone} has no commit {commit}; fetch the whole history")


def _git(*arguments: str | Path, check: bool) -> str:
    command = ["git", *arguments]
    return subprocess.run(command, check=check, stdout=subprocess.PIPE, text=True).stdout


if __name__ == "__main__":
    main()
