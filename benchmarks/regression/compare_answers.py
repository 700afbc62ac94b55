"""Record the answers of a checkout of rootle to fixed questions, and compare two recordings.

python -m benchmarks.regression.compare_answers record PYTHON TREE… --out FILE
python -m benchmarks.regression.compare_answers compare OLD NEW
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Final

from benchmarks.common.arguments import INDEXES, add_options
from benchmarks.regression.normalization import Json
from benchmarks.regression.record_answers import Checkout, record

QUESTIONS: Final = Path(__file__).with_name("questions.jsonl")

_MAX_SHOWN: Final = 3  # differences per question
_MAX_FIELDS: Final = 20
_EXCERPT_CHARS: Final = 120
_CHARS_BEFORE: Final = 20

Recording = Mapping[str, Json]  # question as JSON text -> its answers


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    if options.action == "record":
        return _record(options)
    return report(read_recording(options.old), read_recording(options.new), options.show)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    actions = parser.add_subparsers(dest="action", required=True)
    recording = actions.add_parser("record", help="record one checkout's answers to all questions")
    recording.add_argument("python", help="the Python of an environment with the checkout")
    recording.add_argument("tree", nargs="+", type=Path, help="a work tree to ask about")
    recording.add_argument("--out", type=Path, required=True, help="file for the answers")
    add_options(recording, INDEXES)
    comparing = actions.add_parser("compare", help="list differences; exit with 1 if there are any")
    comparing.add_argument("old", type=Path, help="a recording of the old version")
    comparing.add_argument("new", type=Path, help="a recording of the new version")
    comparing.add_argument("--show", type=int, default=20, help="questions to show (default: 20)")
    return parser


def _record(options: argparse.Namespace) -> int:
    entries = [json.loads(line) for line in QUESTIONS.read_text("utf-8").splitlines()]
    commits = {entry["tree"]: entry["commit"] for entry in entries if "commit" in entry}
    trees = [_require_commit(tree.resolve(), commits) for tree in options.tree]
    recorded: list[Json] = []
    with tempfile.TemporaryDirectory() as home:
        indexes = (options.indexes or Path(home, "indexes")).resolve()
        for tree in trees:
            checkout = Checkout(options.python, tree, indexes / tree.name, Path(home))
            questions = [e for e in entries if e["tree"] == tree.name and "text" in e]
            answers = list(record(checkout, questions))
            print(f"{tree.name}: {describe_summary(answers)}", file=sys.stderr)
            recorded += answers
    lines = [json.dumps(line, ensure_ascii=False) + "\n" for line in recorded]
    options.out.write_text("".join(lines), encoding="utf-8")
    return 0


def _require_commit(tree: Path, commits: Mapping[str, str]) -> Path:
    """Return the tree; exit unless it is a clean checkout of the commit in `questions.jsonl`."""
    if tree.name not in commits:
        raise SystemExit(f"no questions about {tree.name}; known trees: {', '.join(commits)}")
    head = _git(tree, "rev-parse", "HEAD")
    if head != commits[tree.name] or _git(tree, "status", "--porcelain"):
        raise SystemExit(f"{tree} is not a clean checkout of {commits[tree.name]}")
    return tree


def _git(tree: Path, *arguments: str) -> str:
    return subprocess.check_output(["git", "-C", str(tree), *arguments], text=True).strip()


def describe_summary(answers: Iterable[Json]) -> str:
    """Return the numbers of questions, pages, results and answers of each kind, as one line."""
    counts: Counter[str] = Counter()
    for line in answers:
        pages = line["plain"]
        results = [result for page in pages for result in page.get("results", ())]
        counts.update(questions=1, pages=len(pages), results=len(results))
        counts["with results"] += bool(results)
        counts["with an error"] += "error" in pages[-1]
        counts["with suggestions"] += bool(pages[0].get("suggestions"))
        counts["not confident"] += pages[0].get("confident") is False
        counts["degraded"] += any(page.get("degraded") for page in pages)
        counts["with duplicates"] += any(result["duplicates"] for result in results)
        counts["changed by the cache"] += line["cached"] != pages
        counts["as text"] += "terminal" in line
    return ", ".join(f"{count} {name}" for name, count in counts.items())


def read_recording(path: Path) -> Recording:
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return {json.dumps(line.pop("question"), ensure_ascii=False): line for line in lines}


def report(old: Recording, new: Recording, max_questions: int) -> int:
    """Print the first differences and their number; return 1 if there are any or `old` is empty."""
    different, fields = 0, Counter[str]()
    for key in dict.fromkeys([*old, *new]):
        found = list(differences(old.get(key), new.get(key)))
        fields.update(_strip_positions(place) for place, _, _ in found)
        different += bool(found)
        if found and different <= max_questions:
            _print_question(json.loads(key), found)
    print(f"{len(old)} and {len(new)} questions: {different} with differences")
    for field, count in fields.most_common(_MAX_FIELDS):
        print(f"  {count:6} {field}")
    if len(fields) > _MAX_FIELDS:
        print(f"  … {len(fields) - _MAX_FIELDS} more fields")
    return int(different > 0 or not old)


def differences(old: Json, new: Json, place: str = "") -> Iterator[tuple[str, Json, Json]]:
    """Yield the place and both values of every difference between two recorded values."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name in dict.fromkeys([*old, *new]):
            yield from differences(old.get(name), new.get(name), f"{place}.{name}".lstrip("."))
    elif isinstance(old, list) and isinstance(new, list):
        for index, (left, right) in enumerate(zip_longest(old, new)):
            yield from differences(left, right, f"{place}[{index}]")
    elif old != new:
        yield place, old, new


def _strip_positions(place: str) -> str:
    """Return a place without positions: `plain[0].results[2].score` -> `plain.results.score`."""
    return re.sub(r"\[\d+\]", "", place) or "question"


def _print_question(question: Json, found: Sequence[tuple[str, Json, Json]]) -> None:
    print(f"{question['tree']}, {question['kind']}: {_excerpt(question['text'], 0)}")
    for place, old, new in found[:_MAX_SHOWN]:
        start = _first_difference(old, new)
        print(
            f"  {place or 'question'}\n    - {_excerpt(old, start)}\n    + {_excerpt(new, start)}"
        )
    if len(found) > _MAX_SHOWN:
        print(f"  … {len(found) - _MAX_SHOWN} more")


def _first_difference(old: Json, new: Json) -> int:
    pairs = zip_longest(_format_json(old), _format_json(new))
    return next((at for at, (left, right) in enumerate(pairs) if left != right), 0)


def _excerpt(value: Json, start: int) -> str:
    text, start = _format_json(value), max(0, start - _CHARS_BEFORE)
    part = text[start : start + _EXCERPT_CHARS]
    return f"{'…' if start else ''}{part}{'…' if start + len(part) < len(text) else ''}"


def _format_json(value: Json) -> str:
    return "(nothing)" if value is None else json.dumps(value, ensure_ascii=False)


if __name__ == "__main__":
    sys.exit(main())
