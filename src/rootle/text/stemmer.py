"""English stemming: computed, computing and computes become comput."""

from __future__ import annotations

from collections.abc import Callable

import tantivy


def open_stemmer() -> Callable[[str], list[str]]:
    """Return a function that maps space-separated terms to their stems, in the same order."""
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace())
    return builder.filter(tantivy.Filter.stemmer("english")).build().analyze
