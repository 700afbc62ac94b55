"""Ask questions in everyday words about invented passages, which no repository contains.

    python -m benchmarks.quality.invented_passages [--only business-documents,systems] [--count N]
        [--json FILE]

`labels/invented/` contains pairs of a question (`q`) and a passage that answers it (`p`), which
language models wrote. The passages become the files of one folder, N of each file of pairs
(default: 400), and each question is asked once. A passage has no path, name or neighbors that could
help, and the question shares at most a word or two with it, so the figures measure knowledge about
words. They are lower than those of real questions. The pairs are not used for training.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.common.arguments import COUNT, JSON, ONLY, command_parser
from benchmarks.common.metrics import TOP_K
from benchmarks.common.reports import write_json
from benchmarks.common.rootle_search import indexed_app, search_hits
from benchmarks.common.statistics import mean
from rootle import App, Config

FOLDER: Final = Path(__file__).parents[1] / "labels" / "invented"
_FILES_PER_FOLDER: Final = 20
_CONFIG: Final = Config(enable_cache=False)


@dataclass(frozen=True)
class InventedPair:
    """A question, the passage that answers it, and the name of the file of pairs."""

    question: str
    passage: str
    subject: str


def main() -> None:
    count = COUNT.with_settings(default=400, help="pairs of each file (default: %(default)s)")
    parser = command_parser(__doc__, ONLY, count, JSON)
    args = parser.parse_args()
    pairs = read_pairs(FOLDER, args.only, args.count)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "passages"
        paths = write_passages(pairs, root)
        with indexed_app(root, Path(folder) / "index", _CONFIG) as app:
            ranks = list(find_ranks(app, pairs, paths))
    report = summarize(pairs, ranks)
    for subject, figures in report.items():
        print(
            f"{subject:22} {figures['questions']:5.0f} questions  MRR {figures['mrr']:.3f}"
            f"  first {figures['hit1']:.3f}  first ten {figures['hit10']:.3f}"
        )
    write_json(args.json, report)


def read_pairs(folder: Path, only: Collection[str], count: int) -> list[InventedPair]:
    """Return the first `count` pairs of each file, in the order of the names of the files."""
    return [
        InventedPair(found["q"], found["p"], path.stem)
        for path in sorted(folder.glob("*.jsonl"))
        if not only or path.stem in only
        for found in map(json.loads, path.read_text(encoding="utf-8").splitlines()[:count])
    ]


def write_passages(pairs: Sequence[InventedPair], root: Path) -> list[str]:
    """Write each passage to a file whose name says nothing, and return the paths in the root."""
    paths = []
    for number, pair in enumerate(pairs):
        path = Path(f"{number // _FILES_PER_FOLDER:03}") / f"{number:05}.md"
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(pair.passage + "\n", encoding="utf-8")
        paths.append(path.as_posix())
    return paths


def find_ranks(app: App, pairs: Sequence[InventedPair], paths: Sequence[str]) -> Iterator[int]:
    """Yield for each question the rank of its passage among the first ten results, or 0."""
    for pair, path in zip(pairs, paths, strict=True):
        found = [hit.path for hit in search_hits(app, pair.question, TOP_K)]
        yield found.index(path) + 1 if path in found else 0


def summarize(
    pairs: Sequence[InventedPair], ranks: Sequence[int]
) -> Mapping[str, Mapping[str, float]]:
    """Return the figures of each subject and of all pairs ("all")."""
    subjects = [*dict.fromkeys(pair.subject for pair in pairs), "all"]
    report = {}
    for subject in subjects:
        chosen = [
            rank
            for pair, rank in zip(pairs, ranks, strict=True)
            if subject in ("all", pair.subject)
        ]
        report[subject] = {
            "questions": float(len(chosen)),
            "mrr": mean([1 / rank if rank else 0.0 for rank in chosen]),
            "hit1": mean([float(rank == 1) for rank in chosen]),
            "hit10": mean([float(rank > 0) for rank in chosen]),
        }
    return report


if __name__ == "__main__":
    main()
