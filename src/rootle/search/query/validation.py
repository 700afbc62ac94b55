"""Whether a question can be asked: told before anything is indexed or loaded for it."""

from __future__ import annotations

from typing import Final

from rootle.config.fields import Config
from rootle.errors import QueryError
from rootle.search.query.syntax import parse_query
from rootle.search.results.exclusions import parse_exclusions
from rootle.text.terms import WORD
from rootle.types import SearchQuery

# Longer questions are pasted files; what they ask for stands at their start.
MAX_QUERY_CHARS: Final = 10_000
# A short function with its heading.
_TOKENS_OF_PASSAGE: Final = 100


def check_query(query: SearchQuery, config: Config) -> int:
    """The limit of a question that can be asked; raises QueryError for any other."""
    if not query.text_query.strip():
        raise QueryError("the question is empty; ask in words or name a symbol")
    parsed = parse_query(query.text_query[:MAX_QUERY_CHARS])
    if not WORD.search(parsed.text) and not parsed.is_exact:
        raise QueryError("the question has no letter or digit in it; ask in words")
    _check_context(query)
    limit = _default_limit(query, config) if query.limit is None else query.limit
    if not 1 <= limit <= config.max_limit:
        raise QueryError(f"limit is {limit}; give a number from 1 to {config.max_limit}")
    return limit


def _check_context(query: SearchQuery) -> None:
    if query.budget is not None and query.budget < 1:
        raise QueryError(f"budget is {query.budget}; give a number of tokens of 1 or more")
    if query.budget is not None and query.cursor is not None:
        raise QueryError(
            "an answer within a budget has no further pages; leave out the cursor and use exclude"
        )
    parse_exclusions(query.exclude)


def _default_limit(query: SearchQuery, config: Config) -> int:
    """With a budget as many results as might find room in it."""
    if query.budget is None:
        return config.default_limit
    room = query.budget // _TOKENS_OF_PASSAGE
    return min(config.max_limit, max(config.default_limit, room))
