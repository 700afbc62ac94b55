"""The behavior of every dense index; the embedded one is the reference."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np
import pytest

from rootle.errors import RefusedError, UnavailableError
from rootle.index.remote.protocol import RemoteChunk, RemoteDense, Stamp
from rootle.protocols import Matrix, Vector

if TYPE_CHECKING:
    from conformance.conftest import DenseBench, OpenRemote

_RNG = np.random.default_rng(5)


def _vectors(count: int) -> Matrix:
    vectors = _RNG.normal(size=(count, 32)).astype(np.float32)
    unit: Matrix = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit


def _files(vectors: Matrix, per_file: int = 5) -> dict[int, dict[int, Vector]]:
    """Return files 1, 2, … with `per_file` chunks each; the chunk ids are 100, 101, …"""
    files: dict[int, dict[int, Vector]] = {}
    for number, vector in enumerate(vectors):
        files.setdefault(1 + number // per_file, {})[100 + number] = vector
    return files


def test_results_are_ordered_by_cosine(dense: DenseBench) -> None:
    vectors = _vectors(600)
    dense.write(_files(vectors))
    question = _vectors(1)[0]
    cosines = vectors @ question
    found = dense.query(question, 20)
    wanted = 100 + np.argsort(-cosines)[:20]
    # A graph index is approximate and may miss a neighbor.
    assert len(set(found.ids.tolist()) & set(wanted.tolist())) >= 19
    assert np.all(np.diff(found.scores) <= 0)
    assert np.allclose(found.scores, cosines[found.ids - 100], atol=0.01)


def test_filters_apply_before_the_best_results_are_selected(dense: DenseBench) -> None:
    vectors = _vectors(600)
    dense.write(_files(vectors))
    question = _vectors(1)[0]
    furthest = int(np.argmin(vectors @ question)) // 5 + 1  # the file of the farthest chunk
    only = dense.query(question, 5, files={furthest})
    assert {(chunk - 100) // 5 + 1 for chunk in only.ids.tolist()} == {furthest}
    assert len(only.ids) == 5
    some = dense.query(question, 50, files=set(range(1, 121, 2)))
    assert len(some.ids) == 50
    assert all(((chunk - 100) // 5 + 1) % 2 for chunk in some.ids.tolist())


def test_a_filter_can_have_a_hundred_thousand_files(dense: DenseBench) -> None:
    vectors = _vectors(50)
    dense.write(_files(vectors))
    allowed = {2, 5, *range(1_000_000, 1_100_000)}
    found = dense.query(_vectors(1)[0], 50, files=allowed)
    assert sorted(found.ids.tolist()) == [*range(105, 110), *range(120, 125)]


def test_an_empty_filter_excludes_every_file(dense: DenseBench) -> None:
    dense.write(_files(_vectors(10)))
    assert dense.query(_vectors(1)[0], 5, files=set()).ids.tolist() == []


def test_rewriting_a_file_deletes_its_old_chunks(dense: DenseBench) -> None:
    vectors = _vectors(15)
    dense.write(_files(vectors))
    dense.write({2: {900: vectors[0], 901: vectors[1]}})
    found = dense.query(vectors[0], 50)
    assert sorted(found.ids.tolist()) == [*range(100, 105), *range(110, 115), 900, 901]


def test_removed_files_are_not_found(dense: DenseBench) -> None:
    dense.write(_files(_vectors(15)))
    dense.remove([1, 3, 77])
    assert sorted(dense.query(_vectors(1)[0], 50).ids.tolist()) == [*range(105, 110)]


def test_an_empty_index_finds_nothing(dense: DenseBench) -> None:
    dense.write({})
    assert dense.query(_vectors(1)[0], 5).ids.tolist() == []


@pytest.mark.server
@pytest.mark.parametrize("kind", ["chroma", "opensearch", "weaviate"])
def test_a_replica_reports_its_stamp_and_chunks(kind: str, open_remote: OpenRemote) -> None:
    index = open_remote(kind, "dense")
    assert index.read_stamp(32) is None
    index.drop()
    index.create(32)
    assert index.read_stamp(32) == Stamp(-1, is_complete=False)
    vectors = _vectors(3)
    index.put(
        [RemoteChunk(at, 1, "a b/ü.py", "python", 1, 2, vectors[at - 7], "") for at in (7, 8, 9)]
    )
    index.commit(Stamp(4, is_complete=True))
    assert index.read_stamp(32) == Stamp(4, is_complete=True)
    assert index.count() == 3
    assert [index.contains(at) for at in (7, 9, 10)] == [True, True, False]
    index.delete_stale({1: [9]})
    index.commit(Stamp(5, is_complete=True))
    assert index.count() == 1
    assert [index.contains(at) for at in (7, 9)] == [False, True]
    with pytest.raises(RefusedError):
        index.put([RemoteChunk(11, 2, "c.py", "python", 1, 2, vectors[0][:5], "")])
    with pytest.raises(UnavailableError):
        cast("RemoteDense", index).query(vectors[0][:5], 3, None, 20.0)
    index.create(32)
    assert index.read_stamp(32) == Stamp(-1, is_complete=False)
    assert index.count() == 0
    index.drop()
    assert index.read_stamp(32) is None
    index.drop()
