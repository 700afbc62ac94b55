"""Name the rule that excludes a path from the listing of a folder.

The listing itself does not record which rule excludes a file, because listing would take longer.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Collection, Sequence
from itertools import accumulate
from typing import Final

from rootle.serialization.path_text import cut_line
from rootle.sources.files.excluded_dirs import EXCLUDED_DIRS, EXCLUDING_FILES, is_linked_worktree
from rootle.sources.files.filesystem_walk import IGNORE_NAMES, OWN_IGNORE_NAME
from rootle.sources.files.ignore_rules import load_ignore_file, split_rules
from rootle.sources.files.regular_file_reader import read_regular
from rootle.sources.git.git_dirs import find_work_tree
from rootle.sources.git.repository import find_tracked, follows_git_rules, matching_rules

_MAX_PATTERN: Final = 60  # characters of a pattern that are shown


def explain_exclusions(root: str, paths: Collection[str] | None = None) -> dict[str, str]:
    """Return why files and folders below `root` are not listed, such as "`*.o` in .gitignore:7".

    Without `paths`, explain the entries of the folder itself. Paths that do not exist, that are
    listed, or whose rule is not found, are missing in the result.
    """
    if paths is None:
        paths = _list_entries(root)
    existing = [path for path in paths if _is_below(root, path)]
    reasons = {
        path: reason for path in existing if (reason := _find_rule(root, path, [OWN_IGNORE_NAME]))
    }
    others = [path for path in existing if path not in reasons]
    if follows_git_rules(root):
        reasons |= _explain_in_git(root, others)
    else:
        reasons |= _explain_in_folder(root, "", others, IGNORE_NAMES)
    return {path: reasons[path] for path in existing if path in reasons}


def _is_below(root: str, path: str) -> bool:
    """Return whether a path is that of an existing entry below a folder, and not below a link."""
    if "\0" in path or not {"", ".", ".."}.isdisjoint(path.split("/")):
        return False
    *above, entry = [os.path.join(root, one) for one in _entries_above(path)]
    return not any(map(os.path.islink, above)) and os.path.lexists(entry)


def _explain_in_git(root: str, paths: Collection[str]) -> dict[str, str]:
    """Return why git or the name of a folder excludes paths.

    A repository inside another one has rules of its own, but the other one may exclude all of it.
    """
    inner: dict[str, list[str]] = defaultdict(list)  # folder of a repository -> paths in it
    for path in paths:
        inner[_find_repository(root, path)].append(path)
    found: dict[str, str] = {}
    for prefix, within in inner.items():
        if prefix and (outer := _explain_in_git(root, [prefix.rstrip("/")])):
            found |= dict.fromkeys(within, *outer.values())
            continue
        folder = os.path.normpath(os.path.join(root, prefix))
        if not follows_git_rules(folder):
            found |= _explain_in_folder(root, prefix, within, IGNORE_NAMES)
            continue
        rules = matching_rules(folder, [path.removeprefix(prefix) for path in within])
        for path, rule in rules.items():
            file = f"{prefix}{rule.file}" if not os.path.isabs(rule.file) else rule.file
            found[prefix + path] = _describe_rule(rule.pattern, file, rule.line)
        others = [path for path in within if path not in found]
        reasons = _explain_in_folder(root, prefix, others, ())
        # git is asked only about the few paths for which the answer matters.
        tracked = find_tracked(folder, [path.removeprefix(prefix) for path in reasons])
        found |= {path: why for path, why in reasons.items() if path[len(prefix) :] not in tracked}
    return found


def _find_repository(root: str, path: str) -> str:
    """Return the folder, "" or ending in "/", of the repository that contains a path."""
    top = find_work_tree(os.path.dirname(os.path.join(root, path))) or root
    nested = os.path.relpath(top, root).replace(os.sep, "/")
    return "" if nested in (".", "..") or nested.startswith("../") else f"{nested}/"


def _explain_in_folder(
    root: str, prefix: str, paths: Collection[str], names: Sequence[str]
) -> dict[str, str]:
    """Return why a walk of the folder `prefix` excludes paths; `names` are its ignore files."""
    found: dict[str, str] = {}
    for path in paths:
        reason = _find_excluded_folder(root, prefix, path)
        if reason is None and names:
            reason = _find_rule(root, path, names, prefix)
        if reason is not None:
            found[path] = reason
    return found


def _describe_rule(pattern: str, file: str, line: int) -> str:
    return f"`{cut_line(pattern, _MAX_PATTERN)}` in {file}:{line}"


def _list_entries(root: str) -> list[str]:
    try:
        return sorted(set(os.listdir(root)) - {".git"})
    except OSError:  # reported when the folder is indexed
        return []


def _find_excluded_folder(root: str, prefix: str, path: str) -> str | None:
    for entry in _entries_above(path, prefix):
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


def _find_rule(root: str, path: str, names: Sequence[str], prefix: str = "") -> str | None:
    """Return the rule of the ignore files with these names that excludes the path."""
    for entry in _entries_above(path, prefix):
        full = os.path.join(root, entry)
        is_folder = os.path.isdir(full) and not os.path.islink(full)
        above = [
            prefix,
            *(f"{folder}/" for folder in _entries_above(os.path.dirname(entry), prefix)),
        ]
        files = [f"{base}{name}" for base in above for name in names]
        for file in reversed(files):  # the innermost match decides
            full = os.path.join(root, file)
            rules = (
                load_ignore_file(full, file[: file.rfind("/") + 1])
                if os.path.isfile(full)
                else None
            )
            line = rules.deciding_line(entry, is_folder) if rules is not None else None
            if rules is None or line is None:
                continue
            if not rules.ignores(line):
                break
            return _describe_rule(_read_line(full, line), file, line + 1)
    return None


def _read_line(file: str, line: int) -> str:
    raw = read_regular(file)
    lines = split_rules(raw) if isinstance(raw, bytes) else []
    text = lines[line].rstrip() if line < len(lines) else ""
    return text.encode("latin-1").decode("utf-8", "replace")


def _entries_above(path: str, prefix: str = "") -> list[str]:
    """Return a path and the folders above it, outermost first, without those around `prefix`."""
    parts = path[len(prefix) :].split("/") if len(path) > len(prefix) else []
    return [prefix + entry for entry in accumulate(parts, "{}/{}".format)]
