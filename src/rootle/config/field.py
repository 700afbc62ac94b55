"""Fields of configuration records, with their meaning and validation rules."""

from __future__ import annotations

from dataclasses import field
from typing import Any


def config_field(
    default: Any,  # Any: type checkers use the annotation of the field
    about: str,
    span: tuple[float, float] | None = None,
    *,
    project: bool = False,
    secret: bool = False,
    url: bool = False,
    path: bool = False,
    item: type[Any] | None = None,
    choices: tuple[str, ...] = (),
) -> Any:
    """Return a dataclass field with a description, a range and validation rules.

    Args:
        default: The default value. Values in configuration files must have the same type.
        about: A few sentences for the documentation and `rootle config init`.
        span: The lowest and the highest allowed number.
        project: Whether the configuration file of a project may set the key. True only for keys
            whose values cannot send data, start a program, reveal a secret, open a file outside
            the project or exhaust memory.
        secret: Whether to hide the value in all output.
        url: Whether the value must be an HTTP URL.
        path: Whether a value that begins with "/", "." or "~" is a path.
        item: The record type of the items of a list; None for strings.
        choices: The allowed strings, or items of a list of strings; empty if any is allowed.
    """
    metadata: dict[str, object] = {"about": about, "range": span, "project": project}
    metadata |= {"secret": secret, "url": url, "path": path, "item": item, "choices": choices}
    return field(default=default, repr=not secret, metadata=metadata)
