"""Teach a table of rows the meaning of general English words.

    python -m training.embedding.general_words --start TABLE --teacher FOLDER --frequent FILE
        --dictionary FILE --out DIR

Packages contain few everyday words, so the rows of these words are poor or missing. The teacher,
any value of `embeddingModelID`, embeds each word alone. This shows which words have similar
meanings:

1. The row of each word in the list of frequent words moves toward the rows of the words that are
   most similar according to the teacher.
2. Numbers that are rare in packages make room for the most frequent words that TABLE lacks. Their
   rows are means of the rows of similar words. Other forms of a known word get no row, because the
   embedder finds them by their stem.

FILE contains one word per line: for `--frequent`, the words of everyday English, the most frequent
first; for `--dictionary`, the words of an English dictionary, so that no names and misspellings are
added. No vector of the teacher becomes part of the table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from benchmarks.common.arguments import OUT, command_parser
from numpy.typing import NDArray

from rootle import Config
from rootle.embed.factory import choose_model, open_model
from rootle.text.stemmer import open_stemmer
from training.embedding.contrastive import normalize
from training.embedding.weight_files import read_weights, write_weights

Floats = NDArray[np.float32]

MIN_LETTERS: Final = 3
NEIGHBORS: Final = 10
TEMPERATURE: Final = 0.05  # of the weights of similar words, a softmax over cosines
# The length of the vector that is added to the unit vector of a word. With 0.2, 0.6 and 0.8, the
# questions of held-out pairs find their answers less often.
SMOOTHING: Final = 0.4
NEW_LENGTH: Final = 0.9  # about the median length of the rows of everyday words
# The vocabulary is sorted by the number of packages. The numbers at its beginning, such as status
# codes, keep their rows.
KEPT_WORDS: Final = 6_000
# Words that are not worth a row in a model for work.
_OBSCENE: Final = ("fuck", "shit", "whore", "slut", "porn", "nigg", "bitch", "cunt", "rape")
_BATCH: Final = 1_000


@dataclass(frozen=True)
class Table:
    """A table of rows, shape (words, dimensions), with the word of each row."""

    rows: Floats
    words: Sequence[str]


def main() -> None:
    parser = command_parser(__doc__, OUT)
    for option, kind in (
        ("--start", "TABLE"),
        ("--teacher", "FOLDER"),
        ("--frequent", "FILE"),
        ("--dictionary", "FILE"),
    ):
        parser.add_argument(option, type=Path, required=True, metavar=kind)
    args = parser.parse_args()
    table = Table(*read_weights(args.start))
    frequent = read_words(args.frequent)
    added = choose_new_words(table.words, frequent, set(read_words(args.dictionary)))
    known = [word for word in table.words if is_word(word)]
    config = Config(embedding_model_id=str(args.teacher))
    teacher = open_model(choose_model(config), config)
    words = [*known, *added]
    batches = [teacher.embed(words[at : at + _BATCH]) for at in range(0, len(words), _BATCH)]
    vectors = center(np.concatenate(batches).astype(np.float32), len(known))
    changed = teach(table, frequent, dict(zip(words, vectors, strict=True)), added)
    write_weights(changed.rows, changed.words, args.out)


def read_words(path: Path) -> list[str]:
    """Return the lower-case words of a file with one word per line, in the order of the file."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [word for word in lines if is_word(word) and word.islower()]


def is_word(text: str) -> bool:
    """Return whether a text consists of at least three Latin letters."""
    return len(text) >= MIN_LETTERS and text.isascii() and text.isalpha()


def choose_new_words(
    vocabulary: Sequence[str], frequent: Sequence[str], dictionary: set[str]
) -> list[str]:
    """Return the most frequent words whose stem no word of the vocabulary has.

    There are as many words as numbers that can be replaced, or fewer.
    """
    stem = open_stemmer()
    stems = set(stem(" ".join(word for word in vocabulary if word.isalpha())))
    chosen: list[str] = []
    room = len(list(_replaceable(vocabulary)))
    for word in frequent:
        (found,) = stem(word)
        is_new = found not in stems and word in dictionary
        if len(chosen) < room and is_new and not any(part in word for part in _OBSCENE):
            stems.add(found)
            chosen.append(word)
    return chosen


def center(vectors: Floats, known: int) -> Floats:
    """Return unit vectors without the mean of the first `known` vectors."""
    return normalize(vectors - vectors[:known].mean(axis=0))[0]


def teach(
    table: Table, frequent: Sequence[str], teacher: dict[str, Floats], added: Sequence[str]
) -> Table:
    """Return the table with changed rows of frequent words and with rows of added words.

    `teacher` contains the teacher's unit vector of each frequent word that the table knows, and of
    each added word. The added words replace numbers, the first word the most common number.
    """
    row_of = {word: row for row, word in enumerate(table.words)}
    everyday = [word for word in dict.fromkeys(frequent) if word in row_of and word in teacher]
    at = np.array([row_of[word] for word in everyday])
    units, lengths = normalize(table.rows[at])
    meanings = np.array([teacher[word] for word in everyday])
    rows, words = table.rows.copy(), list(table.words)
    similar = mean_of_similar(meanings, meanings, units, leave_out_same=True)
    rows[at] = normalize(units + np.float32(SMOOTHING) * similar)[0] * lengths
    if added:
        new = np.array([teacher[word] for word in added])
        means = mean_of_similar(new, meanings, units) * np.float32(NEW_LENGTH)
        for row, word, mean in zip(_replaceable(table.words), added, means, strict=False):
            rows[row], words[row] = mean, word
    return Table(rows, words)


def mean_of_similar(
    queries: Floats, meanings: Floats, units: Floats, leave_out_same: bool = False
) -> Floats:
    """Return for each query the unit mean of the `units` whose `meanings` are most similar.

    With `leave_out_same`, query i does not use unit i.
    """
    means = np.zeros((len(queries), units.shape[1]), np.float32)
    count = min(NEIGHBORS, len(meanings) - 1)
    for start in range(0, len(queries), _BATCH):
        cosines = queries[start : start + _BATCH] @ meanings.T
        if leave_out_same:
            own = np.arange(len(cosines))
            cosines[own, own + start] = -np.inf
        nearest = np.argpartition(-cosines, count, axis=1)[:, :count]
        weights = np.exp(np.take_along_axis(cosines, nearest, axis=1) / TEMPERATURE)
        weights /= weights.sum(axis=1, keepdims=True)
        means[start : start + _BATCH] = np.einsum("ij,ijk->ik", weights, units[nearest])
    return normalize(means)[0]


def _replaceable(vocabulary: Sequence[str]) -> Iterator[int]:
    """Yield the rows of rare numbers."""
    for row, word in enumerate(vocabulary):
        if row >= KEPT_WORDS and word.isdigit():
            yield row


if __name__ == "__main__":
    main()
