"""State that the name in a question has no definition, if it is certainly a name in code."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Final

from rootle.index.reader import IndexReader
from rootle.rank.question.name_question import NameQuestion
from rootle.search.symbols.name_rarity import is_rare_name
from rootle.search.symbols.symbol_request import SymbolRequest
from rootle.serialization.path_text import escape_path
from rootle.serialization.symbols import describe_definitions
from rootle.text.languages import CODE_EXTENSIONS, DOCUMENTATION
from rootle.text.terms import whole_identifier
from rootle.types import SymbolUse

if TYPE_CHECKING:
    from rootle.search.symbols.finder import SymbolFinder

# The maximum number of files that are checked to decide whether a file of settings or data contains
# a name.
_MAX_FILES: Final = 2_000
# A package in an import of JavaScript. Paths, which begin with a dot, a slash or an alias of a
# folder, do not match.
_PACKAGE: Final = re.compile(r"""(?:\bfrom|\brequire\()\s*["']((?:@\w[\w.-]*/)?\w[\w./-]*)["']""")


def describe_undefined(
    question: NameQuestion,
    files: Collection[int] | None,
    index: IndexReader,
    open_finder: Callable[[], SymbolFinder],
) -> str:
    """Return a text such as "no definition of isPublic was found in the indexed files".

    The text is empty if the name is defined, or if it may be an ordinary word, a path or a key in a
    file of settings. If a file imports the name from a package, the text names both. Otherwise, the
    text is also empty if the name may be a field in a file that was not read. `files` are the ids
    of the files to search; None means all. `open_finder` is called only if it is needed, because it
    loads a parser.
    """
    is_certain = question.is_code_name or (
        question.is_explicit and is_rare_name(question.name, index)
    )
    if question.is_bare or not is_certain or _is_path_or_key(question.name, index):
        return ""
    finder = open_finder()
    found = finder.find(index, SymbolRequest(question.name, files=files))
    # If some code was not parsed, the name may be that of a field there. This is not assumed if
    # only a word next to the name, such as "macro", shows that it is a name in code.
    may_be_field = not found.has_all_definitions and question.is_explicit
    # The last character of a name in Ruby, as in `empty?`, may look like the end of the question.
    is_signed = any(one.rstrip("?!") == question.name for one in found.similar)
    if found.definitions or is_signed:
        return ""
    uses = finder.find(index, SymbolRequest(question.name, "uses", files=files)).uses
    if imported := next(filter(None, map(_describe_import, uses)), ""):
        return f"no definition of {question.name} was found in the indexed files; {imported}"
    return "" if may_be_field else describe_definitions(found)


def _describe_import(use: SymbolUse) -> str:
    """Return a text such as "app.ts:3 imports it from redux", or "" if the use is no import."""
    package = _PACKAGE.search(use.text) if use.kind == "import" else None
    if package is None:
        return ""
    return f"{escape_path(use.path)}:{use.line} imports it from {package[1]}"


def _is_path_or_key(name: str, index: IndexReader) -> bool:
    """Return whether a name is that of a file, or occurs in a file of settings or data."""
    if "." in name:
        return any(f"/{state.path}".endswith(f"/{name}") for state in index.all_files())
    stems = index.sparse.stems(whole_identifier(name))
    ids = index.sparse.files_with(stems, [], _MAX_FILES, None) if stems else []
    languages = {state.language for state in index.files(ids).values()}
    return any(one not in CODE_EXTENSIONS and one not in DOCUMENTATION for one in languages)
