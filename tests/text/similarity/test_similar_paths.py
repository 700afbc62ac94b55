"""Suggestions for a path that does not exist."""

from __future__ import annotations

from time import process_time

import pytest

from rootle.text.similarity.similar_paths import nearest_paths

_WATCHDOG_S = 20  # the calls took minutes when their time was quadratic
KNOWN = (
    "shop/models/__init__.py",
    "shop/models/pages.py",
    "shop/models/media.py",
    "shop/admin/forms/pages.py",
    "shop/admin/urls/pages.py",
    "shop/templates/page.html",
    "shop/a.py",
    "lib/b.py",
    "README.md",
)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("shop/modles/pages.py", "shop/models/pages.py"),  # a misspelled folder
        ("shop/models/page.py", "shop/models/pages.py"),  # a misspelled name
        ("shop/models/PAGES.py", "shop/models/pages.py"),
        ("REDME.md", "README.md"),
    ],
)
def test_the_path_with_the_fewest_typing_errors_is_suggested_first(typed: str, meant: str) -> None:
    assert nearest_paths(typed, KNOWN)[0] == meant


def test_only_a_misspelled_path_is_suggested_although_others_have_the_same_name() -> None:
    assert nearest_paths("shop/modles/pages.py", KNOWN) == ["shop/models/pages.py"]


def test_files_with_the_same_name_are_suggested_for_a_wrong_folder() -> None:
    assert set(nearest_paths("shop/views/tables/pages.py", KNOWN)) == {
        "shop/models/pages.py",
        "shop/admin/urls/pages.py",
        "shop/admin/forms/pages.py",
    }


def test_a_short_name_is_not_a_misspelling_of_another_short_name() -> None:
    assert nearest_paths("shop/b.py", KNOWN)[-1] == "lib/b.py"


def test_nothing_is_suggested_for_a_name_that_resembles_no_other() -> None:
    assert nearest_paths("shop/models/invoice.rs", KNOWN) == []


def test_long_paths_with_the_same_name_are_suggested_in_bounded_time() -> None:
    folders = "/".join(f"folder{number:02}" * 20 for number in range(16))
    known = [f"{folders}/d{number}/views.py" for number in range(100)]

    start = process_time()
    found = nearest_paths("src/app/main/views.py", known)
    assert process_time() - start < _WATCHDOG_S
    assert set(found) == set(known)


@pytest.mark.slow
def test_long_names_of_similar_letters_are_compared_in_bounded_time() -> None:
    known = [f"{f'{number:014b}' * 10}.py" for number in range(2_000)]

    start = process_time()
    found = nearest_paths(f"{known[7][:100]}x{known[7][100:]}", known)
    assert process_time() - start < _WATCHDOG_S
    assert set(found) <= set(known)
