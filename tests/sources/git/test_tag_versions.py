"""The tag of the version before another one is found by the numbers in the names of tags."""

from __future__ import annotations

import pytest

from rootle.sources.git.commits.tag_versions import find_previous_version, find_version_tag

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


@pytest.mark.parametrize(
    ("tag", "previous"),
    [
        ("v1.0.post1", "v1.0"),
        ("v2.0-hotfix", "v2.0"),
        ("v1.0.2+build2", "v1.0.2"),
        ("v1.0.2a", "v1.0.2"),
        ("v3.0.Final", "v2.0-hotfix"),
        ("20250101123456", "20240101123456"),
        (f"v{'9' * 5_000}", f"v{'8' * 5_000}"),  # too many digits for `int`
    ],
)
def test_other_text_after_the_numbers_follows_the_release(tag: str, previous: str) -> None:
    tags = ("v0.9", "v1.0", "v1.0.2", "v1.9", "v2.0", "v2.0-hotfix", "20240101123456", "20250101")
    assert find_previous_version(tag, (*tags, f"v{'8' * 5_000}", tag)) == previous


@pytest.mark.parametrize(
    "end",
    "a1 b2 c1 .M3 rc1 -RC.1 -alpha -beta.2 .dev3 -pre -preview.1 -SNAPSHOT -rc1+build5".split(),
)
def test_a_version_before_the_release_does_not_precede_a_release(end: str) -> None:
    tag = f"v1.0{end}"
    assert find_previous_version("v1.0", ("v0.9", tag)) == "v0.9"
    assert find_previous_version("v1.1", ("v0.9", tag)) == "v0.9"
    assert find_previous_version(tag, ("v0.9", "v1.0", tag)) == "v0.9"


@pytest.mark.parametrize(
    ("version", "tag"),
    [
        ("2.1.12", "release-2.1.12-stable"),
        ("2.1.0", "release-2.1-stable"),
        ("2.2", ""),  # only a version before the release
        ("1.0", ""),  # two packages have this version
        ("2.1.12-stable", ""),
        ("stable", ""),
    ],
)
def test_the_tag_with_the_numbers_of_a_version(version: str, tag: str) -> None:
    tags = ("release-2.1.12-stable", "release-2.1-stable", "release-2.2-alpha", "a@1.0", "b@1.0")
    assert find_version_tag(version, tags) == tag
