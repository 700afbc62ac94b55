"""Find the folders in which git keeps the state of a work tree, and check that they belong to it.

A `.git` file, a symbolic link, `commondir` or `alternates` can refer to any folder on the machine.
If a downloaded archive contains such a reference, rootle must not show another repository of the
user. Therefore, a git folder outside the work tree is used only if it also contains the path of the
work tree.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from rootle.sources.files.regular_file_reader import read_regular

_POINTER: Final = b"gitdir: "
_SETTING: Final = re.compile(rb"^[^=\n]*?(?<!\w)(\w+)[ \t]*=[ \t]*(.*)$", re.MULTILINE)
_ESCAPE: Final = re.compile(r"\\(.)")
# Parts of a git folder that determine the commits and files that git reports.
_CONTENT: Final = (
    *("HEAD", "index", "objects", "objects/info", "objects/pack", "refs", "packed-refs"),
)
# Other parts of a git folder that most git commands open.
_SETTINGS: Final = (
    *("config", "config.worktree", "shallow", "info/exclude", "info/attributes"),
    *("info/grafts", "info/sparse-checkout"),
)


@dataclass(frozen=True, slots=True)
class GitFolders:
    """The two git folders of a work tree. Unless it is a linked work tree, they are the same."""

    own: str  # contains HEAD and the index of this checkout
    common: str  # contains info/exclude and the configuration, which all checkouts share

    @property
    def is_busy(self) -> bool:
        """Whether a checkout, merge or similar command is running or was interrupted."""
        return os.path.exists(os.path.join(self.own, "index.lock"))


def find_work_tree(folder: str) -> str | None:
    """Return the nearest folder, from `folder` upwards, that contains `.git`; None if none does.

    git is not run.
    """
    while not os.path.exists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent
    return folder


def find_prefix(folder: str) -> str:
    """Return the path of a folder in its work tree, ending in "/"; "" for the top folder.

    `folder` is a real path. Outside git, the result is "".
    """
    below = os.path.relpath(folder, find_work_tree(folder) or folder).replace(os.sep, "/")
    return "" if below == os.curdir else f"{below}/"


def find_git_folders(folder: str) -> GitFolders | None:
    """Return the git folders of the work tree of a folder; None if git must not be used."""
    top = find_work_tree(folder)
    found = check_git_folders(top) if top is not None else None
    return found if isinstance(found, GitFolders) else None


def check_git_folders(top: str) -> GitFolders | str:
    """Return the git folders of a work tree, or the reason why git must not be run in it.

    `top` is a real path that contains `.git`. git is not run to check this.
    """
    entry = os.path.join(top, ".git")
    own = _find_own(entry, top)
    common = _find_common(own) if own is not None else None
    if own is None or common is None:
        return f"{entry} is neither a git folder nor a file that names one"
    is_inside = _is_below(own, top) and _is_below(common, top)
    if not (is_inside or _is_worktree_of(own, common, entry) or _names_work_tree(own, common, top)):
        return _explain_foreign(own, common, top)
    return _find_wrong_part(own, common) or GitFolders(own, common)


def find_borrowed_objects(git: GitFolders) -> str | None:
    """Return why a repository may show objects of another repository; None if it cannot."""
    objects = os.path.join(git.common, "objects")
    alternates = os.path.join(objects, "info", "alternates")
    text = read_regular(alternates)
    if isinstance(text, bytes) and text.strip():
        return (
            f"{alternates} borrows objects of another repository; "
            "run git repack -a -d and delete this file"
        )
    link = next(_find_links(objects), None)
    return f"{link} is a symbolic link" if link is not None else None


def list_settings(folder: str) -> Iterator[tuple[str, str]]:
    """Yield the name, without its section, and the value of each setting of a git folder."""
    for file in ("config", "config.worktree"):
        text = read_regular(os.path.join(folder, file))
        if isinstance(text, bytes):
            for name, value in _SETTING.findall(text):
                plain = _ESCAPE.sub(r"\1", os.fsdecode(value.rstrip(b" \t\r")).strip('"'))
                yield os.fsdecode(name).lower(), plain.replace("\0", "")


def _find_own(entry: str, top: str) -> str | None:
    real = os.path.realpath(entry)
    return real if os.path.isdir(real) else _read_pointer(real, _POINTER, top)


def _find_common(own: str) -> str | None:
    path = os.path.join(own, "commondir")
    return _read_pointer(path, b"", own) if os.path.lexists(path) else own


def _read_pointer(path: str, prefix: bytes, base: str) -> str | None:
    """Return the real path that a file names, read as git reads it; None if it names no path.

    A relative path starts at `base`.
    """
    text = read_regular(path)
    if not isinstance(text, bytes) or not text.startswith(prefix) or b"\0" in text:
        return None
    name = os.fsdecode(text.removeprefix(prefix).rstrip(b"\r\n"))
    return os.path.realpath(os.path.join(base, name))


def _explain_foreign(own: str, common: str, top: str) -> str:
    """Return the reason not to use the git folders, and a command that registers `top` in them."""
    remedy = f"if {common} has no other work tree, run: git -C {top} config core.worktree {top}"
    if own != common:
        remedy = f"if {top} is a linked work tree, run: git -C {top} worktree repair"
    return f"{top}/.git leads to {common}, which does not name {top} as its work tree; {remedy}"


def _is_below(path: str, folder: str) -> bool:
    return path.startswith(os.path.join(folder, ""))


def _is_worktree_of(own: str, common: str, entry: str) -> bool:
    """Return whether `git worktree add` created `own` in `common` for this `.git` file."""
    return os.path.dirname(own) == os.path.join(common, "worktrees") and (
        _read_pointer(os.path.join(own, "gitdir"), b"", own) == entry
    )


def _names_work_tree(own: str, common: str, top: str) -> bool:
    """Return whether the configuration in `own` contains the path `top`, as in a submodule."""
    return own == common and any(
        name == "worktree" and os.path.realpath(os.path.join(own, value)) == top
        for name, value in list_settings(own)
    )


def _find_wrong_part(own: str, common: str) -> str | None:
    """Return a message if a part of a git folder leads elsewhere or would block git; else None."""
    for folder in dict.fromkeys((own, common)):
        for name in (*_CONTENT, *_SETTINGS):
            path = os.path.join(folder, name)
            try:
                mode = os.lstat(path).st_mode
                if stat.S_ISLNK(mode):
                    if name in _CONTENT and not _is_below(os.path.realpath(path), common):
                        return f"{path} is a symbolic link that leads out of {common}"
                    mode = os.stat(path).st_mode
            except OSError:
                continue
            if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                return f"{path} is not a regular file"
    return None


def _find_links(folder: str) -> Iterator[str]:
    """Yield the symbolic links below an object folder."""
    for entry in _scan(folder):
        if entry.is_symlink():
            yield entry.path
        elif entry.is_dir(follow_symlinks=False):
            yield from _find_links(entry.path)


def _scan(folder: str) -> Iterable[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return ()
