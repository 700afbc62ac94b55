"""Compare the paths of files with the paths in import statements."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from typing import Final

from rootle.text.terms import file_stem
from rootle.text.whole_names import find_word

PLAIN_STEMS: Final = frozenset({"index", "mod", "lib", "main", "init", "__init__"})
_RELATIVE_PATH: Final = re.compile(r"[\"'](\.{1,2}(?:/[^\"'\n]*)?)[\"']")
_PACKAGE: Final = re.compile(r"[\"']((?:@[\w.-]+/)?[\w-][\w.-]*)(?:/[^\"'\n]*)?[\"']")
_PATH_PART: Final = re.compile(r"\w[\w-]*")  # such as http-exception in '../http-exception'
_QUOTED: Final = re.compile(r"[\"']([^\"'\n]+)[\"']\s*\)?((?:\.\w+)*)")
_SCRIPT: Final = re.compile(r"\.(?:[cm]?[jt]sx?|lua|vue|svelte|astro)$")
_LOADED: Final = re.compile(r"(?:await\s+)?(?:require(?:_relative)?|import)\s*[(\"']")
# An assignment of several modules, whose order is not read.
_TWO_NAMES: Final = re.compile(r"\s*(?:local\s+)?\w+\s*,[\w\s,]*=")
_FROM_ROOT: Final = re.compile(r"\s*from\s+(\w+|\.+)")
# The text before a new name in an import. The group contains what is renamed.
_RENAMED: Final = re.compile(
    r"(?<![\w$.:\\])([\w$.:\\]{1,300}?)\s{0,40}(?:,\s{0,40}as:|\bas\s|=>|(?<!:):)\s{0,40}\Z"
)
_MAX_BEFORE: Final = 400  # characters that are searched for this text
_ASSIGNED: Final = re.compile(r"\s*=\s*([\w.:]+)")
_FROM: Final = re.compile(r"\s*from\s+([\w.]+)\s+import\b")
# The folder of the files of a crate of Rust. A test is a crate of its own.
_CRATE: Final = re.compile(r"(?:.*/)?src/|(?:.*/)?(?:tests|benches|examples)/")
_USED_CRATE: Final = re.compile(r"(?:pub(?:\([^()]*\))?\s+)?use\s+(?:::)?(\w+)::")
# A path of Rust that begins in the crate of its file.
_OWN_CRATE: Final = re.compile(r"(?<![\w:])(?:crate|self|super)(?:::|$)")
_MAX_WORDS: Final = 100  # at each end of an import that can import thousands of names
_MAX_PARTS: Final = 100  # no path in an import has more parts


def imported_path(path: str, statement: str) -> str:
    """Return the path that an import names relative to its own file; "" if it names none."""
    found = _RELATIVE_PATH.search(statement)
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), found[1])) if found else ""


def imported_package(statement: str) -> str:
    """Return the npm package that an import names, as in "@vue/shared"; "" if it names none."""
    found = _PACKAGE.search(statement)
    return found[1] if found else ""


def imported_crate(statement: str) -> str:
    """Return the crate of a path that is imported in Rust; "" if it names none."""
    found = _USED_CRATE.match(statement)
    return found[1] if found else ""


def imported_root(statement: str) -> str:
    """Return the first name, or the dots, of the module in `from a.b import c` in Python."""
    found = _FROM_ROOT.match(statement)
    return found[1] if found else ""


def imported_names(statement: str, name: str) -> tuple[str, ...]:
    """Return the full name of what an import makes known as `name`; () if the import hides it.

    The full name of c is ("a", "b") in `import a.b as c` and in `local c = require("a.b")`. The
    statement can also be an expression such as `require("a.b")`.
    """
    other = find_renamed(statement, name) if name else ""
    ends = (at + len(name) for at in find_word(statement, name))
    assigned = next(filter(None, (_ASSIGNED.match(statement, end) for end in ends)), None)
    quoted = _QUOTED.search(statement, assigned.start(1) if assigned else 0)
    if quoted is not None:
        if _TWO_NAMES.match(statement):
            return ()
        source = _SCRIPT.sub("", quoted[1])
        parts = [*source.split("/" if "/" in source else "."), *quoted[2].split(".")]
        parts = [part for part in parts if part.strip(".")]
        if "{" in statement and name:
            parts.append(other or name)
        return _drop_plain_stem(parts)
    written = other or (assigned[1] if assigned is not None else "")
    module = _FROM.match(statement)
    if not written and module is None:
        return ()
    words = re.findall(r"\w+", module[1]) if module is not None else []
    return (*words, *(re.findall(r"\w+", written) or [name]))


def find_renamed(statement: str, name: str) -> str:
    """Return what an import renames to `name`, such as a.b in `import a.b as name`."""
    for at in find_word(statement, name):
        before = statement[max(0, at - _MAX_BEFORE) : at]
        if renamed := _RENAMED.search(before):
            return renamed[1]
    return ""


def is_load(receiver: str) -> bool:
    """Return whether an expression loads a module, as `require("a.b")` does."""
    return _LOADED.match(receiver) is not None


def is_named(path: str, names: Sequence[str]) -> bool:
    """Return whether the path of a file ends with the full name of a module."""
    parts = _drop_plain_stem([*path.split("/")[:-1], file_stem(path)])
    return bool(names) and parts[-len(names) :] == tuple(names)


def _drop_plain_stem(parts: Sequence[str]) -> tuple[str, ...]:
    return tuple(parts[:-1] if len(parts) > 1 and parts[-1] in PLAIN_STEMS else parts)


def crate_folder(path: str) -> str:
    """Return the folder with the modules of the crate of Rust to which a file belongs."""
    found = _CRATE.match(path)
    return found.group() if found else ""


def is_in_own_crate(imported: str) -> bool:
    """Return whether an import or a path of Rust is relative to the crate of its file."""
    return _OWN_CRATE.search(imported) is not None


def is_module(path: str, imported: str) -> bool:
    """Return whether an imported path, which may lack the extension, refers to a file."""
    stem = posixpath.splitext(path)[0]
    folder, _, name = stem.rpartition("/")
    folder = (folder or ".") if name == "index" else stem
    return imported in (path, stem, folder) or (
        posixpath.splitext(imported)[0] == stem  # "./cart.js" is compiled from cart.ts
    )


def module_names(path: str) -> tuple[str, ...]:
    folders, stem = path.rpartition("/")[0].split("/"), file_stem(path)
    return (folders[-1],) if stem in PLAIN_STEMS else (stem, folders[-1])


def best_path(paths: Sequence[str], statement: str) -> int | None:
    """Return the index of the path that agrees best with an import; None if none clearly does."""
    scores = [_shared_words(path, statement) for path in paths]
    top = max(scores, default=0)
    return scores.index(top) if top and scores.count(top) == 1 else None


def _shared_words(path: str, statement: str) -> int:
    """Return a number that is higher the better a path agrees with an import statement.

    The longest sequence of adjacent names that both contain counts most: "a.models" agrees better
    with a/models/pages.py than with a/tests/models.py. If these sequences are equally long, the
    number of shared names decides; the last part of the path counts double.
    """
    # In Rust, the module of a folder such as `my-tool` is written with underscores.
    words = [word.replace("-", "_") for word in _PATH_PART.findall(statement)]
    if len(words) > 2 * _MAX_WORDS:  # the path is at the start or at the end
        words = [*words[:_MAX_WORDS], *words[-_MAX_WORDS:]]
    parts = [*path.rpartition("/")[0].split("/"), file_stem(path)]
    parts = [part.replace("-", "_") for part in parts if part and part not in PLAIN_STEMS]
    shared = sum(2 if part == parts[-1] else 1 for part in parts if part in words)
    return _longest_common_run(parts, words) * _MAX_PARTS + min(shared, _MAX_PARTS - 1)


def _longest_common_run(left: Sequence[str], right: Sequence[str]) -> int:
    """Return the length of the longest sequence of adjacent names that both lists contain."""
    longest = 0
    before = [0] * (len(right) + 1)
    for name in left:
        row = [0]
        for at, other in enumerate(right):
            row.append(before[at] + 1 if name == other else 0)
        longest, before = max(longest, *row), row
    return longest
