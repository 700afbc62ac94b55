"""When each file last changed according to history, and by whom, kept in the manifest."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from rootle.index.local.manifest import Manifest
from rootle.sources.git.repository import (
    LastCommit,
    head_commit,
    is_ancestor,
    last_commits,
    list_changed_files,
)
from rootle.types import FILES

_HEAD = "head"


def is_head_known(root: Path, known_head: str) -> bool:
    """Whether nothing was committed or checked out since `known_head` was noted."""
    return (head_commit(root) or "") == known_head


def update_commit_times(
    root: Path, manifest: Manifest, *, content_changed: bool, only: Collection[str] = ()
) -> None:
    """Bring what git says of files up to the present HEAD. The caller opens the transaction.

    `only` names the files that changed, where they are few and known; none: it may be any.
    """
    head = head_commit(root)
    known_head = manifest.value(_HEAD) or None
    if head is None:
        if known_head is not None:  # the repository is gone, and what it said with it
            _write(manifest, {}, set(), keep=False)
            manifest.set_value(_HEAD, "")
        return
    if head == known_head and not content_changed:
        return
    dirty = list_changed_files(root, only if head == known_head else ())
    if head == known_head:
        _write(manifest, {}, dirty, keep=True, only=only)
    elif known_head is not None and is_ancestor(root, known_head, head):
        news = last_commits(root, known_head)
        _write(manifest, news.by_path if news else {}, dirty, keep=True)
    else:
        # Another branch: what an earlier one said of a file may be newer than this one's truth.
        history = last_commits(root, None)
        _write(manifest, history.by_path if history else {}, dirty, keep=False)
    manifest.set_value(_HEAD, head)


def _write(
    manifest: Manifest,
    commits: dict[str, LastCommit],
    dirty: set[str],
    *,
    keep: bool,
    only: Collection[str] = (),
) -> None:
    rows = []
    for state in manifest.files_at(only) if only else manifest.files():
        if state.source != FILES:
            continue
        commit = commits.get(state.path)
        committed, author = (state.committed_s, state.author) if keep else (None, "")
        if commit is not None:
            committed, author = commit.seconds, commit.author
        is_dirty = committed is None or state.path in dirty
        known = (state.committed_s, state.author, bool(state.is_dirty))
        if (committed, author, is_dirty) != known:
            rows.append((committed, author, is_dirty, state.id))
    manifest.set_history(rows)
