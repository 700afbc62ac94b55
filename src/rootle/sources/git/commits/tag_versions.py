"""Order the versions in the names of tags."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

# The text before a version, its numbers, and the text after them, which marks a version before the
# release: "v1.2.0-rc1", "pool@2.1.0", "rel_2_1".
_TAG: Final = re.compile(
    r"(?P<name>.*?)(?P<numbers>\d{1,9}(?:[._-]\d{1,9})*)(?P<end>\D.*)?", re.DOTALL
)
_NUMBERS: Final = re.compile(r"\d+")


class _Version(NamedTuple):
    """A version. The order of these tuples is that of the versions."""

    numbers: tuple[int, ...]
    is_final: bool  # a version before the release, such as 2.0rc1, comes before 2.0
    end: tuple[tuple[str, int], ...]  # words and numbers: rc2 comes before rc10


def find_previous_version(tag: str, tags: Iterable[str]) -> str:
    """Return the tag with the version before that of a tag; "" if there is none.

    Only tags with the same name before the version count: pool@1.0 does not precede lane@1.1.
    Versions before the release, such as 2.0rc1, precede only others like them.
    """
    name, version = _read_version(tag)
    if version is None:
        return ""
    earlier = [
        (other, one)
        for one in tags
        for other_name, other in [_read_version(one)]
        if other is not None
        and other_name == name
        and other < version
        and (other.is_final or not version.is_final)
    ]
    return max(earlier)[1] if earlier else ""


def _read_version(tag: str) -> tuple[str, _Version | None]:
    """Return the text before the version in the name of a tag, and the version."""
    found = _TAG.fullmatch(tag)
    if found is None:
        return tag, None
    numbers = [int(one) for one in _NUMBERS.findall(found["numbers"])]
    while len(numbers) > 1 and not numbers[-1]:
        numbers.pop()  # 2.0 and 2.0.0 are the same version
    end = found["end"] or ""
    words = re.findall(r"([^\d.]*)(\d*)", end.lower())
    parts = tuple((word, int(number or 0)) for word, number in words if word or number)
    return found["name"], _Version(tuple(numbers), not end, parts)
