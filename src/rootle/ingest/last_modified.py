"""When each file last changed according to history, kept in the manifest."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from rootle.index.manifest import Manifest
from rootle.ingest.git import changed_from_head, commit_times, head_commit, is_ancestor

_HEAD = "head"


def is_head_known(root: Path, known_head: str) -> bool:
    """Whether nothing was committed or checked out since `known_head` was noted."""
    return (head_commit(root) or "") == known_head


def update_last_modified(
    root: Path, manifest: Manifest, *, content_changed: bool, only: Collection[str] = ()
) -> None:
    """Bring the commit times up to the present HEAD. The caller opens the transaction.

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
    dirty = changed_from_head(root, only if head == known_head else ())
    if head == known_head:
        _write(manifest, {}, dirty, keep=True, only=only)
    elif known_head is not None and is_ancestor(root, known_head, head):
        news = commit_times(root, known_head)
        _write(manifest, news.times if news else {}, dirty, keep=True)
    else:
        # Another branch: what an earlier one said of a file may be newer than this one's truth.
        history = commit_times(root, None)
        _write(manifest, history.times if history else {}, dirty, keep=False)
    manifest.set_value(_HEAD, head)


def _write(
    manifest: Manifest,
    times: dict[str, int],
    dirty: set[str],
    *,
    keep: bool,
    only: Collection[str] = (),
) -> None:
    rows = []
    for state in manifest.files_at(only) if only else manifest.files():
        committed = times.get(state.path, state.committed_s if keep else None)
        is_dirty = committed is None or state.path in dirty
        if (committed, is_dirty) != (state.committed_s, bool(state.is_dirty)):
            rows.append((committed, is_dirty, state.id))
    manifest.set_history(rows)
