"""`remember` and `recall` as an agent meets them: the exact texts, and what is an error."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from sample import write

from rootle.app import App
from rootle.errors import UnavailableError
from rootle.tools import Tool, tools_of

GITHUB = "ghp_" + "a1B2" * 9


@pytest.fixture
def app(repository: Path, make_app: Any) -> App:
    app: App = make_app(repository)
    return app


def tool(app: App, name: str) -> Tool:
    return next(one for one in tools_of(app) if one.name == name)


def test_a_fact_is_told_and_recalled(app: App) -> None:
    assert tool(app, "remember")("The user likes tabs") == "Remembered."
    answer = tool(app, "recall").run("tabs or spaces")
    assert re.fullmatch(r"1\. \[\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\] The user likes tabs", answer.text)
    (memory,) = answer.data["memories"]
    assert memory["text"] == "The user likes tabs"
    assert memory["count"] == 1
    assert answer.text.startswith(f"1. [{memory['createdAt']}]")


def test_what_was_told_again_says_so(app: App) -> None:
    remember = tool(app, "remember")
    remember("The user likes tabs")
    assert remember("the user likes  TABS") == "Remembered; it was told 2 times now."
    assert "(told 2 times)" in tool(app, "recall")("tabs")


@pytest.mark.parametrize("topic", ["", "   "])
def test_an_empty_topic(app: App, topic: str) -> None:
    answer = tool(app, "recall").run(topic)
    assert answer.text == "Error: topic is empty"
    assert answer.is_error


def test_nothing_that_fits(app: App) -> None:
    recall = tool(app, "recall")
    assert recall("anything") == "No relevant memories found."
    tool(app, "remember")("The user likes tabs")
    answer = recall.run("the colour of the sea")
    assert answer.text == "No relevant memories found."
    assert not answer.is_error
    assert answer.data == {"memories": []}


def test_no_more_than_seven_come_back(app: App) -> None:
    for at in range(9):
        tool(app, "remember")(f"Deployment rule {at}")
    assert len(tool(app, "recall").run("deployment rule").data["memories"]) == 7


def test_a_store_that_is_down(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    def down(*_: Any) -> Any:
        raise UnavailableError("no answer")

    monkeypatch.setattr(app.memory.store, "search", down)
    monkeypatch.setattr(app.memory.store, "add", down)
    assert tool(app, "recall")("tabs") == "Error: memory recall failed: no answer"
    assert tool(app, "remember")("tabs") == "Error: memory remember failed: no answer"


def test_a_bug_raises(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    def bug(*_: Any) -> Any:
        raise KeyError("a bug")

    monkeypatch.setattr(app.memory.store, "search", bug)
    monkeypatch.setattr(app.memory.store, "add", bug)
    for name in ("recall", "remember"):
        with pytest.raises(KeyError):
            tool(app, name).run("tabs")


def test_what_is_not_kept_is_said(app: App) -> None:
    remember = tool(app, "remember")
    assert remember(" ") == "Error: fact is empty"
    assert remember(GITHUB).startswith("Error: not remembered: there is nothing in it but a secret")
    said = remember(f"The mirror is cloned with {GITHUB} each night")
    assert said == "Remembered. Secrets are not kept, so this was masked: GitHub token."
    assert GITHUB not in tool(app, "recall")("mirror")


def test_a_memory_of_a_file_that_changed_is_marked(app: App) -> None:
    tool(app, "remember")("src/store/cache.py is not safe for threads")
    assert tool(app, "recall")("cache.py").endswith("(about src/store/cache.py)")
    write(app.root, "src/store/cache.py", "safe = True\n")
    answer = tool(app, "recall").run("cache.py")
    assert answer.text.endswith("(about src/store/cache.py; may be stale: a file changed since)")
    assert answer.data["memories"][0]["possiblyStale"] is True
    assert answer.data["memories"][0]["about"] == ["src/store/cache.py"]


def test_the_descriptions_say_what_a_model_has_to_know(app: App) -> None:
    recall, remember = tool(app, "recall"), tool(app, "remember")
    assert "newer one holds" in recall.description
    assert (recall.parameter, remember.parameter) == ("topic", "fact")
    assert (recall.is_read_only, remember.is_read_only) == (True, False)


def test_without_a_store_there_are_no_such_tools(repository: Path, make_app: Any) -> None:
    names = {one.name for one in tools_of(make_app(repository, memory_store=""))}
    assert not names & {"recall", "remember"}


def test_a_search_brings_what_was_remembered_as_a_note(repository: Path, make_app: Any) -> None:
    app = make_app(repository, memory_timeout_ms=60_000)
    app.index()
    long = "src/net/retry.py must stay free of side effects, " + "because of this and that, " * 40
    tool(app, "remember")(long)
    answer = tool(app, "vectordb_search").run("how long to wait before the next attempt")
    assert "\n\nNote: from memory: [20" in answer.text
    assert "… (about src/net/retry.py)" in answer.text
    assert answer.data["memories"] == [long.strip()]
