"""The output of commands cannot control the terminal."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from rootle import cli
from rootle.cli.results.screen import count_message_rows
from rootle.cli.terminal import warn, write_line, write_styled_line

_HOSTILE = "a\x1b]0;owned\x07\x1b[2J\n\u202eb"
_ESCAPED = "a\\x1b]0;owned\\x07\\x1b[2J\\n\\u202eb"
# These modules print ASCII JSON, text that is already escaped, or rootle's own text.
_MAY_PRINT = {"terminal.py", "batch.py", "memory_hook.py", "memory_limit.py", "main.py"}
_WRITES = {
    f"sys.{stream}.{method}"
    for stream in ("stdout", "stderr")
    for method in ("write", "writelines", "buffer.write")
}


def test_a_line_has_no_control_characters(capsys: pytest.CaptureFixture[str]) -> None:
    write_line(_HOSTILE)
    assert capsys.readouterr().out == _ESCAPED + "\n"


def test_a_styled_line_has_colors_but_no_other_control_characters(
    capsys: pytest.CaptureFixture[str],
) -> None:
    write_styled_line(f"\x1b[1;36m{_HOSTILE}\x1b[0m")
    assert capsys.readouterr().out == f"\x1b[1;36m{_ESCAPED}\x1b[0m\n"


def test_a_message_is_wrapped_between_words_on_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    url = "https://example.org/a/very/long/address/of-a/page"
    message = f"the commits of this repository are listed in {url}, newest first"

    warn(message)
    assert capsys.readouterr().err == f"rootle: {message}\n"

    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    warn(message)
    assert capsys.readouterr().err.splitlines() == [
        "rootle: the commits of this repository",
        "  are listed in",
        f"  {url},",
        "  newest first",
    ]
    assert count_message_rows([message]) == 5


def test_only_the_functions_that_escape_write_to_the_terminal() -> None:
    modules = Path(str(cli.__file__)).parent.rglob("*.py")
    writers = {path.name for path in modules if path.name not in _MAY_PRINT and _writes(path)}
    assert writers == {"memory.py"}  # `rootle memory export` writes JSON


def _writes(path: Path) -> bool:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    calls = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    return not calls.isdisjoint({"print", *_WRITES})
