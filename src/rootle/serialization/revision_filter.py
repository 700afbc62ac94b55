"""The filter `at:` in a question, which names an earlier version to search."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from rootle.errors import QueryError
from rootle.types import SearchQuery

# The filter must be the first or the last word, because pasted messages may contain "at:" too.
_FILTER: Final = re.compile(r'^\s*at:("[^"]+"|[^\s":]+)(?!\S)|(?<!\S)at:("[^"]+"|[^\s":]+)\s*$')


def split_revision(query: SearchQuery) -> SearchQuery:
    """Return a query whose `at:` filter is in the field `at`.

    Raise QueryError if the filter and the field name different versions.
    """
    found = _FILTER.search(query.text_query) if "at:" in query.text_query else None
    if found is None:
        return query
    text = query.text_query[: found.start()] + query.text_query[found.end() :]
    name = (found[1] or found[2]).strip('"')
    if query.at not in (None, name):
        raise QueryError(
            f'the question names the version "{name}" with at:, and the request the version '
            f'"{query.at}"; leave out one of them, or quote "at:{name}" to search for the text'
        )
    return replace(query, text_query=text.strip(), at=name)
