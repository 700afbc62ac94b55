"""Contexts of results: definitions, heads and imports, within a limit of lines or tokens."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sample import FILES, MakeApp, many_files, write, write_tree

from rootle.app import App, open_app
from rootle.cli.main import main
from rootle.errors import QueryError
from rootle.search.results.enclosing_scope import find_imports
from rootle.serialization.markdown import response_as_markdown, result_as_markdown
from rootle.text.definition_head import find_head, find_signature
from rootle.text.terms import CHARS_PER_TOKEN
from rootle.types import SearchQuery, SearchResponse, SearchResult

_LONG = (
    '''\
import logging
import os.path
from decimal import (
    Context,
    Decimal,
)

log = logging.getLogger(__name__)


@register("ledger")
def settle_ledger(
    entries: list[Decimal],
    limit: int,
) -> Decimal:
    """Add up the entries of a ledger.

    Those beyond the limit are left out.
    """
'''
    + "".join(f"    step_{n} = entries[{n}] + {n}\n" for n in range(70))
    + "    dragon_total = Decimal(sum(entries))\n    log.info('settled')\n    return dragon_total\n"
)
_SHORT = '''\
import json


def before():
    return 1


def read_stripes(path):
    """The stripes of a zebra."""
    with open(path) as file:
        data = json.load(file)
    return data["stripes"]


def after():
    return 2
'''


@pytest.fixture
def app(tmp_path: Path, make_app: MakeApp) -> App:
    files = {**FILES, "src/ledger.py": _LONG, "src/stripes.py": _SHORT}
    return make_app(write_tree(tmp_path / "repo", files))


def _shown_lines(result: SearchResult) -> dict[int, str]:
    assert result.context is not None
    return {
        number: line
        for span in result.context.passages
        for number, line in enumerate(span.snippet.split("\n"), start=span.start_line)
    }


def _find_result(response: SearchResponse, path: str) -> SearchResult:
    return next(result for result in response.results if result.file_path == path)


def test_a_function_that_fits_is_shown_whole_with_its_imports(app: App) -> None:
    result = _find_result(app.search("stripes of a zebra", context=True), "src/stripes.py")
    shown = _shown_lines(result)
    lines = _SHORT.split("\n")
    assert all(text == lines[number - 1] for number, text in shown.items())
    assert set(range(8, 13)) <= set(shown)
    assert shown[1] == "import json"


def test_a_function_that_does_not_fit_is_shown_with_its_head(
    tmp_path: Path, make_app: MakeApp
) -> None:
    files = {**FILES, "src/ledger.py": _LONG}
    app = make_app(write_tree(tmp_path / "repo", files), max_context_lines=75)
    result = _find_result(app.search("dragon_total", context=True), "src/ledger.py")
    shown = _shown_lines(result)
    text = "\n".join(shown.values())
    assert "@register" in text
    assert "limit: int," in text
    assert "Those beyond the limit" in text
    assert "dragon_total = Decimal" in text
    assert "    Decimal," in text
    assert "os.path" not in text
    assert len(shown) <= 75


@pytest.mark.parametrize("settings_", [{"context": True}, {"budget": 3_000}])
def test_a_context_does_not_show_lines_with_an_excluded_word(
    settings_: dict[str, Any], tmp_path: Path, make_app: MakeApp
) -> None:
    steps = "".join(f"    canvas.move_to_position_{n}(paint, {n} * 7)\n" for n in range(200))
    source = (
        f"import striped\nimport paint\n\n\ndef draw_zebra(canvas):\n    # a zebra\n{steps}"
        f"    return striped.finish(canvas)\n\n\ndef last_zebra(canvas):\n{steps}    # striped\n"
    )
    notes = "# Zebra\n\nA zebra is a horse.\n\n## Zebra skin\n\nIts skin is very\nstriped.\n"
    app = make_app(write_tree(tmp_path / "repo", {"draw.py": source, "zebra.md": notes}))
    plain = app.search("zebra", **settings_)
    shown = [_shown_lines(result) for result in plain.results]
    assert any("striped" in line for lines in shown for line in lines.values())
    for excluded in ("-striped", '-striped -"very striped"'):
        response = app.search(f"zebra {excluded}", **settings_)
        shown = [_shown_lines(result) for result in response.results]
        text = "\n".join(line for lines in shown for line in lines.values())
        assert "move_to_position" in text
        assert "striped" not in text
    assert "skin is very" not in text


def test_a_context_changes_nothing_else_in_a_result(app: App) -> None:
    plain = app.search(SearchQuery("zebra stripes ledger", limit=50))
    for settings_ in ({"context": True}, {"budget": 150}, {"budget": 5_000}):
        for result in app.search("zebra stripes ledger", **settings_).results:
            same = _find_result(plain, result.file_path)
            assert same.context is None
            assert (result.start_line, result.end_line) == (same.start_line, same.end_line)
            assert (result.snippet, result.more_spans) == (same.snippet, same.more_spans)


@pytest.mark.parametrize(("before", "after", "most"), [(0, 0, 10), (2, 7, 30), (50, 50, 5)])
def test_lines_before_and_after_stay_within_the_limit(
    before: int, after: int, most: int, tmp_path: Path, make_app: MakeApp
) -> None:
    limits = {
        "context_before_lines": before,
        "context_after_lines": after,
        "max_context_lines": most,
    }
    root = write_tree(tmp_path / "repo", {"notes.txt": "".join(f"line {n}\n\n" for n in range(99))})
    result = make_app(root, **limits).search("line 50", context=True).results[0]
    shown = _shown_lines(result)
    assert len(shown) <= most
    passages = result.context.passages if result.context else ()
    ends = [(span.start_line, span.end_line) for span in passages]
    assert all(one[1] < other[0] for one, other in pairwise(ends))


def test_a_changed_file_is_shown_with_its_current_lines(tmp_path: Path, make_app: MakeApp) -> None:
    root = write_tree(tmp_path / "repo", {**FILES, "src/stripes.py": _SHORT})
    app = make_app(root, stale_check_seconds=3_600.0)
    app.search("zebra")
    write(root, "src/stripes.py", "# one\n# two\n# three\n" + _SHORT.replace("data[", "found["))
    result = _find_result(app.search("stripes of a zebra", context=True), "src/stripes.py")
    assert result.context is not None
    assert result.context.changed
    shown = _shown_lines(result)
    assert shown[11] == "def read_stripes(path):"
    assert shown[15] == '    return found["stripes"]'
    assert "changed since it was indexed" in result_as_markdown(result)
    assert result.snippet.count("data[") == 1


def test_a_result_that_is_older_than_its_file_is_stale(tmp_path: Path, make_app: MakeApp) -> None:
    root = write_tree(tmp_path / "repo", {**FILES, "src/stripes.py": _SHORT})
    app = make_app(root, stale_check_seconds=3_600.0)
    assert app.search("stripes of a zebra").degraded == ()
    write(root, "src/stripes.py", "# another text\n")
    assert app.search("stripes of a zebra").degraded == ("stale",)
    assert app.search(SearchQuery("evict_oldest", limit=1)).degraded == ()


@pytest.mark.parametrize("how", ["deleted", "link", "folder is a link"])
def test_a_deleted_or_linked_file_is_not_shown(how: str, tmp_path: Path, make_app: MakeApp) -> None:
    root = write_tree(tmp_path / "repo", {**FILES, "deep/stripes.py": _SHORT})
    app = make_app(root, stale_check_seconds=3_600.0)
    app.search("zebra")
    outside = write(tmp_path, "outside/stripes.py", "zebra stripes are secret\n")
    (root / "deep/stripes.py").unlink()
    if how == "link":
        (root / "deep/stripes.py").symlink_to(outside)
    if how == "folder is a link":
        (root / "deep").rmdir()
        (root / "deep").symlink_to(outside.parent)
    for settings_ in ({"context": True}, {"budget": 1_000}):
        paths = [r.file_path for r in app.search("stripes of a zebra", **settings_).results]
        assert "deep/stripes.py" not in paths
        assert paths


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    folder = tmp_path_factory.mktemp("budget")
    write_tree(folder / "repo", {**many_files(25), "src/ledger.py": _LONG})
    with open_app(folder / "repo", index_dir=folder / "index") as app:
        app.index()
        yield app


@pytest.mark.slow
@given(
    budget=st.integers(1, 6_000),
    question=st.sampled_from(["ledger", "settle the ledger", "rotate cipher snapshot"]),
)
@settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_results_fit_the_budget_and_never_repeat_excluded_lines(
    many: App, budget: int, question: str
) -> None:
    exclude: list[str] = []
    shown: set[tuple[str, int]] = set()
    for _ in range(3):
        response = many.search(question, budget=budget, exclude=exclude)
        if response.results:
            assert len(response_as_markdown(response)) <= budget * CHARS_PER_TOKEN
        for result in response.results:
            lines = {(result.file_path, number) for number in _shown_lines(result)}
            assert lines
            assert not lines & shown
            shown |= lines
            exclude += [
                f"{result.file_path}:{span.start_line}-{span.end_line}"
                for span in (result.context.passages if result.context else ())
            ]


def test_a_larger_budget_shows_more_lines_of_the_best_results(many: App) -> None:
    best = many.search("settle_ledger").results[0].file_path
    sizes = []
    for budget in (100, 400, 1_600, 6_400):
        response = many.search("settle_ledger", budget=budget)
        assert response.results[0].file_path == best
        assert response.next_cursor is None
        sizes.append(sum(len(_shown_lines(result)) for result in response.results))
    assert sizes == sorted(sizes)
    assert sizes[0] >= 3
    assert len(response_as_markdown(response)) >= 0.8 * 6_400 * CHARS_PER_TOKEN


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (SearchQuery("x", budget=0), "budget is 0"),
        (
            SearchQuery("x", exclude=("src/a.py",)),
            'exclude has "src/a.py", expected "path:start-end"',
        ),
        (SearchQuery("x", budget=5, cursor="abc"), "no further pages"),
    ],
)
def test_an_invalid_query_is_rejected(query: SearchQuery, message: str, app: App) -> None:
    with pytest.raises(QueryError, match=message):
        app.search(query)


def test_a_markdown_fence_is_longer_than_any_in_the_text(tmp_path: Path, make_app: MakeApp) -> None:
    text = "# Zebra\n\n````python\nprint('zebra')\n````\n"
    app = make_app(write_tree(tmp_path / "repo", {"zebra.md": text}))
    shown = response_as_markdown(app.search("zebra", context=True))
    assert shown.startswith("## zebra.md:1-5\n`````markdown\n1  # Zebra\n2\n3  ````python\n")
    assert shown.endswith("\n`````\n\n")


def test_an_answer_without_any_passage_says_why(many: App) -> None:
    small = many.search('"dragon_total"', budget=5)
    assert small.results == ()
    assert "a budget of 5 tokens is too small for a passage; raise it" in small.suggestions[0]
    for options in ({"budget": 1_000}, {"context": True}):
        empty = many.search('"dragon_total"', exclude=["src/ledger.py:1-999"], **options)
        assert empty.results == ()
        assert "lines that would be shown are excluded" in empty.suggestions[0]
    assert many.search('"dragon_total"', budget=1_000).suggestions == ()


@pytest.mark.slow
def test_the_command_line_packs_a_budget_and_prints_markdown_or_json(
    app: App, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    place = ["search", "--root", str(app.root), "--index-dir", str(app.index_dir)]
    assert main([*place, "--budget", "300", "stripes of a zebra"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("## src/stripes.py:")
    assert len(out) <= 300 * CHARS_PER_TOKEN
    assert "\n 8  def read_stripes(path):\n" in out
    exclude = ["--exclude", "src/stripes.py:1-99"]
    assert main([*place, "--budget", "300", *exclude, "stripes of a zebra"]) in (0, 1)
    assert "stripes.py" not in capsys.readouterr().out
    assert main([*place, "--context", "--json", "stripes of a zebra"]) == 0
    context = json.loads(capsys.readouterr().out)["results"][0]["context"]
    assert not context["changed"]
    assert {"startLine", "endLine", "snippet", "scope"} == set(context["passages"][0])
    assert main([*place, "--context", "stripes of a zebra"]) == 0
    assert "def read_stripes(path):" in capsys.readouterr().out
    assert main([*place, "--markdown", "stripes of a zebra"]) == 0
    assert "```python" in capsys.readouterr().out


def test_the_head_ends_with_the_signature_or_its_docstring() -> None:
    lines = _LONG.split("\n")
    assert find_head(lines, (11, 92)) == (11, 19)
    java = [
        "/** Says so. */",
        "@Override",
        "public int size(",
        "    int a)",
        "{",
        "  return a;",
        "}",
    ]
    assert find_head(java, (1, 7)) == (1, 4)
    assert find_head(["int main() {", "return 1; }"], (1, 2)) == (1, 1)
    noted = ["/* Starts", "the program. */", "int main() { /* here */", "return 1; }"]
    assert find_signature(noted, (1, 4)) == (3, 3)
    endless = ["def work():", '    """A long text.', *["    More."] * 40, '    """']
    assert find_head(endless, (1, 43)) == (1, 16)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("// Swap.\n    static void\nattention(\n    int a)\n{\n}", (2, 4)),
        ("// Swap.\nstatic void\nattention(\n    int a)\n{\n}", (2, 4)),
        ("static PyObject *\nfind_it(PyObject *self)\n{\n}", (1, 2)),
        ("template <typename T>\nstatic inline\nint\nBox<T>::size(int a,\n int b)\n{\n}", (1, 5)),
        ("template <typename T>\nclass Box\n{\n  Box(int a);\n}", (1, 2)),
        ("struct box\n{\n    int a;\n    run(a);\n}", (1, 1)),
        ("def work\n  run(1)\nend", (1, 1)),
        ("def work:\nrun(1)", (1, 1)),
        ("static void", (1, 1)),
    ],
)
def test_the_signature_includes_a_name_below_its_type(text: str, expected: tuple[int, int]) -> None:
    lines = text.split("\n")
    assert find_signature(lines, (1, len(lines))) == expected


@pytest.mark.parametrize(
    ("text", "used", "expected"),
    [
        ('package a\n\nimport (\n\t"fmt"\n\t"os"\n)\n\nfunc x() {', {"fmt"}, [3, 4]),
        ("use std::io::{self, Read};\nuse std::fmt;\n\nfn x() {", {"Read"}, [1]),
        ("import { a,\n  b } from './x';\nimport c from 'd';\n\nb()", {"b"}, [1, 2]),
        ("#include <vector>\n#include <map>\nint x;", {"map"}, [2]),
        ("const fs = require('fs');\nlet y = 1;\n", {"fs"}, [1]),
    ],
)
def test_only_imports_of_used_names_are_found(
    text: str, used: set[str], expected: list[int]
) -> None:
    lines = text.split("\n")
    assert find_imports(lines, used, len(lines) + 1) == expected
