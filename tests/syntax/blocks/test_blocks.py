"""The blocks of configuration, build and game files: their lines, their names and their chunks."""

from __future__ import annotations

from time import thread_time

import pytest

from rootle.ingest.chunking.chunk_size_defaults import ChunkLimits
from rootle.ingest.chunking.chunker import split_text
from rootle.ingest.named_ranges import list_named_ranges

TERRAFORM = """\
locals {
  queue_name = "jobs"
}

# The queue that receives interruption messages.
resource "aws_sqs_queue" "this" {
  name = local.queue_name
}

variable "wait_duration" {
  default = "30s"
}
"""
WORKFLOW = """\
name: Checks
on: push
jobs:
  lint-charts:
    runs-on: ubuntu-latest
    steps:
    - name: Check out
      uses: actions/checkout@v4
    - name: "Run the linter: strict"
      run: |
        lint: all
  size-label:
    steps: []
"""
MANIFESTS = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 2
---
apiVersion: v1
kind: Service
metadata:
  name: web-service
"""
MAKEFILE = """\
IMAGE_TAG ?= latest

# Build the image.
.PHONY: image
image: $(SOURCES)
\tdocker build .

define add_image
tool --image $(1)
endef
"""
SCENE = """\
[gd_scene format=3]

[node name="StartButton" type="Button" parent="."]
text = "Start"
"""
SCRIPT = """\
signal hit

func start(pos):
\tposition = pos

\tshow()

func stop():
\thide()
"""
DEVICE_TREE = """\
/ {
\tgic: interrupt-controller@2f000000 {
\t\treg = <0x0>;
\t};
};
"""
ASSEMBLY = """\
/* Disable the prefetcher. */
func disable_prefetcher
\tmrs x0, REG
again:
\tret
endfunc disable_prefetcher

func enable_prefetcher
\tret
endfunc enable_prefetcher
"""
STYLES = """\
@mixin raised {
  margin: 0;
}
.card {
  .title {
    color: red;
  }
}
"""
KCONFIG = """\
config USE_CACHE
\tbool "Use the cache"
\tdefault y

config CACHE_SIZE
\tint "Size"
"""


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        (
            "terraform",
            TERRAFORM,
            {
                "locals": (1, 3),
                "locals > queue_name": (2, 2),
                "resource aws_sqs_queue.this": (5, 8),
                "variable wait_duration": (10, 12),
            },
        ),
        (
            "yaml",
            WORKFLOW,
            {
                "jobs": (3, 13),
                "jobs > lint-charts": (4, 11),
                "jobs > lint-charts > Check out": (7, 8),
                "jobs > lint-charts > Run the linter: strict": (9, 11),
                "jobs > size-label": (12, 13),
            },
        ),
        (
            "yaml",
            MANIFESTS,
            {
                "Deployment web": (1, 6),
                "Deployment web > metadata": (3, 4),
                "Deployment web > spec": (5, 6),
                "Service web-service": (8, 11),
                "Service web-service > metadata": (10, 11),
            },
        ),
        ("make", MAKEFILE, {"image": (3, 6), "define add_image": (8, 10)}),
        ("godot", SCENE, {"gd_scene format=3": (1, 1), "node StartButton": (3, 4)}),
        ("gdscript", SCRIPT, {"func start": (3, 6), "func stop": (8, 9)}),
        (
            "devicetree",
            DEVICE_TREE,
            {"/": (1, 5), "/ > interrupt-controller@2f000000 gic": (2, 4)},
        ),
        (
            "assembly",
            ASSEMBLY,
            {
                "func disable_prefetcher": (1, 6),
                "func disable_prefetcher > again": (4, 6),
                "func enable_prefetcher": (8, 10),
            },
        ),
        ("scss", STYLES, {"mixin raised": (1, 3), ".card": (4, 8), ".card > .title": (5, 7)}),
        ("kconfig", KCONFIG, {"config USE_CACHE": (1, 3), "config CACHE_SIZE": (5, 6)}),
        (
            "toml",
            '[tool.lint]\nmax = 1\n\n[[bin]]\nname = "a"\n',
            {"tool.lint": (1, 2), "bin": (4, 5)},
        ),
        (
            "dockerfile",
            "FROM base AS build\nRUN make\n\nFROM base\nCOPY . .\n",
            {"build": (1, 2), "FROM base": (4, 5)},
        ),
        (
            "r",
            "total <- function(x) {\n  sum(x)\n}\n\nmean_of <- function(x) {\n  mean(x)\n}\n",
            {"total": (1, 3), "mean_of": (5, 7)},
        ),
        ("julia", "function area(r)\n    pi * r^2\nend\n\nx = 1\n", {"function area": (1, 3)}),
    ],
)
def test_the_blocks_of_a_file_are_named_ranges(
    language: str, text: str, expected: dict[str, tuple[int, int]]
) -> None:
    found = list_named_ranges(text, language)

    assert {" > ".join(one.path): (one.first_line, one.last_line) for one in found} == expected


@pytest.mark.parametrize(
    ("language", "text", "names"),
    [
        ("terraform", TERRAFORM, {"queue_name", "aws_sqs_queue", "this", "wait_duration"}),
        ("yaml", WORKFLOW, {"lint-charts", "runs-on", "size-label"}),
        ("yaml", MANIFESTS, {"apiVersion", "web", "web-service"}),
        ("make", MAKEFILE, {"IMAGE_TAG", "image", "add_image"}),
        ("gdscript", SCRIPT, {"hit", "start", "stop"}),
        ("devicetree", DEVICE_TREE, {"gic"}),
        ("assembly", ASSEMBLY, {"disable_prefetcher", "again", "enable_prefetcher"}),
        ("scss", STYLES, {"raised", "card", "title"}),
        ("latex", "\\section{A}\nText\\label{sec:a}\n\\newcommand{\\N}{x}\n", {"a", "N"}),
        ("yaml", "name: a\nversion: 1\nserver:\n  replicaCount: 2\n", {"replicaCount"}),
    ],
)
def test_the_names_of_a_file_are_symbols(language: str, text: str, names: set[str]) -> None:
    chunks = split_text(text, language, ChunkLimits()).chunks

    assert {symbol for chunk in chunks for symbol in chunk.symbols} == names


def test_a_long_file_is_split_at_its_blocks() -> None:
    lines = [f"  option{at} = value of this option, which is described here" for at in range(6)]
    text = "\n\n".join("\n".join([f"[service{at}]", *lines]) for at in range(9))

    chunks = split_text(text, "ini", ChunkLimits()).chunks

    assert [(chunk.scope, chunk.start_line, chunk.end_line) for chunk in chunks] == [
        (f"service{at}", at * 8 + 1, at * 8 + 7) for at in range(9)
    ]


@pytest.mark.parametrize("language", ["yaml", "terraform", "make", "scss", "assembly"])
def test_the_time_is_linear(language: str) -> None:
    lines = {
        "yaml": "{}a-{}:\n",
        "terraform": 'resource "a{}" "b{}" {{\n',
        "make": "define {}a{}\n",
        "scss": "{}.a{} {{\n",
        "assembly": "{}a{}:\n",
    }
    text = "".join(lines[language].format("" if at % 3 else " ", at) for at in range(15_000))

    started = thread_time()
    list_named_ranges(text, language)

    assert thread_time() - started < 3.0
