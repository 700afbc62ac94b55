"""How a field of the configuration says what it means and who may set it."""

from __future__ import annotations

from dataclasses import field
from typing import Any


def config_field(
    default: Any,  # Any: the field says its type, and a default of another one fails at import
    about: str,
    span: tuple[float, float] | None = None,
    *,
    project: bool = False,
    secret: bool = False,
    url: bool = False,
    path: bool = False,
    item: type[Any] | None = None,
) -> Any:
    """A field of Config: its meaning, its range, and who may set it.

    `project` is for what a repository may choose for those who clone it: nothing that reaches a
    network, a program, a key or a file outside it, and nothing that takes all memory. `secret` is
    never shown; `url` is one of HTTP; `path` may be one, told from a name by how it begins. `item`
    is the record that a list is made of, where it is not one of texts.
    """
    metadata: dict[str, object] = {"about": about, "range": span, "project": project}
    metadata |= {"secret": secret, "url": url, "path": path, "item": item}
    return field(default=default, repr=not secret, metadata=metadata)
