"""Draw how features contribute to the scores of results: read the JSON of a search, write an SVG.

rootle search --explain --json -n 6 QUERY |
    python docs/scripts/draw_explanation.py > docs/explanation/explained.svg
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any, Final

# Maps each part of a bar to its color and the prefixes of its feature names, in drawing order.
FAMILIES: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "words": ("#3b6ea5", ("bm25_", "coverage_", "notes", "one_passage", "adjacent_")),
    "names": ("#7a9e4b", ("symbols_", "defines_", "symbol_is_stem", "mentions")),
    "path": ("#d9a441", ("path_", "question_in_", "stem_", "folders", "depth", "longer_", "set_")),
    "meaning": ("#a5553b", ("dense_",)),
    "words and meaning": ("#7c5c99", ("chunk_best", "share_of_best")),
    "trees": ("#555555", ("learned",)),
}
WIDTH, LEFT, ROW, TOP = 760, 290, 30, 56
BAR_HEIGHT = 16


def main() -> None:
    results = json.load(sys.stdin)["results"]
    if not results:
        sys.exit("no results to draw: use another query")
    sys.stdout.write(draw(results))


def draw(results: Sequence[Mapping[str, Any]]) -> str:
    """Return an SVG with one bar per result. Negative contributions extend to the left of zero."""
    rows = [sum_by_family(result["explanation"]) for result in results]
    positive = max(sum(value for value in row.values() if value > 0) for row in rows)
    negative = -min(sum(value for value in row.values() if value < 0) for row in rows)
    scale = (WIDTH - LEFT - 60) / (positive + negative)
    zero = LEFT + negative * scale
    height = TOP + ROW * len(rows) + 12
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        *draw_legend(),
        *(
            part
            for at, (result, row) in enumerate(zip(results, rows, strict=True))
            for part in draw_bar(result["filePath"], row, (zero, TOP + ROW * at), scale)
        ),
        f'<line x1="{zero:.1f}" y1="{TOP - 6}" x2="{zero:.1f}" y2="{height - 8}" stroke="#333"/>',
        "</svg>\n",
    ]
    return "\n".join(parts)


def sum_by_family(explanation: Mapping[str, float]) -> dict[str, float]:
    """Return the total contribution of each feature family."""
    return {
        name: sum(value for feature, value in explanation.items() if feature.startswith(prefixes))
        for name, (_, prefixes) in FAMILIES.items()
    }


def draw_legend() -> Iterator[str]:
    x = 12.0
    for name, (color, _) in FAMILIES.items():
        yield f'<rect x="{x}" y="14" width="12" height="12" fill="{color}"/>'
        yield f'<text x="{x + 17}" y="24">{name}</text>'
        x += 42 + 6.6 * len(name)


def draw_bar(
    path: str, row: Mapping[str, float], origin: tuple[float, float], scale: float
) -> Iterator[str]:
    zero, y = origin
    yield f'<text x="{LEFT - 8}" y="{y + 12}" text-anchor="end">{escape(path)}</text>'
    right = left = zero
    for name, value in row.items():
        width = abs(value) * scale
        if value < 0:
            left -= width
        yield (
            f'<rect x="{left if value < 0 else right:.1f}" y="{y}" width="{width:.1f}" '
            f'height="{BAR_HEIGHT}" fill="{FAMILIES[name][0]}">'
            f"<title>{name} {value:+.3f}</title></rect>"
        )
        if value > 0:
            right += width
    yield f'<text x="{right + 6:.1f}" y="{y + 12}">{sum(row.values()):.2f}</text>'


if __name__ == "__main__":
    main()
