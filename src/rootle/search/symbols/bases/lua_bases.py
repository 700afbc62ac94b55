"""Read the tables from which a Lua table inherits its methods."""

from __future__ import annotations

import re
from collections.abc import Iterator


def lua_bases(text: str, name: str) -> Iterator[str]:
    """Yield the names of the tables that a table extends or has as the index of its metatable.

    Examples are `Dialog = Container:extend{…}`, `setmetatable(Dialog, {__index = Container})` and
    `Dialog = setmetatable({}, {__index = Container})`.
    """
    word = re.escape(name)
    index = r"\{[^{}]{0,500}?\b__index\s{0,20}=\s{0,20}(\w+)"
    found = re.compile(
        rf"(?<![\w.:]){word}\s{{0,20}}=\s{{0,20}}(?:(?:\w+\.){{0,5}}(\w+)\s{{0,20}}:\s{{0,20}}(?:extend|new|subclass)\b"
        rf"|setmetatable\s{{0,20}}\(\s{{0,20}}\{{[^{{}}]{{0,500}}\}}\s{{0,20}},\s{{0,20}}{index})"
        rf"|\bsetmetatable\s{{0,20}}\(\s{{0,20}}{word}\s{{0,20}},\s{{0,20}}{index}"
    )
    for match in found.finditer(text):
        base = next(filter(None, match.groups()))
        if base != name:
            yield base
