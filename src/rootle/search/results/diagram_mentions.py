"""Find the definitions of the names in diagrams."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from rootle.index.reader import IndexReader
from rootle.search.results.definition_places import find_definition_places
from rootle.search.symbols.name_rarity import names_in_few_files
from rootle.text.languages import DIAGRAM_BLOCK, DIAGRAMS
from rootle.types import SearchResult

# An edge of a diagram: A --> B, A ->> B, A --|> B.
_EDGE: Final = re.compile(r"\w[^\n]{0,200}(?:-->|->>|\|>|[=-]{1,2}>)[^\n]{0,200}\w")
_FENCE: Final = re.compile(r"(?:```|~~~)\s*(?:mermaid|plantuml|puml|dot|graphviz)\b")
_WORD: Final = re.compile(r"[A-Za-z_]\w{2,79}")
# The maximum number of words that are joined into one name: "Retry policy" becomes RetryPolicy.
_MAX_WORDS: Final = 3
# The maximum number of names that are looked up in the index for one result.
_MAX_NAMES: Final = 400
# The maximum number of words that are looked up to learn whether they are ordinary words.
_MAX_PLAIN: Final = 100
_MAX_CHARS: Final = 20_000
_MAX_MENTIONS: Final = 5
# Words of the diagram languages, and words that are rarely names.
_KEYWORDS: Final = frozenset(
    "participant actor class classdiagram sequencediagram statediagram flowchart graph digraph "
    "subgraph node edge label title note over left right end start state component package "
    "interface database queue entity color shape style fill rect box loop alt else opt and the for "
    "with from into not startuml enduml skinparam rankdir autonumber activate deactivate direction "
    "symbols true false".split()
)


def may_show_diagram(result: SearchResult) -> bool:
    """Return whether a result is a diagram, or Markdown text with an arrow or a diagram.

    In the second case, the arrow may also be part of a sentence.
    """
    if result.metadata.language in DIAGRAMS:
        return True
    text = result.snippet
    return result.metadata.language == "markdown" and bool(
        _FENCE.search(text) or _EDGE.search(text)
    )


def add_mentions(index: IndexReader, result: SearchResult, file_id: int) -> SearchResult:
    """Add the places of definitions to a result with a diagram.

    Only names with exactly one definition are added. The other text of a Markdown file is ignored.
    """
    text = _read_diagrams(index, result, file_id)
    if not text:
        return result
    if result.metadata.language in DIAGRAMS:
        shown = [result.snippet, *(span.snippet for span in result.more_spans)]
        text = "\n".join([*shown, text])
    names = _list_names(text[:_MAX_CHARS], index)
    places = find_definition_places(index, list(names.values()), in_any_spelling=True)
    own = f"{result.file_path}:"
    mentions = {
        shown: places[name]
        for shown, name in names.items()
        if name in places and not places[name].startswith(own)
    }
    kept = dict(list(_drop_repeated_places(mentions))[:_MAX_MENTIONS])
    return replace(result, mentions=kept) if kept else result


def _read_diagrams(index: IndexReader, result: SearchResult, file_id: int) -> str:
    """Return the whole text of the diagrams that a result shows at least in part.

    If the index has no section for these lines of a diagram file, return the text of the file.
    """
    text = index.text(file_id)
    ranges = [(result.start_line, result.end_line)]
    ranges += [(span.start_line, span.end_line) for span in result.more_spans]
    is_file = result.metadata.language in DIAGRAMS
    if is_file:
        found = [(one.start_line, one.end_line) for one in index.read_sections(file_id)]
    else:
        found = list(_list_blocks(text))
    shown = [
        (start, end)
        for start, end in found
        if any(start <= last and first <= end for first, last in ranges)
    ]
    if is_file and not shown:
        return text
    lines = text.split("\n")
    return "\n".join("\n".join(lines[start - 1 : end]) for start, end in shown)


def _list_blocks(text: str) -> Iterator[tuple[int, int]]:
    """Yield the first and the last line of each diagram in a Markdown text."""
    for block in DIAGRAM_BLOCK.finditer(text):
        first = text.count("\n", 0, block.start(3)) + 1
        yield first, first + block[3].count("\n")


def _list_names(text: str, index: IndexReader) -> dict[str, str]:
    """Map texts in the diagram to the names in code that they may refer to.

    Texts that look like names in code come first. Ordinary words are left out.
    """
    marked: dict[str, str] = {}
    joined: dict[str, str] = {}
    plain: dict[str, str] = {}
    for line in text.split("\n"):
        words = [word for word in _WORD.findall(line) if word.lower() not in _KEYWORDS]
        for word in words:
            is_marked = "_" in word or not (word.islower() or word.istitle() or word.isupper())
            (marked if is_marked else plain)[word] = word
        for count in range(2, _MAX_WORDS + 1):
            for at in range(len(words) - count + 1):
                phrase = " ".join(words[at : at + count])
                if phrase in line:
                    joined[phrase] = "".join(map(_capitalize, phrase.split(" ")))
    rare = {word: word for word in names_in_few_files(list(plain)[:_MAX_PLAIN], index)}
    return dict(list((marked | joined | rare).items())[:_MAX_NAMES])


def _capitalize(word: str) -> str:
    return word[0].upper() + word[1:]


def _drop_repeated_places(mentions: dict[str, str]) -> Iterator[tuple[str, str]]:
    seen = set()
    for name, place in mentions.items():
        if place not in seen:
            seen.add(place)
            yield name, place
