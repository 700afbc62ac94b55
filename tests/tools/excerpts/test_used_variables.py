"""The constants and variables that are shown with the lines that use them."""

from __future__ import annotations

import pytest
from one_file_answer import OneFile

from rootle.serialization.path_text import group_lines
from rootle.tools.excerpts.used_variables import find_declarations, find_used_variables
from rootle.types import Definition, FileOutline, Span

_PYTHON = """
LOG = getLogger(__name__)
_AGO: Final = re.compile(
    r"(\\w+) (days?|weeks?) ago"
)
_count = 0

class Clock:
    ZONES = ("utc", "local")
    line: int = 3

def parse_ago(text, line):
    LOG.info("parsing %d", _count)
    return _AGO.match(text), Clock.ZONES, line
"""
_GO = """
const limit = 5 * time.Second
const (
	maxTries = 3
)
func retry() {
	wait(limit, maxTries)
}
"""
_JAVA = """
class Cache {
    private static final int MAX_TTL = 86_400;
    private final Map<String, Entry> entries = new HashMap<>();
    int ttl() { return Math.min(MAX_TTL, entries.size()); }
}
"""
_C = """
#define MAX_KEY 250
static const char *names[] = {
    "get",
};
int parse(int size) { return size > MAX_KEY || names[size] == 0; }
"""
_JAVASCRIPT = """
const fs = require('fs')
const INVALID = new Set(['te', 'via'])
function check (name) { return INVALID.has(name) && fs }
"""


@pytest.mark.parametrize(
    ("text", "definitions", "shown", "expected"),
    [
        (
            _PYTHON,
            [("class Clock", 8, 10), ("def parse_ago", 12, 14)],
            range(12, 15),
            [("_AGO", 3, 5), ("ZONES", 9, 9)],
        ),
        (_GO, [("func retry", 6, 8)], range(6, 9), [("limit", 2, 2), ("maxTries", 4, 4)]),
        (
            _JAVA,
            [("class Cache", 2, 6), ("class Cache > method ttl", 5, 5)],
            [5],
            [("MAX_TTL", 3, 3)],
        ),
        (_C, [("parse", 6, 6)], [6], [("MAX_KEY", 2, 2), ("names", 3, 5)]),
        (_JAVASCRIPT, [("function check", 4, 4)], [4], [("INVALID", 3, 3)]),
    ],
    ids=["python", "go", "java", "c", "javascript"],
)
def test_variables_outside_of_functions_are_found_where_they_are_defined(
    text: str,
    definitions: list[tuple[str, int, int]],
    shown: range,
    expected: list[tuple[str, int, int]],
) -> None:
    outline = [Definition(*one) for one in definitions]
    found = find_used_variables(text.split("\n"), outline, shown)
    assert [(one.name, one.first_line, one.last_line) for one in found] == expected


def test_variables_that_are_shown_already_and_local_ones_are_left_out() -> None:
    text = "LIMIT = 3\n\ndef check(size):\n    LIMIT = size\n    return LIMIT"
    outline = [Definition("def check", 3, 5)]
    assert find_used_variables(text.split("\n"), outline, range(1, 6)) == []
    (found,) = find_used_variables(text.split("\n"), outline, range(3, 6))
    assert (found.first_line, found.last_line) == (1, 1)


def test_the_table_that_a_function_uses_is_shown_after_the_function() -> None:
    lines = [
        "import typing",
        "_PAIRS = (",
        '    ("min_size", "max_size"),',
        ")",
        *[f"def unrelated_{at}(): pass" for at in range(60)],
        "def check_together(settings):",
        "    for small, large in _PAIRS:",
        "        raise ConfigError(small, large)",
    ]
    definitions = [Definition(f"def unrelated_{at}", at + 5, at + 5) for at in range(60)]
    outline = FileOutline("a.py", tuple(lines), (*definitions, Definition("def check", 65, 67)))
    excerpts = OneFile(outline, "raise ConfigError if two settings contradict each other")
    (first, numbers), (used, table) = excerpts.choose_places([Span(65, 67, "", "def check")], 800)
    assert (first.name, numbers) == ("def check", (65, 66, 67))
    assert (used.name, list(group_lines(table))) == ("_PAIRS", [(2, 4)])


def test_a_long_table_is_left_out() -> None:
    rows = [f'    ("name_{at}", "a rather long description of the name"),' for at in range(11)]
    lines = ["TABLE = (", *rows, ")", "def look_up(name):", "    return TABLE[name]"]
    outline = FileOutline("a.py", tuple(lines), (Definition("def look_up", 14, 15),))
    excerpts = OneFile(outline, "look up the description of a name")
    ((place, _),) = excerpts.choose_places([Span(14, 15, "", "def look_up")], 800)
    assert place.name == "def look_up"


def test_declarations_begin_with_their_comments_and_contain_the_name_of_the_class() -> None:
    text = "# Days.\nLIMIT = 3\n\nclass Clock:\n    # Names.\n    zones = (\n        1,\n    )\n"
    text += "    def tick(self):\n        step = 1\n\nif LIMIT:\n    inner = 2\n"
    definitions = [Definition("class Clock", 4, 10), Definition("class Clock > def tick", 9, 10)]
    found = list(find_declarations(text.split("\n"), definitions))
    assert found == [Definition("LIMIT", 1, 2), Definition("class Clock > zones", 5, 8)]
