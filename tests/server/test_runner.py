"""The end of a server whose client exits without waiting for the server."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest
from sample import indexed_repository

from rootle import open_app
from rootle.server import runner
from rootle.server.streams import ProtocolStreams


def test_a_client_that_exits_after_the_session_causes_no_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    callbacks: list[Callable[[], None]] = []
    monkeypatch.setattr(runner, "call_when_parent_exits", callbacks.append)
    monkeypatch.setattr(runner, "exit_after_grace_period", lambda *_: None)
    with open(os.devnull, "rb") as source, open(os.devnull, "wb") as sink:
        repository = indexed_repository()
        with open_app(repository.root, index_dir=repository.index_dir) as app:
            runner.serve_stdio(app, ProtocolStreams(source, sink), "not served")
    (client_has_exited,) = callbacks
    client_has_exited()  # does not raise
