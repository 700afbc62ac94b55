"""The reader of numbered lines, which the tests of agent programs rely on."""

from __future__ import annotations

from agent_programs.numbered_lines import read_shown_lines

ANSWER = """\
Note: 3  is no line, because no header precedes it
1. src/a.py:8-10 score=0.9 (python, f)
   8  def f():
   9
  10      return 1
  11  outside
2. docs/b.md:1-1
"""


def test_numbered_lines_are_read_with_their_file() -> None:
    shown = read_shown_lines("2  before any header\n" + ANSWER)
    assert [(line.path, line.number, line.text) for line in shown] == [
        ("src/a.py", 8, "def f():"),
        ("src/a.py", 9, ""),
        ("src/a.py", 10, "    return 1"),
        ("src/a.py", 11, "outside"),
    ]
    assert [line.is_in_range for line in shown] == [True, True, True, False]


def test_lines_without_numbers_are_not_read() -> None:
    assert read_shown_lines("1. src/a.py:1-2 score=0.9\ndef f():\n    return 1\n") == []
