"""Memory errors of the parsers: texts that are never freed, and reads beyond the end of a table."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc

import pytest

from rootle.syntax.grammars import GRAMMARS, load_grammar
from rootle.syntax.lines import Lines
from rootle.syntax.symbol_outline import parse_tree, read_outline

SIZE = 400_000


@pytest.mark.slow
@pytest.mark.parametrize("language", sorted(GRAMMARS))
def test_a_parsed_text_is_freed(language: str) -> None:
    grammar = load_grammar(language)
    parse_tree(b"x\n", grammar)
    tracemalloc.start()
    try:
        for number in range(3):
            parse_tree(f"{number}\n".encode().ljust(SIZE, b"\n"), grammar)
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < SIZE


_PARSE_BRACES = """
from rootle.syntax.grammars import load_grammar
from rootle.syntax.symbol_outline import parse_tree

for code in range(0x80, 0x110000, 0x800):
    if not 0xD800 <= code < 0xE000:
        for start in ("{", "{12", "{1..", "{1..2"):
            parse_tree(f"echo {start}{chr(code)}".encode(), load_grammar("bash"))
"""


@pytest.mark.slow
@pytest.mark.parametrize("attempt", range(4))
def test_no_character_after_a_brace_crashes_the_bash_grammar(attempt: int) -> None:
    # A read beyond a table crashes only at some addresses, and these differ between processes.
    subprocess.run([sys.executable, "-c", _PARSE_BRACES], check=True, timeout=120)


def test_names_after_a_masked_character_are_unchanged() -> None:
    text = "größe1é() {\n  echo {é}\n}\n{🎉\nzweite() { :; }\n"
    outline = read_outline(Lines(text), load_grammar("bash"))
    assert outline is not None
    assert [unit.symbol for unit in outline.root.members] == ["größe1é", "zweite"]
