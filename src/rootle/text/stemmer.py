"""Words cut back to their stems: computed, computing and computes all stand as comput."""

from __future__ import annotations

from collections.abc import Callable

import tantivy


def open_stemmer() -> Callable[[str], list[str]]:
    """A function from terms with spaces between to their stems, in order, by English rules."""
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace())
    return builder.filter(tantivy.Filter.stemmer("english")).build().analyze
