"""Compare the order of the words of a question with the best chunks of the most likely files."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from rootle.index.reader import IndexReader
from rootle.protocols import Ids
from rootle.rank.adjacent_words import WordOrder

# Other files and chunks are not read: reading these takes a twentieth of a query in a repository
# with 6,500 files.
MAX_READ_FILES: Final = 16
_MAX_READ_CHUNKS: Final = 2  # per file


def word_order_shares(
    order: WordOrder,
    index: IndexReader,
    chunk_ids: Ids,
    file_ids: Ids,
    likely: Collection[int],
) -> dict[int, tuple[float, float]]:
    """Return the shares of adjacent pairs and triples in the best chunks, by likely file.

    `file_ids` has the file of each chunk. The chunks are given in descending order of their scores.
    """
    texts = _read_best_chunks(index, chunk_ids, file_ids, likely)
    return {file_id: order.shares_in(of_file) for file_id, of_file in texts.items()}


def _read_best_chunks(
    index: IndexReader, chunk_ids: Ids, file_ids: Ids, wanted: Collection[int]
) -> Mapping[int, Sequence[str]]:
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
