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
        ("PHP Warning: Undefined key in /srv/lib/router.js on line 42", "lib/router.js"),
        ("::error file=lib/router.js,line=42::x", "lib/router.js"),
        ("see lib/router.js#L42", "lib/router.js"),
        ("\x1b[31mlib/router.js\x1b[0m:42:1", "lib/router.js"),
        ('lib/router.js:42:9: error: Name "foo" is not defined', "lib/router.js"),
        ("/srv/venv/lib/python3.12/site-packages/net/retry.py:42", "src/net/retry.py"),
        ("/srv/app/lib/router.js\n  42:5  error  'x' is unused  no-unused-vars", "lib/router.js"),
        ("C:\\w\\lib\\router.js\n  42:5  error  Missing semicolon  semi\n", "lib/router.js"),
        (" ------ ---\n  Line   net/retry.py\n ------ ---\n  42     No type.", "src/net/retry.py"),
        ("lib/router.js\n42:lib_42 = 42", "lib/router.js"),
        ("[ERROR] /w/java/org/shop/Cart.java:[42,5] x", "src/main/java/org/shop/Cart.java"),
        ("lib/router.js(42,5): error TS2304: Cannot find name 'x'.", "lib/router.js"),
        ("error[E0425]: no value `x`\n  --> lib/router.js:42:5\n   |", "lib/router.js"),
        (
            "In file included from lib/router.js:7,\n                 from lib/router.js:9:\n"
            "net/retry.py:42:5: error: unknown type name 'x'",
            "src/net/retry.py",
        ),
        ("\t/root/go/src/example.org/shop/lib/router.js:42 +0x1d", "lib/router.js"),
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


@pytest.mark.parametrize(
    "frame",
    [
        'File "/usr/lib/python3.12/asyncio/router.js", line 42, in run',
        "/usr/local/go/src/net/http/router.js:42 +0x1d",
        "at /rustc/07dca489/library/std/src/router.js:42:9",
        "at build (/app/node_modules/other/router.js:42:3)",
    ],
)
def test_a_frame_of_a_library_is_not_a_file_of_the_project(frame: str, app: App) -> None:
    assert all(one.matching_lines is None for one in app.search(frame).results)


def test_a_message_is_better_evidence_than_a_file_with_the_same_name(
    tmp_path: Path, make_app: MakeApp
) -> None:
    files = {**FILES, "src/pool.py": 'raise PoolError("the pool is empty for now")\n'}
    write_tree(tmp_path / "p", files)
    text = "at run (/home/me/work/app/router.js:42:3)\nPoolError: the pool is empty for now"
    first = make_app(tmp_path / "p").search(text).results[0]
    assert (first.file_path, first.matching_lines) == ("src/pool.py", (1,))


def test_a_path_alone_is_the_first_result(app: App) -> None:
    for path in ("src/net/retry.py", "org/other/Cart.java"):
        first = app.search(path).results[0]
        assert first.file_path.endswith(path)
        assert first.start_line == 1


def test_there_is_no_line_0(app: App) -> None:
    assert all(one.matching_lines is None for one in app.search("lib/router.js:0").results)


def test_a_filter_applies_to_frames(app: App) -> None:
    results = app.search("retry.py:42 path:src/store").results
    assert [one.file_path for one in results] == ["src/store/retry.py"]
