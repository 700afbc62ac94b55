"""Answer `gone:WORDS` in the query of `vectordb_search`: code that no longer exists."""

from __future__ import annotations

from typing import Final

from rootle.app import App
from rootle.serialization.history import describe_no_removal, removal_lines
from rootle.serialization.path_text import clean_line, short_path
from rootle.text.terms import encodable
from rootle.tools.search_notes import reword_note
from rootle.tools.tool import Answer
from rootle.types import Filters, Removal, RemovalAnswer, SearchQuery

GONE: Final = "gone:"
_MAX_LINES: Final = 30
_ELSEWHERE: Final = "It may be in a commit that is not indexed."


def answer_removal(app: App, words: str, query: SearchQuery) -> Answer:
    """Return the removed code that matches words, with the limit and the filters of a query.

    Raise QueryError if there are no words.
    """
    filters = Filters(file_paths=query.file_paths, languages=query.languages)
    found = app.gone(words, query.limit, filters=filters)
    texts = [_write(removal) for removal in found.removals]
    notes = [encodable(reword_note(note)) for note in found.suggestions]
    note = f"Note: {'; '.join(notes)}" if notes else ""
    text = "\n\n".join(texts) or _describe_nothing(found)
    is_partial = bool(found.degraded)
    parts = [note, text] if is_partial else [text, note]
    parts.append(f"Folder: {short_path(app.root)}")
    results = [
        {
            "source": removal.commit.hash,
            "score": removal.score,
            "text": text,
            "about": encodable(f"{removal.name} in {removal.path}".strip()),
        }
        for removal, text in zip(found.removals, texts, strict=True)
    ]
    data = {"results": results, "notes": notes, "degraded": list(found.degraded)}
    return Answer("\n\n".join(part for part in parts if part), data)


def _describe_nothing(found: RemovalAnswer) -> str:
    text = describe_no_removal(found)
    elsewhere = f" {_ELSEWHERE}" if found.degraded else ""
    return f"{text[:1].upper()}{text[1:]}.{elsewhere}" if text else ""


def _write(removal: Removal) -> str:
    lines = removal_lines(removal, _MAX_LINES)
    return "\n".join(map(clean_line, lines))
