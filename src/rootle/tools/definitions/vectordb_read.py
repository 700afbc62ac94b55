"""The tool `vectordb_read`: read a file, a section or a commit, in parts of bounded size."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import accumulate
from typing import Final

from rootle.app import App
from rootle.errors import RootleError
from rootle.serialization.history import impact_lines
from rootle.serialization.json import to_json
from rootle.serialization.links import describe_no_drift, drift_lines, link_lines
from rootle.serialization.outside_text import marks_of_passage
from rootle.serialization.path_text import clean_line, cut_line, escape_path
from rootle.serialization.why import reason_lines
from rootle.text.terms import encodable
from rootle.tools.history.removal_text import GONE
from rootle.tools.history.request_prefix import text_after
from rootle.tools.search_notes import reword_note
from rootle.tools.tool import Answer, Parameter, Tool, error
from rootle.types import Passage

# The limits of one answer, about 3,000 tokens. The answer says how to read the rest.
MAX_LINES: Final = 300
MAX_CHARS: Final = 12_000
_MAX_LINE_CHARS: Final = 1_000
# A path with line numbers. `impact:` ignores the numbers, because its answer is about a whole file.
_PLACE: Final = re.compile(r"(\S+?):L?\d+(?:-L?\d+)?")

_DESCRIPTION: Final = (
    "Read more around a search result, or any file, section, definition or commit, with numbered "
    "lines."
)
_SOURCE: Final = (
    "path:120-180, path:120 (its definition), path#Class.method, README.md#heading, path, a commit "
    "hash, why:path:120 (commits that explain it), links:path#name (its documents, tests and "
    "uses), impact:path (files that change with it), or drift:path (outdated names)"
)


def vectordb_read(app: App) -> Tool:
    """Return the tool that reads from the folder of an app."""
    return Tool(
        name="vectordb_read",
        title="Read from the folder",
        description=_DESCRIPTION,
        parameters=(Parameter("source", _SOURCE),),
        execute=lambda arguments: _run(app, str(arguments["source"])),
    )


def _run(app: App, source: str) -> Answer:
    try:
        for prefix, answer in _ANSWERS.items():
            place = text_after(prefix, source)
            if place is not None:
                return _answer_or_read(app, answer, place, source)
        passage = app.read(source)
    except RootleError as problem:
        if text_after(GONE, source) is not None:
            return error(f'"{source[:100]}" is a query for vectordb_search; search for it')
        return error(str(problem))
    return _answer(passage)


def _answer_or_read(
    app: App, answer: Callable[[App, str], Answer], place: str, source: str
) -> Answer:
    """Return the answer about a place. If this fails, read `source`, which may be a file's path."""
    try:
        return answer(app, place)
    except RootleError:
        with suppress(RootleError):
            return _answer(app.read(source))
        raise


def _explain(app: App, place: str) -> Answer:
    answer = app.why(place)
    notes = [f"Note: {reword_note(note)}" for note in answer.notes]
    return Answer(_fit(reason_lines(answer), notes), to_json(answer))


def _list_links(app: App, place: str) -> Answer:
    links = app.links(place)
    name = f" in {links.name}" if links.name else ""
    notes = [f"Note: {reword_note(note)}" for note in links.notes]
    return Answer(_fit([f"{links.place}{name}", *link_lines(links)], notes), to_json(links))


def _list_drift(app: App, path: str) -> Answer:
    found = app.drift([path] if path else ())
    texts = ["\n".join(map(clean_line, drift_lines(report))) for report in found.reports]
    shown = texts[: _count_that_fits(texts, 0)]
    if not texts:
        text = describe_no_drift(found)
        shown = [f"{text[0].upper()}{text[1:]}."]
    if len(shown) < len(texts):
        shown.append(f"… {len(texts) - len(shown)} more: ask for drift: with a file or folder")
    shown += [f"Note: {encodable(reword_note(note))}" for note in found.suggestions]
    return Answer("\n\n".join(shown), to_json(found))


def _predict_changes(app: App, change: str) -> Answer:
    """Answer `impact:` for a path or a task; "" means the uncommitted changes of the work tree."""
    place = _PLACE.fullmatch(change)
    answer = app.impact((place[1] if place else change) or None)
    notes = [f"Note: {reword_note(note)}" for note in answer.suggestions]
    return Answer(_fit(impact_lines(answer), notes), to_json(answer))


def _fit(lines: Iterable[str], notes: Sequence[str]) -> str:
    """Return the lines that fit into an answer, the number of other lines, and the notes."""
    cleaned = list(map(clean_line, lines))
    shown = cleaned[: _count_that_fits(cleaned, 0)]
    if len(shown) < len(cleaned):
        left = len(cleaned) - len(shown)
        shown.append(f"… ({left} more {'line is' if left == 1 else 'lines are'} left out)")
    return "\n".join((*shown, *map(clean_line, notes)))


_ANSWERS: Final[Mapping[str, Callable[[App, str], Answer]]] = {
    "why:": _explain,
    "links:": _list_links,
    "drift:": _list_drift,
    "impact:": _predict_changes,
}


def _answer(passage: Passage) -> Answer:
    lines = [encodable(cut_line(line, _MAX_LINE_CHARS)) for line in passage.lines[:MAX_LINES]]
    lines = lines[: _count_that_fits(lines, len(str(passage.start_line + len(lines))))]
    first, last = passage.start_line, passage.start_line + len(lines) - 1
    name = escape_path(passage.source)
    width = len(str(last))
    numbered = [f"{at:>{width}}  {line}".rstrip() for at, line in enumerate(lines, start=first)]
    text = [f"{name}:{first}-{last} of {passage.total_lines} ({passage.language})"]
    text += [*marks_of_passage(passage), *numbered]
    if passage.note:
        text.append(f"Note: {passage.note}")
    left = len(passage.lines) - len(lines)
    if left:
        more = "1 more line" if left == 1 else f"{left} more lines"
        text.append(f"… {more}: ask for {name}:{last + 1}-{last + left}")
    data = {
        "source": f"{name}:{first}-{last}",
        "language": passage.language,
        "startLine": first,
        "endLine": last,
        "totalLines": passage.total_lines,
        "leftOutLines": left,
        "text": "\n".join(lines),
        "note": passage.note,
        **_outside_data(passage),
    }
    return Answer("\n".join(text), data)


def _outside_data(passage: Passage) -> dict[str, str]:
    values = {"origin": passage.origin, "trust": passage.trust, "warning": passage.warning}
    return {key: encodable(value) for key, value in values.items() if value is not None}


def _count_that_fits(lines: list[str], width: int) -> int:
    """Return how many lines fit into the limit, with line numbers of `width` characters."""
    sizes = accumulate(width + len(line) + len("  \n") for line in lines)
    return max(1, sum(size <= MAX_CHARS for size in sizes))
