"""List the files of a commit, with the same rules as files on disk."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Final, NamedTuple

from rootle.errors import IngestError
from rootle.sources.files.discovery import WalkRules, skip_reason
from rootle.sources.files.file_listing import RootleIgnore, open_rootle_ignore
from rootle.sources.files.filesystem_walk import OWN_IGNORE_NAME
from rootle.sources.files.ignore_rules import IgnoreFile
from rootle.sources.files.skip_rules import SYMLINK
from rootle.sources.git.command import run_git
from rootle.sources.git.trees.blob_process import BlobProcess
from rootle.sources.source import SkippedDocument

_TIMEOUT_S: Final = 120.0
_LINK_MODE: Final = "120000"
_MAX_IGNORE_BYTES: Final = 1_000_000


class TreeFile(NamedTuple):
    """A file of a commit."""

    path: str  # relative to the listed folder
    blob: str  # the hash of its content
    size: int  # in bytes


@dataclass(frozen=True, slots=True)
class TreeListing:
    """The files of a commit below a folder, sorted by path."""

    files: tuple[TreeFile, ...]
    skips: tuple[SkippedDocument, ...]


def list_tree_files(folder: str, sha: str, rules: WalkRules) -> TreeListing:
    """Return the files of a commit below a folder, without submodules.

    The `.rootleignore` files in the commit and those in the current folder both apply, so that
    files that a user excludes now are not found in an old version either. Raise IngestError if git
    fails.
    """
    output = run_git(folder, "ls-tree", "-r", "-z", "--long", sha, timeout_s=_TIMEOUT_S)
    if output.returncode != 0:
        problem = os.fsdecode(output.stderr).strip() or "it took too long"
        raise IngestError(f"git cannot list the files of {sha[:12]} in {folder}: {problem}")
    entries = [entry.partition("\t") for entry in os.fsdecode(output.stdout).split("\0") if entry]
    parsed = [(facts.split(), path) for facts, _, path in entries]
    blobs = {path: facts for facts, path in parsed if facts[1] == "blob"}
    files: list[TreeFile] = []
    skips: list[SkippedDocument] = []
    for path in sorted(_filter_ignored(folder, blobs)):
        mode, _, blob, length = blobs[path]
        size = int(length) if length.isdecimal() else 0  # "-" if a partial clone lacks it
        reason = SYMLINK if mode == _LINK_MODE else skip_reason(path, size, rules)
        if reason is None:
            files.append(TreeFile(path, blob, size))
        else:
            skips.append(SkippedDocument(path, reason, size))
    return TreeListing(tuple(files), tuple(skips))


def _filter_ignored(folder: str, blobs: dict[str, list[str]]) -> list[str]:
    paths = list(blobs)
    committed = [path for path in paths if path.rpartition("/")[2] == OWN_IGNORE_NAME]
    if committed:
        process = BlobProcess(folder)

        def load(base: str) -> IgnoreFile | None:
            mode, _, blob, _ = blobs[base + OWN_IGNORE_NAME]
            content = None if mode == _LINK_MODE else process.read(blob, _MAX_IGNORE_BYTES)
            return None if content is None else IgnoreFile(content.raw, base)

        try:
            paths = RootleIgnore({_parent(path) for path in committed}, load).filter(paths)
        finally:
            process.close()
    return open_rootle_ignore(folder, blobs).filter(paths)


def _parent(path: str) -> str:
    return path.rpartition("/")[0]
