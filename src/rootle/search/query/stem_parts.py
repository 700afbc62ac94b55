"""Given a piece of a word, find a string that occurs in the stem of every word with this piece.

The index contains stems instead of words. To find the words that contain a piece, the index is
searched for this string.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from itertools import product, takewhile
from typing import Final

from rootle.text.stemmer import open_stemmer

# The minimum length of a part. Shorter parts occur in most texts.
_MIN_PART: Final = 3
# Word beginnings that are put before a piece to find out which of its letters the stemmer
# removes. Some suffixes are removed only after certain letters, so several beginnings are needed.
_BEGINNINGS: Final = ("", "tabulat", "tabulal", "tabular", "tabule")
# Word endings that the stemmer removes, in the longest forms in which they are combined.
_ENDINGS: Final = """
izations alizations alizingly ationalisms ationally alities icalities ivities ivenesses iveness
fulnesses fully fulness ousnesses ously ousness lessly lessness ingly ings ingness edly edness eedly
ements ements ently ences encies ancies ances ably ibly abilities ibilities ologies ologically
icatives icating ications icities ically icalness icals atively atives ators ators izers izedly
alisms alists ists isms ants ents ables ibles ers ors ates ative ional ions ies ied sses ness
""".split()
_REMAINDERS: Final = tuple({ending[at:] for ending in _ENDINGS for at in range(len(ending) + 1)})


@lru_cache(maxsize=1_024)
def guaranteed_part(piece: str, *, starts_word: bool, ends_word: bool) -> str:
    """Return a string that occurs in the stem of every word with a piece; "" if there is none.

    Set `starts_word` if words begin with the piece, and `ends_word` if they end with it. The
    stemmer removes and replaces letters at the end of a word. Therefore the stem may contain only
    the beginning of the piece.
    """
    beginnings = ("",) if starts_word else _BEGINNINGS
    remainders = ("",) if ends_word else _REMAINDERS
    pairs = list(product(beginnings, remainders))
    if not starts_word:
        pairs += _find_in_endings(piece)
    stems = _stemmer()(" ".join(f"{beginning}{piece}{rest}" for beginning, rest in pairs))
    size = len(piece)
    for (beginning, _), one in zip(pairs, stems, strict=True):
        rest = one[len(beginning) :] if one.startswith(beginning) else ""
        equal = takewhile(lambda two: two[0] == two[1], zip(piece[:size], rest, strict=False))
        size = sum(1 for _ in equal)
    return piece[:size] if size >= _MIN_PART else ""


def _find_in_endings(piece: str) -> Iterator[tuple[str, str]]:
    """Yield the text before and after a piece in each ending that contains it."""
    for ending in _ENDINGS:
        at = ending.find(piece)
        while at >= 0:
            rest = ending[at + len(piece) :]
            yield from ((f"{beginning}{ending[:at]}", rest) for beginning in _BEGINNINGS)
            at = ending.find(piece, at + 1)


@cache
def _stemmer() -> Callable[[str], list[str]]:
    return open_stemmer()
