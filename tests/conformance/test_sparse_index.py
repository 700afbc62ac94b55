"""The behavior of every sparse index; the embedded one is the reference."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rootle.protocols import WeightedTerm
from rootle.text.stemmer import open_stemmer
from rootle.text.terms import TermTable, text_terms

if TYPE_CHECKING:
    from conformance.conftest import SparseBench


def _terms(text: str) -> str:
    """Return the terms of a text as an index stores them: split and stemmed."""
    return text_terms(text, TermTable(open_stemmer()))


def _ids(sparse: SparseBench, *terms: str, **only: set[int]) -> list[int]:
    asked = [WeightedTerm(term, 1.0) for term in terms]
    found: list[int] = sparse.query(asked, 10, only.get("files")).ids.tolist()
    return found


def _write(sparse: SparseBench, *texts: str) -> None:
    """Write file 1 with chunk 101, file 2 with chunk 102, and so on: one file per text."""
    sparse.write({at: {100 + at: _terms(text)} for at, text in enumerate(texts, start=1)})


def test_identifiers_match_by_their_parts_and_as_a_whole(sparse: SparseBench) -> None:
    _write(sparse, "def parseHttpRequest(body)", "class LedgerPage", "retry_backoff = 3")
    assert _ids(sparse, "http") == [101]
    assert _ids(sparse, *_terms("parseHttpRequest").split()) == [101]
    assert _ids(sparse, *_terms("parsed requests").split()) == [101]
    assert _ids(sparse, "backoff") == [103]
    assert _ids(sparse, "nowhere") == []
    assert _ids(sparse) == []


def test_rare_and_repeated_terms_score_higher(sparse: SparseBench) -> None:
    _write(sparse, "queue worker", "queue", "queue queue ledger", "page", "queue other words here")
    assert _ids(sparse, "queue", "ledger")[0] == 103
    assert _ids(sparse, "worker", "queue")[0] == 101
    assert set(_ids(sparse, "queue")) == {101, 102, 103, 105}


def test_term_weights_change_the_order(sparse: SparseBench) -> None:
    _write(sparse, "alpha one", "omega two", "three four")
    for heavy, light, first in (("alpha", "omega", 101), ("omega", "alpha", 102)):
        asked = [WeightedTerm(heavy, 1.0), WeightedTerm(light, 0.15)]
        assert sparse.query(asked, 10).ids.tolist()[0] == first


def test_a_light_frequent_term_does_not_hide_a_new_chunk(sparse: SparseBench) -> None:
    sparse.write({1: {at: f"the common word filler{at % 11} the end" for at in range(1, 1_801)}})
    sparse.write({2: {2_000: "def zebra paint the zebra"}})
    asked = [WeightedTerm("the", 0.15), WeightedTerm("paint", 1.0), WeightedTerm("zebra", 1.0)]
    assert sparse.query(asked, 200).ids.tolist()[0] == 2_000


def test_filters_apply_before_the_best_results_are_selected(sparse: SparseBench) -> None:
    sparse.write({file_id: {100 + file_id: "word " * 3} for file_id in range(1, 60)})
    sparse.write({60: {160: _terms("a long text in which the word stands once among the others")}})
    asked = [WeightedTerm("word", 1.0)]
    assert sparse.query(asked, 1, {60}).ids.tolist() == [160]
    assert sparse.query(asked, 10, {60, *range(10**6, 10**6 + 100_000)}).ids.tolist() == [160]
    assert sparse.query(asked, 10, set()).ids.tolist() == []


def test_scores_are_descending_and_results_are_limited(sparse: SparseBench) -> None:
    _write(sparse, *["word " * (1 + at) + "filler " * at for at in range(30)])
    found = sparse.query([WeightedTerm("word", 1.0)], 7)
    assert len(found.ids) == 7
    assert (found.scores[:-1] >= found.scores[1:]).all()
    assert (found.scores > 0).all()


def test_rewriting_or_removing_a_file_deletes_its_old_chunks(sparse: SparseBench) -> None:
    _write(sparse, "zebra stripes", "zebra only", "lion")
    sparse.write({1: {900: "lion"}})
    assert _ids(sparse, "zebra") == [102]
    assert sorted(_ids(sparse, "lion")) == [103, 900]
    sparse.remove([3, 77])
    assert _ids(sparse, "lion") == [900]
