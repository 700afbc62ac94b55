"""Read the heads of Rust's `impl` blocks from the text of a file.

Each head is read once and up to a limit, so the time grows linearly with the text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

# The text between `impl` and its block.
_HEAD: Final = re.compile(r"^[ \t]*(?:unsafe[ \t]+)?impl\b([^{;]{0,1000})", re.MULTILINE)
_PART: Final = re.compile(r"->|[<>]|[^<>-]+|-")
_WHERE: Final = re.compile(r"\bwhere\b")
_FOR: Final = re.compile(r"\sfor\s")


@dataclass(frozen=True, slots=True)
class ImplHead:
    """The head of an `impl` block."""

    offset: int  # of its first character in the text
    trait: str  # "" if the block implements no trait
    type: str  # "" if the type has no name


def read_impl_heads(text: str) -> Sequence[ImplHead]:
    """Return the heads in a text, in their order."""
    return [_read(match) for match in _HEAD.finditer(text)]


def _read(match: re.Match[str]) -> ImplHead:
    head = _WHERE.split(_strip_arguments(match[1]), maxsplit=1)[0]
    *traits, name = _FOR.split(f" {head}")
    return ImplHead(match.start(), _last_name(traits[-1]) if traits else "", _last_name(name))


def _strip_arguments(head: str) -> str:
    """Return a head without the parts in angle brackets: " A for B" for "<T> A for B<T>"."""
    depth, kept = 0, []
    for part in _PART.findall(head):
        depth += (part == "<") - (part == ">" and depth > 0)
        if part not in "<>" and not depth:
            kept.append(part)
    return "".join(kept)


def _last_name(path: str) -> str:
    """Return the last name of a path: "Id" for "&'a crate::Id"; "" if it is not a name."""
    *_, last = ["", *path.split()]
    name = last.rpartition("::")[2].lstrip("&")
    return name if name.isidentifier() else ""
