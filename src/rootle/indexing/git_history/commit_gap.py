"""Describe which commits an index lacks."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from rootle.index.local.manifest import BYTES_EXPECTED
from rootle.index.local.snapshot import Snapshot
from rootle.sources.git.commits.commit_list import list_commits, list_heads
from rootle.types import COMMIT_URI

NOTHING_READ: Final = "not even the newest"


def describe_progress(index: Snapshot, folder: str, max_commits: int, *, has_heads: bool) -> str:
    """Describe what an incomplete index contains or lacks; return "" if it lacks nothing.

    `folder` is in a work tree of the repository, and `max_commits` is the maximum number of commits
    in the index. Set `has_heads` if the index contains the history of the current heads.
    """
    if index.value("updated_at"):
        return "" if has_heads else "the newest are missing"
    done, total = index.bytes_indexed(), int(index.value(BYTES_EXPECTED) or 0)
    if done < total:
        share = 100 * done // total
        return f"only the newest {share}%" if share else "only the newest few, less than 1%"
    # The first run may have read all commits, but not yet recorded that it is complete.
    return "" if _has_all(index, folder, max_commits) else "the newest are missing"


def describe_share(progress: tuple[int, int] | None) -> str:
    """Return how much of a rebuild is done; `progress` is the number of bytes, and their total."""
    done, total = progress or (0, 0)
    return f"{100 * done // total if total else 0}% done"


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
