"""Time and disk space for indexing a folder with many icons and pictures.

    python -m benchmarks.speed.image_trees [--icons 2000] [--pictures 500] [--ocr off]

The folder contains 200 Python files, SVG icons of 0.7 to 2.4 kB without text, one sprite of 0.7 MB,
and, in `docs/`, PNG pictures of 640 x 240 pixels with three lines of text. Each run uses a new
index. With `--ocr docs`, Tesseract reads the pictures. The same command measures earlier versions
of rootle, which have no such setting. Drawing the pictures needs Pillow.
"""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from pathlib import Path
from random import Random

from benchmarks.common.arguments import command_parser
from rootle import Config, IndexReport, open_app

_CODE_FILES = 200
_RUNS = 2
_WORDS = "queue retry upload token lease shard index cache worker signal packet ledger".split()


def main() -> None:
    parser = command_parser(__doc__)
    parser.add_argument("--icons", type=int, default=2_000, help="number of SVG icons")
    parser.add_argument("--pictures", type=int, default=500, help="number of PNG pictures")
    parser.add_argument("--ocr", default="off", help="value of the setting `ocr`")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "tree"
        write_tree(root, args.icons, args.pictures)
        for run in range(_RUNS):
            _measure(root, Path(folder) / f"index-{run}", args.ocr)


def _measure(root: Path, index_dir: Path, ocr: str) -> None:
    config = Config() if ocr == "off" else Config(ocr=ocr)
    for name, rebuild in (("first index", False), ("rebuild", True)):
        started = time.perf_counter()
        with open_app(root, index_dir=index_dir, config=config) as app:
            report = app.index(rebuild=rebuild)
            seconds = time.perf_counter() - started
            size = app.status().index_bytes
        print(format_run(name, seconds, report, size))


def format_run(name: str, seconds: float, report: IndexReport, index_bytes: int) -> str:
    """Return the line for one run."""
    skipped = ", ".join(f"{count} {reason}" for reason, count in report.skipped.items())
    return (
        f"{name:11} {seconds:6.1f} s, {report.files_total} files, {report.chunks_total} chunks, "
        f"{index_bytes / 1e6:.1f} MB, skipped: {skipped or 'nothing'}"
    )


def write_tree(root: Path, icons: int, pictures: int, seed: int = 5) -> None:
    """Write the folder; the same arguments give the same files."""
    random = Random(seed)
    for number in range(_CODE_FILES):
        words = Counter(random.choices(_WORDS, k=12))
        body = "\n\n\n".join(
            f"def {word}_{number}(value):\n    return value * {count}"
            for word, count in words.items()
        )
        _write(root / f"src/module_{number}.py", f"{body}\n")
    for number in range(icons):
        _write(root / f"icons/icon-{number}.svg", _icon(random, random.randint(40, 160)))
    shapes = _path(random, 250)
    symbols = "".join(f'<symbol id="s{number}">{shapes}</symbol>' for number in range(200))
    _write(root / "icons/sprite.svg", f'<svg xmlns="http://www.w3.org/2000/svg">{symbols}</svg>')
    for number in range(pictures):
        lines = [" ".join(random.choices(_WORDS, k=4)) for _ in range(3)]
        _draw(root / f"docs/picture-{number}.png", lines)


def _icon(random: Random, points: int) -> str:
    head = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" width="24" height="24">'
    return f"{head}\n  {_path(random, points)}\n</svg>\n"


def _path(random: Random, points: int) -> str:
    lines = " ".join(
        f"L{random.uniform(0, 24):.3f} {random.uniform(0, 24):.3f}" for _ in range(points)
    )
    return f'<path fill="currentColor" d="M0 0 {lines} Z"/>'


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _draw(path: Path, lines: list[str]) -> None:
    from PIL import Image, ImageDraw, ImageFont

    image = Image.new("RGB", (640, 240), "white")
    drawing = ImageDraw.Draw(image)
    font = ImageFont.load_default(20)
    for row, line in enumerate(lines):
        drawing.text((20, 20 + 60 * row), line, font=font, fill="black")
    path.parent.mkdir(parents=True, exist_ok=True)
    image.save(path)


if __name__ == "__main__":
    main()
