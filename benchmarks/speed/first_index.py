"""Time of the first index of 500 files (100 MB) with default settings.

    python -m benchmarks.speed.first_index TREE... [--scale X] [--json FILE]
    python -m benchmarks.speed.first_index --built FOLDER [--json FILE]

Each TREE is a folder of source code, from which the corpus `c100` is built (see `corpora`); FOLDER
is a corpus that is already built. `rootle index` runs in a new process with default settings. The
specification allows two minutes; the exit status is 1 if it takes longer. Processor time is
reported as well, because wall-clock time depends on the other load of the machine.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from benchmarks.common.arguments import JSON, SCALE, TREES, command_parser
from benchmarks.common.reports import write_json
from benchmarks.speed.corpora import commit_all, fill_corpus, find_files
from benchmarks.speed.processes import run_command
from benchmarks.speed.tools import Rootle

ALLOWED_S = 120.0


def main() -> None:
    args = parse_arguments()
    with tempfile.TemporaryDirectory(prefix="first-index-") as scratch:
        tree = args.built or build_tree(args.trees, args.scale, Path(scratch, "tree"))
        figures = measure_index(tree, Path(scratch, "index"))
    print(format_figures(figures))
    write_json(args.json, figures)
    if figures["seconds"] > ALLOWED_S:
        sys.exit(f"over {ALLOWED_S:g} s")


def parse_arguments() -> argparse.Namespace:
    parser = command_parser(__doc__, TREES.with_settings(nargs="*"), SCALE, JSON)
    parser.add_argument("--built", type=Path, metavar="FOLDER", help="tree that is already built")
    args = parser.parse_args()
    if bool(args.trees) == bool(args.built):
        parser.error("expected source trees, or a built tree with --built")
    return args


def build_tree(trees: list[Path], scale: float, folder: Path) -> Path:
    """Build the corpus `c100` from the source trees."""
    folder.mkdir()
    fill_corpus("c100", folder, sorted(find_files(trees)), scale)
    commit_all(folder)
    return folder


def measure_index(tree: Path, scratch: Path) -> dict[str, float]:
    """Return the figures of building the index once."""
    scratch.mkdir()
    rootle = Rootle(tree.absolute(), scratch, {})
    before = os.times()
    done = run_command(rootle.index(), rootle.env, with_memory=True)
    after = os.times()
    files = [path for path in tree.rglob("*") if path.is_file() and ".git" not in path.parts]
    return {
        "files": len(files),
        "megabytes": sum(path.stat().st_size for path in files) / 1e6,
        "chunks": json.loads(done.output)["chunksTotal"],
        "seconds": done.seconds,
        "cpu_s": sum(after[2:4]) - sum(before[2:4]),
        "peak_mb": (done.peak_bytes or 0) / 1e6,
    }


def format_figures(figures: Mapping[str, float]) -> str:
    return (
        f"{figures['files']} files, {figures['megabytes']:.1f} MB, "
        f"{figures['chunks']:,} chunks in {figures['seconds']:.1f} s "
        f"({figures['cpu_s']:.1f} s of processor time), peak memory {figures['peak_mb']:.0f} MB"
    )


if __name__ == "__main__":
    main()
