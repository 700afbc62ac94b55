"""Recognize prefixes that select another kind of answer, such as `gone:` and `why:`."""

from __future__ import annotations


def text_after(prefix: str, request: str) -> str | None:
    """Return the text after a lower-case prefix; None if the request does not begin with it."""
    text = request.strip()
    return text[len(prefix) :].strip() if text.lower().startswith(prefix) else None
