"""Every word is stemmed exactly once in every index: stemming is not idempotent."""

from __future__ import annotations

from pathlib import Path

import pytest
from sample import MakeApp, make_repository

from rootle.index.local.database import open_database
from rootle.index.reader import Level
from rootle.index.remote.change_source import ChangeSource
from rootle.protocols import WeightedTerm
from rootle.text.stemmer import open_stemmer

# Words whose stems would change if they were stemmed again.
_STEMS = {"responses": "respons", "databases": "databas", "collisions": "collis"}
_LONG = "x" * 129
_FILES = {
    "databases/collisions.py": (
        f'class Databases:\n    """Responses."""\n\n    def collisions(self, _, {_LONG}):\n'
        "        # responses\n        return databases\n"
    ),
    "guide.md": "# Collisions of databases\n\nAll responses are told apart.\n",
}


@pytest.mark.parametrize(
    ("level", "field", "word", "count"),
    [
        ("chunks", "body", "responses", 2),
        ("chunks", "symbols", "collisions", 1),
        ("chunks", "headings", "databases", 2),
        ("chunks", "comments", "responses", 1),
        ("files", "body", "databases", 2),
        ("files", "symbols", "collisions", 1),
        ("files", "path", "databases", 1),
    ],
)
def test_every_field_contains_the_stems_that_queries_use(
    level: Level, field: str, word: str, count: int, tmp_path: Path, make_app: MakeApp
) -> None:
    app = make_app(make_repository(tmp_path / "repo", _FILES))
    app.index()
    sparse = app._container.indexer().snapshot().sparse

    def hits(term: str) -> int:
        return len(sparse.field_scores(level, [field], [WeightedTerm(term, 1.0)], 10).ids)

    (stem,) = sparse.stems(word)
    (shorter,) = sparse.stems(stem)
    assert stem == _STEMS[word]
    assert shorter != stem
    assert (hits(stem), hits(word), hits(shorter)) == (count, 0, 0)


def test_search_servers_receive_the_same_stems_separated_by_spaces(
    tmp_path: Path, make_app: MakeApp
) -> None:
    app = make_app(make_repository(tmp_path / "repo", _FILES))
    app.index()
    app.close()
    connection = open_database(tmp_path / "index", create=False)
    truth = ChangeSource(connection)
    changed, _ = truth.list_changes_since(-1)
    (state,) = [state for state in changed if state.path == "databases/collisions.py"]
    terms = [chunk.terms for chunk in truth.list_chunks(state, "sparse")]
    connection.close()
    assert terms
    for text in terms:
        assert text == " ".join(text.split())
        assert {"collis", "databas"} <= set(text.split())
        assert {"collisions", "colli", "databases", "databa", _LONG}.isdisjoint(text.split())


def test_stemming_keeps_the_number_of_words_in_any_script() -> None:
    words = ["parsing", "größe", "поиск", "検索", "naïve", "v2", "x" * 64]
    assert len(open_stemmer()(" ".join(words))) == len(words)
    assert open_stemmer()("parsing größe") == ["pars", "größe"]
