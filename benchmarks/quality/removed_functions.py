"""Measure how often `rootle gone` finds removed functions and the commits that removed them.

    python -m benchmarks.quality.removed_functions LABELS CHECKOUTS

LABELS is a file with one JSON object per line: repository, name, commits and query. CHECKOUTS holds
one git work tree per repository, with its whole history. Each function is asked for by its name and
by the query in words. It is found if one of the first five answers names one of the commits.
"""

from __future__ import annotations

import json
import tempfile
from collections import defaultdict
from collections.abc import Collection, Sequence

from benchmarks.common.arguments import CHECKOUTS, LABEL_FILE, command_parser
from benchmarks.common.statistics import mean
from rootle import open_app

DEPTH = 5


def main() -> None:
    """Print the figures."""
    args = command_parser(__doc__, LABEL_FILE, CHECKOUTS).parse_args()
    by_repository = defaultdict(list)
    for line in args.labels.read_text(encoding="utf-8").splitlines():
        label = json.loads(line)
        by_repository[label["repository"]].append(label)
    found: dict[str, list[int]] = {"name": [], "query": []}
    for repository, labels in by_repository.items():
        with (
            tempfile.TemporaryDirectory() as folder,
            open_app(args.checkouts / repository, index_dir=folder) as app,
        ):
            app.index()
            app.index_history()
            for label in labels:
                for kind, ranks in found.items():
                    removals = app.gone(label[kind], DEPTH).removals
                    hashes = [removal.commit.hash for removal in removals]
                    rank = first_rank(hashes, label["commits"])
                    ranks.append(rank)
                    if not rank:
                        print(f"not found by {kind}: {repository} {label['name']}", flush=True)
    for kind, ranks in found.items():
        print(format_shares(kind, ranks))


def first_rank(hashes: Sequence[str], commits: Collection[str]) -> int:
    """Return the rank of the first hash that is one of the commits, or 0 if none is."""
    return next((at for at, sha in enumerate(hashes, start=1) if sha in commits), 0)


def format_shares(kind: str, ranks: Sequence[int]) -> str:
    """Return the share of the functions that were ranked first, and the share found at all."""
    first = mean(rank == 1 for rank in ranks)
    found = mean(rank > 0 for rank in ranks)
    return f"by {kind}: first {first:.3f}, among {DEPTH} {found:.3f}, of {len(ranks)}"


if __name__ == "__main__":
    main()
