"""Requests for the definitions and uses of a name."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final, get_args

from rootle.errors import QueryError
from rootle.text.terms import WORD
from rootle.types import SymbolAspect

DEFAULT_LIMIT: Final = 30
MAX_LIMIT: Final = 10_000
_MAX_NAME_CHARS: Final = 300


@dataclass(frozen=True, slots=True)
class SymbolRequest:
    """A name, the aspect that is asked for, and the page of uses to return."""

    name: str
    aspect: SymbolAspect = "definitions"
    limit: int | None = None  # None for the default
    offset: int = 0
    cursor: str | None = None  # takes precedence over `offset`
    files: Collection[int] | None = None  # ids of the files to search; None for all
    excluded: re.Pattern[str] | None = None  # lines with a match are left out
    has_mentions: bool = True  # False: the page ends before comments, strings and documents
    value: str = ""  # assignments of this value come first

    @property
    def digest_text(self) -> str:
        files = "" if self.files is None else " ".join(map(str, sorted(self.files)))
        excluded = "" if self.excluded is None else f"\0{self.excluded.pattern}"
        value = f"\0={self.value}" if self.value else ""
        return f"{self.aspect}\0{self.name}\0{files}{excluded}{value}"


def strip_parameters(name: str) -> str:
    """Return a name without a list of parameters: "A.put" for "A.put(String, int)"."""
    name = name.strip()
    head = name.partition("(")[0]
    if not head or not name.endswith(")"):
        return name
    if re.search(r"(?<!\w)operator$", head) and name.startswith(f"{head}()"):
        return f"{head}()"  # the call operator of C++
    return head.rstrip()


def check_request(request: SymbolRequest) -> None:
    """Raise QueryError if a request is invalid."""
    if not WORD.search(request.name):
        raise QueryError('the name is empty; give a name such as "retry_backoff" or "Class.method"')
    if len(request.name) > _MAX_NAME_CHARS or re.search(r"\s", request.name):
        raise QueryError(f'"{request.name[:40]}" is not a name; ask questions with `search`')
    if request.aspect not in get_args(SymbolAspect):
        known = ", ".join(get_args(SymbolAspect))
        raise QueryError(f'aspect is "{request.aspect}"; use one of: {known}')
    if request.limit is not None and not 1 <= request.limit <= MAX_LIMIT:
        raise QueryError(
            f"limit is {request.limit}; give a number from 1 to {MAX_LIMIT}", parameter="limit"
        )
