"""Estimate whether a use of a member belongs to a class if the type of its receiver is unknown."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from rootle.search.symbols.parsed_files import FileOccurrences
from rootle.text.terms import WORD, file_stem, split_identifier
from rootle.types import SymbolUse


class OwnerEvidence:
    """Scores the uses of one member of a class."""

    def __init__(self, owner: str, name: str, files: Mapping[int, FileOccurrences | None]) -> None:
        """`owner` is the class of the member `name`; "" if the name has no owner.

        `files` maps ids to the files that were read.
        """
        self._owner = tuple(split_identifier(owner))
        self._receiver = re.compile(
            rf"(?<!\w)(\w+)(?:\([^()]*\))?(?:\?\.|\.|->|::){re.escape(name)}\b"
        )
        self._word = re.compile(rf"\b{re.escape(owner)}\b")
        self._texts = {found.state.path: found.text for found in files.values() if found}
        self._naming: dict[str, bool] = {}  # whether a file names the class, by path

    def score(self, use: SymbolUse) -> int:
        """Return a number from 0 to 5, which is higher the more signs of the class a use has.

        The signs are the name of the receiver (`home_page.copy()` for Page.copy), the enclosing
        test or function (TestCopyPage), the name of the file (test_page_model.py) and the name of
        the class anywhere in the file.
        """
        if not self._owner:
            return 0
        has_receiver = any(map(self._is_named, self._receiver.findall(use.text)))
        places = [*WORD.findall(use.scope), file_stem(use.path)]
        is_inside = any(map(self._is_named, places))
        return 2 * has_receiver + 2 * is_inside + self._names_owner(use.path)

    def _is_named(self, name: str) -> bool:
        """Return whether the words of a name contain those of the class, in the same order."""
        return _contains(split_identifier(name), self._owner)

    def _names_owner(self, path: str) -> bool:
        if path not in self._naming:
            self._naming[path] = self._word.search(self._texts.get(path, "")) is not None
        return self._naming[path]


def _contains(words: Sequence[str], part: Sequence[str]) -> bool:
    size = len(part)
    return any(tuple(words[at : at + size]) == part for at in range(len(words) - size + 1))
