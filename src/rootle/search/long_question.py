"""Shorten a long question without losing its filters."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from rootle.search.query.operators import final_restrictions
from rootle.types import SearchQuery, SearchResponse

# The maximum number of characters of a question that are read. Longer questions are pasted files,
# and the beginning of a pasted file is enough to find it.
MAX_QUERY_CHARS: Final = 10_000
# The number of characters at the end of a long question that are searched for filters.
_MAX_FILTER_CHARS: Final = 2_000
_SPACE: Final = re.compile(r"\s")


def shorten_question(text: str) -> str:
    """Return the beginning of a long question with the filters at its end.

    The result has at most MAX_QUERY_CHARS characters. The beginning ends at a space, so that only a
    word of more than _MAX_FILTER_CHARS characters can be cut in two.
    """
    if len(text) <= MAX_QUERY_CHARS:
        return text
    filters = final_restrictions(_SPACE.split(text[-_MAX_FILTER_CHARS:], 1)[-1])
    beginning = text[: MAX_QUERY_CHARS - len(filters) - 1]
    return f"{_drop_last_word(beginning)} {filters}".rstrip()


def note_shortened(query: SearchQuery, response: SearchResponse) -> SearchResponse:
    """Return the response with a note that the question was shortened."""
    note = (
        f"the question has {len(query.text_query):,} characters; only about the first "
        f"{MAX_QUERY_CHARS:,} were searched, with the filters at its end"
    )
    return replace(response, suggestions=(*response.suggestions, note))


def _drop_last_word(text: str) -> str:
    spaces = list(_SPACE.finditer(text, len(text) - _MAX_FILTER_CHARS))
    return text[: spaces[-1].start()] if spaces else text
