"""`rootle search`."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterable

from rootle.app import App
from rootle.cli.context import opened, progress_bar, say
from rootle.cli.main import FAILED, NO_RESULTS, RESULTS
from rootle.errors import QueryError, RootleError
from rootle.serialization.json import query_from_json, to_json
from rootle.types import SearchQuery


def run_search(options: argparse.Namespace) -> int:
    with opened(options) as app:
        if options.batch:
            return _run_batch(app, sys.stdin.buffer, explain=options.explain)
        query = _query(options)
        app.check(query)
        with progress_bar() as progress:
            app.refresh(progress)
        response = app.search(query, explain=options.explain)
    if options.json:
        print(json.dumps(to_json(response)))
    elif options.markdown or options.budget is not None:
        from rootle.cli.output import print_markdown

        print_markdown(response)
    else:
        from rootle.cli.output import Style, print_response

        print_response(response, query.text_query, Style.for_stream(sys.stdout, options.color))
    return RESULTS if response.results else NO_RESULTS


def _query(options: argparse.Namespace) -> SearchQuery:
    if not options.question:
        raise QueryError('ask something: rootle search "where is the retry backoff computed"')
    return SearchQuery(
        " ".join(options.question),
        file_paths=tuple(options.path) if options.path else None,
        languages=tuple(options.lang) if options.lang else None,
        min_recency_days=options.days,
        limit=options.limit,
        cursor=options.cursor,
        context=options.context,
        budget=options.budget,
        exclude=tuple(options.seen or ()),
    )


def _run_batch(app: App, lines: Iterable[bytes], *, explain: bool) -> int:
    """One answer a line, in order; a line that cannot be answered gets an error line."""
    code = NO_RESULTS
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        started = time.perf_counter()
        try:
            query = query_from_json(_parsed(line))
            response = app.search(query, explain=explain)
            answer = {"textQuery": query.text_query, **to_json(response)}
            if response.results and code == NO_RESULTS:
                code = RESULTS
        except RootleError as error:
            answer = {"error": str(error), "line": number, "tookMs": _since(started)}
            code = FAILED
            say(f"line {number}: {error}")
        print(json.dumps(answer), flush=True)
    return code


def _parsed(line: bytes) -> object:
    try:
        return json.loads(line.decode("utf-8"))
    except json.JSONDecodeError as error:
        raise QueryError(f"not JSON: {error.msg} at column {error.colno}") from error
    except (ValueError, RecursionError) as error:  # not UTF-8, a number or a nest without end
        raise QueryError(f"not JSON: {error}") from error


def _since(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 3)
