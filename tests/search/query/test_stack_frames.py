"""Frames of stack traces and places in messages lead to lines of files."""

from __future__ import annotations

from pathlib import Path

import pytest
from sample import MakeApp, indexed_repository, write_tree

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


_PADDING = "\n" * 40
_MOVED = {
    "shop/cart.py": f"def total(cart):\n    return sum(cart)\n{_PADDING}\n"
    "def clear(cart):\n    cart.items = []\n    cart.count = 0\n    return cart\n",
    "shop/Basket.java": f"class Basket {{\n    int total() {{\n        return 1;\n    }}{_PADDING}"
    "    void clear() {\n        items = null;\n        count = 0;\n    }\n}\n",
    "shop/basket.go": f"package shop\n\nfunc (b *Basket) total() int {{\n\treturn 1\n}}\n{_PADDING}"
    "func (b *Basket) clear() {\n\tb.items = nil\n\tb.count = 0\n}\n",
    "lib/cart.js": f"class Cart {{\n  total() {{\n    return 1;\n  }}\n{_PADDING}"
    "  clear() {\n    this.items = [];\n    this.count = 0;\n  }\n}\n",
    "src/cart.rs": f"impl Cart {{\n    fn total(&self) -> u32 {{\n        1\n    }}\n{_PADDING}"
    "    fn clear(&mut self) {\n        self.items.clear();\n        self.count = 0;\n    }\n}\n",
    "lib/cart.rb": f"class Cart\n  def total\n    1\n  end\n{_PADDING}"
    "  def clear\n    @items = []\n    @count = 0\n  end\nend\n",
    "shop/Cart.cs": f"class Cart {{\n    int Total() {{\n        return 1;\n    }}\n{_PADDING}"
    "    void Clear() {\n        items = null;\n        count = 0;\n    }\n}\n",
}


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ('  File "/srv/shop/cart.py", line {}, in total', "shop/cart.py"),
        ("\tat org.shop.Basket.total(Basket.java:{})", "shop/Basket.java"),
        ("\tat org.shop.Basket.lambda$total$0(Basket.java:{})", "shop/Basket.java"),
        ("a/shop.(*Basket).total(0xc000)\n\t/go/a/shop/basket.go:{} +0x1d", "shop/basket.go"),
        ("a/shop.(*Basket).total.func1()\n\t/go/a/shop/basket.go:{} +0x1d", "shop/basket.go"),
        ("(*Basket).total … basket.go:{}", "shop/basket.go"),
        ("    at async Cart.total (/srv/lib/cart.js:{}:7)", "lib/cart.js"),
        ("   4: shop::cart::Cart::total\n             at ./src/cart.rs:{}:9", "src/cart.rs"),
        ("/srv/lib/cart.rb:{}:in `total'", "lib/cart.rb"),
        ("/srv/lib/cart.rb:{}:in 'Cart#total'", "lib/cart.rb"),
        ("   at Shop.Cart.Total(Int32 n) in /srv/shop/Cart.cs:line {}", "shop/Cart.cs"),
    ],
)
@pytest.mark.parametrize("line", [47, 900])
def test_the_function_of_a_frame_is_better_evidence_than_its_line(
    query: str, path: str, line: int, make_app: MakeApp
) -> None:
    """The line is now in another function, or after the end of the file."""
    root, index_dir = indexed_repository(_MOVED)
    first = make_app(root, index_dir=index_dir).search(query.format(line)).results[0]
    assert first.file_path == path
    assert first.matching_lines is not None
    assert "total" in _MOVED[path].lower().split("\n")[first.matching_lines[0] - 1]


@pytest.mark.parametrize("function", ["clear", "<module>", "removed"])
def test_the_line_of_a_frame_counts_if_its_function_is_there_or_unknown(
    function: str, make_app: MakeApp
) -> None:
    root, index_dir = indexed_repository(_MOVED)
    frame = f'  File "/srv/shop/cart.py", line 46, in {function}'
    first = make_app(root, index_dir=index_dir).search(frame).results[0]
    assert (first.file_path, first.matching_lines) == ("shop/cart.py", (46,))


def test_there_is_no_line_0(app: App) -> None:
    assert all(one.matching_lines is None for one in app.search("lib/router.js:0").results)


def test_a_filter_applies_to_frames(app: App) -> None:
    results = app.search("retry.py:42 path:src/store").results
    assert [one.file_path for one in results] == ["src/store/retry.py"]
