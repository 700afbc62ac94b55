"""Arguments of a wrong type raise QueryError in every method of the public API."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sample import MakeApp, write_tree

from rootle.errors import QueryError


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda app: app.why(None), "place is null, expected a string"),
        (lambda app: app.why("a.py:1", limit="3"), 'limit is "3", expected an integer'),
        (lambda app: app.gone(5), "query is 5, expected a string"),
        (lambda app: app.gone("x", limit=True), "limit is true, expected an integer"),
        (lambda app: app.impact(5), "change is 5, expected a list of strings"),
        (lambda app: app.impact([None]), "an element of change is null, expected a string"),
        (lambda app: app.impact("a.py", limit=2.5), "limit is 2.5, expected an integer"),
        (lambda app: app.read(None), "source is null, expected a string"),
        (lambda app: app.outline(b"a.py"), "path is \"b'a.py'\", expected a string"),
        (lambda app: app.symbols(5), "name is 5, expected a string"),
        (lambda app: app.symbols("f", limit="3"), 'limit is "3", expected an integer'),
        (lambda app: app.links(None), "place is null, expected a string"),
        (lambda app: app.drift("docs"), r'paths is "docs", expected a list .*\["docs"\]'),
        (lambda app: app.memory.remember(5), "fact is 5, expected a string"),
        (lambda app: app.memory.remember("x", about="a.py"), 'about is "a.py", expected a list'),
        (
            lambda app: app.memory.remember("x", is_personal="no"),
            'is_personal is "no", expected True, False or None',
        ),
        (lambda app: app.memory.recall(None), "topic is null, expected a string"),
        (lambda app: app.memory.forget([4]), "an element of ids is 4, expected a string"),
        (lambda app: app.memory.import_memories("abc"), 'memories contain "a"'),
        (lambda app: app.memory.import_memories(5), "memories contain 5"),
        (lambda app: app.memory.prefetch("x", budget=-1), "budget is -1; give a number"),
        (lambda app: app.memory.prefetch(None), "user_message is null, expected a string"),
    ],
)
def test_an_argument_of_a_wrong_type_is_a_query_error(
    call: Callable[[Any], object], message: str, tmp_path: Path, make_app: MakeApp
) -> None:
    app = make_app(write_tree(tmp_path / "project", {"a.py": "def f():\n    return 1\n"}))

    with pytest.raises(QueryError, match=message):
        call(app)
