"""Fields of configuration records, with their meaning and validation rules."""

from __future__ import annotations

from dataclasses import field
from typing import Any


def config_field(
    default: Any,  # Any: the annotation of the field is its type; a wrong default fails at import
    about: str,
    span: tuple[float, float] | None = None,
    *,
    project: bool = False,
    secret: bool = False,
    url: bool = False,
    path: bool = False,
    item: type[Any] | None = None,
) -> Any:
    """Return a dataclass field with a description, a range and validation rules.

    Args:
        default: The default value. Its type is the type that a file must give.
        about: One or two sentences for the documentation and `rootle config init`.
        span: The lowest and the highest allowed number.
        project: The configuration file of a project may set the key. Set it only for keys that
            reach no network, program, secret or file outside the project and cannot exhaust memory.
        secret: The value is never shown.
        url: The value must be an HTTP URL.
        path: The value may be a path: one that begins with "/", "." or "~".
        item: The record type of a list; None for a list of strings.
    """
    metadata: dict[str, object] = {"about": about, "range": span, "project": project}
    metadata |= {"secret": secret, "url": url, "path": path, "item": item}
    return field(default=default, repr=not secret, metadata=metadata)
