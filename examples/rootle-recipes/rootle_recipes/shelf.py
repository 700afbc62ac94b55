"""An index in one JSON file: words by their weights, vectors by their product."""

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
    """One leg of one folder. Everything that rootle asks of an index is here."""

    def __init__(self, place: IndexPlace) -> None:
        self._leg = place.leg
        self._path = _FOLDER / f"{place.name}.json"

    def note(self) -> str:
        """What `settle` was given last; nothing where there is no index."""
        return self._read()["note"]

    def create(self, dimensions: int) -> None:
        """An empty index in the place of whatever is there; `dimensions` is 0 for words."""
        self._write({"note": "", "dimensions": dimensions, "chunks": {}})

    def put(self, chunks: Sequence[Any]) -> None:
        """Keep chunks under their ids, each with its file, and its terms or its vector."""
        kept = self._read()
        for chunk in chunks:
            what = chunk.terms.split() if self._leg == "sparse" else chunk.vector.tolist()
            kept["chunks"][str(chunk.id)] = [chunk.file_id, what]
        self._write(kept)

    def prune(self, live: Mapping[int, Sequence[int]]) -> None:
        """Of these files keep no chunks beside those that are named."""
        kept = self._read()
        for key, (file_id, _) in list(kept["chunks"].items()):
            if int(key) not in live.get(file_id, [int(key)]):
                del kept["chunks"][key]
        self._write(kept)

    def settle(self, note: str) -> None:
        """From here on all that was put is found, and `note` tells so."""
        self._write({**self._read(), "note": note})

    def count(self) -> int:
        return len(self._read()["chunks"])

    def holds(self, chunk_id: int) -> bool:
        return str(chunk_id) in self._read()["chunks"]

    def drop(self) -> None:
        self._path.unlink(missing_ok=True)

    def query(self, asked: Any, k: int, files: set[int] | None) -> list[tuple[int, float]]:
        """At most k pairs of chunk and score, only of `files` where they are given."""
        scores = {
            int(key): self._score(asked, what)
            for key, (file_id, what) in self._read()["chunks"].items()
            if files is None or file_id in files
        }
        best = sorted((at for at in scores if scores[at] > 0), key=lambda at: -scores[at])
        return [(at, scores[at]) for at in best[:k]]

    def _score(self, asked: Any, what: Sequence[Any]) -> float:
        if self._leg == "sparse":
            return sum(term.weight for term in asked if term.text in what)
        return sum(float(one) * other for one, other in zip(asked, what, strict=True))

    def _read(self) -> dict[str, Any]:
        try:
            return json.loads(self._path.read_text())
        except FileNotFoundError:
            return {"note": "", "chunks": {}}

    def _write(self, kept: Mapping[str, Any]) -> None:
        """All at once: another process may be reading."""
        _FOLDER.mkdir(exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=_FOLDER, delete=False) as file:
            json.dump(kept, file)
        os.replace(file.name, self._path)
