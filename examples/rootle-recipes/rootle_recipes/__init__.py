"""Example plugins for rootle, one of each kind, for a folder of recipes."""

from __future__ import annotations

import gzip
import io
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from rootle.plugins import FileFacts, IndexPlace, Plugin, Section
from rootle_recipes.shelf import Shelf

# A small compressed file may contain gigabytes.
_MAX_DECOMPRESSED_BYTES = 10_000_000


def make_recipe_chunker() -> Callable[[str], Iterator[Section]]:
    """Return a chunker that splits `.recipe` files at lines that begin with "Dish: "."""

    def cut(text: str) -> Iterator[Section]:
        lines = text.split("\n")
        starts = [at for at, line in enumerate(lines) if line.startswith("Dish: ")]
        for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
            dish = lines[start].removeprefix("Dish: ")
            yield Section(start + 1, end, names=(dish,), scope=f"dish {dish}")

    return cut


def make_draft_filter() -> Callable[[FileFacts], bool]:
    """Return a filter that excludes drafts from every answer."""
    return lambda file: not file.path.startswith("drafts/")


def make_word_overlap_reranker() -> Callable[[str, Sequence[str]], list[float]]:
    """Return a reranker that scores a document by the share of query words that it contains."""

    def scores(query: str, documents: Sequence[str]) -> list[float]:
        words = set(query.lower().split())
        return [len(words & set(text.lower().split())) / len(words) for text in documents]

    return scores


def make_letter_embedder() -> Callable[[Sequence[str]], list[list[float]]]:
    """Return an embedding model that counts the letters of a text."""
    alphabet = "abcdefghijklmnopqrstuvwxyz"

    def embed(texts: Sequence[str]) -> list[list[float]]:
        counts = [Counter(text.lower()) for text in texts]
        return [[1.0 + count[letter] for letter in alphabet] for count in counts]

    return embed


def make_gzip_reader() -> Callable[[bytes], str]:
    """Return a document reader for compressed recipes; lines refer to the decompressed text."""

    def read(data: bytes) -> str:
        with gzip.open(io.BytesIO(data)) as file:
            return file.read(_MAX_DECOMPRESSED_BYTES).decode()

    return read


def make_shelf() -> Callable[[IndexPlace], Shelf]:
    """Return the class of an index that stores one leg (words or vectors) in one file."""
    return Shelf


PLUGINS = (
    Plugin("chunker", ".recipe", make_recipe_chunker),
    Plugin("filter", "finished-only", make_draft_filter),
    Plugin("reranker", "shared-words", make_word_overlap_reranker),
    Plugin("embedder", "letters", make_letter_embedder),
    Plugin("document reader", ".recipe.gz", make_gzip_reader),
    Plugin("index", "shelf", make_shelf),
)
