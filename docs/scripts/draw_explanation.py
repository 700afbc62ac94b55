"""Draws what gave each result of one search its place, from what `--explain --json` says.

rootle search --explain --json -n 6 QUESTION |
    python docs/scripts/draw_explanation.py > docs/explanation/explained.svg
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from html import escape
from typing import Final

# What a feature looks at, in the order in which the parts of a bar stand.
FAMILIES: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "words": ("#3b6ea5", ("bm25_", "coverage_", "notes", "one_passage")),
    "names": ("#7a9e4b", ("symbols_", "defines_", "symbol_is_stem", "mentions")),
    "path": ("#d9a441", ("path_", "question_in_", "stem_", "folders", "depth", "longer_", "set_")),
    "meaning": ("#a5553b", ("dense_",)),
    "words and meaning": ("#7c5c99", ("chunk_best", "share_of_best")),
    "trees": ("#555555", ("learned",)),
}
WIDTH, LEFT, ROW, TOP = 760, 290, 30, 56
BAR = 16  # height


def main() -> None:
    results = json.load(sys.stdin)["results"]
    if not results:
        sys.exit("nothing was found, so there is nothing to draw; ask another question")
    sys.stdout.write(picture(results))


def picture(results: list[dict]) -> str:
    """One bar a result, best first: what is against it to the left of the line, the rest right."""
    rows = [of_families(result["explanation"]) for result in results]
    for_it = max(sum(value for value in row.values() if value > 0) for row in rows)
    against = -min(sum(value for value in row.values() if value < 0) for row in rows)
    scale = (WIDTH - LEFT - 60) / (for_it + against)
    zero = LEFT + against * scale
    height = TOP + ROW * len(rows) + 12
    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        *legend(),
        *(
            part
            for at, (result, row) in enumerate(zip(results, rows, strict=True))
            for part in bar(result, row, TOP + ROW * at, zero, scale)
        ),
        f'<line x1="{zero:.1f}" y1="{TOP - 6}" x2="{zero:.1f}" y2="{height - 8}" stroke="#333"/>',
        "</svg>\n",
    ]
    return "\n".join(drawn)


def of_families(explanation: Mapping[str, float]) -> dict[str, float]:
    """What each family gave, those that count for a result and those that count against it."""
    return {
        name: sum(value for feature, value in explanation.items() if feature.startswith(marks))
        for name, (_, marks) in FAMILIES.items()
    }


def legend() -> Iterator[str]:
    x = 12.0
    for name, (colour, _) in FAMILIES.items():
        yield f'<rect x="{x}" y="14" width="12" height="12" fill="{colour}"/>'
        yield f'<text x="{x + 17}" y="24">{name}</text>'
        x += 42 + 6.6 * len(name)


def bar(
    result: Mapping, row: Mapping[str, float], y: float, zero: float, scale: float
) -> Iterator[str]:
    total = sum(row.values())
    yield (
        f'<text x="{LEFT - 8}" y="{y + 12}" text-anchor="end">{escape(result["filePath"])}</text>'
    )
    right = left = zero
    for name, value in row.items():
        wide = abs(value) * scale
        if value < 0:
            left -= wide
        yield (
            f'<rect x="{left if value < 0 else right:.1f}" y="{y}" width="{wide:.1f}" '
            f'height="{BAR}" fill="{FAMILIES[name][0]}"><title>{name} {value:+.3f}</title></rect>'
        )
        if value > 0:
            right += wide
    yield f'<text x="{right + 6:.1f}" y="{y + 12}">{total:.2f}</text>'


if __name__ == "__main__":
    main()
