"""What a text is about: files and names of a project, and whether they changed since."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from rootle.errors import MemoryRefusedError
from rootle.text.terms import encodable, whole_identifier
from rootle.types import Memory, MemoryReference

# A name that so many files define says nothing of any of them.
_DEFINERS: Final = 3
_MOST: Final = 16  # ties of one memory
_MAX_BYTES: Final = 8_000_000
_DIGEST_BYTES: Final = 12
_QUOTED: Final = re.compile(r"`([^`\s]+)`")
# What nobody writes but for a name in code: parts run together, or a call.
_NAME: Final = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::|->|#)[A-Za-z_$][\w$]*)*(?:\(\))?")
_MARKED: Final = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]|[A-Za-z0-9]_|_[A-Za-z]|::|->|\(\)")
_LAST_PART: Final = re.compile(r"(?:\.|::|->|#)(?=[^.:>#]*$)")


@dataclass(frozen=True, slots=True)
class ReferencedProject:
    """A folder, and what its index knows of it."""

    root: Path
    files_named: Callable[[str], Sequence[str]]  # "token.py", "auth/token.py" -> their paths
    definers: Callable[[str], Sequence[str]]  # a name in one spelling -> paths of files

    @property
    def name(self) -> str:
        """What its files are told from those of other projects by."""
        return encodable(os.path.realpath(self.root))


def mentioned(text: str, project: ReferencedProject) -> tuple[MemoryReference, ...]:
    """The files and names of a project that a text names, as they are now."""
    found: dict[MemoryReference, None] = {}
    for place in _mentions(text, project):
        found[place] = None
        if len(found) == _MOST:
            break
    return tuple(found)


def named(about: Iterable[str], project: ReferencedProject) -> tuple[MemoryReference, ...]:
    """What "path", "path#name" or "name" stand for; raises MemoryRefusedError for another text."""
    found: list[MemoryReference] = []
    for one in about:
        places = list(_of_path(one, project)) or list(_of_name(one.rpartition("#")[2], project))
        if not places:
            raise MemoryRefusedError(
                f'about is "{one}", which is neither a file in {project.root} nor a name that its '
                'index knows; give "path", "path#name" or "name"'
            )
        found += places
    return tuple(dict.fromkeys(found))


def possibly_stale(memory: Memory, project: ReferencedProject) -> bool:
    """Whether a file of this project that the memory is about has another content now."""
    return any(
        digest_of(project.root, about.path) != about.digest
        for about in memory.about
        if about.root == project.name and about.digest
    )


def remap_root(memory: Memory, project: ReferencedProject) -> Memory:
    """A memory of another machine: what it is about there is meant here, where the file is here."""
    about = tuple(
        replace(one, root=project.name)
        if not os.path.isdir(one.root) and digest_of(project.root, one.path)
        else one
        for one in memory.about
    )
    return replace(memory, about=about)


def digest_of(root: Path, path: str) -> str:
    """Of a file's content; empty where there is none, or where it is out of the folder."""
    folder = os.path.realpath(root)
    real = os.path.realpath(os.path.join(folder, path))
    try:
        if not real.startswith(folder + os.sep) or not os.path.isfile(real):
            return ""
        if os.path.getsize(real) > _MAX_BYTES:
            return ""
        return hashlib.blake2b(Path(real).read_bytes(), digest_size=_DIGEST_BYTES).hexdigest()
    except OSError:
        return ""


def _mentions(text: str, project: ReferencedProject) -> Iterator[MemoryReference]:
    for token in dict.fromkeys(_path_like(text)):
        yield from _of_path(token, project)
    names = [*_QUOTED.findall(text), *filter(_MARKED.search, _NAME.findall(text))]
    for name in dict.fromkeys(names):
        yield from _of_name(name, project)


def _path_like(text: str) -> Iterator[str]:
    """Words that may be paths, a name after "#" with them."""
    for word in text.split():
        word = word.strip("`'\"()[]{}<>,;!?").rstrip(".:")
        path = re.sub(r":\d+(?:-\d+)?$", "", word)
        if ("." in path or "/" in path) and len(path) <= 500:
            yield path


def _of_path(token: str, project: ReferencedProject) -> Iterator[MemoryReference]:
    path, _, symbol = token.partition("#")
    relative = _relative(path, project) if _is_text(token) else None
    if relative is not None and _is_text(relative):
        yield MemoryReference(relative, symbol, project.name, digest_of(project.root, relative))


def _relative(path: str, project: ReferencedProject) -> str | None:
    """The one file that a path or its end names, relative to the root."""
    path = path.replace("\\", "/").removeprefix(f"{project.root}/").removeprefix(f"{project.name}/")
    path = os.path.normpath(path).replace(os.sep, "/") if path else ""
    if not path or path.startswith(("/", "..")) or path == ".":
        return None
    if digest_of(project.root, path):
        return path
    alike = project.files_named(path)
    return alike[0] if len(alike) == 1 else None


def _is_text(name: str) -> bool:
    """Whether it can be written down: names of files are bytes, and some of them no text."""
    return "\0" not in name and encodable(name) == name


def _of_name(name: str, project: ReferencedProject) -> Iterator[MemoryReference]:
    plain = _LAST_PART.split(name.removesuffix("()"))[-1]
    if len(plain) < 3:
        return
    paths = project.definers(whole_identifier(plain))
    if len(paths) <= _DEFINERS:
        for path in filter(_is_text, paths):
            yield MemoryReference(path, plain, project.name, digest_of(project.root, path))
