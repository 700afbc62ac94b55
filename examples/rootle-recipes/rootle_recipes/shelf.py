"""An index in one JSON file that scores words by their weights and vectors by their dot product."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rootle.plugins import IndexPlace

_FOLDER = Path.home() / ".rootle-shelf"


class Shelf:
    """One leg (words or vectors) of a folder's index, with every method that rootle calls."""

    def __init__(self, place: IndexPlace) -> None:
        self._leg = place.leg
        self._path = _FOLDER / f"{place.name}.json"

    def read_stamp(self) -> str:
        """Return the last argument of `commit`, or an empty string if there is no index."""
        return self._read()["stamp"]

    def create(self, dimensions: int) -> None:
        """Replace any existing index with an empty one; `dimensions` is 0 for words."""
        self._write({"stamp": "", "dimensions": dimensions, "chunks": {}})

    def put(self, chunks: Sequence[Any]) -> None:
        """Store chunks under their ids, each with its file and its terms or vector."""
        stored = self._read()
        for chunk in chunks:
            content = chunk.terms.split() if self._leg == "sparse" else chunk.vector.tolist()
            stored["chunks"][str(chunk.id)] = [chunk.file_id, content]
        self._write(stored)

    def delete_stale(self, live: Mapping[int, Sequence[int]]) -> None:
        """Delete chunks of the files in `live` if their ids are not listed there."""
        stored = self._read()
        for key, (file_id, _) in list(stored["chunks"].items()):
            if int(key) not in live.get(file_id, [int(key)]):
                del stored["chunks"][key]
        self._write(stored)

    def commit(self, stamp: str) -> None:
        """Store a stamp that confirms all earlier changes; `put` has made them visible already."""
        self._write({**self._read(), "stamp": stamp})

    def count(self) -> int:
        """Return the number of chunks."""
        return len(self._read()["chunks"])

    def contains(self, chunk_id: int) -> bool:
        """Return whether a chunk is stored."""
        return str(chunk_id) in self._read()["chunks"]

    def drop(self) -> None:
        """Delete the index."""
        self._path.unlink(missing_ok=True)

    def query(self, asked: Any, k: int, files: set[int] | None) -> list[tuple[int, float]]:
        """Return at most k pairs of chunk id and score, optionally from some files only."""
        scores = {
            int(key): self._score(asked, content)
            for key, (file_id, content) in self._read()["chunks"].items()
            if files is None or file_id in files
        }
        best = sorted((at for at in scores if scores[at] > 0), key=lambda at: -scores[at])
        return [(at, scores[at]) for at in best[:k]]

    def _score(self, asked: Any, content: Sequence[Any]) -> float:
        if self._leg == "sparse":
            return sum(term.weight for term in asked if term.text in content)
        return sum(float(one) * other for one, other in zip(asked, content, strict=True))

    def _read(self) -> dict[str, Any]:
        try:
            return json.loads(self._path.read_text())
        except FileNotFoundError:
            return {"stamp": "", "chunks": {}}

    def _write(self, content: Mapping[str, Any]) -> None:
        """Replace the file in one step, because another process may be reading it."""
        _FOLDER.mkdir(exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=_FOLDER, delete=False) as file:
            json.dump(content, file)
        os.replace(file.name, self._path)
