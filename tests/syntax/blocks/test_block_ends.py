"""The ends of blocks: texts of several lines, comments and keywords inside and between them."""

from __future__ import annotations

from time import thread_time

import pytest

from rootle.ingest.chunking.chunk_size_defaults import ChunkLimits
from rootle.ingest.chunking.chunker import split_text
from rootle.ingest.named_ranges import list_named_ranges
from rootle.syntax.blocks.outline import read_blocks
from rootle.syntax.lines import Lines

HEREDOC = """\
# A policy is written as <<EOF, as in
resource "aws_iam_policy" "read" {
  policy = <<EOF
{
  "Version": "2012"
}
Text at the margin
resource "fake" "x" {
EOF
# A comment at the margin.
  path = "/"
}

/*
module "old" {
}
*/
module "new" {
}
"""
RECIPES = """\
build:
\t@echo a
ifeq ($(OS),Linux)
\t@echo b
else
\t@echo c
endif
# A comment.
\t@echo d

test:
\t@echo e
done-all: test
ifdef DEBUG
FLAGS = -g
endif
"""
TABLES = """\
[tool.lint]
pairs = [
  ["a", "b"],
  [1, 2],
  ["c"]
]
help = \"\"\"
[not-a-table]
\"\"\"
# max = 3

# About the next table.
["quoted".table]  # comment
x = 1
"""
STEPS = """\
start:
  a: 1
#  b: 2
  c:
    d: 1
end_date:
  e: 1
do:
  f: 1
else:
  - g
# About the last key.
last:
  h: 1
"""
SCRIPTS = """\
steps:
  - |
    foo_bar: baz
  - run: &script |
      a_b: c
text: !!str |
  foo_x: 1
real_name: 1
"""
STAGES = """\
FROM --platform=$BUILDPLATFORM golang:1 AS build
RUN <<EOF
FROM fake
EOF

from scratch
COPY . .
"""
PERL = """\
sub b {
    print <<"EOT";
sub fake {
EOT
# A comment.
    return 1;
}

=pod

sub documented {

=cut

sub d {
}
"""
SHADER = """\
float a(float x) {
#ifdef FAST
  return 1;
#endif
}
#endif

// About b.
float b(vec3 z) {
  return 1;
}
"""
NIX = """\
{
  package = {
    script = ''
      fake = {
    '';
  };
}
"""
GODOT = """\
func a():
\tshow()
# hide()
\tmove()

## About b.
@rpc
func b():
\tpass
"""
STYLES = """\
.a {
  color: red;
  @include wide;
  &:hover {
    color: blue;
  }
}
"""
POWERSHELL = """\
<#
function Old {
#>
function Get-Item {
  $x = @"
function Fake {
"@
}
"""
OCAML = """\
let rec total x =
  let y = 1 in
  x
and rest y = 2
(* About the module. *)
module Shop = struct
  let price item = 1
end
let () = run ()
"""
FSHARP = """\
let rec total x =
  let y = 1
  x
type Shop() =
  member this.Price item = 1
"""
NIM = """\
proc total*(x: int): int =
  x
proc rest(x: int) =
  y
"""
ENDS = {
    "ocaml": (
        OCAML,
        {
            "let total": (1, 3),
            "and rest": (4, 4),
            "module Shop": (5, 8),
            "module Shop > let price": (7, 7),
        },
    ),
    "fsharp": (
        FSHARP,
        {"let total": (1, 3), "type Shop": (4, 5), "type Shop > member Price": (5, 5)},
    ),
    "nim": (NIM, {"proc total": (1, 2), "proc rest": (3, 4)}),
    "terraform": (
        HEREDOC,
        {"resource aws_iam_policy.read": (1, 12), "module new": (14, 19)},
    ),
    "make": (RECIPES, {"build": (1, 9), "test": (11, 12), "done-all": (13, 13)}),
    "toml": (TABLES, {"tool.lint": (1, 10), '"quoted".table': (12, 14)}),
    "yaml": (
        STEPS,
        {
            "start": (1, 5),
            "start > c": (4, 5),
            "end_date": (6, 7),
            "do": (8, 9),
            "else": (10, 11),
            "last": (12, 14),
        },
    ),
    "dockerfile": (STAGES, {"build": (1, 4), "from scratch": (6, 7)}),
    "perl": (PERL, {"sub b": (1, 7), "sub d": (9, 16)}),
    "shader": (SHADER, {"float a": (1, 5), "float b": (8, 11)}),
    "nix": (NIX, {"package": (2, 6), "package > script": (3, 5)}),
    "gdscript": (GODOT, {"func a": (1, 4), "func b": (6, 9)}),
    "scss": (STYLES, {".a": (1, 7), ".a > &:hover": (4, 6)}),
    "powershell": (POWERSHELL, {"function Get-Item": (1, 8)}),
}


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("language", ENDS)
def test_a_block_ends_where_a_reader_expects(language: str, newline: str) -> None:
    text, expected = ENDS[language]

    found = list_named_ranges(text.replace("\n", newline), language)

    assert {" > ".join(one.path): (one.first_line, one.last_line) for one in found} == expected


@pytest.mark.parametrize(
    ("language", "text", "names"),
    [
        ("yaml", SCRIPTS, {"real_name"}),
        ("toml", TABLES, set()),
        ("kconfig", "config A\n\thelp\n\t  config B is\n", {"A"}),
        ("powershell", POWERSHELL, {"Get-Item"}),
        ("perl", PERL, {"b", "d"}),
        ("proto", "/*\nmessage Old {\n  int32 id = 1;\n}\n*/\nmessage New {\n}\n", {"New"}),
        ("graphql", 'type Order {\n  """\n  note: Int\n  """\n  id: ID\n}\n', {"Order", "id"}),
    ],
)
def test_lines_of_texts_and_comments_define_no_names(
    language: str, text: str, names: set[str]
) -> None:
    chunks = split_text(text, language, ChunkLimits()).chunks

    assert {symbol for chunk in chunks for symbol in chunk.symbols} == names


@pytest.mark.parametrize(
    ("language", "line"), [("scss", ".a {"), ("gdscript", "func a():"), ("perl", "sub a {")]
)
def test_deeply_nested_blocks_are_read(language: str, line: str) -> None:
    text = "\n".join(" " * depth + line for depth in range(950))

    found = list_named_ranges(text, language)

    assert found
    assert len(found) < 100
    assert split_text(text, language, ChunkLimits()).chunks[-1].end_line == 950


@pytest.mark.parametrize(
    ("language", "start", "unit"),
    [
        ("ini", "a", "a_b"),
        ("toml", "a", "a_b"),
        ("nix", "a =", " "),
        ("scss", ".a", " "),
        ("perl", "sub ", "a"),
        ("terraform", "x = <<A", "\n<<A"),
        ("perl", "x = <<A", "\n<<B"),
        ("yaml", "a:\n", "# b\n"),
        ("groovy", "def a() {\n", "// b\n"),
    ],
)
def test_the_time_is_linear_in_the_length_of_a_line(language: str, start: str, unit: str) -> None:
    text = f"{start}{unit * 30_000}x"

    started = thread_time()
    list_named_ranges(text, language)

    assert thread_time() - started < 2.0


def test_the_blocks_around_all_lines_are_found_in_linear_time() -> None:
    lines = Lines('resource "a" "b" {\n  c = 1\n}\n' * 15_000)
    outline = read_blocks(lines, "terraform")
    assert outline is not None

    started = thread_time()
    around = [outline.blocks_at(row) for row in range(0, 45_000, 3)]

    assert [blocks[0].row for blocks in around] == [*range(0, 45_000, 3)]
    assert outline.blocks_at(45_000) == ()
    assert thread_time() - started < 2.0
