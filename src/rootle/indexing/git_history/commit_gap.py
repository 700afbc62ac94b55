"""Describe which commits an index lacks."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from rootle.index.local.manifest import BYTES_EXPECTED
from rootle.index.local.snapshot import Snapshot
from rootle.sources.git.commits.commit_list import list_commits, list_heads
from rootle.types import COMMIT_URI

NOTHING_READ: Final = "not even the newest"


def describe_progress(
    index: Snapshot,
    folder: str,
    max_commits: int,
    *,
    has_heads: bool,
    rebuilt: tuple[int, int] | None = None,
) -> str:
    """Describe what an incomplete index contains or lacks; return "" if it lacks nothing.

    `folder` is in a work tree of the repository, and `max_commits` is the maximum number of commits
    in the index. Set `has_heads` if the index contains the history of the current heads. `rebuilt`
    is the number of bytes that a rebuild has read, and their total, if there is a rebuild.
    """
    if index.value("updated_at"):
        if not has_heads:
            return "the newest are missing"
        share = 100 * rebuilt[0] // rebuilt[1] if rebuilt and rebuilt[1] else 0
        return f"because the index is being rebuilt ({share}% done)"
    done, total = index.bytes_indexed(), int(index.value(BYTES_EXPECTED) or 0)
    if done < total:
        share = 100 * done // total
        return f"only the newest {share}%" if share else "only the newest few, less than 1%"
    # The first run may have read all commits, but not yet recorded that it is complete.
    return "" if _has_all(index, folder, max_commits) else "the newest are missing"


def _has_all(index: Snapshot, folder: str, max_commits: int) -> bool:
    heads = list_heads(folder)
    commits = list_commits(folder, heads, max_count=max_commits) if heads else None
    if commits is None:
        return False
    indexed = {state.path for state in index.all_files()}
    return all(f"{COMMIT_URI}{commit.sha}" in indexed for commit in commits)


@lru_cache(maxsize=1)  # git needs a second to list the commits of a large repository
def has_older_commits(folder: str, heads: tuple[str, ...], max_commits: int) -> bool:
    """Return whether the history of `heads` has more than `max_commits` commits."""
    commits = list_commits(folder, heads, max_count=max_commits + 1) if heads else None
    return commits is not None and len(commits) > max_commits
