"""Order the versions in the names of tags."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

# The text before a version, its numbers, and the text after them: "v1.2.0-rc1", "pool@2.1.0",
# "rel_2_1".
_TAG: Final = re.compile(
    r"(?P<name>.*?)(?P<numbers>\d+(?:[._-]\d+)*)(?P<end>\D.*)?", re.DOTALL | re.ASCII
)
_NUMBERS: Final = re.compile(r"\d+", re.ASCII)
_END_PART: Final = re.compile(r"([^\d.]*)(\d*)", re.ASCII)
# The word after the numbers of a version before the release. "1.0.2a" comes after 1.0.2, so a
# single letter needs a number.
_PRE_RELEASE: Final = re.compile(
    r"(?<![a-z\d])(?:(?:alpha|beta|canary|cr|dev|ea|eap|milestone|next|nightly|pre|preview|rc"
    r"|snapshot)(?![a-z])|[abcm][.-]?\d)"
)


class _Version(NamedTuple):
    """A version. The order of these tuples is that of the versions."""

    numbers: tuple[tuple[int, str], ...]
    is_release: bool  # a version before the release, such as 2.0rc1, comes before 2.0
    # Words and numbers: rc2 comes before rc10, and 2.0 before 2.0-hotfix.
    end: tuple[tuple[str, tuple[int, str]], ...]


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
        and (other.is_release or not version.is_release)
    ]
    return max(earlier)[1] if earlier else ""


def find_same_version(name: str, tags: Iterable[str]) -> list[str]:
    """Return the tags with the same version as a name: v2.1.0 and pool@2.1 for "2.1"."""
    _, version = _read_version(name)
    if version is None:
        return []
    return sorted(tag for tag in tags if _read_version(tag)[1] == version)


def is_release(tag: str) -> bool:
    """Return whether the name of a tag contains a version, and not one before a release."""
    version = _read_version(tag)[1]
    return version is not None and version.is_release


def find_version_tag(name: str, tags: Iterable[str]) -> str:
    """Return the tag with the numbers of a version: release-2.1.12-stable for "2.1.12".

    Return "" if there is none, or more than one. A version before the release is found only by its
    whole version.
    """
    _, version = _read_version(name)
    if version is None or version.end:
        return ""
    read = ((tag, _read_version(tag)[1]) for tag in tags)
    found = [
        tag
        for tag, one in read
        if one is not None and one.is_release and one.numbers == version.numbers
    ]
    return found[0] if len(found) == 1 else ""


def _read_version(tag: str) -> tuple[str, _Version | None]:
    """Return the text before the version in the name of a tag, and the version."""
    found = _TAG.fullmatch(tag)
    if found is None:
        return tag, None
    numbers = [_order_number(one) for one in _NUMBERS.findall(found["numbers"])]
    while len(numbers) > 1 and numbers[-1] == _order_number("0"):
        numbers.pop()  # 2.0 and 2.0.0 are the same version
    end = (found["end"] or "").lower()
    words = _END_PART.findall(end)
    parts = tuple((word, _order_number(number)) for word, number in words if word or number)
    # The text after "+" describes a build: "1.0.0+dev" is a release.
    is_release = _PRE_RELEASE.search(end.partition("+")[0]) is None
    return found["name"], _Version(tuple(numbers), is_release, parts)


def _order_number(digits: str) -> tuple[int, str]:
    """Return a value that sorts like the number, which may have too many digits for `int`."""
    digits = digits.lstrip("0")
    return len(digits), digits
