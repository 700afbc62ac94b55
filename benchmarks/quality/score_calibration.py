"""Calibration of scores: the share of correct results by score.

    python -m benchmarks.quality.score_calibration REPOS [--split tune|test] [--only ninja]
        [--indexes DIR] [--svg FILE] [--json FILE]

REPOS is the same as for `labelled_questions`; the test split is measured by default. The results of
all questions, answerable or not, are grouped into ten bins by score. A result is correct if the
lines it shows overlap a target. `--svg` draws the reliability diagram.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.common.arguments import INDEXES, JSON, ONLY, REPOS, SPLIT, command_parser
from benchmarks.common.labels import (
    SHOWN_LINES,
    LabeledRepository,
    labeled_repositories,
    overlaps_target,
)
from benchmarks.common.reports import write_json
from benchmarks.common.rootle_search import index_folder, indexed_app, make_hit, timed_search
from benchmarks.common.statistics import mean

BINS = 10
SIDE, MARGIN = 320, 40  # size and margin of the diagram, in pixels

ScoredResult = tuple[float, bool]  # score, whether the result is correct


@dataclass(frozen=True)
class Bin:
    """The results whose scores lie in one tenth of the range."""

    mean_score: float
    precision: float  # share of correct results
    results: int


def main() -> None:
    parser = command_parser(__doc__, REPOS, SPLIT, ONLY, INDEXES, JSON)
    parser.set_defaults(split="test")
    parser.add_argument("--svg", type=Path, metavar="FILE", help="draw the reliability diagram")
    args = parser.parse_args()
    results: list[ScoredResult] = []
    with index_folder(args.indexes) as indexes:
        for repository in labeled_repositories(args.repos, args.split, args.only):
            results += score_results(repository, indexes / repository.name)
    bins = bin_results(results)
    for one in bins:
        print(f"score {one.mean_score:.2f}  correct {one.precision:.2f}  of {one.results} results")
    print(f"Brier score {brier_score(results):.4f} of {len(results)} results")
    if args.svg:
        args.svg.write_text(draw_diagram(bins), encoding="utf-8")
    write_json(args.json, [asdict(one) for one in bins])


def score_results(repository: LabeledRepository, index_dir: Path) -> list[ScoredResult]:
    """Return the score of each result of each question, and whether it is correct."""
    scored = []
    with indexed_app(repository.root, index_dir) as app:
        for label in repository.labels:
            for result in timed_search(app, label.query)[1].results:
                hit = make_hit(result).first_lines(SHOWN_LINES)
                is_correct = any(overlaps_target(hit, target) for target in label.targets)
                scored.append((result.score, is_correct))
    return scored


def bin_results(results: Sequence[ScoredResult]) -> list[Bin]:
    """Return the non-empty bins, lowest scores first."""
    bins = []
    for number in range(BINS):
        members = [one for one in results if min(int(one[0] * BINS), BINS - 1) == number]
        if members:
            mean_score = mean(score for score, _ in members)
            bins.append(Bin(mean_score, mean(right for _, right in members), len(members)))
    return bins


def brier_score(results: Sequence[ScoredResult]) -> float:
    """Return the mean squared difference between score and correctness."""
    return mean((score - is_correct) ** 2 for score, is_correct in results)


def draw_diagram(bins: Sequence[Bin]) -> str:
    """Return an SVG: score on the x axis, precision on the y axis, larger dots for more results."""

    def x(share: float) -> float:
        return MARGIN + share * SIDE

    def y(share: float) -> float:
        return MARGIN + (1 - share) * SIDE

    dots = "\n".join(
        f'<circle cx="{x(b.mean_score):.1f}" cy="{y(b.precision):.1f}" '
        f'r="{3 + b.results**0.5 / 4:.1f}" fill="#3b6ea5" fill-opacity="0.75">'
        f"<title>score {b.mean_score:.2f}, correct {b.precision:.2f}, {b.results} results</title>"
        f"</circle>"
        for b in bins
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
<text x="{x(0.5):.0f}" y="{size - 6}" text-anchor="middle">score</text>
<text x="12" y="{y(0.5):.0f}" text-anchor="middle" transform="rotate(-90 12 {y(0.5):.0f})">\
share of correct results</text>
</svg>
"""


if __name__ == "__main__":
    main()
