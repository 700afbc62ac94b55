"""Read the text of the best chunks of a few files."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from rootle.index.reader import IndexReader
from rootle.protocols import Ids

# The order of words is compared only in these chunks, because reading them takes time: a
# twentieth of a query in a repository with 6,500 files.
MAX_READ_FILES: Final = 16
_MAX_READ_CHUNKS: Final = 2  # per file


def read_best_chunks(
    index: IndexReader, chunk_ids: Ids, file_ids: Ids, wanted: Collection[int]
) -> Mapping[int, Sequence[str]]:
    """Return the texts of the first two chunks of each wanted file, by file id.

    `file_ids` has the file of each chunk. The chunks are given in descending order of their scores.
    """
    best: dict[int, list[int]] = {file_id: [] for file_id in wanted}
    for chunk_id, file_id in zip(chunk_ids.tolist(), file_ids.tolist(), strict=True):
        found = best.get(file_id)
        if found is not None and len(found) < _MAX_READ_CHUNKS:
            found.append(chunk_id)
    rows = index.chunks([chunk_id for found in best.values() for chunk_id in found])
    places = [(row.file_id, row.start, row.end) for row in rows.values()]
    texts: dict[int, list[str]] = defaultdict(list)
    for (file_id, _, _), text in zip(places, index.excerpts(places), strict=True):
        texts[file_id].append(text)
    return texts
