"""Choose the files of a package that answer questions: sources, stubs and documents."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import dropwhile
from typing import Final

from rootle.sources.files.skip_rules import reason_by_name
from rootle.sources.packages.package import PackageFile
from rootle.storage.change_time import change_time_ns
from rootle.text.languages import CODE_EXTENSIONS, PROSE, file_language

# CSS, HTML, SCSS and SQL files are left out, because in a package they are usually data.
_LANGUAGES: Final = (frozenset(CODE_EXTENSIONS) | PROSE) - {"css", "html", "scss", "sql"}
_SKIPPED_FOLDERS: Final = frozenset(
    "test tests __tests__ spec specs testdata fixtures __pycache__ node_modules benchmarks "
    "bower_components locale locales".split()
)
# Legal texts, and texts that say nothing about the use of a package.
_SKIPPED_STEMS: Final = frozenset(
    "license licence licenses copying notice authors contributors contributing security "
    "code_of_conduct third_party_notices thirdpartynotices patents entry_points top_level".split()
)
_TEST_ENDINGS: Final = ("_test.go", ".test.js", ".test.ts", ".test.tsx", ".spec.js", ".spec.ts")
# Maps the name of a folder with modules in one format to the names of folders that may contain the
# same modules in a preferred format; "" is the folder above.
_OTHER_FORMATS: Final = {"cjs": ("esm", "es", ""), "umd": ("esm", "es", "cjs", "")}
_OTHER_ENDINGS: Final = {
    ".umd.js": (".esm.js", ".mjs", ".js"),
    ".cjs": (".mjs", ".js"),
    ".d.cts": (".d.ts", ".d.mts"),
    ".d.mts": (".d.ts",),
}
# The folders of compiled modules and of their sources, and the file name endings of both.
_COMPILED_FOLDERS: Final = frozenset("dist build out lib es esm cjs umd commonjs types".split())
_SOURCE_FOLDERS: Final = ("src", "lib")
_COMPILED_ENDINGS: Final = (".d.ts", ".d.mts", ".d.cts", ".js", ".mjs", ".cjs")
_SOURCE_ENDINGS: Final = (".ts", ".tsx", ".mts", ".cts")
_TEXT_STEMS: Final = frozenset("readme changelog changes history news todo upgrading".split())
# Maximum number of files of a package. The largest packages have a few thousand sources; packages
# with more files contain data.
MAX_FILES: Final = 6_000
_MAX_ENTRIES: Final = 60_000
_MAX_DEPTH: Final = 20


@lru_cache(maxsize=1 << 16)  # every search lists the same files again
def is_wanted(path: str) -> bool:
    """Return whether a file is a source, a stub or a document of a package."""
    *folders, name = path.lower().split("/")
    if not _SKIPPED_FOLDERS.isdisjoint(folders):
        return False
    if any(folder.startswith(".") for folder in folders):
        return False
    stem = name.partition(".")[0]
    language = file_language(name)
    if language not in _LANGUAGES or name.startswith(".") or name.endswith(_TEST_ENDINGS):
        return False
    if language in PROSE and stem in _SKIPPED_STEMS:
        return False
    if language == "text" and stem not in _TEXT_STEMS:
        return False
    return reason_by_name(path) is None


def list_package_files(root: str, folder: str, prefix: str = "") -> list[PackageFile]:
    """Return the wanted files below a folder of `root`, without following links.

    Their paths begin with `prefix`. At most `MAX_FILES` files are returned.
    """
    found: list[PackageFile] = []
    for relative, info in _walk(root, folder):
        path = prefix + relative[len(folder) :].lstrip("/")
        if is_wanted(path):
            found.append(make_file(path, root, relative, info))
            if len(found) >= MAX_FILES:
                break
    return found


def drop_other_formats(files: Sequence[PackageFile]) -> list[PackageFile]:
    """Leave out modules that a JavaScript package also contains in a preferred format.

    Compiled modules are left out if their sources in TypeScript are in the package.
    """
    paths = {file.path for file in files}
    return [file for file in files if paths.isdisjoint(_list_preferred(file.path))]


def _list_preferred(path: str) -> Iterator[str]:
    """Yield the paths at which the same module may exist in the preferred format."""
    folders = path.split("/")
    for at, folder in enumerate(folders[:-1]):
        for other in _OTHER_FORMATS.get(folder, ()):
            yield "/".join([*folders[:at], *([other] if other else []), *folders[at + 1 :]])
    for ending, others in _OTHER_ENDINGS.items():
        if path.endswith(ending):
            yield from (path.removesuffix(ending) + other for other in others)
    compiled = next((one for one in _COMPILED_ENDINGS if path.endswith(one)), None)
    if compiled is not None and folders[0] in _COMPILED_FOLDERS:
        module = "/".join(dropwhile(_COMPILED_FOLDERS.__contains__, folders))
        stem = module.removesuffix(compiled)
        for source in _SOURCE_FOLDERS:
            yield from (f"{source}/{stem}{ending}" for ending in _SOURCE_ENDINGS)


def stat_file(path: str, root: str, relative: str) -> PackageFile | None:
    """Return the record of a file; None if it is not a regular file."""
    try:
        info = os.lstat(os.path.join(root, relative))
    except (OSError, ValueError):
        return None
    return make_file(path, root, relative, info) if stat.S_ISREG(info.st_mode) else None


def make_file(path: str, root: str, relative: str, info: os.stat_result) -> PackageFile:
    """Return the record of a regular file, given its `os.stat_result`."""
    stamp = info.st_mtime_ns, change_time_ns(info)
    return PackageFile(path, root, relative, size=info.st_size, stamp=stamp)


def _walk(root: str, folder: str) -> Iterator[tuple[str, os.stat_result]]:
    """Yield the paths of regular files, relative to `root`, in order."""
    stack: list[tuple[str, int]] = [(folder, 0)]
    count = 0
    while stack:
        current, depth = stack.pop()
        folders = []
        for entry in _list_folder(os.path.join(root, current)):
            count += 1
            if count > _MAX_ENTRIES:
                return
            relative = f"{current}/{entry.name}".lstrip("/")
            try:
                if entry.is_dir(follow_symlinks=False):
                    if entry.name.lower() not in _SKIPPED_FOLDERS and depth < _MAX_DEPTH:
                        folders.append((relative, depth + 1))
                elif entry.is_file(follow_symlinks=False):
                    yield relative, entry.stat(follow_symlinks=False)
            except OSError:
                continue
        stack += reversed(folders)


def _list_folder(path: str) -> Sequence[os.DirEntry[str]]:
    try:
        with os.scandir(path) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return ()
