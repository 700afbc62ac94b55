"""References from memories to code: find them in text, detect changed files, remap folders."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from rootle.errors import MemoryRefusedError
from rootle.memory.visibility import is_same_project
from rootle.storage.open_without_links import open_below
from rootle.text.terms import encodable, whole_identifier
from rootle.types import Memory, MemoryReference

# Added to the score (0 to 1) of a memory that refers to a file or name of the topic. This value was
# not tuned on LoCoMo, which has no files.
REFERENCE_WEIGHT: Final = 0.5
# The maximum number of files that define a name. A name that more files define is too ambiguous for
# a reference.
_MAX_DEFINING_FILES: Final = 3
# the maximum number of references that are found in the text of a memory
_MAX_REFERENCES: Final = 16
_MAX_FILE_BYTES: Final = 8_000_000
_MAX_PATH_CHARS: Final = 500
_MIN_NAME_CHARS: Final = 3
_DIGEST_BYTES: Final = 12
_QUOTED: Final = re.compile(r"`([^`\s]+)`")
# Identifiers that cannot be English words: camelCase, snake_case, qualified names and calls.
_IDENTIFIER: Final = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::|->|#)[A-Za-z_$][\w$]*)*(?:\(\))?")
_CODE_LIKE: Final = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]|[A-Za-z0-9]_|_[A-Za-z]|::|->|\(\)")
_LAST_PART: Final = re.compile(r"(?:\.|::|->|#)(?=[^.:>#]*$)")


@dataclass(frozen=True, slots=True)
class ReferencedProject:
    """A folder with functions that look up files and names in its index."""

    root: Path
    find_files: Callable[[str], Sequence[str]]  # "token.py", "auth/token.py" -> matching paths
    find_definers: Callable[[str], Sequence[str]]  # normalized identifier -> paths of files
    # the real path of the folder, which identifies the project in references
    name: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", encodable(os.path.realpath(self.root)))


def find_references(text: str, project: ReferencedProject) -> tuple[MemoryReference, ...]:
    """Return the files and names of a project that a text mentions, at most 16."""
    found: dict[MemoryReference, None] = {}
    for reference in _references(text, project):
        found[reference] = None
        if len(found) == _MAX_REFERENCES:
            break
    return tuple(found)


def resolve_references(
    about: Iterable[str], project: ReferencedProject
) -> tuple[MemoryReference, ...]:
    """Return the references for texts like "path", "path#name" or "name".

    Raise MemoryRefusedError for any other text.
    """
    found: list[MemoryReference] = []
    for text in map(encodable, about):  # a command-line argument may contain any bytes
        name = text.rpartition("#")[2]
        references = list(_resolve_path(text, project)) or list(_resolve_name(name, project))
        if not references:
            raise MemoryRefusedError(
                f'about is "{text}", which is neither a file in {project.root} nor a name in its '
                'index; use "path", "path#name" or "name"'
            )
        found += references
    return tuple(dict.fromkeys(found))


def is_possibly_stale(memory: Memory, project: ReferencedProject) -> bool:
    """Return whether a file in this project changed after a memory that refers to it was stored.

    If the project was moved, the memory may still name its old folder.
    """
    if not memory.about:
        return False
    name = project.name
    return any(
        file_digest(project.root, about.path) != about.digest
        for about in memory.about
        if about.digest and is_same_project(about.root, name)
    )


def assign_to_project(memory: Memory, project: ReferencedProject) -> Memory:
    """Return a memory. If one of its project folders no longer exists, `project` is added to them.

    References to a file in a missing folder are changed to this project if it contains the file.
    """
    name = project.name
    about = tuple(
        replace(one, root=name)
        if not os.path.isdir(one.root) and file_digest(project.root, one.path)
        else one
        for one in memory.about
    )
    folders = {name if is_same_project(one, name) else one: None for one in memory.stored_in}
    if find_missing_projects(memory):
        folders[name] = None
    return replace(memory, about=about, stored_in=tuple(folders))


def find_missing_projects(memory: Memory) -> list[str]:
    """Return the project folders of a memory that do not exist on this machine."""
    folders = dict.fromkeys((*memory.stored_in, *(one.root for one in memory.about)))
    return [folder for folder in folders if folder and not os.path.isdir(folder)]


def file_digest(root: Path, path: str) -> str:
    """Return a digest of the content of a file.

    Return "" if the file is missing, unreadable, larger than 8 MB or outside the folder.
    """
    try:
        folder = os.path.realpath(root)
        real = os.path.realpath(os.path.join(folder, path))
        if not real.startswith(folder + os.sep):
            return ""
        with open(open_below(folder, os.path.relpath(real, folder)), "rb") as file:
            if os.fstat(file.fileno()).st_size > _MAX_FILE_BYTES:
                return ""
            return hashlib.blake2b(file.read(), digest_size=_DIGEST_BYTES).hexdigest()
    except (OSError, ValueError):  # ValueError: the path contains NUL
        return ""


def _references(text: str, project: ReferencedProject) -> Iterator[MemoryReference]:
    for path in dict.fromkeys(_possible_paths(text)):
        yield from _resolve_path(path, project)
    names = [*_QUOTED.findall(text), *filter(_CODE_LIKE.search, _IDENTIFIER.findall(text))]
    for name in dict.fromkeys(names):
        yield from _resolve_name(name, project)


def _possible_paths(text: str) -> Iterator[str]:
    """Yield the words that may be paths, including a "#name" at the end."""
    for word in text.split():
        word = word.strip("`'\"()[]{}<>,;!?").rstrip(".:")
        if "." in word or "/" in word:
            path = re.sub(r":\d+(?:-\d+)?$", "", word)
            if len(path) <= _MAX_PATH_CHARS:
                yield path


def _resolve_path(text: str, project: ReferencedProject) -> Iterator[MemoryReference]:
    path, _, symbol = text.partition("#")
    relative = _relative_path(path, project) if _is_encodable(text) else None
    if relative is not None and _is_encodable(relative):
        yield MemoryReference(relative, symbol, project.name, file_digest(project.root, relative))


def _relative_path(path: str, project: ReferencedProject) -> str | None:
    """Return the path of a file relative to the root; None if there is no such file.

    `path` may be a suffix that matches exactly one file.
    """
    path = path.replace("\\", "/").removeprefix(f"{project.root}/").removeprefix(f"{project.name}/")
    path = os.path.normpath(path).replace(os.sep, "/") if path else ""
    if not path or path.startswith(("/", "..")) or path == ".":
        return None
    if file_digest(project.root, path):
        return path
    matches = project.find_files(path)
    return matches[0] if len(matches) == 1 else None


def _is_encodable(name: str) -> bool:
    """Return whether a name is valid UTF-8 without NUL. Some file names are not."""
    return "\0" not in name and encodable(name) == name


def _resolve_name(name: str, project: ReferencedProject) -> Iterator[MemoryReference]:
    symbol = _LAST_PART.split(name.removesuffix("()"))[-1]
    if len(symbol) < _MIN_NAME_CHARS:
        return
    paths = project.find_definers(whole_identifier(symbol))
    if len(paths) <= _MAX_DEFINING_FILES:
        for path in filter(_is_encodable, paths):
            yield MemoryReference(path, symbol, project.name, file_digest(project.root, path))
