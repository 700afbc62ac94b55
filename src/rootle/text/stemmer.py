"""English stemming: computed, computing and computes become comput."""

from __future__ import annotations

from collections.abc import Callable

import Stemmer


def open_stemmer() -> Callable[[str], list[str]]:
    """Return a function that maps space-separated terms to their stems, in the same order.

    Threads may share the function: the stemmer holds the interpreter lock.
    """
    # TermTable already caches stems, so a second cache would cost time.
    stem = Stemmer.Stemmer("english", 0).stemWords
    return lambda terms: stem(terms.split())
