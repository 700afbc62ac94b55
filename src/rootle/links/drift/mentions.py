"""Find the names of code in prose: in code spans, links, roles and ordinary text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from rootle.text.languages import MANUAL, PROSE

MentionKind = Literal["name", "path", "option", "call"]

DOCUMENT_LANGUAGES: Final = PROSE | {MANUAL}  # languages that `read_lines` can read
MAX_LINE_CHARS: Final = 2_000  # characters of a line that are checked
_MAX_SPAN_CHARS: Final = 200
_MIN_NAME_CHARS: Final = 4
_FENCES: Final = {
    "markdown": re.compile(r"\s*(`{3,}|~{3,})"),
    "asciidoc": re.compile(r"(-{4,}|\.{4,}|`{3,})\s*$"),
}
_HEADING: Final = re.compile(r"(#{1,6}|={1,6})\s+(\S.*)")
_NAME_TITLE: Final = re.compile(r"#{1,6}\s+[\w$.]+(?:\([^()]*\))?\s*")  # a name as a heading
_UNDERLINE: Final = re.compile(r"([=\-~^\"'*+#`])\1{2,}\s*$")
_CODE_BLOCK: Final = re.compile(r"\s*\.\. (?:code|code-block|sourcecode|literalinclude|prompt)::")
# The end of a line in Vim help that precedes an indented example.
_VIM_EXAMPLE: Final = re.compile(r"(?:^|\s)>(?:[a-z]{1,12})?$")
# In a manual page, the start or the end of a block whose line breaks are kept, such as code.
_MANUAL_DISPLAY: Final = re.compile(r"\.[ \t]*(?:(Bd|EX|nf)|Ed|EE|fi)\b")
_MANUAL_COMMENT: Final = re.compile(r"[.'][ \t]*\\[\"#]")
_MANUAL_HEADING: Final = re.compile(r"\.[ \t]*S[HhSs][ \t]+\"?([^\"\n]{1,80})")
_MANUAL_MACRO: Final = re.compile(r"^[.'][ \t]*[A-Za-z]{1,3}(?:[ \t]+|$)")
# The option "--max-retries" in BSD macros: "Fl Fl max-retries" or "Fl -max-retries".
_MANUAL_OPTION: Final = re.compile(r"\bFl(?: Fl | -)")
_MANUAL_FONT: Final = re.compile(r"\\(?:f(?:[A-Z0-9]|\([A-Z]{2}|\[[^\]\n]{0,20}\])|[&|^%:/,)c])")
_MANUAL_CHARACTER: Final = re.compile(r"\\(?:\([a-zA-Z]{2}|\[[a-zA-Z]{1,10}\]|[ ~0e])")
# Blocks that contain diagrams. The nodes of a diagram are not names of code.
_DIAGRAMS: Final = (
    "graphviz|dot|digraph|graph|mermaid|plantuml|puml|uml|d2|ditaa|svgbob|kroki|nomnoml"
)
_DIAGRAM: Final = re.compile(
    rf"\s*(?:\.\. (?:{_DIAGRAMS})::|[`~]{{3,}}\s*[{{.]{{0,2}}(?:{_DIAGRAMS})\b|\[(?:{_DIAGRAMS})\b)"
)
# Labels of places in documents, references to such labels, Erlang calls such as ":module.function",
# and placeholders such as "${store}". None of them is a name of code in the project.
_LABEL: Final = re.compile(
    r"^\s*\([\w.:-]{1,200}\)=\s*$|^\s*\.\. _[^:]{1,200}:\s*$|\]\(#[^)\s]{0,200}\)"
    r"|^\s*\[\[[\w.:-]{1,200}(?:,[^\]]{0,200})?\]\]\s*$|<<[\w.:-]{1,200}(?:,[^>]{0,200})?>>"
    r"|\[#[\w.:-]{1,200}\]|\{#[\w.:-]{1,200}\}|[:{](?:ref|numref|eq)[:}]`[^`]{1,200}`"
    r"|(?<![\w:]):[a-z]\w{0,200}\.[a-z]\w{0,200}"
    r"|\b(?:id|name)=\"[\w.:-]{1,200}\"|\$\{\w{1,200}\}"
)
# Routes and files in examples: "/users/:user_id", 'net/retry_backoff'.
_CODE_PATH: Final = re.compile(
    r"(?<![\w)\]}/<.])/[\w.:{}$*-]+(?:/[\w.:{}$*-]*)*|([\"'])[\w.@:~-]+/[^\"'\s]{1,200}\1"
)
_SPAN: Final = re.compile(r"(``?)([^`\n]+?)\1")
_LINK: Final = re.compile(r"\]\(\s*<?([^)\s>#?]+)")
_URL: Final = re.compile(
    r"<a\s[^<>]{0,500}https?:[^<>]{0,500}>.{0,500}?</a>|"
    # A link to another website, perhaps with a fixed version.
    r"\[[^\]]{0,300}\]\(\s{0,20}<?https?:[^)]{0,500}\)|`[^`<]{0,300}<https?:[^>]{0,500}>`_*|"
    r"(?:https?|ftp|git|ssh)://[^\s)>\]]+|(?<![\w.+-])[\w.+-]+@[\w-]+\.\w+"
)
_NAME: Final = re.compile(r"[A-Za-z_$@][\w$]*(?:(?:\.|::|->|\#)[A-Za-z_$][\w$]*)*[?!]?(?:\(\))?")
_CALL: Final = re.compile(
    r"(?P<name>[A-Za-z_$][\w$]*(?:(?:\.|::|->|\#)[A-Za-z_$][\w$]*)*[?!]?)\((?P<args>[^()]*)\)"
)
_OPTION: Final = re.compile(r"(?<![\w-])--[a-z][a-z0-9]*(?:-[a-z0-9]+)+(?![\w-])")
_PATH: Final = re.compile(
    r"(?<![\w./:@~$%*{<+-])(?:\.{0,2}/)?[\w.@+-]+(?:/[\w.@+-]+)+(?![\w/*{<$]|-\W)"
)
# A rule of a grammar. Its symbols are not names of code.
_GRAMMAR_RULE: Final = re.compile(r"^\W*\w+\s*::=")
# Names that cannot be English words: they contain an underscore, a capital letter after the first
# letter, or a separator such as "::", or they are calls.
_CODE_LIKE: Final = re.compile(
    r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]|[A-Za-z0-9]_[A-Za-z0-9]|::|\(\)$|#[a-z]"
)
_PLACEHOLDER: Final = re.compile(
    r"(?i)^_*(?:foo|bar|baz|qux|my|your|some|example|sample|dummy|fake|xxx|acme|todo|fixme)"
)


@dataclass(frozen=True, slots=True)
class Mention:
    """A name in a text."""

    line: int  # from 1
    text: str  # the name with its qualifiers
    kind: MentionKind
    is_marked: bool  # whether it is marked as code
    is_example: bool = False  # whether it is in a block of code
    is_link: bool = False


@dataclass(frozen=True, slots=True)
class ProseLine:
    """A line of a text with the heading above it."""

    number: int  # from 1
    text: str
    heading: str
    is_example: bool
    is_diagram: bool = False


def read_lines(lines: Sequence[str], language: str) -> Iterator[ProseLine]:
    """Yield the lines of a document, and whether each is in a block of code.

    `language` is one of DOCUMENT_LANGUAGES.
    """
    fences = _FENCES.get(language)
    fence = heading = ""
    is_display = is_diagram = False
    literal = -1  # the indentation of the paragraph that precedes a literal block
    for number, text in enumerate(lines, start=1):
        text = text[:MAX_LINE_CHARS]
        if language == MANUAL:
            display = _MANUAL_DISPLAY.match(text)
            is_display = display[1] is not None if display else is_display
            text = _read_manual_line(text)
        match = fences.match(text) if fences is not None else None
        if match is not None and (not fence or match[1].startswith(fence)):
            above = lines[number - 2] if number > 1 and language == "asciidoc" else ""
            is_diagram = not fence and any(map(_DIAGRAM.match, (text, above)))
            fence = "" if fence else match[1]
            continue
        indent = len(text) - len(text.lstrip())
        if literal >= 0 and text.strip() and indent <= literal:
            literal = -1
            is_diagram = False
        if not fence and literal < 0:
            title = _HEADING.match(text)
            if title is not None:
                heading = title[2]
            elif number < len(lines) and text.strip() and _UNDERLINE.match(lines[number]):
                heading = text
            if language == "text" and _VIM_EXAMPLE.search(text):
                literal = 0
            if language == "rst" and _starts_code(text):
                literal = indent
                is_diagram = _DIAGRAM.match(text) is not None
        is_example = bool(fence) or is_display or 0 <= literal < indent
        yield ProseLine(number, text, heading, is_example, is_example and is_diagram)


def _read_manual_line(line: str) -> str:
    """Return a line of a manual page as plain text, and a heading as in Markdown."""
    if _MANUAL_COMMENT.match(line):
        return ""
    text = _MANUAL_FONT.sub("", line).replace("\\-", "-")
    text = _MANUAL_CHARACTER.sub(" ", text)
    heading = _MANUAL_HEADING.match(text)
    if heading is not None:
        return f"# {heading[1].strip()}"
    return _MANUAL_MACRO.sub("", _MANUAL_OPTION.sub("--", text), count=1)


def _starts_code(text: str) -> bool:
    """Return whether a block of code follows a line of reStructuredText."""
    if text.lstrip().startswith(".. "):
        return _CODE_BLOCK.match(text) is not None or _DIAGRAM.match(text) is not None
    return text.rstrip().endswith("::")


def find_mentions(line: ProseLine) -> Iterator[Mention]:
    """Yield the names in a line. A name may occur several times."""
    if _GRAMMAR_RULE.match(line.text):
        return
    text = _LABEL.sub(" ", _URL.sub(" ", line.text))
    if line.is_example:
        yield from _find_in_code(line, text)
        return
    for target in _LINK.findall(text):
        if "/" in target or "." in target:
            yield Mention(line.number, target, "path", is_marked=True, is_link=True)
    rest = _LINK.sub("](", text)
    for span in _SPAN.finditer(rest):
        yield from _find_in_span(line, span[2].strip())
    plain = _SPAN.sub(" ` ", rest)
    for path in _PATH.findall(plain):
        yield Mention(line.number, path.rstrip("."), "path", is_marked=False)  # ends a sentence
    plain = _PATH.sub(" ", plain)
    for option in _OPTION.findall(plain):
        yield Mention(line.number, option, "option", is_marked=False)
    is_title = _NAME_TITLE.fullmatch(line.text) is not None
    for name in _NAME.findall(plain):
        name = name.rstrip("?!")
        if _CODE_LIKE.search(name) and is_specific(name):
            yield Mention(line.number, name, "name", is_marked=is_title)


def is_specific(name: str) -> bool:
    """Return whether a name is long enough and not a placeholder."""
    last = last_part(name)
    return len(last) >= _MIN_NAME_CHARS and not any(
        _PLACEHOLDER.match(part) for part in split_parts(name)
    )


def split_parts(name: str) -> list[str]:
    """Return the parts of a qualified name: "a.B#c()" has the parts a, B and c."""
    parts = re.split(r"\.|::|->|#", name.removesuffix("()").lstrip("~@$!"))
    return [part.lstrip("$").rstrip("?!") for part in parts if part]


def last_part(name: str) -> str:
    """Return the last part of a qualified name."""
    parts = split_parts(name)
    return parts[-1] if parts else ""


def _find_in_span(line: ProseLine, span: str) -> Iterator[Mention]:
    if len(span) > _MAX_SPAN_CHARS:
        return
    role = re.match(r"^(?:[\w .,]+)<([^<>]+)>$", span)  # a role with a title: `text <target>`
    span = (role[1] if role else span).lstrip("~!")
    is_command = " " in span
    for option in _OPTION.findall(span):
        words = span[: span.index(option)].split()
        if not words or not is_command:
            yield Mention(line.number, option, "option", is_marked=True)
    if is_command and not _CALL.fullmatch(span):
        return
    if _PATH.fullmatch(span):
        yield Mention(line.number, span, "path", is_marked=True)
        return
    call = _CALL.fullmatch(span)
    if call is not None and call["args"].strip() and is_specific(call["name"]):
        yield Mention(line.number, span, "call", is_marked=True)
    name = call["name"] if call is not None else span
    if _NAME.fullmatch(name) and is_specific(name):
        yield Mention(line.number, name, "name", is_marked=True)


def _find_in_code(line: ProseLine, text: str) -> Iterator[Mention]:
    for name in _NAME.findall(_CODE_PATH.sub(" ", text)):
        if _CODE_LIKE.search(name) and is_specific(name):
            yield Mention(line.number, name, "name", is_marked=True, is_example=True)
