"""Named line ranges of a text, found by name or by line."""

from __future__ import annotations

import pytest

from rootle.ingest.named_ranges import (
    NamedRange,
    find_named_ranges,
    find_plain_names,
    innermost_range,
    list_named_ranges,
)
from rootle.syntax.grammars import GRAMMARS

MARKDOWN = """\
---
title: x
---
# Guide

Intro.

```python
# no heading
```

## Setting up & running

text

### On Windows

text

## Setting up & running

again

Old style
---------

end
"""
RST = """\
Guide
=====

Intro.

Install
-------

text

Use
---

text
"""
ASCIIDOC = "= Guide\n\nIntro.\n\n== Install\n\ntext\n\n== Use\n\ntext\n"
PYTHON = """\
import os


# Says hello.
@decorated
def hello():
    def inner():
        return 1
    return inner


class Greeter:
    name = "x"

    def hello(self):
        return 2

    class Inner:
        def hello(self):
            return 3
"""


def _find(ranges: list[NamedRange], name: str) -> NamedRange | None:
    return next(iter(find_named_ranges(ranges, name)), None)


@pytest.mark.parametrize(
    ("text", "language", "wanted", "lines"),
    [
        (MARKDOWN, "markdown", "Guide", (4, 27)),
        (MARKDOWN, "markdown", "guide", (4, 27)),
        (MARKDOWN, "markdown", "Setting up & running", (12, 18)),
        (MARKDOWN, "markdown", "setting-up--running", (12, 18)),
        (MARKDOWN, "markdown", "Guide > Setting up & running > On Windows", (16, 18)),
        (MARKDOWN, "markdown", "On Windows", (16, 18)),
        (MARKDOWN, "markdown", "old-style", (24, 27)),
        (MARKDOWN, "markdown", "no heading", None),
        (MARKDOWN, "markdown", "", None),
        (MARKDOWN, "markdown", "On", None),
        ("# Guide\n## Install\n## Use\n", "markdown", "install", (2, 2)),
        (RST, "rst", "install", (6, 9)),
        (RST, "rst", "Guide > Use", (11, 14)),
        (ASCIIDOC, "asciidoc", "use", (9, 11)),
        (PYTHON, "python", "hello", (4, 9)),
        (PYTHON, "python", "def hello", (4, 9)),
        (PYTHON, "python", "inner", (7, 8)),
        (PYTHON, "python", "Greeter", (12, 20)),
        (PYTHON, "python", "Greeter.hello", (15, 16)),
        (PYTHON, "python", "Greeter::hello", (15, 16)),
        (PYTHON, "python", "class Greeter > def hello", (15, 16)),
        (PYTHON, "python", "Greeter > hello", (15, 16)),
        (PYTHON, "python", "Greeter.Inner.hello", (19, 20)),
        (PYTHON, "python", "Inner.hello", (19, 20)),
        (PYTHON, "python", "Nobody.hello", None),
        ("a: 1\n", "yaml", "a", None),
        ("", "markdown", "x", None),
        ("", "python", "x", None),
    ],
)
def test_a_range_is_found_by_its_name(
    text: str, language: str, wanted: str, lines: tuple[int, int] | None
) -> None:
    found = _find(list_named_ranges(text, language), wanted)
    assert (found and (found.first_line, found.last_line)) == lines


GO = """\
package a

const Limit = 3

type Server struct{}

func (s *Server) Run() {
}

func (c Client) Run() {
}
"""
CPP = "class A {\n  int size();\n};\n\nint A::size() {\n  return 1;\n}\n"
RUST = "struct A;\nimpl A {\n    fn run() {\n    }\n}\n"
LUA = "local M = {}\nfunction M.run()\nend\nfunction M:stop()\nend\n"


@pytest.mark.parametrize(
    ("text", "language", "wanted", "first_line"),
    [
        (GO, "go", "Server.Run", 7),
        (GO, "go", "Client.Run", 10),
        (CPP, "cpp", "A::size", 5),
        (RUST, "rust", "A::run", 3),
        (RUST, "rust", "A.run", 3),
        (LUA, "lua", "M.run", 2),
        (LUA, "lua", "M:stop", 4),
        ("class A\n  def self.run\n  end\nend\n", "ruby", "A.run", 2),
        ("<?php\nclass A {\n  function run() {}\n}\n", "php", "A::run", 3),
        ("object A {\n  def run = 1\n}\n", "scala", "A.run", 2),
        ("extension A {\n  func run() {}\n}\n", "swift", "A.run", 2),
        ("defmodule Shop.Cart do\n  def add(x), do: x\nend\n", "elixir", "Shop.Cart.add", 2),
        ("const A = struct {\n    fn run() void {}\n};\n", "zig", "A.run", 2),
    ],
)
def test_a_member_is_found_by_its_qualified_name(
    text: str, language: str, wanted: str, first_line: int
) -> None:
    found = _find(list_named_ranges(text, language), wanted)
    assert found is not None
    assert found.first_line == first_line


C = """\
/* License of
 * the file */
#include "server.h"
#define POOL_SIZE 16
#define LONG_SIZE \\
    32
struct pool {
    int idle; /* of the pool */
    /* The slots
     * of the pool. */
    int slots;
};
static int isRunning = 0;
"""
FIELDS = """\
class Pool:
    # Seconds.
    limit = 3
    names = {
        "a": 1,
    }

    def fill(self):
        self.level = 1
        self.level = 2
"""


DECORATED = """\
class Environment {
  url = "a";

  /** The number of clients. */
  @IsOptional()
  @IsNumber({
    min: 1,
  })
  public clients = parseInt(
    env.clients || "100"
  );

  port = 80;
}
"""


@pytest.mark.parametrize(
    ("text", "language", "name", "expected"),
    [
        (GO, "go", "Limit", [(3, 3)]),
        (C, "c", "POOL_SIZE", [(4, 4)]),
        (C, "c", "LONG_SIZE", [(5, 6)]),
        (C, "c", "isRunning", [(13, 13)]),
        (C, "c", "idle", [(8, 8)]),
        (C, "c", "pool.slots", [(9, 11)]),
        (C, "c", "server.slots", []),
        (FIELDS, "python", "Pool.limit", [(2, 3)]),
        (FIELDS, "python", "names", [(4, 6)]),
        (FIELDS, "python", "Pool.level", [(9, 9)]),
        ("#if A\n#define B 1\n#else\n#define B 2\n#endif\n", "c", "B", [(2, 2), (4, 4)]),
        ("class A {\n  int size;\n}\n", "java", "A.size", [(2, 2)]),
        ("class A {\n  int size;\n}\n", "java", "B.size", []),
        ("const a =\n  { b: 1,\n  c: 2 };\nf();\n", "typescript", "a", [(1, 3)]),
        ("a: 1\n", "yaml", "a", []),
        (DECORATED, "typescript", "Environment.clients", [(4, 11)]),
        ("class A {\n  int b;\n  @Inject\n  @Size(max = 3)\n  int c;\n}\n", "java", "c", [(3, 5)]),
        ("struct A {\n  b: u8,\n  /// C\n  #[serde]\n  c: u8,\n}\n", "rust", "A.c", [(3, 5)]),
    ],
)
def test_a_name_without_a_range_has_the_lines_of_its_statement(
    text: str, language: str, name: str, expected: list[tuple[int, int]]
) -> None:
    found = find_plain_names(text, language, name)
    assert [(one.first_line, one.last_line) for one in found] == expected


def test_the_names_of_a_statement_have_no_labels() -> None:
    (found,) = find_plain_names("class Pool:\n    level = 1\n", "python", "Pool.level")
    assert (found.path, found.names) == (("class Pool", "level"), ("Pool", "level"))


@pytest.mark.parametrize("name", ["Reply.send", "Reply.prototype.send", "prototype.send"])
def test_a_method_of_a_prototype_is_found_by_its_class(name: str) -> None:
    text = "Reply.prototype.send = function (payload) {\n  return this\n}\n"
    found = find_named_ranges(list_named_ranges(text, "javascript"), name)
    assert [(one.first_line, one.last_line) for one in found] == [(1, 3)]
    other = text.replace("prototype", "other")
    assert not find_named_ranges(list_named_ranges(other, "javascript"), name)


def test_the_innermost_range_around_a_line_is_found() -> None:
    ranges = list_named_ranges(PYTHON, "python")
    around = [innermost_range(ranges, line) for line in (1, 4, 13, 16, 20)]
    titles = [" > ".join(found.path) if found else None for found in around]
    assert titles == [
        None,
        "def hello",
        "class Greeter",
        "class Greeter > def hello",
        "class Greeter > class Inner > def hello",
    ]


@pytest.mark.parametrize("language", GRAMMARS)
def test_malformed_text_is_accepted(language: str) -> None:
    for text in ("", "\n", "((((" * 1_000, "<" * 5_000, "\0\ud800\n{{{", "x" * 600_000):
        for found in list_named_ranges(text, language):
            assert 1 <= found.first_line <= found.last_line <= text.count("\n") + 1


def test_a_section_of_an_html_page_is_found_by_its_heading() -> None:
    page = "<h1>Design</h1>\n<p>a</p>\n<h2>Storage format</h2>\n<p>b</p>\n<p>c</p>\n<h2>Wire</h2>\n"
    found = _find(list_named_ranges(page, "html"), "storage-format")
    assert found is not None
    assert (found.first_line, found.last_line) == (3, 5)


def test_a_section_is_found_by_its_long_heading() -> None:
    heading = "Calling [`mock()`](api.md#mock-name-factory) with the module factory parameter again"
    ranges = list_named_ranges(f"# A\n\n## {heading}\n\ntext\n", "markdown")
    found = _find(ranges, heading)
    assert found is not None
    assert found.first_line == 3


def test_the_section_with_exactly_this_heading_is_preferred() -> None:
    page = "# `each(table)(name)`\n\na\n\n# ``each`table`(name)``\n\nb\n"
    ranges = list_named_ranges(page, "markdown")
    found = [_find(ranges, name) for name in ("each`table`(name)", "each(table)(name)")]
    assert [one.first_line for one in found if one is not None] == [5, 1]
