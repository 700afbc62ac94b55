"""Is a score what it says? Of the results shown with 0.8, how many answer?

    python -m benchmarks.quality.score_calibration REPOS [--split tune|test] [--indexes DIR] [--svg FILE]
        [--json FILE]

REPOS is as for `quality/labelled_questions.py`. All results of all questions that have an answer, and of those that
have none, are sorted into tenths by their score; a result is right where the lines that it shows
overlap a wanted span. FILE gets the picture.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.common.labels import LABELS, Label, read_labels
from benchmarks.quality.labelled_questions import first_lines
from benchmarks.quality.public_benchmark import TOP_K, found
from rootle import SearchQuery, SearchResult, open_app

BINS = 10
SIDE, MARGIN = 320, 40


@dataclass(frozen=True)
class Tenth:
    """The results whose score lies in one tenth."""

    said: float  # the mean of their scores
    right: float  # the share of them that answers
    results: int


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("repos", type=Path)
    parser.add_argument("--split", default="test", choices=["tune", "test"])
    parser.add_argument("--indexes", type=Path, help="keep the indexes here for the next run")
    parser.add_argument("--svg", type=Path)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    pairs = []
    with tempfile.TemporaryDirectory() as scratch:
        for repo in json.loads((LABELS / "repositories.json").read_text()):
            if repo["split"] == args.split:
                index_dir = (args.indexes or Path(scratch)) / repo["name"]
                pairs += scored(args.repos / repo["name"], read_labels(repo["name"]), index_dir)
    tenths = tenths_of(pairs)
    for tenth in tenths:
        print(f"said {tenth.said:.2f}  right {tenth.right:.2f}  of {tenth.results} results")
    error = sum((score - right) ** 2 for score, right in pairs) / len(pairs)
    print(f"Brier score {error:.4f} of {len(pairs)} results")
    if args.svg:
        args.svg.write_text(picture(tenths))
    if args.json:
        args.json.write_text(json.dumps([asdict(tenth) for tenth in tenths], indent=1) + "\n")


def scored(root: Path, labels: Sequence[Label], index_dir: Path) -> list[tuple[float, bool]]:
    """The score of every result, and whether it answers."""
    pairs = []
    with open_app(root, index_dir=index_dir) as app:
        app.index()
        for label in labels:
            response = app.search(SearchQuery(label.query, limit=TOP_K))
            pairs += [(result.score, is_right(result, label)) for result in response.results]
    return pairs


def is_right(result: SearchResult, label: Label) -> bool:
    shown = first_lines(found(result)).spans
    return any(
        result.file_path == span.path
        and any(first <= span.end_line and span.start_line <= last for first, last in shown)
        for target in label.targets
        for span in target
    )


def tenths_of(pairs: Sequence[tuple[float, bool]]) -> list[Tenth]:
    tenths = []
    for place in range(BINS):
        own = [pair for pair in pairs if min(int(pair[0] * BINS), BINS - 1) == place]
        if own:
            said = sum(score for score, _ in own) / len(own)
            tenths.append(Tenth(said, sum(right for _, right in own) / len(own), len(own)))
    return tenths


def picture(tenths: Sequence[Tenth]) -> str:
    """What was said to the right, what was right upwards; the area of a dot is its results."""

    def x(share: float) -> float:
        return MARGIN + share * SIDE

    def y(share: float) -> float:
        return MARGIN + (1 - share) * SIDE

    dots = "\n".join(
        f'<circle cx="{x(t.said):.1f}" cy="{y(t.right):.1f}" r="{3 + t.results**0.5 / 4:.1f}" '
        f'fill="#3b6ea5" fill-opacity="0.75"><title>said {t.said:.2f}, right {t.right:.2f}, '
        f"{t.results} results</title></circle>"
        for t in tenths
    )
    ticks = "\n".join(
        f'<text x="{x(s):.0f}" y="{y(0) + 16:.0f}" text-anchor="middle">{s:g}</text>'
        f'<text x="{x(0) - 6:.0f}" y="{y(s) + 4:.0f}" text-anchor="end">{s:g}</text>'
        for s in (0, 0.2, 0.4, 0.6, 0.8, 1)
    )
    size = SIDE + 2 * MARGIN
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size} {size}" \
font-family="sans-serif" font-size="11">
<rect width="{size}" height="{size}" fill="white"/>
<rect x="{x(0)}" y="{y(1)}" width="{SIDE}" height="{SIDE}" fill="none" stroke="#999"/>
<line x1="{x(0)}" y1="{y(0)}" x2="{x(1)}" y2="{y(1)}" stroke="#bbb" stroke-dasharray="4"/>
{ticks}
{dots}
<text x="{x(0.5):.0f}" y="{size - 6}" text-anchor="middle">score shown</text>
<text x="12" y="{y(0.5):.0f}" text-anchor="middle" transform="rotate(-90 12 {y(0.5):.0f})">\
share that answers</text>
</svg>
"""


if __name__ == "__main__":
    main()
