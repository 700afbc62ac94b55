"""The tool `vectordb_search` for the folder of an app."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from rootle.app import App
from rootle.errors import RootleError
from rootle.serialization.brief import has_notes_first
from rootle.serialization.folder_filter import rename_filter
from rootle.serialization.json import to_json
from rootle.serialization.memories import memories_of_shown, memory_as_data
from rootle.serialization.path_text import short_path
from rootle.text.terms import encodable
from rootle.tools.answer_text import AnswerText, write_answer
from rootle.tools.backend_search import NO_MATCHES
from rootle.tools.history.removal_text import GONE, answer_removal
from rootle.tools.history.request_prefix import text_after
from rootle.tools.query_wording import QUERY_ADVICE
from rootle.tools.search_notes import list_index_notes, list_notes
from rootle.tools.sent_passages import SentPassages
from rootle.tools.symbol_text import limit_files, list_symbols, write_symbols
from rootle.tools.tool import Answer, Arguments, Parameter, Tool, error
from rootle.types import SearchQuery, SearchResponse

# A request that only `vectordb_read` answers.
_READ_REQUEST: Final = re.compile(r"\s*((?:why|links|drift|impact):)\S+\s*\Z", re.IGNORECASE)
DEFAULT_LIMIT: Final = 5
MAX_LIMIT: Final = 20

_DESCRIPTION: Final = (
    "Find where or how this folder does something: code, tests, documents, settings. Returns the "
    "likeliest places with numbered lines. For a known string, use grep."
)
_QUERY: Final = (
    f"{QUERY_ADVICE} E.g. Return the seconds to wait before the next attempt, doubled after each "
    "failure. def retry_backoff(attempt, base_delay, max_delay). Other forms: who calls NAME; "
    "in:history QUESTION (why, when, which commit); in:deps QUESTION (installed libraries)"
)

_PARAMETER_NAMES: Final = {"filePaths": "path", "languages": "language"}  # JSON field -> parameter


def search_folder(app: App, shown: SentPassages | None = None) -> Tool:
    """Return the tool that searches the folder of an app.

    `shown` records the passages that a client has received. The next answers name these passages
    without printing them again, unless the client repeats a query.
    """
    return Tool(
        name="vectordb_search",
        title="Search the folder",
        description=_DESCRIPTION,
        parameters=(
            Parameter("query", _QUERY),
            Parameter("path", "e.g. src/net or *.md", is_required=False),
            Parameter("language", "e.g. python", is_required=False),
            Parameter(
                "limit",
                f"files, {DEFAULT_LIMIT} by default",
                "integer",
                is_required=False,
                maximum=MAX_LIMIT,
            ),
        ),
        execute=lambda arguments: _run(app, shown, arguments),
    )


def _run(app: App, shown: SentPassages | None, arguments: Arguments) -> Answer:
    if not str(arguments["query"]).strip():
        return error("query is empty")
    query = _read_query(arguments, app.config.max_limit)
    try:
        return answer_query(app, query, shown)
    except RootleError as problem:
        return error(str(problem))


def answer_query(app: App, query: SearchQuery, shown: SentPassages | None = None) -> Answer:
    """Search, and return the answer as text for a model. Raises RootleError.

    If the query asks for a name and has a limit, the limit also applies to the list of the name's
    uses. Without a limit, results from at most five files are returned.
    """
    is_limited = query.limit is not None
    if not is_limited:
        query = replace(query, limit=min(DEFAULT_LIMIT, app.config.max_limit))
    removed = text_after(GONE, query.text_query)
    if removed is not None:
        return answer_removal(app, removed, query)
    response = app.search(query)
    if response.symbols is not None and is_limited:
        symbols = limit_files(response.symbols, query.limit or DEFAULT_LIMIT)
        response = replace(response, symbols=symbols)
    is_repeated = shown is not None and shown.has_answered(query.text_query)
    text = _write(app, query, response, SentPassages() if is_repeated else shown)
    response = replace(
        response,
        memories=memories_of_shown(response.memories, text.paths),
        suggestions=(*_note_prefix(query.text_query), *response.suggestions),
    )
    answer = _answer(app.root, response, text, empty=_empty_answer(app, query, response))
    if shown is None or text.passages is None:
        return answer
    return replace(answer, on_received=partial(shown.add_answer, query.text_query, text.passages))


def _note_prefix(text: str) -> Sequence[str]:
    """Return a note if a query has the form of a request to `vectordb_read`."""
    found = _READ_REQUEST.match(text)
    if found is None:
        return ()
    return (f"{found[1]} was searched as a word; vectordb_read {found[0].strip()} answers it",)


def _write(
    app: App, query: SearchQuery, response: SearchResponse, shown: SentPassages | None
) -> AnswerText:
    """Return the text for a response.

    If the query asks for uses of a name, or for some of them, such as its tests, the text lists
    these instead of the results. If the query asks for a definition and there is none, the text
    says so.
    """
    symbols = response.symbols
    if symbols is None:
        return write_answer(app, query.text_query, response, shown)
    filters = {"path": query.file_paths, "language": query.languages}
    parameters = [name for name, value in filters.items() if value is not None]
    listed_paths = frozenset(one.path for one in symbols.definitions)
    listed_paths |= {use.path for use in symbols.uses}
    listed = write_symbols(symbols, app.restrictions(query.text_query), parameters)
    if symbols.aspect != "definitions" or not symbols.definitions:
        return AnswerText(listed, list_symbols(symbols), paths=listed_paths)
    text = write_answer(app, query.text_query, response, shown)
    return replace(text, text=f"{text.text}\n\n{listed}", paths=text.paths | listed_paths)


def _read_query(arguments: Arguments, max_limit: int) -> SearchQuery:
    path, language, limit = map(arguments.get, ("path", "language", "limit"))
    return SearchQuery(
        str(arguments["query"]),
        file_paths=None if path is None else (str(path),),
        languages=None if language is None else (str(language),),
        limit=None if limit is None else min(int(limit), max_limit),
        expand=False,  # the query was already phrased by a model
    )


def _empty_answer(app: App, query: SearchQuery, response: SearchResponse) -> str:
    """Return the text for an answer without results.

    The text is empty if the query asks only for memories and some were found, because a note lists
    them.
    """
    if response.memories and "in:memory" in app.restrictions(query.text_query).split():
        return ""
    return NO_MATCHES


def _answer(root: Path, response: SearchResponse, text: AnswerText, *, empty: str) -> Answer:
    first = list_index_notes(response)
    others = [rename_filter(encodable(note), _PARAMETER_NAMES) for note in list_notes(response)]
    notes = [*first, *others]
    before = notes if has_notes_first(response) else first
    after = notes[len(before) :]
    parts = [_join_notes(before), text.text or empty, _join_notes(after)]
    parts.append(f"Folder: {short_path(root)}")
    data = {
        "results": text.results,
        "notes": notes,
        "confident": response.confident,
        "degraded": list(response.degraded),
        "staleness": to_json(response.staleness),
        "coverage": to_json(response.coverage),
        "generation": response.generation,
        "memories": [memory_as_data(memory) for memory in response.memories],
    }
    return Answer("\n\n".join(part for part in parts if part), data)


def _join_notes(notes: Sequence[str]) -> str:
    return f"Note: {'; '.join(notes)}" if notes else ""
