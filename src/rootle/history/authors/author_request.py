"""Rewrite a question about the commits of an author as a query with filters."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from rootle.history.authors.author_questions import (
    AuthorQuestion,
    asks_for_changes_in,
    parse_author_question,
)
from rootle.history.authors.known_authors import KnownAuthors
from rootle.history.authors.question_filters import read_filters
from rootle.history.names.name_questions import parse_name_history
from rootle.history.past_question import HISTORY
from rootle.search.query.operators import ParsedQuery, restrictions_in

# If more authors than this have the name, the filter contains the name as it was typed.
_MAX_AUTHORS: Final = 12
_MAX_NAMED: Final = 3


@dataclass(frozen=True, slots=True)
class Repository:
    """Looks up names and revisions in the repository of a question."""

    authors: KnownAuthors
    find_date: Callable[[str], float | None]  # the Unix time of a commit, tag or branch
    is_place: Callable[[str], bool]  # whether a definition or a file has a name
    is_folder: Callable[[str], bool]  # whether a commit changed files below a folder


@dataclass(frozen=True, slots=True)
class AuthorRequest:
    """A query with the filter `author:`, and a note that shows it."""

    text: str
    note: str
    oldest_first: bool
    count: int | None = None  # how many commits the question asks for


def allows_author(parsed: ParsedQuery) -> bool:
    """Return whether a query with these operators may ask for the commits of an author."""
    return parsed.kinds in ((), (HISTORY,)) and not parsed.authors and parsed.regex is None


def rewrite_question(
    text: str, parsed: ParsedQuery, repository: Repository
) -> AuthorRequest | None:
    """Return a query for the commits of the author that a question names; None if it names none.

    `text` is the whole query, and `parsed` is the same query after parsing.
    """
    question = parse_author_question(parsed.text, repository.authors.find)
    if question is None:
        return None
    if question.may_be_name and _is_about_place(parsed.text, repository.is_place):
        return None
    filters = read_filters(question.words, time.time(), repository.find_date, repository.is_folder)
    words = _ask_for_place(parsed.text, filters.words, repository.is_place)
    authors = _author_filters(question, repository.authors)
    kind = "" if parsed.kinds else f"in:{HISTORY}"
    phrases = [f'"{phrase}"' for phrase in parsed.phrases]
    shown = (f"in:{HISTORY}", authors, filters.operators, filters.words)
    parts = (kind, authors, filters.operators, restrictions_in(text), words, *phrases)
    return AuthorRequest(
        " ".join(filter(None, parts)),
        f"searched as {' '.join(filter(None, shown))}: {_describe(question.authors)}",
        question.oldest_first,
        question.count,
    )


def _ask_for_place(text: str, words: str, is_place: Callable[[str], bool]) -> str:
    """Return a question about the changes of a definition or file if the words are only its name.

    In a question such as "what changed in the parser by Ada", a plain word is the name of a file.
    """
    allows_words = asks_for_changes_in(text)
    asked = f"what changed in {words}" if allows_words else f"who changed {words}"
    found = parse_name_history(asked, is_filtered=allows_words) if words else None
    return asked if found is not None and is_place(found.name) else words


def _is_about_place(text: str, is_place: Callable[[str], bool]) -> bool:
    found = parse_name_history(text)
    return found is not None and is_place(found.name)


def _author_filters(question: AuthorQuestion, known: KnownAuthors) -> str:
    """Return `author:` with the typed name, or with the names of all authors that it means.

    The filter also matches parts of words: "Dan" would find the commits of "Daniel".
    """
    typed, meant = question.name.removeprefix("@").casefold(), set(question.authors)
    selected = {author for author in known.all() if typed in author.casefold()}
    if selected == meant or len(meant) > _MAX_AUTHORS:
        return _filter(question.name.removeprefix("@"))
    return " ".join(_filter(author.replace('"', "")) for author in question.authors)


def _filter(name: str) -> str:
    return f'author:"{name}"' if " " in name else f"author:{name}"


def _describe(authors: Sequence[str]) -> str:
    """Describe the commits of authors; name an author with several addresses only once."""
    addresses: dict[str, list[str]] = {}
    for author in authors:
        addresses.setdefault(author.partition(" <")[0], []).append(author)
    shown = [
        same[0] if len(same) == 1 else f"{name} ({len(same)} addresses)"
        for name, same in addresses.items()
    ]
    more = len(shown) - _MAX_NAMED
    rest = f" and {more} other {'author' if more == 1 else 'authors'}" if more > 0 else ""
    return f"commits by {', '.join(shown[:_MAX_NAMED])}{rest}"
