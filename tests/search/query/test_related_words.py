"""Searches with the terms that code uses for the words of a question."""

from __future__ import annotations

from pathlib import Path

import pytest
from sample import MakeApp, write_tree

from rootle import App

QUESTION = "who gets thrown out when there is no room left"
FILES = {
    "src/lru.py": "def evict_lru(self):\n    while len(self.entries) > self.capacity:\n"
    "        self.entries.popitem(last=False)\n",
    "src/chat.py": "def greet(self):\n    self.say(self.guests, 'welcome')\n",
    "src/clock.py": "def tick(self):\n    self.now += self.step\n",
    "docs/hotel.md": "# Hotel\n\nEach guest brings a towel.\n",
}


@pytest.fixture
def app(tmp_path: Path, make_app: MakeApp) -> App:
    return make_app(write_tree(tmp_path / "tree", FILES))


def find_related(app: App, text: str) -> tuple[str, ...]:
    interpretation = app.search(text, explain=True).interpretation
    assert interpretation is not None
    return interpretation.related


def test_a_question_finds_code_with_which_it_shares_no_word(app: App) -> None:
    assert app.search(QUESTION).results[0].file_path == "src/lru.py"
    assert {"evict", "capacity"} <= set(find_related(app, QUESTION))


@pytest.mark.parametrize(
    "text",
    [
        "evict_lru",
        'who gets "thrown out" when there is no room left',
        "Throw out the oldest entry if there is no room. def evict_lru(self) -> None",
    ],
)
def test_what_is_meant_literally_has_no_related_words(text: str, app: App) -> None:
    assert find_related(app, text) == ()


def test_filters_have_no_related_words(app: App) -> None:
    assert find_related(app, f"{QUESTION} path:src lang:python -basket") == find_related(
        app, QUESTION
    )
