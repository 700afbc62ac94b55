"""Words cut back to their stems: computed, computing and computes all stand as comput."""

from __future__ import annotations

from collections.abc import Callable

import tantivy

Stem = Callable[[str], list[str]]


def open_stemmer() -> Stem:
    """A function from terms with spaces between to their stems, in order, by English rules."""
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace())
    return builder.filter(tantivy.Filter.stemmer("english")).build().analyze
