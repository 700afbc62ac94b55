"""The names that a repository defines itself, without those of its languages and libraries."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from tree_sitter import Parser

from rootle.syntax.grammars import GRAMMARS, load_grammar
from rootle.syntax.lines import Lines
from rootle.syntax.symbol_outline import read_outline
from rootle.text.languages import file_language

KEPT: Final = Path(__file__).with_name("kept_names.txt")
MAX_PARSED_CHARS: Final = 1_000_000
_IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*[?!]?")
_DECLARATIONS: Final = re.compile(
    "declaration|definition|declarator|parameter|signature|specifier|_item|_spec|property|variant"
)
# Languages that have the built-in names of another language.
_SAME_NAMES: Final = {"typescript": "javascript", "tsx": "javascript", "cpp": "c"}
_PROSE_GRAMMARS: Final = frozenset({"html", "css", "bash", "sql"})
_COMPOUND: Final = re.compile(r"[A-Za-z0-9]_+[A-Za-z0-9]|[a-z0-9][A-Z]|[A-Z]{2}[a-z]")
_DECLARED: Final = re.compile(r"\b(?:let|const|var|val|mut|auto|final)\s+([A-Za-z_]\w*)")
# Fields that are declared with a symbol in Elixir and Ruby, and keys in Elixir's type definitions.
_SYMBOLS: Final = re.compile(
    r"\b(?:field|add|attr|attribute|belongs_to|has_many|attr_\w+)[ (]+:([a-z]\w*)"
    r"|^[ \t]+([a-z]+_\w+): [\w.]+\(\)",
    re.MULTILINE,
)
_ASSIGNED: Final = re.compile(
    r"(?m)^[ \t]*(?:[\w<>\[\]*&:$,]+[ \t]+)?\$?([A-Za-z_]\w*)[ \t]+:?=[ \t]"
)


@dataclass(frozen=True)
class SourceText:
    """A text file of a repository; the path is relative, with "/"."""

    path: str
    text: str

    @property
    def language(self) -> str:
        """The language if the text is parsed as code, else an empty string."""
        language = file_language(self.path)
        is_code = language in GRAMMARS and language not in _PROSE_GRAMMARS
        return language if is_code and len(self.text) <= MAX_PARSED_CHARS else ""


def is_compound(name: str) -> bool:
    """Return whether a name has several subwords: an underscore or a capital letter inside."""
    return _COMPOUND.search(name) is not None


def defined_names(files: Iterable[SourceText]) -> set[str]:
    """Return the names of all definitions, and the compound names of local variables."""
    names: set[str] = set()
    languages: set[str] = set()
    for file in files:
        if not file.language:
            continue
        languages.add(file.language)
        names |= names_in(file)
    return names - kept_names(languages)


def names_in(file: SourceText) -> set[str]:
    """Return the names that one file of code defines."""
    found: set[str] = set()
    outline = read_outline(Lines(file.text), load_grammar(file.language))
    for name in outline.names if outline else ():
        found.update(match.rstrip("?!") for match in _IDENTIFIER.findall(name.text))
    for pattern in (_DECLARED, _ASSIGNED):
        found.update(filter(is_compound, pattern.findall(file.text)))
    found.update(filter(is_compound, declared_names(file)))
    if file.language in ("elixir", "ruby"):
        found.update(first or second for first, second in _SYMBOLS.findall(file.text))
    return found


def declared_names(file: SourceText) -> Iterator[str]:
    """Yield the names of fields, parameters and variables, which an outline does not list."""
    data = file.text.encode("utf-8", "surrogatepass").replace(b"\0", b" ")
    waiting = [Parser(load_grammar(file.language).language).parse(data).root_node]
    while waiting:
        node = waiting.pop()
        children = node.children
        if not children:
            continue
        waiting.extend(children)
        if _DECLARATIONS.search(node.type) is None:
            continue
        named = [node.child_by_field_name(field) for field in ("name", "pattern")]
        named += [child for child in children if child.type == "field_identifier"]
        for name in named:
            if name is not None and not name.children:
                yield data[name.start_byte : name.end_byte].decode("utf-8", "replace").lstrip("$@")


@cache
def _kept_lists() -> dict[str, frozenset[str]]:
    rows = KEPT.read_text(encoding="utf-8").splitlines()
    parts = [row.partition(":") for row in rows if row]
    return {language: frozenset(names.split()) for language, _, names in parts}


def kept_names(languages: Collection[str]) -> set[str]:
    """Return the keywords, built-in names and well-known library names of some languages."""
    lists = _kept_lists()
    kept = set(lists["all"])
    for language in languages:
        kept |= lists.get(_SAME_NAMES.get(language, language), frozenset())
    return kept


def kept_joined() -> frozenset[str]:
    """Return the hyphenated words that stay: names of HTTP headers, and plain English."""
    return _kept_lists()["joined"]
