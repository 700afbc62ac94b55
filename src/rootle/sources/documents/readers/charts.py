"""The titles, categories and values of charts in office documents, as lines of text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rootle.sources.documents.readers.headed_text import join_cells
from rootle.sources.documents.zip_container import END, START, TEXT, XmlEvent, ZipContainer

# Maximum number of values per series. The first values show what a chart is about.
_MAX_POINTS: Final = 100
_MAX_SERIES: Final = 100
# The parts of a series: its name, its categories or positions, and its values.
_PARTS: Final = {"tx": "name", "cat": "keys", "xVal": "keys", "val": "values", "yVal": "values"}


def read_chart(container: ZipContainer, part: str) -> list[str]:
    """Return the titles of a chart and of its axes, and a line for each series.

    The line of a series consists of its name and its values with their categories.
    """
    lines: list[str] = []
    series: list[str] = []
    events = container.events(part)
    words: list[str] = []
    in_text = False
    for event in events:
        if event.kind == TEXT:
            if in_text:
                words.append(event.name)
        elif event.name == "t":
            in_text = event.kind == START
        elif event.name == "p" and event.kind == END:
            if line := " ".join("".join(words).split()):
                lines.append(line)
            words = []
        elif event.name == "ser" and event.kind == START:
            line = _read_series(events, container)
            if line and len(series) < _MAX_SERIES:
                series.append(line)
            else:
                container.omit(len(line))
    return [*dict.fromkeys(lines), *series]


def _read_series(events: Iterator[XmlEvent], container: ZipContainer) -> str:
    found: dict[str, dict[int, str]] = {"name": {}, "keys": {}, "values": {}}
    part = at = ""
    words: list[str] = []
    for kind, name, attributes in events:
        if kind == TEXT:
            words.append(name)
        elif kind == START:
            part = _PARTS.get(name, part)
            at = attributes.get("idx", "") if name == "pt" else at  # points can be missing
            words = []
        elif name in _PARTS:
            part = at = ""
        elif name == "v" and part:
            number = int(at) if at.isascii() and at.isdigit() and len(at) < 6 else 0
            text = " ".join("".join(words).split())
            if number < _MAX_POINTS:
                found[part][number] = text
            else:
                container.omit(len(text))
        elif name == "ser":
            break
    keys, values = found["keys"], found["values"]
    points = [[keys.get(at, ""), values.get(at, "")] for at in sorted(keys.keys() | values.keys())]
    return join_cells([*found["name"].values(), *(": ".join(filter(None, one)) for one in points)])
