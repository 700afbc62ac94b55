"""Frames of stack traces and places in messages lead to lines of files."""

from __future__ import annotations

from pathlib import Path

import pytest
from sample import MakeApp, write_tree

from rootle.app import App

PATHS = (
    "src/net/retry.py",
    "src/store/retry.py",
    "lib/router.js",
    "src/main/java/org/shop/Cart.java",
    "src/main/java/org/other/Cart.java",
)
FILES = {
    path: "".join(f"{path.split('/')[-2]}_{number} = {number}\n" for number in range(1, 61))
    for path in PATHS
}


@pytest.fixture
def app(tmp_path: Path, make_app: MakeApp) -> App:
    write_tree(tmp_path / "project", FILES)
    app: App = make_app(tmp_path / "project")
    return app


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ('  File "/srv/app/src/net/retry.py", line 42, in run', "src/net/retry.py"),
        ("net/retry.py:42: AssertionError", "src/net/retry.py"),
        ("    at process (/srv/app/lib/router.js:42:13)", "lib/router.js"),
        (r"   at App.Run() in C:\src\lib\router.js:line 42", "lib/router.js"),
        ("#0 /srv/lib/router.js(42): run()", "lib/router.js"),
        (
            "\tat org.shop.Cart.total(Cart.java:42)",
            "src/main/java/org/shop/Cart.java",
        ),
    ],
)
def test_the_line_of_a_frame_is_the_first_result(query: str, path: str, app: App) -> None:
    first = app.search(query).results[0]
    assert (first.file_path, first.matching_lines) == (path, (42,))
    assert first.start_line <= 42 <= first.end_line
    assert "_42 = 42" in first.snippet


def test_the_innermost_frame_of_a_python_traceback_comes_first(app: App) -> None:
    trace = """\
Traceback (most recent call last):
  File "/srv/app/lib/main.py", line 3, in <module>
  File "/srv/app/src/store/retry.py", line 7, in load
  File "/srv/app/src/net/retry.py", line 50, in fetch
ValueError: no such value"""
    found = [(one.file_path, one.matching_lines) for one in app.search(trace).results[:2]]
    assert found == [("src/net/retry.py", (50,)), ("src/store/retry.py", (7,))]


@pytest.mark.parametrize("query", ["retry.py:9999 value", "nowhere.py:3 value", "10:30 value"])
def test_a_place_that_does_not_exist_is_searched_as_words(query: str, app: App) -> None:
    assert all(one.matching_lines is None for one in app.search(query).results)


def test_a_filter_applies_to_frames(app: App) -> None:
    results = app.search("retry.py:42 path:src/store").results
    assert [one.file_path for one in results] == ["src/store/retry.py"]
