"""Find documents that mention the names in a passage or the file that contains it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from rootle.errors import IndexStorageError, QueryError, UnavailableError
from rootle.index.reader import IndexReader
from rootle.provenance.place import CodePlace
from rootle.types import DocumentMention, SearchQuery, SearchResponse, WhyAnswer

_PROSE: Final = ("markdown", "rst", "asciidoc", "text", "manual")
_DECISION: Final = re.compile(r"(?:^|/)(?:adrs?|decisions?|rfcs?|designs?|proposals?)[/_.-]", re.I)
_CHANGES: Final = re.compile(r"(?:^|/)(?:changelog|changes|history|news|release)", re.IGNORECASE)
_CODE_LIKE: Final = re.compile(r"[a-z0-9][A-Z]|[A-Za-z0-9]_[A-Za-z0-9]|\.\w|::")
_IDENTIFIER: Final = re.compile(r"[A-Za-z_][\w]*")
_COMMON_FILES: Final = re.compile(r"(?:__init__|index|main|utils?|types?|mod|lib|README)\.\w+$")
# Two patterns: a further extension after the name of a file, and the folders before the name,
# without "./" or "../".
_EXTENSION: Final = re.compile(r"\.[A-Za-z]\w*")
_FOLDERS: Final = re.compile(r"(?:^|[^\w./@-])(?:\.{0,2}/)*((?:[\w.@-]+/)*)\Z")
_MIN_CHARS: Final = 5
_MAX_NAMES: Final = 4
_MAX_MENTIONS: Final = 5
_MAX_TEXT_CHARS: Final = 200
_RESULTS: Final = 10

FindDocuments = Callable[[SearchQuery], SearchResponse]


def list_names(place: CodePlace) -> list[str]:
    """Return names of a place that documents may mention, most specific first.

    A name that is also an English word is used only with its owner.
    """
    names = []
    if len(place.names) > 1:
        names.append(".".join(place.names[-2:]))
    if place.names and _is_specific(place.names[-1]):
        names.append(place.names[-1])
    start = place.passage.start_line
    if place.last_line - place.first_line < len(place.passage.lines) - 1:
        asked = place.passage.lines[place.first_line - start : place.last_line - start + 1]
        words = (word for line in asked for word in _IDENTIFIER.findall(line))
        names += sorted(filter(_is_specific, words), key=len, reverse=True)
    path = place.whole.source
    name = path.rpartition("/")[2]
    files = [path] if "/" in path else []
    if not _COMMON_FILES.search(name):
        files.append(name)
    return [*dict.fromkeys(names)][:_MAX_NAMES] + files


def add_mentions(
    place: CodePlace, answer: WhyAnswer, open_index: Callable[[], IndexReader], find: FindDocuments
) -> WhyAnswer:
    """Return an answer with at most five documents about a place, decision records first.

    Documents are optional: the answer is returned without them if the index cannot be read.
    """
    try:
        return replace(answer, documents=find_documents(place, open_index, find))
    except IndexStorageError as error:
        return replace(answer, notes=(*answer.notes, f"documents were not searched: {error}"))


def find_documents(
    place: CodePlace, open_index: Callable[[], IndexReader], find: FindDocuments
) -> tuple[DocumentMention, ...]:
    """Return at most five documents that mention a place, decision records first.

    Raise IndexStorageError if the index cannot be read.
    """
    found: dict[str, DocumentMention] = {}
    for name in list_names(place):
        if '"' in name:
            continue
        query = SearchQuery(f'"{name}"', languages=_PROSE, limit=_RESULTS, expand=False)
        try:
            response = find(query)
        except (QueryError, UnavailableError):
            continue
        for result in response.results:
            path = result.file_path
            if path not in found and path != place.whole.source:
                mention = _find_line(open_index(), path, name, place.whole.source)
                if mention is not None:
                    found[path] = mention
    ordered = sorted(found.values(), key=lambda mention: _kind(mention.path))
    return tuple(ordered[:_MAX_MENTIONS])


def _is_specific(name: str) -> bool:
    return len(name) >= _MIN_CHARS and _CODE_LIKE.search(name) is not None


def _kind(path: str) -> int:
    return 0 if _DECISION.search(path) else 2 if _CHANGES.search(path) else 1


def _find_line(index: IndexReader, path: str, name: str, file: str) -> DocumentMention | None:
    state = index.file_at(path)
    pattern = re.compile(rf"(?<![\w]){re.escape(name)}(?![\w])")
    lines = index.text(state.id).split("\n") if state is not None else []
    for number, line in enumerate(lines, start=1):
        if any(_is_mention(found, line, file) for found in pattern.finditer(line)):
            return DocumentMention(path, number, name, line.strip()[:_MAX_TEXT_CHARS])
    return None


def _is_mention(found: re.Match[str], line: str, file: str) -> bool:
    """Return False if a name in a line is part of the path of another file, and True otherwise.

    "code/a.py" and "a.py.txt" do not mention the file "src/a.py", but "../src/a.py" does.
    """
    if not file.endswith(found[0]):
        return True
    if _EXTENSION.match(line, found.end()):
        return False
    folders = _FOLDERS.search(line, max(0, found.start() - _MAX_TEXT_CHARS), found.start())
    written = (folders[1] if folders is not None else "") + found[0]
    return f"/{file}".endswith(f"/{written}") or f"/{written}".endswith(f"/{file}")
