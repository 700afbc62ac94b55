"""The specified tree of 500 files and 100 MB: made of your sources, then indexed by the defaults.

    python -m benchmarks.speed.first_index TREE... [--scale X] [--json FILE]
    python -m benchmarks.speed.first_index --made FOLDER [--json FILE]

Each TREE is a folder of source code, as for `benchmarks/speed/corpora.py`, which makes the tree; FOLDER
is one that it made. `rootle index` runs in a new process, chunks, model and limits as they come,
once so and once with all of the text (`maxChunksPerFile` 0). The specification allows two minutes.
Processor time is told beside the time, for machines that do other things as well.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.speed.processes import run
from benchmarks.speed.tools import Rootle

ALLOWED_S = 120.0
SETTINGS = {
    "by the defaults": {},
    "all of the text": {"searchAgent": {"maxChunksPerFile": 0}},
}


def main() -> None:
    args = parse_arguments()
    with tempfile.TemporaryDirectory(prefix="first-index-") as scratch:
        tree = args.made or made(args.trees, args.scale, Path(scratch))
        report = {
            what: measured(tree, Path(scratch, str(at)), config)
            for at, (what, config) in enumerate(SETTINGS.items())
        }
    for what, figures in report.items():
        print(
            f"{what}: {figures['files']} files, {figures['megabytes']:.1f} MB, "
            f"{figures['chunks']:,} chunks in {figures['seconds']:.1f} s "
            f"({figures['processor_s']:.1f} s of processors), {figures['peak_mb']:.0f} MB at most"
        )
    if args.json:
        args.json.write_text(json.dumps(report, indent=1) + "\n")
    slow = [what for what, figures in report.items() if figures["seconds"] > ALLOWED_S]
    if slow:
        sys.exit(f"over {ALLOWED_S:g} s: {', '.join(slow)}")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("trees", type=Path, nargs="*", metavar="TREE")
    parser.add_argument("--made", type=Path, metavar="FOLDER", help="index this tree as it is")
    parser.add_argument("--scale", type=float, default=1.0, help="times the size (default 1)")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    if bool(args.trees) == bool(args.made):
        parser.error("name source trees, or one that was made of them with --made")
    return args


def made(trees: list[Path], scale: float, out: Path) -> Path:
    command = [sys.executable, "-m", "benchmarks.speed.corpora", out, *trees]
    subprocess.run([*command, "--only", "c100", "--scale", str(scale)], check=True)
    return out / "c100"


def measured(tree: Path, scratch: Path, config: dict[str, object]) -> dict[str, float]:
    scratch.mkdir()
    rootle = Rootle(tree.absolute(), scratch, config)
    before = os.times()
    done = run(rootle.index(), rootle.env, with_memory=True)
    after = os.times()
    said = json.loads(done.output)
    files = [path for path in tree.rglob("*") if path.is_file() and ".git" not in path.parts]
    return {
        "files": len(files),
        "megabytes": sum(path.stat().st_size for path in files) / 1e6,
        "chunks": said["chunksTotal"],
        "seconds": done.seconds,
        "processor_s": sum(after[2:4]) - sum(before[2:4]),
        "peak_mb": (done.peak_bytes or 0) / 1e6,
    }


if __name__ == "__main__":
    main()
