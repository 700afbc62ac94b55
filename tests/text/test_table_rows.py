"""Rows of Markdown tables, which describe the options of a program."""

from __future__ import annotations

from time import process_time

import pytest

from rootle.text.markdown.table_rows import compact_row, find_named_row, is_row

_TABLE = [
    "| Key | Description | Default |",
    "|-----|:------------|---------|",
    "| `mouse-wheel-lines` | Lines per step of the mouse wheel | `3` |",
    "| `mouse` | Use the mouse | `true` |",
    '| <a id="net" href="#net">`net.`<br />`waitGraceTimeout`</a> | Before grace timeout | - |',
    '| <a id="net" href="#net">`net.`<br />`graceTimeout`</a> | Time to finish | `10s` |',
    "| `name` | Name of the server | - |",
    "| `users` | Pairs of a user name and a password that may log in | - |",
    "| `api.dashboard` | Serve the dashboard | `true` |",
    "| `api.insecure` | Serve the dashboard without a password | `false` |",
    "Net.graceTimeout is not a row.",
]


@pytest.mark.parametrize(
    ("question", "row"),
    [
        ("what is the default of mouse-wheel-lines", 2),
        ("which option turns the mouse off", 3),
        ("net.graceTimeout", 5),
        ("what does net.grace_timeout do, default value", 5),
        ("enable the dashboard insecurely", 9),
    ],
)
def test_the_row_of_an_option_is_found_by_its_name(question: str, row: int) -> None:
    assert find_named_row(_TABLE, question) == row


@pytest.mark.parametrize(
    "question",
    [
        "where are pages protected by a user name and a password",  # only mentions a name
        "how do users log in with their name and a password",  # the row has most of the words
        "how long to wait before a request is repeated",
        "which option is it",
        "",
    ],
)
def test_other_questions_name_no_row(question: str) -> None:
    assert find_named_row(_TABLE, question) is None


def test_rows_lose_their_padding_and_anchors() -> None:
    assert compact_row(_TABLE[5]) == "| `net.graceTimeout` | Time to finish | `10s` |"
    assert compact_row("| one    | two <br/> three  \t |") == "| one | two three |"
    assert compact_row("|------|:-------:|") == "|---|---|"
    for odd in ("||", "|\\|", "| |"):
        assert find_named_row([odd], "which option is odd") is None


@pytest.mark.parametrize("text", ["-" * 50_000 + "x", "<a" * 50_000, "`" * 50_000, "|" * 50_000])
def test_long_rows_take_linear_time(text: str) -> None:
    started = process_time()
    compact_row(f"|{text}|")
    find_named_row([f"|{text}|"], text)
    assert process_time() - started < 2


@pytest.mark.parametrize("line", ["a || b", "  if a | b:", "|", "| x = 1  # comment", ""])
def test_other_lines_are_unchanged(line: str) -> None:
    assert not is_row(line)
    assert compact_row(line) == line
