"""The chunks of a file, as the dense and the sparse search see them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from json_server import Reply, serving
from sample import FILES, MakeApp, make_repository

from rootle.errors import SourceError
from rootle.types import SearchQuery

_PATH = "src/long.py"
_BODY = "".join(f"    total_{row} = zebra(total_{row - 1})\n" for row in range(1, 150))
_TEXT = f"def add_stripes(total_0):\n{_BODY}"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "repo", {**FILES, _PATH: _TEXT})


def test_chunks_have_the_fields_of_the_specification(root: Path, make_app: MakeApp) -> None:
    chunks = make_app(root).chunks(_PATH)
    assert len(chunks) > 1
    lines = _TEXT.splitlines()
    for number, chunk in enumerate(chunks):
        assert chunk.chunk_id == f"{_PATH}::{number}"
        assert chunk.text.splitlines() == lines[chunk.start_line - 1 : chunk.end_line]
        assert chunk.metadata.language == "python"
        assert chunk.metadata.file_size_bytes == len(_TEXT)
        assert chunk.metadata.last_modified == "2023-11-14T22:13:20Z"
    assert "\n".join(chunk.text for chunk in chunks) == _TEXT.rstrip("\n")


@pytest.mark.slow
def test_both_legs_find_a_chunk_by_its_vector_and_its_words(root: Path, make_app: MakeApp) -> None:
    app = make_app(root)
    index = app._container.indexer
    for path in FILES:
        for chunk in app.chunks(path):
            assert chunk.embedding is not None
            assert np.linalg.norm(chunk.embedding) == pytest.approx(1)
            vector = np.array(chunk.embedding, np.float32)
            (nearest,) = index().snapshot().dense.nearest(vector, 1).hits.ids
            row = index().snapshot().chunks([nearest])[nearest]
            state = index().snapshot().files([row.file_id])[row.file_id]
            assert (state.path, row.seq) == (path, chunk.sequence_number)
            found = app.search(SearchQuery(f'"{chunk.text.splitlines()[-1].strip()}"')).results
            assert path in [result.file_path for result in found]


def test_a_pending_chunk_has_no_vector(root: Path, make_app: MakeApp) -> None:
    with serving(lambda _: Reply({})) as server:
        closed = server.url  # nothing listens at this URL after the block
    app = make_app(root, embedding_model_id="some-model", embedding_endpoint=closed)
    chunks = app.chunks(_PATH)
    assert [chunk.embedding for chunk in chunks] == [None] * len(chunks) != []


def test_a_file_that_is_not_indexed_is_refused(root: Path, make_app: MakeApp) -> None:
    with pytest.raises(SourceError, match=r"nowhere\.py is not indexed"):
        make_app(root).chunks("nowhere.py")
