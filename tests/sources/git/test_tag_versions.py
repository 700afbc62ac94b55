"""The tag of the version before another one is found by the numbers in the names of tags."""

from __future__ import annotations

import pytest

from rootle.sources.git.commits.tag_versions import find_previous_version

TAGS = (
    *("v1.0", "v1.0.1", "v1.2.0rc1", "v1.2.0rc2", "v1.2.0rc10", "v1.2.0", "v1.10.0"),
    *("pool@1.9.0", "pool@2.0.0", "rel_2_1", "rel_2_0", "nightly"),
)


@pytest.mark.parametrize(
    ("tag", "previous"),
    [
        ("v1.0", ""),
        ("v1.0.1", "v1.0"),
        ("v1.2.0", "v1.0.1"),
        ("v1.2.0rc10", "v1.2.0rc2"),
        ("v1.2.0rc1", "v1.0.1"),
        ("v1.10.0", "v1.2.0"),
        ("pool@2.0.0", "pool@1.9.0"),
        ("rel_2_1", "rel_2_0"),
        ("nightly", ""),
    ],
)
def test_the_version_before_another_one(tag: str, previous: str) -> None:
    assert find_previous_version(tag, TAGS) == previous
