"""Questions that are too long to be searched completely."""

from __future__ import annotations

from pathlib import Path

import pytest
from sample import MakeApp, write

from rootle.search.long_question import MAX_QUERY_CHARS, shorten_question
from rootle.types import SearchQuery


@pytest.mark.parametrize(
    ("end", "paths"),
    [
        ("path:m1.py", {"m1.py"}),
        ("-path:m1.py", {"m2.py", "m3.py"}),
        ("lang:python\npath:m2.py", {"m2.py"}),
        ("-only_in_m3 -path:m1.py", {"m2.py"}),
    ],
)
def test_filters_at_the_end_of_a_long_question_are_applied(
    end: str, paths: set[str], tmp_path: Path, make_app: MakeApp
) -> None:
    for number in (1, 2, 3):
        write(tmp_path, f"m{number}.py", f"def retry():\n    return only_in_m{number}\n")
    app = make_app(tmp_path)

    found = app.search(SearchQuery(f"retry {'x y z ' * 4_000}{end}"))

    assert {result.file_path for result in found.results} == paths
    assert any("only about the first 10,000 were searched" in note for note in found.suggestions)


def test_a_question_of_the_maximum_length_is_not_shortened() -> None:
    text = "x " * (MAX_QUERY_CHARS // 2 - 5) + "path:a"
    assert shorten_question(text) == text


@pytest.mark.parametrize("at", range(9_985, 10_002))
def test_no_operator_is_cut(at: int) -> None:
    text = f"{'x' * 99} " * 99
    shortened = shorten_question(f"{text[: at - 30]} lang:python path:src/net {'y ' * 3_000}")

    assert len(shortened) <= MAX_QUERY_CHARS
    assert shortened.split()[-1] in ("lang:python", "path:src/net", "y", text.split()[0])
    assert shorten_question(shortened) == shortened
