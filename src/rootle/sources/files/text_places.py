"""Sections of manual pages, transcripts, tables and other text files with structure.

The lines of manual pages stay unchanged, and their sections become scopes. Transcripts are
converted to one line per caption (a "cue") and one section per minute. Only the first rows of a
table are indexed; the title of their section contains the header and the number of rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from typing import Final

from rootle.sources.documents.places import MAX_TITLE_CHARS, join_places
from rootle.sources.files.text_reader import TextFile
from rootle.text.languages import file_language, is_manual_page
from rootle.text.whole_names import line_numbers
from rootle.types import EXTRACTED, DocumentSection

_DIAGRAM_LANGUAGES: Final = frozenset({"graphviz", "mermaid", "plantuml"})
_MARKDOWN: Final = "markdown"
# Languages that can describe interfaces. Of JSON and YAML files, only OpenAPI documents have
# sections.
_INTERFACE_LANGUAGES: Final = frozenset({"graphql", "json", "proto", "yaml"})

# The indexed part of a table, about 2,000 rows. A million more rows would only hide other
# documents.
_MAX_TABLE_CHARS: Final = 200_000

_MANUAL_HEADING: Final = re.compile(r"\.S[Hh][ \t]+\"?([^\"\n]{1,80}?)\"?[ \t\r]*$", re.MULTILINE)

_CUE_TIME: Final = re.compile(
    r"(?:(\d{1,4}):)?(\d{1,2}):(\d{2})[.,]\d{1,3}[ \t]+-->[ \t]+[\d:.,]+[^\n]*"
)
_CUE_TAG: Final = re.compile(r"<(/?)(\w[^<>\n]{0,200}|\d[\d:.]*|/?)>")
# The tag before or after the words of a speaker.
_VOICE: Final = re.compile(r"<v(?:\.[\w.]{1,100})?[ \t]{1,20}([^<>\n]{1,100})>|</v>")
_ENTITY: Final = re.compile(r"&(?:#\d{1,7}|#[xX][\da-fA-F]{1,6}|[A-Za-z][A-Za-z\d]{1,31});")


def add_text_places(found: TextFile, path: str, *, is_shown: bool = False) -> TextFile:
    """Return a file with its sections; the unchanged file if its structure is unknown.

    If the file is read to be shown instead of indexed, tables are not shortened, and the diagrams
    in Markdown files become sections. (In an index, Markdown files are split at headings.)
    """
    lower = path.lower()
    if lower.endswith((".vtt", ".srt")):
        return _read_transcript(found)
    if lower.endswith((".csv", ".tsv")):
        return found if is_shown else _describe_table(found)
    language = file_language(path)
    if language in _DIAGRAM_LANGUAGES or (is_shown and language == _MARKDOWN):
        from rootle.sources.files.places.text_diagrams import find_diagrams

        return replace(found, sections=find_diagrams(found.text, language))
    if language in _INTERFACE_LANGUAGES:
        from rootle.sources.files.places.interface_places import find_operations

        return replace(found, sections=find_operations(found.text, language))
    if is_manual_page(path, found.text):
        return replace(found, sections=tuple(_manual_sections(found.text)))
    return found


def _manual_sections(text: str) -> Iterator[DocumentSection]:
    headings = list(_MANUAL_HEADING.finditer(text))
    starts = [heading.start() for heading in headings]
    last = text.count("\n") + (not text.endswith("\n"))
    lines = line_numbers(text, starts)
    seen: set[str] = set()
    ends = [*lines[1:], last + 1][: len(lines)]  # a manual page may have no headings
    for heading, first, after in zip(headings, lines, ends, strict=True):
        title = " ".join(heading[1].split())
        if title not in seen:
            yield DocumentSection(title, first, after - 1, title)
        seen.add(title)


def _describe_table(found: TextFile) -> TextFile:
    """Keep the first rows; the title of their section has the header and the number of rows."""
    text = found.text
    rows = text.count("\n") + bool(text and not text.endswith("\n"))
    header = " ".join(text[: text.find("\n") if "\n" in text else len(text)].split())
    kept = text
    if len(text) > _MAX_TABLE_CHARS:
        end = text.rfind("\n", 0, _MAX_TABLE_CHARS) + 1
        kept = text[: end or _MAX_TABLE_CHARS]
    if not kept.strip():
        return found
    more = "more than " if found.omitted_bytes else ""
    title = f"{more}{rows:,} {'line' if rows == 1 else 'lines'}: {header}"[:MAX_TITLE_CHARS]
    last = kept.count("\n") + (not kept.endswith("\n"))
    return replace(
        found,
        text=kept,
        omitted_bytes=found.omitted_bytes + len(text) - len(kept),
        sections=(DocumentSection("rows", 1, last, title),),
    )


def _read_transcript(found: TextFile) -> TextFile:
    """Return the captions of a transcript as lines, with one section per minute."""
    minutes: dict[int, list[str]] = {}
    for minute, speaker, text in _list_cues(found.text):
        lines = minutes.setdefault(minute, [])
        spoken = f"{speaker}: {text}" if speaker else text
        if not lines or lines[-1] != spoken:  # consecutive captions repeat a line while it scrolls
            lines.append(spoken)
    if not minutes:
        return found
    text, sections = join_places(
        [
            (f"minute-{minute}", _clock(minute), "\n".join(lines))
            for minute, lines in sorted(minutes.items())
        ]
    )
    return replace(found, text=text, encoding=EXTRACTED, sections=sections)


def _clock(minute: int) -> str:
    return f"{minute // 60}:{minute % 60:02}:00"


def _list_cues(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield the minute, speaker and text of each caption; split captions with several speakers."""
    minute = -1
    for block in re.split(r"\n[ \t]*\n", text.replace("\r\n", "\n")):
        lines = block.strip().split("\n")
        times = [at for at, line in enumerate(lines[:2]) if _CUE_TIME.match(line)]
        if not times:
            continue
        match = _CUE_TIME.match(lines[times[0]])
        assert match is not None
        minute = int(match[1] or 0) * 60 + int(match[2])
        spoken = " ".join(" ".join(lines[times[0] + 1 :]).split())
        before, *voices = _VOICE.split(spoken)
        for speaker, words in [(None, before), *zip(voices[::2], voices[1::2], strict=True)]:
            if plain := _decode_entities(_CUE_TAG.sub("", words)):
                yield minute, _decode_entities(speaker or ""), plain


def _decode_entities(text: str) -> str:
    """Return a text in which HTML entities, such as "&amp;", are replaced by characters."""
    return " ".join(_ENTITY.sub(lambda entity: unescape(entity[0]), text).split())
