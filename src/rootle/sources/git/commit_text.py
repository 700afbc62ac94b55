"""A commit as text: its message, the changed files, and the patch."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rootle.serialization.timestamps import format_timestamp
from rootle.sources.files.discovery import WalkRules, look_up_files, walk_files
from rootle.sources.files.file_listing import filter_ignored
from rootle.sources.files.skip_rules import reason_by_name
from rootle.sources.files.skipped_content import contains_private_key
from rootle.sources.files.text_reader import TextFile, read_text
from rootle.sources.git.command import GitOutput, run_git
from rootle.sources.git.git_dirs import check_git_folders, find_borrowed_objects, find_work_tree
from rootle.text.secret_masking import mask_patch

# A hash. The pattern does not match options, paths or commit ranges.
SHA: Final = re.compile(r"[0-9a-fA-F]{7,64}", re.ASCII)

_TIMEOUT_S: Final = 10.0
# Maximum number of files of a commit that are shown. A larger commit usually moves files or imports
# third-party code; its full list would be unreadable.
_MAX_FILES: Final = 300
_MAX_CHANGED_LINES: Final = 4_000
_FILE_START: Final = re.compile(r"^(?=diff --git )", re.MULTILINE)
_OPTIONS: Final = (
    *("--format=", "--diff-merges=first-parent", "--relative", "--no-renames", "--no-ext-diff"),
    *("--no-textconv", "--no-color", "--no-notes", "--ignore-submodules"),
    *("--src-prefix=a/", "--dst-prefix=b/", "--diff-algorithm=myers"),
)
# Fixed settings, so that the settings of the user do not change what is shown.
_CONFIG: Final = {
    "core.quotePath": "false",
    "diff.context": "3",
    "diff.indentHeuristic": "true",
    "diff.interHunkContext": "0",
    "diff.noprefix": "false",
    "diff.suppressBlankEmpty": "false",
    "i18n.logOutputEncoding": "UTF-8",
    "log.showRoot": "true",
}


@dataclass(frozen=True, slots=True)
class _ChangedFile:
    path: str
    added: str  # the number of lines, or "-" if git considers the file binary
    removed: str

    @property
    def lines(self) -> int:
        return int(self.added) + int(self.removed) if self.is_text else 0

    @property
    def is_text(self) -> bool:
        return self.added != "-"


def show_commit(root: Path, name: str, rules: WalkRules) -> tuple[str, str] | None:
    """Return the hash and the text of a commit, limited to files that would be indexed.

    `name` is the hash, or at least its first seven digits. Return None if there is no such commit,
    if `root` is a subfolder in which the commit changed nothing, or if `explain_hidden_commits`
    gives a reason.
    """
    if explain_hidden_commits(root) is not None:
        return None
    sha = _full_hash(root, name)
    if sha is None:
        return None
    changed = _changed_files(root, sha)
    if not changed and not _is_repository_top(root):
        return None
    visible = filter_visible(root, [file.path for file in changed[:_MAX_FILES]], rules)
    shown = [file for file in changed if file.path in visible]
    parts = [_header(root, sha), _format_list(shown, len(changed)), _patch(root, sha, shown)]
    text = "\n".join(part for part in parts if part)
    return sha, mask_patch(text, rules.secret_exceptions).text


def explain_hidden_commits(root: Path) -> str | None:
    """Return a message that says why commits must not be shown; None if they may be shown."""
    reason = find_reason_to_hide(root)
    return reason and f"commits are not shown here: {reason}"


def find_reason_to_hide(root: Path) -> str | None:
    """Return why commits must not be shown, or None if they may be shown.

    For example, they must not be shown if they may belong to another repository.
    """
    top = find_work_tree(os.path.realpath(root))
    if top is None:
        return None
    git = check_git_folders(top)
    return git if isinstance(git, str) else find_borrowed_objects(git)


def _full_hash(root: Path, name: str) -> str | None:
    if not SHA.fullmatch(name):
        return None
    output = _git(root, "rev-parse", "--verify", "-q", f"{name}^{{commit}}")
    return output.stdout.decode("ascii").strip() or None if output.returncode == 0 else None


def _header(root: Path, sha: str) -> str:
    """Return the hash, the author, the time of the commit in UTC and the message.

    If the time of the commit and the time at which the change was written differ, as after a
    rebase, the text contains both.
    """
    form = "--format=%an%x00%ct%x00%at%x00%B"
    output = _text(_git(root, "show", "-s", form, "--no-show-signature", "--no-notes", sha, "--"))
    author, committed, authored, message = output.split("\0", 3)
    about = f"{author}, {_format_time(committed)}"
    if authored != committed:
        about += f" (written {_format_time(authored)})"
    return f"commit {sha}\n{about}\n\n{message}"


def _format_time(seconds: str) -> str:
    """Return a Unix time as text in UTC, or "@SECONDS" if Python does not support its year."""
    if not seconds:  # the commit is damaged
        return "date unknown"
    try:
        return format_timestamp(int(seconds))
    except (OverflowError, ValueError, OSError):
        return f"@{seconds}"


def _changed_files(root: Path, sha: str) -> list[_ChangedFile]:
    output = _git(root, "show", "-z", "--numstat", *_OPTIONS, sha, "--")
    entries = os.fsdecode(output.stdout).strip("\n").split("\0")
    rows = [entry.split("\t", 2) for entry in entries if entry]
    return [_ChangedFile(path, added, removed) for added, removed, path in rows]


def filter_visible(root: Path, paths: Collection[str], rules: WalkRules) -> set[str]:
    """Return the changed paths whose content may be shown; some may have been deleted since."""
    if not paths:
        return set()
    scan = look_up_files(root, paths, rules) or walk_files(root, rules)
    listed = {entry.uri for entry in scan.documents} & set(paths)
    limit = rules.max_file_bytes
    present = {p for p in listed if isinstance(read_text(root, p, max_bytes=limit), TextFile)}
    gone = {path for path in paths if reason_by_name(path) is None} - listed
    hidden = {skip.uri for skip in scan.skips} | filter_ignored(os.fspath(root), gone)
    return present | (gone - hidden)


def _format_list(shown: Sequence[_ChangedFile], count: int) -> str:
    lines = [f"{file.path} | +{file.added} -{file.removed}" for file in shown]
    if len(shown) < count:
        lines.append(f"files not shown: {count - len(shown)}")
    return "".join(f"{line}\n" for line in lines)


def _patch(root: Path, sha: str, files: Sequence[_ChangedFile]) -> str:
    chosen, left = [], _MAX_CHANGED_LINES
    for file in files:
        if file.is_text and file.lines <= left:
            chosen.append(file.path)
            left -= file.lines
    if not chosen:
        return ""
    output = _git(root, "--literal-pathspecs", "show", "-p", *_OPTIONS, sha, "--", *chosen)
    # Split the patch by file. Leave out the parts with a private key, whatever the names of their
    # files are.
    parts = [part for part in _FILE_START.split(_text(output)) if part.strip()]
    kept = [part for part in parts if not contains_private_key(part)]
    skipped = len(files) - len(kept)
    note = f"\n(patches left out because they are large, binary or secret: {skipped})\n"
    return "".join(kept) + (note if skipped else "")


def _is_repository_top(root: Path) -> bool:
    return not _text(_git(root, "rev-parse", "--show-prefix")).strip()


def _git(root: Path, *arguments: str) -> GitOutput:
    return run_git(os.fspath(root), *arguments, timeout_s=_TIMEOUT_S, config=_CONFIG)


def _text(output: GitOutput) -> str:
    return output.stdout.decode("utf-8", "replace")
