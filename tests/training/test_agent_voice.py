"""Questions rewritten as language models send them."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from training.questions.agent_voice import agent_query, invent_name, names_in

from rootle.rank.question.parsed import parse_question

_RIGHT = ("retry_delay", "max_attempts")
_OTHERS = ("parse_header", "open_socket")
_SENTENCE = "Wait longer after each failed attempt"


def _queries(query: str, kind: str, path: str = "src/retry.py", count: int = 300) -> list[str]:
    return [
        agent_query(query, kind, _RIGHT, _OTHERS, random.Random(seed), path)
        for seed in range(count)
    ]


def test_names_are_right_wrong_and_invented() -> None:
    queries = _queries("how does it wait longer after each failed attempt?", "behaviour")
    assert all(query.lower().startswith(_SENTENCE.lower()) for query in queries)
    right = sum(any(name in query for name in _RIGHT) for query in queries)
    wrong = sum(any(name in query for name in _OTHERS) for query in queries)
    assert 0.2 < right / len(queries) < 0.8
    assert 0.2 < wrong / len(queries) < 0.8
    assert any("failed_attempt" in query for query in queries)
    assert queries == _queries("how does it wait longer after each failed attempt?", "behaviour")


def test_most_queries_are_in_the_voice_of_a_model() -> None:
    parsed = [parse_question(query, str.split) for query in _queries(_SENTENCE, "behaviour")]
    assert sum(one.is_composed for one in parsed) > 0.7 * len(parsed)


def test_code_follows_the_language_of_the_answer() -> None:
    assert any("def retry_delay(self" in query for query in _queries(_SENTENCE, "behaviour"))
    assert not any("def " in query for query in _queries(_SENTENCE, "behaviour", "docs/retry.md"))


def test_questions_about_uses_keep_their_name() -> None:
    queries = _queries("who calls split_words", "usage")
    assert all("split" in query for query in queries)
    intents = [parse_question(query, str.split).intent for query in queries]
    assert intents.count("usage") > len(intents) / 2


def test_names_are_read_from_the_lines_of_the_answer(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("first_name = 1\ndef readHeader(value):\n    pass\n")
    assert names_in(tmp_path, [("a.py", 2, 3)]) == ("readHeader",)
    assert names_in(tmp_path, [("a.py", 0, 0), ("gone.py", 1, 2)]) == ("first_name", "readHeader")


@pytest.mark.parametrize("is_snake", [True, False])
def test_invented_names_consist_of_words_of_the_sentence(*, is_snake: bool) -> None:
    name = invent_name(_SENTENCE, random.Random(3), is_snake=is_snake)
    assert ("_" in name) <= is_snake
    assert any(word in name.lower() for word in ("wait", "longer", "failed", "attempt"))
    assert not invent_name("of the", random.Random(3), is_snake=is_snake)
