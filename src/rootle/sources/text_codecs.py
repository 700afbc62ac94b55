"""Decode text with a charset that a document or a commit names."""

from __future__ import annotations

import codecs
import re
from typing import Final

# Python's names of the codecs for charsets. Its other codecs, such as punycode and unicode_escape,
# do not implement charsets, and some of them take quadratic time.
_CHARSET: Final = re.compile(
    r"(?:ascii|utf|iso|cp|koi8|mac|gb|big5|euc|shift|hz|johab|tis|hp|kz|ptcp|palmos)[\w-]*",
    re.ASCII,
)


def find_charset(label: str) -> str:
    """Return Python's name of a charset. Raise LookupError if it is unknown, or not a charset."""
    name = codecs.lookup(label).name
    if _CHARSET.fullmatch(name) is None:
        raise LookupError(f"{label} is not a charset of texts")
    return name
