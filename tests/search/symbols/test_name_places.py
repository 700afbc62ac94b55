"""The positions of a name in a text."""

from __future__ import annotations

import pytest

from rootle.search.symbols.name_places import find_name


@pytest.mark.parametrize(
    ("text", "name", "language", "expected"),
    [
        ("save(saves, resave, save_all)", "save", "python", [0]),
        ("a.save = save", "save", "python", [2, 9]),
        ("x!=1; x! = 2", "x", "ruby", [0]),
        ("save! save", "save!", "ruby", [0]),
        ("saved", "save", "python", []),
        ("", "save", "python", []),
    ],
)
def test_a_part_of_a_longer_name_is_not_found(
    text: str, name: str, language: str, expected: list[int]
) -> None:
    assert list(find_name(text, name, language)) == expected
