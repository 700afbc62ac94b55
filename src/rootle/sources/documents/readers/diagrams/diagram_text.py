"""The labels and edges of a diagram as lines of text."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

_MAX_LABEL_CHARS: Final = 500
# Maximum number of nodes, and of edges. A drawing of a map can have hundreds of thousands.
_MAX_ITEMS: Final = 20_000
_TAG: Final = re.compile(r"<(/?)([A-Za-z][\w-]*)(?![\w-])[^<>]{0,2000}>")
# Tags that can occur inside a word, as in "Retry<b>Policy</b>"; all other tags separate words.
_INLINE_TAGS: Final = frozenset("b i u s em strong span font sub sup code a small".split())


@dataclass
class DiagramText:
    """Collects the nodes and edges of one diagram. A node is identified by a string, its name."""

    labels: dict[str, str] = field(default_factory=dict)
    edges: list[tuple[str, str, str, str]] = field(default_factory=list)
    omitted_chars: int = 0

    def add_node(self, name: str, label: str) -> None:
        """Add a node, or more text to the label of a node. Empty labels are ignored."""
        label = label.strip()
        known = self.labels.get(name, "")
        if not label or (not known and len(self.labels) >= _MAX_ITEMS):
            self.omitted_chars += len(label)
            return
        self.labels[name] = self._shorten(f"{known} {label}" if known else label)

    def add_edge(self, source: str, target: str, label: str, arrow: str = "->") -> None:
        """Add an edge between two nodes; the nodes may be added later."""
        if len(self.edges) < _MAX_ITEMS:
            self.edges.append((source, target, self._shorten(label.strip()), arrow))
        else:
            self.omitted_chars += max(1, len(label))

    def _shorten(self, label: str) -> str:
        self.omitted_chars += len(label[_MAX_LABEL_CHARS:])
        return label[:_MAX_LABEL_CHARS].strip()

    def lines(self) -> Iterator[str]:
        """Yield the labels of all nodes, each once, and then the edges as "A -> B: label".

        If one end of an edge is not a labeled node, this end is shown as "?". If neither end is a
        labeled node, only the label of the edge is shown, if there is one.
        """
        yield from dict.fromkeys(self.labels.values())
        lines: dict[str, None] = {}
        for source, target, label, arrow in self.edges:
            ends = [self.labels.get(name, "?") for name in (source, target)]
            if ends != ["?", "?"]:
                lines[f"{ends[0]} {arrow} {ends[1]}" + (f": {label}" if label else "")] = None
            elif label:
                lines[label] = None
        yield from lines


def plain_html(label: str) -> str:
    """Return an HTML label as plain text on one line."""
    if "<" in label:
        label = _TAG.sub(lambda tag: "" if tag[2].lower() in _INLINE_TAGS else " ", label)
    if "&" in label:
        label = html.unescape(label)
    return " ".join(label.split())
