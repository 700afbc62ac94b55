"""The duration in a response, and the cursor of the next page."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

from sample import MakeApp

from rootle.types import SearchQuery


def test_the_duration_is_in_milliseconds(repository: Path, make_app: MakeApp) -> None:
    app = make_app(repository)
    app.index()
    started = time.perf_counter()
    took_ms = app.search("how long to wait before the next attempt").took_ms
    assert 0.1 < took_ms < (time.perf_counter() - started) * 1_000


def test_the_last_page_has_no_cursor_even_if_it_is_full(
    repository: Path, make_app: MakeApp
) -> None:
    app = make_app(repository)
    query = SearchQuery("how long to wait before the next attempt", limit=50)
    count = len(app.search(query).results)
    assert count > 1
    assert app.search(replace(query, limit=count)).next_cursor is None
    assert app.search(replace(query, limit=count - 1)).next_cursor is not None
