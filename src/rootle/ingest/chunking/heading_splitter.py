"""Split prose at its headings, and large sections at their paragraphs."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import unescape
from typing import Final

from rootle.ingest.chunking.split_points import SplitPoints, split_at_points
from rootle.syntax.lines import LineRange, Lines

# A section below TINY characters is joined with an adjacent section under the same parent if both
# together have at most JOINED characters, which is about two paragraphs.
TINY: Final = 200
JOINED: Final = 600
MAX_TITLE: Final = 80
_EMPHASIS: Final = "*_` \t\r"
_EMPHASIZED: Final = re.compile(r"([*_`]{1,3})((?:(?!\1).)+)\1")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading: its first line, the line after it, its level from 1 and its text."""

    first: int
    end: int
    level: int
    text: str


@dataclass(frozen=True, slots=True)
class Layout:
    """The headings of a text, and the lines before which the text must not be split."""

    headings: list[Heading]
    inner: set[int]


def split_prose(
    lines: Lines, language: str, max_chars: int, overlap_chars: int = 0
) -> list[LineRange]:
    """Return line ranges, in order, that cover every line that is not blank.

    The parts of a section that is too long for one range overlap by up to overlap_chars.
    """
    layout = _read_layout(lines, language)
    points = _find_paragraphs(lines, layout)
    joined: list[LineRange] = []
    for section in _split_sections(lines, layout.headings):
        if joined and _should_join(lines, joined[-1], section, max_chars):
            joined[-1] = _merge(joined[-1], section)
        else:
            joined.append(section)
    return [
        LineRange(first, end, section.path)
        for section in joined
        for first, end in split_at_points(
            lines, section.first, section.end, points, max_chars, overlap_chars=overlap_chars
        )
    ]


def find_headings(lines: Lines, language: str) -> list[Heading]:
    """Return the headings of a document in order; none for an unknown language."""
    return _read_layout(lines, language).headings


def _read_layout(lines: Lines, language: str) -> Layout:
    return _LAYOUT_READERS[language](lines) if language in _LAYOUT_READERS else Layout([], set())


def _split_sections(lines: Lines, headings: list[Heading]) -> Iterator[LineRange]:
    first, path = 0, list[tuple[int, str]]()
    for heading in headings:
        yield from _make_section(lines, first, heading.first, path)
        first = heading.first
        path = [outer for outer in path if outer[0] < heading.level]
        path.append((heading.level, heading.text))
    yield from _make_section(lines, first, len(lines), path)


def _make_section(
    lines: Lines, first: int, end: int, path: list[tuple[int, str]]
) -> Iterator[LineRange]:
    first, end = lines.trim(first, end)
    if first < end:
        yield LineRange(first, end, tuple(text for _, text in path))


def _should_join(lines: Lines, left: LineRange, right: LineRange, max_chars: int) -> bool:
    smaller = min(lines.size(left.first, left.end), lines.size(right.first, right.end))
    if smaller >= TINY or lines.size(left.first, right.end) > min(JOINED, max_chars):
        return False
    # Join siblings, a section and its first subsection, or the text before the first heading with
    # the section after it.
    return left.path[:-1] == right.path[:-1] or left.path == right.path[:-1] or not left.path


def _merge(left: LineRange, right: LineRange) -> LineRange:
    shared = 0
    while shared < min(len(left.path), len(right.path)) and left.path[shared] == right.path[shared]:
        shared += 1
    return LineRange(left.first, right.end, left.path[:shared] or left.path or right.path)


def _find_paragraphs(lines: Lines, layout: Layout) -> SplitPoints:
    """Return the first lines of paragraphs and, at a greater depth, of list items."""
    rows: list[int] = []
    depths: list[int] = []
    for row in range(1, len(lines)):
        if row in layout.inner:
            continue
        if lines.is_blank(row - 1) and not lines.is_blank(row):
            rows.append(row)
            depths.append(1 if lines.rows[row][0] in " \t" else 0)
        elif _ITEM.match(lines.rows[row]):
            rows.append(row)
            depths.append(2)
    return SplitPoints(rows, depths)


_ITEM: Final = re.compile(r"(?:[-*+]|\d{1,3}[.)])\s")


_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
_ATX: Final = re.compile(r" {0,3}(#{1,6})(?:[ \t]+|$)(.*)")
_SETEXT: Final = re.compile(r" {0,3}(?:(=+)|-{2,})[ \t]*\r?$")
# The anchor of a heading, as in "Install {#install}", "{: #install}" or "{/* #install */}".
_ATTRIBUTES: Final = re.compile(r"[ \t]{1,9}\{(?::|/\*)?[ \t]{0,9}#[\w:.-][^{}\n]{0,200}\}$")
_NOT_TITLE: Final = re.compile(r"[ \t]{4}|\s*(?:[-*+>|#]|\d+[.)]\s|$)")


def _read_markdown(lines: Lines) -> Layout:
    rows = lines.rows
    headings: list[Heading] = []
    inner: set[int] = set()
    row = _front_matter_end(rows)
    inner.update(range(1, row))
    while row < len(rows):
        line = rows[row]
        fence = _FENCE.match(line)
        if fence:
            end = _fence_end(rows, row, fence[1])
            inner.update(range(row + 1, end))
            row = end
            continue
        if atx := _ATX.match(line):
            title = _ATTRIBUTES.sub("", atx[2].strip().rstrip("#").strip())
            headings.append(Heading(row, row + 1, len(atx[1]), clean_title(title)))
        elif row and (under := _SETEXT.match(line)) and not _NOT_TITLE.match(rows[row - 1]):
            level = 1 if under[1] else 2
            title = _ATTRIBUTES.sub("", rows[row - 1].strip())
            headings.append(Heading(row - 1, row + 1, level, clean_title(title)))
            inner.add(row)
        row += 1
    return Layout(headings, inner)


def _front_matter_end(rows: list[str]) -> int:
    """Return the row after front matter that is enclosed in --- or +++; 0 if there is none."""
    mark = rows[0].rstrip()
    if mark not in ("---", "+++"):
        return 0
    for row in range(1, min(len(rows), 200)):
        if rows[row].rstrip() == mark:
            return row + 1
    return 0


def _fence_end(rows: list[str], row: int, fence: str) -> int:
    """Return the line after the end of a fenced block; the next line if it is never closed."""
    for end in range(row + 1, len(rows)):
        line = rows[end].strip()
        if line.startswith(fence) and not line.strip(fence[0]):
            return end + 1
    return row + 1


# A link or an image without nested ones. The limits keep the time linear even for a text that
# consists of brackets.
_LINK: Final = re.compile(
    r"(?<!\w)!?\[([^\[\]\n]{0,200})\]\((?:[^()\n]|\([^()\n]{0,100}\)){0,500}\)"
)
_MAX_LINKED_CHARS: Final = 2_000


def clean_title(title: str) -> str:
    """Return a title without surrounding emphasis, link targets and repeated spaces.

    It is cut off after MAX_TITLE characters.
    """
    text = _strip_emphasis(title)
    if "](" in text:
        # The text of a link can be an image, so the image is replaced first.
        plain = text[:_MAX_LINKED_CHARS]
        for _ in range(2):
            plain = _LINK.sub(r"\1", plain)
        text = _strip_emphasis(plain) or text
    return " ".join(text.split())[:MAX_TITLE]


def _strip_emphasis(title: str) -> str:
    """Return a title without the marks that enclose all of it, as in "**Title**".

    The marks in "`[table]` Section" enclose only a part of it.
    """
    text = title.strip()
    while (match := _EMPHASIZED.fullmatch(text)) is not None:
        text = match[2].strip()
    return text if text.strip(_EMPHASIS) else ""


_RST_LINE: Final = re.compile(r"([=\-`:.'\"~^_*+#<>!$%&(),/;?@\[\\\]{|}])\1{2,}[ \t]*\r?$")


def _read_rst(lines: Lines) -> Layout:
    """Find headings by their underlines; levels follow the order in which styles appear."""
    rows = lines.rows
    headings: list[Heading] = []
    inner: set[int] = set()
    levels: dict[str, int] = {}
    for row in range(1, len(rows)):
        under = _RST_LINE.match(rows[row])
        title = rows[row - 1].strip()
        if not under or not title or _RST_LINE.match(rows[row - 1]):
            continue
        if len(rows[row].rstrip()) + 1 < len(title):
            continue
        over = row > 1 and rows[row - 2].rstrip() == rows[row].rstrip()
        if not over and (rows[row - 1][0].isspace() or not (row < 2 or lines.is_blank(row - 2))):
            continue
        style = under[1] * 2 if over else under[1]
        level = levels.setdefault(style, len(levels) + 1)
        headings.append(Heading(row - 2 if over else row - 1, row + 1, level, clean_title(title)))
        inner.update((row - 1, row) if over else (row,))
    return Layout(headings, inner)


_ADOC: Final = re.compile(r"(={1,6}|#{1,6})[ \t]+(\S.*)")
_ADOC_BLOCK: Final = re.compile(
    r"(-{4,}|\.{4,}|={4,}|\*{4,}|/{4,}|\+{4,})[ \t]*\r?$|(`{3,})[^`\n]{0,80}$"
)
# Maps the character that underlines a heading to the level of the heading.
_ADOC_LEVELS: Final = {"=": 1, "-": 2, "~": 3, "^": 4, "+": 5}
_ADOC_UNDERLINE: Final = re.compile(r"(={3,}|-{3,}|~{3,}|\^{3,}|\+{3,})[ \t]*\r?$")
# Lines that are not headings: attributes, titles of blocks, comments, rows of tables, list items,
# terms and delimiters.
_ADOC_NOT_TITLE: Final = re.compile(r"[\[.|\s]|//|[*-][ \t]|.*::\s*$|\W*$")
# Lines that can precede a heading.
_ADOC_ABOVE: Final = re.compile(r"\s*$|\[.*\]\s*$|//")
_ADOC_ANCHOR: Final = re.compile(r"\[\[[^\[\]\n]{0,200}\]\]")


def _read_asciidoc(lines: Lines) -> Layout:
    rows = lines.rows
    headings: list[Heading] = []
    inner: set[int] = set()
    row = 0
    while row < len(rows):
        if level := _underlined_level(rows, row):
            title = clean_title(_ADOC_ANCHOR.sub("", rows[row]))
            headings.append(Heading(row, row + 2, level, title))
            inner.add(row + 1)
            row += 2
            continue
        if block := _ADOC_BLOCK.match(rows[row]):
            end = _block_end(rows, row, block[1] or block[2])
            inner.update(range(row + 1, end))
            row = end
            continue
        if line := _ADOC.match(rows[row]):
            title = clean_title(_ADOC_ANCHOR.sub("", line[2]))
            headings.append(Heading(row, row + 1, len(line[1]), title))
        row += 1
    return Layout(headings, inner)


def _underlined_level(rows: list[str], row: int) -> int:
    """Return the level of a heading that the next line underlines; 0 if there is none.

    If the lengths of the two lines differ by more than one character, the second line is the
    delimiter of a block.
    """
    under = _ADOC_UNDERLINE.match(rows[row + 1]) if row + 1 < len(rows) else None
    if under is None or _ADOC_NOT_TITLE.match(rows[row]):
        return 0
    if abs(len(under[1]) - len(rows[row].rstrip())) > 1:
        return 0
    if row and not _ADOC_ABOVE.match(rows[row - 1]):
        return 0
    return _ADOC_LEVELS[under[1][0]]


def _block_end(rows: list[str], row: int, mark: str) -> int:
    for end in range(row + 1, len(rows)):
        if rows[end].rstrip() == mark:
            return end + 1
    return row + 1


# A comment, a script that is not a template, or the start of a heading. The limits keep the time
# linear even for a text with many unclosed tags.
_HTML_TOKEN: Final = re.compile(
    r"<!--.*?(?:-->|\Z)"
    r"|<script\b(?![^>]{0,500}(?:template|html|handlebars|mustache|tmpl)).*?(?:</script|\Z)"
    r"|<h([1-6])(?:\s(?:[^<>\"']|\"[^\"]{0,300}\"|'[^']{0,300}'){0,300})?>",
    re.DOTALL | re.IGNORECASE,
)
_HTML_TAG: Final = re.compile(r"<[^<>]*>")
_MAX_HEADING_CHARS: Final = 1_000
# A line of opening tags or anchors above a heading belongs to its section.
_HTML_START: Final = re.compile(r"\s*<(?:section|article|div|a|span)\b[^<>]*>(?:</(?:a|span)>)?\s*")


def _read_html(lines: Lines) -> Layout:
    """Find the headings of a page. A single heading is ignored: it may be a component's title."""
    text = lines.text
    # `str.lower` is not used, because it can change the positions of characters.
    folded = text.replace("</H", "</h")
    headings: list[Heading] = []
    inner: set[int] = set()
    for token in _HTML_TOKEN.finditer(text):
        level, start = token[1], token.end()
        if level is None:
            continue
        close = folded.find(f"</h{level}", start, start + _MAX_HEADING_CHARS)
        title = clean_title(unescape(_HTML_TAG.sub("", text[start : max(start, close)])))
        if not title:
            continue
        first = bisect_right(lines.starts, token.start()) - 1
        end = bisect_right(lines.starts, close)
        floor = headings[-1].end if headings else 0
        if first < floor:
            continue
        while first > floor and _HTML_START.fullmatch(lines.rows[first - 1]):
            first -= 1
        headings.append(Heading(first, end, int(level), title))
        inner.update(range(first + 1, end))
    return Layout(headings, inner) if len(headings) > 1 else Layout([], set())


_LATEX_LEVELS: Final = "part chapter section subsection subsubsection paragraph".split()
_LATEX: Final = re.compile(
    r"[ \t]*\\(" + "|".join(_LATEX_LEVELS) + r")\*?[ \t]*(?:\[[^\]\n]{0,200}\])?\{"
    r"((?:[^{}\n]|\{(?:[^{}\n]|\{[^{}\n]{0,100}\}){0,100}\}){1,300})\}"
)
_LATEX_COMMAND: Final = re.compile(r"\\[A-Za-z]+[ \t]*|[{}$~]")
_ORG: Final = re.compile(r"(\*{1,8})[ \t]+(?:(?:TODO|DONE)[ \t]+)?(\S.*)")
_ORG_TAGS: Final = re.compile(r"(?<![ \t])[ \t]+:[\w@:]+:[ \t]*$")


def _read_latex(lines: Lines) -> Layout:
    headings: list[Heading] = []
    for row, line in enumerate(lines.rows):
        if found := _LATEX.match(line):
            plain = clean_title(_LATEX_COMMAND.sub(" ", found[2]))
            title = plain or clean_title(found[2])
            headings.append(Heading(row, row + 1, _LATEX_LEVELS.index(found[1]) + 1, title))
    return Layout(headings, set())


def _read_org(lines: Lines) -> Layout:
    headings = [
        Heading(row, row + 1, len(found[1]), clean_title(_ORG_TAGS.sub("", found[2])))
        for row, line in enumerate(lines.rows)
        if (found := _ORG.match(line))
    ]
    return Layout(headings, set())


_LAYOUT_READERS: Final[dict[str, Callable[[Lines], Layout]]] = {
    "asciidoc": _read_asciidoc,
    "html": _read_html,
    "latex": _read_latex,
    "markdown": _read_markdown,
    "org": _read_org,
    "rst": _read_rst,
}
