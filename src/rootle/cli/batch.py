"""Answer many queries in one process: read and write one JSON object per line."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterable
from typing import Any, Final

from rootle.app import App
from rootle.cli.options import FAILURE, NO_RESULTS, SUCCESS
from rootle.cli.terminal import warn
from rootle.errors import QueryError, RootleError
from rootle.serialization.json import query_from_json, to_json

# With --batch, each input line is a query in JSON, and these options are rejected. _FIELDS maps
# each option to the field of the query to set instead. The options in _WITHOUT_FIELD have no such
# field.
_FIELDS: Final = {
    "question": "textQuery",
    "kinds": "textQuery",
    "path": "filePaths",
    "lang": "languages",
    "changed_within": "minRecencyDays",
    "limit": "limit",
    "cursor": "cursor",
    "context": "context",
    "budget": "budget",
    "exclude": "exclude",
    "at": "at",
}
_WITHOUT_FIELD: Final = ("agent", "image", "links", "markdown")
_OPTIONS: Final = {"changed_within": "changed-within", "kinds": "in"}


def check_options(args: argparse.Namespace) -> None:
    """Raise QueryError if an option of `rootle search` has no effect with --batch."""
    for name in (*_FIELDS, *_WITHOUT_FIELD):
        value = getattr(args, name)
        if value is False or value in (None, []):
            # 0 equals False, but is a value that the user has set
            continue
        option = "the question" if name == "question" else f"--{_OPTIONS.get(name, name)}"
        field = _FIELDS.get(name)
        remedy = f'set "{field}" in these lines' if field else "leave it out"
        raise QueryError(
            f"--batch reads all queries from standard input, so {option} has no effect; {remedy}"
        )


def answer_lines(app: App, lines: Iterable[bytes], *, explain: bool) -> int:
    """Print one response per line, in the order of the queries, and return the exit code.

    For a query that fails, print an object with the error and the line number instead.
    """
    code = NO_RESULTS
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        started = time.perf_counter()
        try:
            answer = _answer(app, line, explain=explain)
            if answer["results"] and code == NO_RESULTS:
                code = SUCCESS
        except RootleError as error:
            answer = {"error": str(error), "line": number, "tookMs": _elapsed_ms(started)}
            code = FAILURE
            warn(f"line {number}: {error}")
        print(json.dumps(answer), flush=True)
    return code


def _answer(app: App, line: bytes, *, explain: bool) -> dict[str, Any]:  # Any: JSON
    query = query_from_json(_parse(line))
    response: dict[str, Any] = to_json(app.search(query, explain=explain))
    return {"textQuery": query.text_query, **response}


def _parse(line: bytes) -> object:
    try:
        return json.loads(line.decode("utf-8"))
    except json.JSONDecodeError as error:
        raise QueryError(f"not JSON: {error.msg} at column {error.colno}") from error
    # The line is not UTF-8, or contains a number with too many digits or too deeply nested lists.
    except (ValueError, RecursionError) as error:
        raise QueryError(f"not JSON: {error}") from error


def _elapsed_ms(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 3)
