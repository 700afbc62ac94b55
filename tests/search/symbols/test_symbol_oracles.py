"""Definitions and uses compared with Universal Ctags and `git grep -w`."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from sample import FILES, git, indexed_repository

import rootle
from rootle import App, open_app
from rootle.syntax.source_tree import read_source_tree

pytestmark = pytest.mark.slow

SRC = Path(rootle.__file__).parent
# Some sources of rootle itself, and a file in each of several languages.
SOURCES = {
    **FILES,
    **{
        f"rootle/{path.relative_to(SRC).as_posix()}": path.read_text(encoding="utf-8")
        for folder in ("text", "concurrency", "storage", "rank")
        for path in sorted((SRC / folder).rglob("*.py"))
    },
    "c/list.c": """\
#include <stdio.h>
#define LIST_MAX 8
typedef struct list { int size; } list_t;
static int used, *free_list;
enum color { RED, GREEN };
int list_push(list_t *list, int value) { used++; return list->size < LIST_MAX; }
""",
    "java/Shop.java": """\
package shop;
public class Shop implements Runnable {
    static final int LIMIT = 5;
    public void run() { restock(LIMIT); }
    private void restock(int count) { }
}
""",
    "ruby/shop.rb": "module Shop\n  class Till\n    def close; count; end\n    def count; 1; end\n"
    "  end\nend\n",
    "php/till.php": "<?php\nclass Till { function close() { return countAll(); } }\n"
    "function countAll() { return 1; }\n",
    "js/till.js": "function closeTill() { return countTill(); }\nclass Till { close() {} }\n"
    "const countTill = () => 1;\n",
    "rust/till.rs": "pub struct Till;\nimpl Till { pub fn close(&self) { count_till(); } }\n"
    "fn count_till() {}\n",
}
# The kinds of tags that are definitions; others are parameters, imports and local names.
KINDS = {
    "class", "function", "member", "method", "struct", "typedef", "macro", "enumerator", "enum",
    "interface", "implementation", "module", "func", "def", "singletonMethod",
}  # fmt: skip


@pytest.fixture(scope="module")
def app() -> Iterator[App]:
    repository = indexed_repository(SOURCES)
    with open_app(repository.root, index_dir=repository.index_dir) as opened:
        yield opened


def test_the_definitions_are_those_of_ctags(app: App) -> None:
    assert shutil.which("ctags"), "needs Universal Ctags: apt-get install universal-ctags"
    output = subprocess.run(
        ["ctags", "-R", "--output-format=json", "--fields=+nK", "--exclude=*.md", "-f", "-", "."],
        cwd=app.root, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    tags = [json.loads(line) for line in output.splitlines()]
    tags = [tag for tag in tags if tag["kind"] in KINDS and not tag["path"].endswith(".yaml")]
    assert len(tags) > 200
    missed = []
    for tag in tags:
        # An impl block in Rust is not a second definition of its type, and fields of a struct in
        # C are not symbols.
        is_field = tag["kind"] == "member" and tag["path"].endswith(".c")
        if tag["kind"] == "implementation" or is_field or not tag["name"].isidentifier():
            continue
        found = {(one.path, one.line) for one in app.symbols(tag["name"]).definitions}
        if (tag["path"].removeprefix("./"), tag["line"]) not in found:
            missed.append((tag["name"], tag["path"], tag["line"]))
    assert missed == []


@pytest.mark.parametrize(
    "name",
    ["WORD", "retry_backoff", "LIST_MAX", "list_push", "Till", "countTill", "count_till", "close"],
)
def test_definitions_and_uses_are_the_lines_of_git_grep(app: App, name: str) -> None:
    lines = git(app.root, "grep", "-nw", "--no-color", "-e", name).splitlines()
    expected = {(path, int(line)) for path, line, _ in (row.split(":", 2) for row in lines)}
    answer = app.symbols(name, "uses", limit=10_000)
    found = {(use.path, use.line) for use in answer.uses}
    found |= {(symbol.path, symbol.line) for symbol in answer.definitions}
    assert found == expected
    assert answer.is_complete


# Texts about which ctags and the grammars disagree, with the lines that define the name.
CASES = {
    # ctags reports local variables without a scope.
    "a local variable in a closure": (
        "javascript", "test('x', () => {\n  const found = 1;\n  use(found);\n});\n", "found", []
    ),
    "a local variable in Kotlin": (
        "kotlin", "fun main() {\n    val found = 1\n    println(found)\n}\n", "found", []
    ),
    # ctags reads the delimiter of a here document as a name.
    "a here document": ("bash", "cat <<EOF\ntext\nEOF\n", "EOF", []),
    # ctags lists only the first definition, or none at all.
    "the branches of #if": (
        "c", "#ifdef A\n#define SIZE 1\n#else\n#define SIZE 2\n#endif\n", "SIZE", [2, 4]
    ),
    "several variables in one declaration": (
        "c", "static int first, second, *third;\n", "third", [1]
    ),
    "an annotation class without a body": (
        "kotlin", '@Target(X)\nannotation class Marker\n', "Marker", [2]
    ),
    "a type that only the grammar of another language knows": (
        "cpp", "namespace a::b { struct Item { int size; }; }\n", "Item", [1]
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_disagreement_is_settled(case: str) -> None:
    language, text, name, lines = CASES[case]
    tree = read_source_tree(text, language)
    assert tree is not None
    assert sorted(row + 1 for row, _ in tree.find_definitions(name)) == lines
