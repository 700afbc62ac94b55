"""Convert filters with absolute paths, and rename filters in notes."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from rootle.types import SearchQuery

# `path:` at the start of a word, and the opening quotation mark of its value.
_START: Final = r"(?<!\S)(-?path:)"
# The name of a field after the quoted value of another field.
_AND_FIELD: Final = re.compile(r'(" and )(\w+)(?= ")')


def relative_filters(query: SearchQuery, root: Path) -> SearchQuery:
    """Return a query in which absolute paths inside the folder are relative to it.

    The paths are the values of `file_paths` and those of `path:` filters in the text.
    """
    places, text = query.file_paths, query.text_query
    has_absolute = any(place.startswith(("/", "~")) for place in places or ())
    if not has_absolute and "path:" not in text:
        return query
    for folder in _spellings(root):
        if places is not None:
            places = tuple(_relative(place, folder) for place in places)
        # The value must end after the folder, or continue with a slash: "/a/bc" is not inside
        # "/a/b".
        name = re.escape(folder)
        text = re.sub(rf'{_START}(["“]){name}/*(?=["”])', r"\1\2*", text)
        text = re.sub(rf"{_START}{name}/*(?=[\s,;]|$)", r"\1*", text)
        text = re.sub(rf'{_START}(["“]?){name}/+', r"\1\2", text)
    return replace(query, file_paths=places, text_query=text)


def _spellings(root: Path) -> Iterator[str]:
    """Yield the paths of a folder: as given, without symbolic links, and with "~" for the home."""
    home = os.path.expanduser("~")
    for folder in dict.fromkeys((os.fspath(root), os.path.realpath(root))):
        if folder.strip("/"):
            yield folder
            if home.strip("/") and folder.startswith(f"{home}/"):
                yield f"~{folder.removeprefix(home)}"


def _relative(place: str, folder: str) -> str:
    if place.rstrip("/") == folder:
        return "."
    return place[len(folder) :].lstrip("/") if place.startswith(f"{folder}/") else place


def rename_filter(note: str, names: Mapping[str, str]) -> str:
    """Return a note with its filters renamed; a note that is not about filters is unchanged.

    A note about filters begins with the name and the value of a filter. Then "and" and another
    filter may follow. Other notes may quote any text. `names` maps names of fields to the names to
    show.
    """
    for field, name in names.items():
        if note.startswith(f'{field} "'):
            renamed = f"{name}{note.removeprefix(field)}"
            return _AND_FIELD.sub(
                lambda found: f"{found[1]}{names.get(found[2], found[2])}", renamed
            )
    return note
