"""Commit times and authors of files, read from git and stored in the manifest."""

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


def is_head_current(root: Path, known_head: str) -> bool:
    """Return whether `known_head` is still the commit that is checked out."""
    return (head_commit(root) or "") == known_head


def update_commit_times(
    root: Path, manifest: Manifest, *, content_changed: bool, only: Collection[str] = ()
) -> None:
    """Update the commit times and authors of files to the current HEAD.

    The caller opens the transaction. `only` names the files that may have changed, by default all.
    """
    head = head_commit(root)
    known_head = manifest.value(_HEAD) or None
    if head is None:
        if known_head is not None:  # the repository was deleted
            _write_commits(manifest, {}, set(), keep_known=False)
            manifest.set_value(_HEAD, "")
        return
    if head == known_head and not content_changed:
        return
    dirty = list_changed_files(root, only if head == known_head else ())
    if head == known_head:
        _write_commits(manifest, {}, dirty, keep_known=True, only=only)
    elif known_head is not None and is_ancestor(root, known_head, head):
        added = last_commits(root, known_head)
        _write_commits(manifest, added.by_path if added else {}, dirty, keep_known=True)
    else:
        # Another branch: times that were read from the previous branch may be too recent.
        history = last_commits(root, None)
        _write_commits(manifest, history.by_path if history else {}, dirty, keep_known=False)
    manifest.set_value(_HEAD, head)


def _write_commits(
    manifest: Manifest,
    commits: dict[str, LastCommit],
    dirty: set[str],
    *,
    keep_known: bool,
    only: Collection[str] = (),
) -> None:
    rows = []
    for state in manifest.files_at(only) if only else manifest.files():
        if state.source != FILES:
            continue
        commit = commits.get(state.path)
        committed, author = (state.committed_s, state.author) if keep_known else (None, "")
        if commit is not None:
            committed, author = commit.seconds, commit.author
        is_dirty = committed is None or state.path in dirty
        known = (state.committed_s, state.author, bool(state.is_dirty))
        if (committed, author, is_dirty) != known:
            rows.append((committed, author, is_dirty, state.id))
    manifest.set_history(rows)
