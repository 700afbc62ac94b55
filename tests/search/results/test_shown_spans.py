"""The lines that are shown from each file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hash_embedder import HashEmbedder
from sample import MakeApp, make_repository

from rootle.config.fields import Config
from rootle.errors import UnavailableError
from rootle.protocols import Matrix
from rootle.search.factory import open_agent
from rootle.types import SearchQuery


class _FailingEmbedder(HashEmbedder):
    def embed(self, texts: Sequence[str]) -> Matrix:
        raise UnavailableError("the model is down")


def _function(name: str, length: int, last: str = "return rows") -> str:
    """Return a Python function of `length` lines."""
    body = "".join(f"    row_{at} = rows.pop({at})\n" for at in range(length - 2))
    return f"def {name}(rows):\n{body}    {last}\n"


def test_without_vectors_the_chunk_with_the_words_of_the_question_is_shown(
    tmp_path: Path, make_app: MakeApp
) -> None:
    text = _function("first_part", 40) + "\n\n" + _function("second_part", 40, "return zebra")
    app = make_app(make_repository(tmp_path / "repo", {"parts.py": text}))
    app.index()
    agent = open_agent(app._container.indexer().snapshot, _FailingEmbedder, Config())
    (result,) = agent.search(SearchQuery("where is the zebra")).results
    agent.close()
    assert result.start_line == 43


def test_a_chunk_of_22_lines_is_shown_whole_wherever_its_match_is(
    tmp_path: Path, make_app: MakeApp
) -> None:
    text = _function("first_part", 40) + "\n\n" + _function("second_part", 22, "return zebra")
    app = make_app(make_repository(tmp_path / "repo", {"parts.py": text}))
    (result,) = app.search('"return zebra"').results
    assert (result.start_line, result.end_line) == (43, 64)
