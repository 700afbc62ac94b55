"""Decide whether two Go methods can have the same signature.

A type can be written in different ways: `restic.ID` is `ID` inside its package, and an alias is
another name for the same type. If the code does not show that two types differ, they count as the
same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from rootle.index.reader import FileState, IndexReader
from rootle.syntax.go_signatures import NAMED, PREDECLARED, UNKNOWN, GoTypeUse, Signature
from rootle.text.terms import whole_identifier

_MAX_DEFINERS: Final = 3_000  # chunks that define a name


@dataclass(frozen=True, slots=True)
class GoMethod:
    """The signature of a method, and the folder of the package that contains it."""

    folder: str
    signature: Signature


class GoDefiners:
    """Looks up the Go files that may define a name."""

    def __init__(self, index: IndexReader) -> None:
        self._index = index
        self._known: dict[str, list[FileState]] = {}
        self.is_complete = True

    def find(self, name: str) -> Sequence[FileState]:
        """Return the files; set `is_complete` to False if there are too many of them."""
        if name not in self._known:
            key = whole_identifier(name)
            ids = self._index.sparse.definers([key], _MAX_DEFINERS)[key] if key else []
            if len(ids) >= _MAX_DEFINERS:
                self.is_complete = False
            files = {row.file_id for row in self._index.chunks(ids).values()}
            states = self._index.files(files).values()
            self._known[name] = [one for one in states if one.language == "go"]
        return self._known[name]


class GoTypeIdentity:
    """Compares signatures. Looks up in the index which names are aliases."""

    def __init__(self, index: IndexReader, definers: GoDefiners) -> None:
        self._index = index
        self._definers = definers
        self._aliases: dict[tuple[str, str, str], bool] = {}
        self.guesses = 0  # how many pairs of types counted as the same although they may differ

    def can_be_same(self, one: GoMethod, other: GoMethod) -> bool:
        """Return whether the types of all parameters and results can be the same."""
        pairs = (
            (one.signature.parameters, other.signature.parameters),
            (one.signature.results, other.signature.results),
        )
        return all(self._are_same(a, one.folder, b, other.folder) for a, b in pairs)

    def _are_same(
        self, ours: Sequence[GoTypeUse], folder: str, theirs: Sequence[GoTypeUse], other: str
    ) -> bool:
        return len(ours) == len(theirs) and all(
            self._is_same(a, folder, b, other) for a, b in zip(ours, theirs, strict=True)
        )

    def _is_same(self, a: GoTypeUse, folder: str, b: GoTypeUse, other: str) -> bool:
        if UNKNOWN in (a.kind, b.kind):
            return self._guess(True)
        if a.kind == b.kind and (a.kind != NAMED or self._is_same_name(a, folder, b, other)):
            return self._are_same(a.parts, folder, b.parts, other)
        return self._guess(self._may_be_alias(a, folder) or self._may_be_alias(b, other))

    def _guess(self, is_same: bool) -> bool:
        self.guesses += is_same
        return is_same

    def _is_same_name(self, a: GoTypeUse, folder: str, b: GoTypeUse, other: str) -> bool:
        if a.name != b.name:
            return False
        if a.package == b.package:
            return bool(a.package) or folder == other or a.name in PREDECLARED
        if not a.package:
            return has_folder(b.package, folder)
        if not b.package:
            return has_folder(a.package, other)
        # The same name in two packages is often an alias, such as `os.FileMode`. If both are in the
        # repository, `_may_be_alias` finds out.
        return self._guess(not (self._is_here(a) and self._is_here(b)))

    def _is_here(self, use: GoTypeUse) -> bool:
        """Return whether the repository can define a type with a qualifier."""
        return any(
            has_folder(use.package, parent_folder(one.path))
            for one in self._definers.find(use.name)
        )

    def _may_be_alias(self, use: GoTypeUse, folder: str) -> bool:
        """Return whether a name can be an alias of another type."""
        if use.kind != NAMED or (not use.package and use.name in PREDECLARED):
            return False
        key = use.package, use.name, "" if use.package else folder
        if key not in self._aliases:
            self._aliases[key] = self._find_alias(use, folder)
        return self._aliases[key]

    def _find_alias(self, use: GoTypeUse, folder: str) -> bool:
        defining = [
            one
            for one in self._definers.find(use.name)
            if (
                has_folder(use.package, parent_folder(one.path))
                if use.package
                else parent_folder(one.path) == folder
            )
        ]
        if not defining:
            return not is_standard(use.package)  # the declaration is not in the repository
        alias = re.compile(rf"^[ \t]*(?:type[ \t]+)?{use.name}\b(?:\[.*\])?[ \t]*=", re.MULTILINE)
        return any(alias.search(self._index.text(one.id)) for one in defining)


def parent_folder(path: str) -> str:
    """Return the folder of a file; "" for the root."""
    return path.rpartition("/")[0]


def has_folder(imported: str, folder: str) -> bool:
    """Return whether an import path can refer to a folder.

    Only the end is compared, because the import path of a module's root is known only from its
    go.mod file.
    """
    return f"/{imported}".endswith(f"/{folder}") if folder else "." in imported.partition("/")[0]


def is_standard(imported: str) -> bool:
    """Return whether an import path can only name a package of Go's standard library."""
    return bool(imported) and "." not in imported.partition("/")[0]
