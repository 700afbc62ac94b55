"""The diagrams in Mermaid, PlantUML and Graphviz files, as sections of unchanged lines.

The source text already contains the labels and edges. The title of a section adds the kind and the
title of the diagram.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import Final

from rootle.sources.documents.places import MAX_TITLE_CHARS
from rootle.sources.documents.section_labels import UniqueLabels, make_label
from rootle.text.languages import DIAGRAM_BLOCK
from rootle.types import DocumentSection

_MAX_DIAGRAMS: Final = 1_000
# The name, title and kind of a diagram are looked for in this many characters at its beginning.
_HEAD_CHARS: Final = 10_000

_MERMAID_TITLE: Final = re.compile(
    r"^[ \t]*(?:title:?|accTitle:)[ \t]+[\"']?([^\"'\n]{1,200})", re.MULTILINE
)
_MERMAID_KIND: Final = re.compile(
    r"^[ \t]*(?:(graph|flowchart)\b|([a-z]+)[ \t]*(?:Diagram|Chart)(?:-v2)?\b|(erDiagram|gantt|pie|"
    r"journey|gitGraph|mindmap|timeline|kanban|architecture|C4\w+|sankey|quadrantChart)\b)",
    re.MULTILINE,
)
_PLANTUML_START: Final = re.compile(
    r"^[ \t]*@start([a-z]{2,20})\b[ \t]*(?:\(id=)?\"?([^\"\n(){}]{0,100})", re.MULTILINE
)
_PLANTUML_END: Final = re.compile(r"^[ \t]*@end[a-z]{2,20}\b[^\n]*", re.MULTILINE)
_PLANTUML_TITLE: Final = re.compile(r"^[ \t]*title[ \t]+([^\n]{1,200})", re.MULTILINE)
# The kind of a diagram is determined by the first statement that matches one of these groups.
_PLANTUML_KIND: Final = re.compile(
    r"^[ \t]*(?:(?P<sequence>(?:participant|actor|autonumber|activate)\b"
    r"|\w{1,80}[ \t]*-{1,2}>{1,2}[ \t]*\w{1,80}[ \t]*:)"
    r"|(?P<class>(?:class|abstract|interface|enum)\b)|(?P<state>state\b|\[\*\])"
    r"|(?P<component>component|package|node|database|\[)"
    r"|(?P<entity>entity)\b|(?P<usecase>usecase|\()|(?P<activity>start$|:))",
    re.MULTILINE,
)
_KIND_NAMES: Final = {
    "graph": "flowchart",
    "flowchart": "flowchart",
    "er": "entity relationship diagram",
    "gitGraph": "git graph",
    "entity": "entity relationship diagram",
    "usecase": "use case diagram",
}
_GRAPH: Final = re.compile(
    # Possessive repetition keeps the time linear in the number of spaces.
    r"^[ \t]*+(?:strict[ \t]+)?(di)?graph\b[ \t]*+(\"[^\"\n]{0,200}\"|\w{0,200})[ \t\r\n]*+\{",
    re.MULTILINE | re.IGNORECASE,
)
_GRAPH_LABEL: Final = re.compile(r"^[ \t]*label[ \t]*=[ \t]*\"([^\"\n]{1,200})\"", re.MULTILINE)
_FENCE_LANGUAGES: Final = {
    "mermaid": "mermaid",
    "plantuml": "plantuml",
    "puml": "plantuml",
    "dot": "graphviz",
    "graphviz": "graphviz",
}


def find_diagrams(text: str, language: str) -> tuple[DocumentSection, ...]:
    """Return a section for each diagram of a file in Markdown or in a diagram language.

    The label of a section is the name of the diagram, or for example "diagram-1" if it has none.
    """
    starts = _FINDERS[language]
    sections: list[DocumentSection] = []
    labels = UniqueLabels()
    line, at = 1, 0
    for number, (start, end, name, title) in enumerate(starts(text), start=1):
        line, at = line + text.count("\n", at, start), start
        last = line + text.count("\n", start, end)
        label = labels.add(make_label(name) if name else f"diagram-{number}")
        sections.append(DocumentSection(label, line, last, title[:MAX_TITLE_CHARS]))
        if number >= _MAX_DIAGRAMS:
            break
    return tuple(sections)


def _mermaid_diagram(text: str) -> Iterator[tuple[int, int, str, str]]:
    """Yield the only diagram of a file: its range, its name and its title."""
    body = text.rstrip()
    if not body:
        return
    head = text[:_HEAD_CHARS]
    found = _MERMAID_KIND.search(head)
    kind = next(filter(None, found.groups()), "") if found else ""
    title = _MERMAID_TITLE.search(head)
    yield 0, len(body), "", _join_title(title[1] if title else "", kind)


def _plantuml_diagrams(text: str) -> Iterator[tuple[int, int, str, str]]:
    ends = [end.end() for end in _PLANTUML_END.finditer(text)]
    last = len(text.rstrip())
    for start in _PLANTUML_START.finditer(text):
        at = bisect_right(ends, start.end())
        stop = ends[at] if at < len(ends) else last
        head = text[start.end() : min(stop, start.end() + _HEAD_CHARS)]
        found = _PLANTUML_KIND.search(head) if start[1] == "uml" else None
        kind = (found.lastgroup or "") if found else start[1].replace("uml", "")
        title = _PLANTUML_TITLE.search(head)
        name = start[2].strip()
        yield start.start(), stop, name, _join_title(title[1] if title else name, kind)


def _graphviz_diagrams(text: str) -> Iterator[tuple[int, int, str, str]]:
    starts = list(_GRAPH.finditer(text))
    ends = [*(start.start() for start in starts[1:]), len(text)]
    for start, end in zip(starts, ends, strict=False):
        stop = start.end() + len(text[start.end() : end].rstrip())
        name = start[2].strip('"')
        label = _GRAPH_LABEL.search(text[start.end() : min(stop, start.end() + _HEAD_CHARS)])
        kind = "directed graph" if start[1] else "graph"
        yield start.start(), stop, name, f"{label[1] if label else name} ({kind})".lstrip()


def _fenced_diagrams(text: str) -> Iterator[tuple[int, int, str, str]]:
    """Yield the range, name and title of each diagram in a code block of a Markdown file."""
    for block in DIAGRAM_BLOCK.finditer(text):
        language = _FENCE_LANGUAGES[block[2]]
        first = next(iter(_FINDERS[language](block[3])), None)
        yield block.start(3), block.end(3), "", first[3] if first else ""


_FINDERS: Final = {
    "graphviz": _graphviz_diagrams,
    "markdown": _fenced_diagrams,
    "mermaid": _mermaid_diagram,
    "plantuml": _plantuml_diagrams,
}


def _join_title(title: str, kind: str) -> str:
    name = _KIND_NAMES.get(kind) or (f"{kind} diagram" if kind else "diagram")
    return f"{title.strip()} ({name})" if title.strip() else name
