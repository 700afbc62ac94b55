"""The positions of a name in a text."""

from __future__ import annotations

from time import process_time

import pytest

from rootle.search.symbols.name_places import OtherNames, find_name


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


def test_many_names_of_one_text_are_found_as_single_names_are() -> None:
    text = 'val one = "one"; one2.one(one_); $one; été one: `two one`()\n' * 3
    others = OtherNames(text, "kotlin")
    words = ["one", "one2", "été", "two", "val", "missing", "three four"]
    for _ in range(200):  # the places of all words are collected after many look-ups
        for word in words:
            assert list(others.find(word)) == list(find_name(text, word, "kotlin"))
    expected = [at for at in find_name(text, "one", "") if 20 <= at < 80]
    assert list(others.find_between("one", 20, 80)) == expected
    assert list(OtherNames(text, "kotlin").find_between("one", 20, 80)) == expected


def test_thousands_of_names_are_found_without_a_search_for_each_of_them() -> None:
    names = [f"alias{number}" for number in range(30_000)]
    text = "\n".join(f"import shop.{name} as {name}; use({name})" for name in names)
    others = OtherNames(text, "python")
    start = process_time()
    assert all(len(others.find(name)) == 3 for name in names)
    assert process_time() - start < 3  # a search for each name takes more than 20 s
