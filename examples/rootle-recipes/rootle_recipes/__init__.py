"""One small plugin of each kind, for a folder full of recipes."""

from __future__ import annotations

import gzip
import io
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from rootle.plugins import FileFacts, IndexPlace, Plugin, Section
from rootle_recipes.shelf import Shelf

_MOST_BYTES = 10_000_000  # of what is unpacked: a small file may hold gigabytes of nothing


def cutter() -> Callable[[str], Iterator[Section]]:
    """Cuts `.recipe` files at lines that begin with "Dish: "."""

    def cut(text: str) -> Iterator[Section]:
        lines = text.split("\n")
        starts = [at for at, line in enumerate(lines) if line.startswith("Dish: ")]
        for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
            dish = lines[start].removeprefix("Dish: ")
            yield Section(start + 1, end, names=(dish,), scope=f"dish {dish}")

    return cut


def finished_only() -> Callable[[FileFacts], bool]:
    """Keeps drafts out of every answer."""
    return lambda file: not file.path.startswith("drafts/")


def by_shared_words() -> Callable[[str, Sequence[str]], list[float]]:
    """Scores a document by the share of the question's words that stand in it."""

    def scores(question: str, documents: Sequence[str]) -> list[float]:
        wanted = set(question.lower().split())
        return [len(wanted & set(text.lower().split())) / len(wanted) for text in documents]

    return scores


def letters() -> Callable[[Sequence[str]], list[list[float]]]:
    """An embedding that only knows how often each letter stands in a text."""
    alphabet = "abcdefghijklmnopqrstuvwxyz"

    def embed(texts: Sequence[str]) -> list[list[float]]:
        counts = [Counter(text.lower()) for text in texts]
        return [[1.0 + count[letter] for letter in alphabet] for count in counts]

    return embed


def unpacked() -> Callable[[bytes], str]:
    """Reads packed recipes; the lines of results are those of the text inside."""

    def read(data: bytes) -> str:
        with gzip.open(io.BytesIO(data)) as file:
            return file.read(_MOST_BYTES).decode()

    return read


def shelf() -> Callable[[IndexPlace], Shelf]:
    """Keeps either leg of an index in one file."""
    return Shelf


PLUGINS = (
    Plugin("chunker", ".recipe", cutter),
    Plugin("filter", "finished-only", finished_only),
    Plugin("reranker", "shared-words", by_shared_words),
    Plugin("embedder", "letters", letters),
    Plugin("document reader", ".recipe.gz", unpacked),
    Plugin("index", "shelf", shelf),
)
