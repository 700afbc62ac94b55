"""Name the rule that excludes a path from the listing of a folder.

The listing itself does not record which rule excludes a file, because listing would take longer.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Collection, Sequence
from itertools import accumulate

from rootle.sources.files.excluded_dirs import EXCLUDED_DIRS, EXCLUDING_FILES, is_linked_worktree
from rootle.sources.files.filesystem_walk import IGNORE_NAMES, OWN_IGNORE_NAME
from rootle.sources.files.ignore_rules import load_ignore_file
from rootle.sources.files.regular_file_reader import read_regular
from rootle.sources.git.git_dirs import find_work_tree
from rootle.sources.git.repository import list_files, matching_rules


def explain_exclusions(root: str, paths: Collection[str] | None = None) -> dict[str, str]:
    """Return why files and folders below `root` are not listed, such as "`*.o` in .gitignore:7".

    Without `paths`, explain the entries of the folder itself. Paths that do not exist, that are
    listed, or whose rule is not found, are missing in the result.
    """
    if paths is None:
        paths = _list_entries(root)
    existing = [path for path in paths if path and os.path.lexists(os.path.join(root, path))]
    reasons = {
        path: reason for path in existing if (reason := _find_rule(root, path, [OWN_IGNORE_NAME]))
    }
    others = [path for path in existing if path not in reasons]
    in_git = find_work_tree(root) is not None
    reasons |= _find_git_rules(root, others) if in_git else {}
    for path in others:
        if path in reasons:
            continue
        reason = _find_excluded_folder(root, path)
        if reason is None and not in_git:
            reason = _find_rule(root, path, IGNORE_NAMES)
        # git is asked only about the few paths for which the answer matters.
        if reason is not None and not (in_git and _is_tracked(root, path)):
            reasons[path] = reason
    return {path: reasons[path] for path in existing if path in reasons}


def _find_git_rules(root: str, paths: Collection[str]) -> dict[str, str]:
    """Return the rules of git's ignore files; a nested repository has rules of its own."""
    inner: dict[str, list[str]] = defaultdict(list)  # folder of a repository -> paths in it
    for path in paths:
        top = find_work_tree(os.path.dirname(os.path.join(root, path))) or root
        nested = os.path.relpath(top, root).replace(os.sep, "/")
        inner["" if nested.startswith(".") else f"{nested}/"].append(path)
    found: dict[str, str] = {}
    for prefix, within in inner.items():
        folder = os.path.join(root, prefix)
        rules = matching_rules(folder, [path.removeprefix(prefix) for path in within])
        for path, rule in rules.items():
            file = f"{prefix}{rule.file}" if not os.path.isabs(rule.file) else rule.file
            found[prefix + path] = f"`{rule.pattern}` in {file}:{rule.line}"
    return found


def _list_entries(root: str) -> list[str]:
    try:
        return sorted(set(os.listdir(root)) - {".git"})
    except OSError:  # reported when the folder is indexed
        return []


def _is_tracked(root: str, path: str) -> bool:
    listing = list_files(root, [path])
    return listing is not None and bool(listing.tracked or listing.submodules)


def _find_excluded_folder(root: str, path: str) -> str | None:
    for entry in _entries_above(path):
        folder = os.path.join(root, entry)
        if not os.path.isdir(folder) or os.path.islink(folder):
            return None
        if os.path.basename(entry) in EXCLUDED_DIRS:
            return f"the name of the folder {entry}"
        for name in EXCLUDING_FILES:
            if os.path.exists(os.path.join(folder, name)):
                return f"the file {entry}/{name}"
        if is_linked_worktree(folder):
            return f"the file {entry}/.git of another worktree"
    return None


def _find_rule(root: str, path: str, names: Sequence[str]) -> str | None:
    """Return the rule of the ignore files with these names that excludes the path."""
    for entry in _entries_above(path):
        is_folder = os.path.isdir(os.path.join(root, entry))
        above = ["", *(f"{folder}/" for folder in _entries_above(os.path.dirname(entry)))]
        files = [f"{base}{name}" for base in above for name in names]
        for file in reversed(files):  # the innermost match decides
            line = _matching_line(root, file, entry, is_folder)
            if line is None:
                continue
            text = _read_line(os.path.join(root, file), line)
            if text.startswith("!"):
                break
            return f"`{text}` in {file}:{line + 1}"
    return None


def _matching_line(root: str, file: str, entry: str, is_folder: bool) -> int | None:
    """Return the number of the line of an ignore file, from 0, that decides about an entry."""
    full = os.path.join(root, file)
    if not os.path.isfile(full):
        return None
    rules = load_ignore_file(full, file[: file.rfind("/") + 1])
    return None if rules is None else rules.deciding_line(entry, is_folder)


def _read_line(file: str, line: int) -> str:
    raw = read_regular(file)
    lines = raw.split(b"\n") if isinstance(raw, bytes) else []
    return lines[line].decode("utf-8", "replace").strip() if line < len(lines) else ""


def _entries_above(path: str) -> list[str]:
    """Return the path and the folders above it, outermost first."""
    return [*accumulate(path.split("/"), "{}/{}".format)] if path else []
