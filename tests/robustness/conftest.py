"""What the tests of broken and busy indexes share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from sample import QUESTIONS

from rootle.config import Config
from rootle.types import SearchQuery
from rootle.wire import to_json
from rootle import open_app

Answers = Callable[..., list[Any]]


@pytest.fixture
def answers() -> Answers:
    """All that a user sees of the answers to some questions, by an app that is opened for it."""

    def ask(
        root: Path, index_dir: Path, questions: Sequence[str] = QUESTIONS
    ) -> list[Any]:
        seen = []
        with open_app(root, index_dir=index_dir, config=Config(refresh_seconds=0)) as app:
            for question in questions:
                answer = to_json(app.search(SearchQuery(question, limit=50)))
                # The clock, and a counter of writes that a user has no use for.
                del answer["tookMs"], answer["generation"]
                seen.append(answer)
        return seen

    return ask
