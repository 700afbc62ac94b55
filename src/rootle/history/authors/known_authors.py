"""The authors of the indexed commits, found by a name, a part of it, or a mail address."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

from rootle.history.commit_view import CommitView

_WORD: Final = re.compile(r"[^\s()<>\"“”,;]+")
_PARTS: Final = re.compile(r"[^\W_]+")
# The number in the address of a GitHub account: "1234+login@users.noreply.github.com".
_NUMBER: Final = re.compile(r"(?<!\d)\d+\+")


class KnownAuthors:
    """Finds authors by the whole words of their names and by their addresses."""

    def __init__(self, authors: Iterable[str]) -> None:
        """`authors` are the authors of commits, each as "Name <address>", once per commit."""
        self._counts = Counter(author for author in authors if author)
        self._by_word: dict[str, set[str]] = defaultdict(set)
        self._names: dict[str, list[str]] = {}
        for author in self._counts:
            name, _, address = author.partition(" <")
            self._names[author] = _words(name)
            parts = _PARTS.findall(_fold(name))  # "dependabot[bot]" is known as "dependabot"
            for word in (*_words(name), *parts, *_address_words(address.rstrip(">"))):
                self._by_word[word].add(author)

    def find(self, name: str) -> Sequence[str]:
        """Return the authors with a name, the one with the most commits first.

        `name` is one or more whole words of a name, a mail address, the part of an address before
        the "@", or an account such as "@ada". Case and accents are ignored.
        """
        wanted = _fold(name.strip())
        if "@" in wanted or not any(map(str.isspace, wanted)):
            found = self._by_word.get(wanted.removeprefix("@"), set())
        else:
            words = _words(name)
            near = set.intersection(*(self._by_word.get(word, set()) for word in words or [""]))
            found = {one for one in near if _is_within(words, self._names[one])}
        return sorted(found, key=lambda author: (-self._counts[author], author))

    def all(self) -> Sequence[str]:
        """Return all authors, the one with the most commits first."""
        return sorted(self._counts, key=lambda author: (-self._counts[author], author))


def read_authors(view: CommitView) -> KnownAuthors:
    """Return the authors of the commits of a view."""
    return KnownAuthors(view.list_authors())


def _fold(text: str) -> str:
    """Return a text in lower case and without accents."""
    parts = unicodedata.normalize("NFKD", text)
    return "".join(sign for sign in parts if not unicodedata.combining(sign)).casefold()


def _is_within(words: Sequence[str], name: Sequence[str]) -> bool:
    """Return whether a name has these words in this order. A middle name may be left out."""
    rest = iter(name)
    return all(word in rest for word in words)


def _words(name: str) -> list[str]:
    return [word.rstrip(".") for word in _WORD.findall(_fold(name)) if word.strip(".")]


def _address_words(address: str) -> Iterable[str]:
    """Return an address, and its part before the "@", by which an author may be known."""
    folded = _fold(address)
    account = _NUMBER.sub("", folded.partition("@")[0])
    # A part that is not a name, such as "me" or "info", does not identify the author.
    return [folded, *([account] if len("".join(_PARTS.findall(account))) > 3 else [])]
