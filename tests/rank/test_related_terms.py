"""Terms that code uses for the everyday words of a question."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from rootle.rank.question.parsed import Question, parse_question
from rootle.rank.question.related_terms import (
    MAX_PHRASE_WORDS,
    RelatedTermTable,
    find_related_terms,
    phrase_key,
    related_words,
)
from rootle.text.stemmer import open_stemmer

stem = open_stemmer()


def table_of(phrases: dict[str, dict[str, float]]) -> RelatedTermTable:
    """Return a table that maps phrases in base form to stemmed terms and their weights."""
    terms = sorted({term for found in phrases.values() for term in found})
    by_key = {phrase_key(stem(phrase)): found for phrase, found in phrases.items()}
    keys = sorted(by_key)
    rows = [[(terms.index(term), weight) for term, weight in by_key[key].items()] for key in keys]
    flat = [row for found in rows for row in found]
    arrays: dict[str, NDArray[Any]] = {
        "keys": np.array(keys, np.uint64),
        "lists": np.arange(len(keys), dtype=np.uint16),
        "starts": np.cumsum([0, *map(len, rows)]).astype(np.uint32),
        "terms": np.array([term for term, _ in flat], np.uint16),
        "weights": np.array([weight * 64 for _, weight in flat], np.uint8),
    }
    return RelatedTermTable(arrays, terms)


TABLE = table_of(
    {
        "basket": {"cart": 1.0, "order": 0.5},
        "give": {"yield": 1.0},
        "give money back": {"refund": 1.5},
        "money": {"price": 1.0, "cart": 0.25},
    }
)


def question(text: str) -> Question:
    return parse_question(text, stem)


def terms_of(text: str) -> list[str]:
    return [term.text for term in find_related_terms(question(text), stem, TABLE)]


def test_the_most_likely_terms_come_first() -> None:
    found = find_related_terms(question("where does this shop count a full basket"), stem, TABLE)
    assert [term.text for term in found] == ["cart", "order"]
    assert [term.weight / found[0].weight for term in found] == [1.0, 0.5]
    assert found[0].weight < 1  # a related term counts less than a word of the question


def test_inflected_words_are_recognized() -> None:
    assert terms_of("what becomes of abandoned baskets after days") == ["cart", "order"]


def test_the_words_of_a_phrase_do_not_count_separately() -> None:
    assert terms_of("how does this shop give money back") == ["refund"]
    assert terms_of("how does this shop give money away") == ["price", "yield", "cart"]


def test_a_term_of_two_words_counts_once() -> None:
    assert terms_of("the money in a basket before checkout") == ["cart", "price", "order"]


def test_words_of_the_question_are_not_repeated() -> None:
    assert terms_of("move the cart into one basket today") == ["order"]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("basket", id="a name"),
        pytest.param("shop basket", id="a topic"),
        pytest.param(
            "Return the basket of a customer. def load_basket(customer_id): ...", id="composed"
        ),
        pytest.param("who calls give_money_back in this basket", id="uses of a name"),
        pytest.param("ValueError: the basket has no money left", id="an error message"),
        pytest.param("the quick brown fox jumped", id="unknown words"),
    ],
)
def test_other_queries_have_no_related_terms(text: str) -> None:
    assert terms_of(text) == []


def test_the_table_of_the_package_knows_everyday_words() -> None:
    asked = question("which saved answer is thrown out first when there is no room left")
    found = [term.text for term in find_related_terms(asked, stem)]
    assert {"evict", "capac"} <= set(found)
    assert len(found) <= 32


def test_irregular_forms_are_recognized() -> None:
    assert find_related_terms(question("which entry gets thrown away when it is old"), stem)
    asked, irregular = (
        {term.text for term in find_related_terms(question(text), stem)}
        for text in ("we throw away this entry quietly", "we threw away this entry quietly")
    )
    assert asked == irregular != set()


def test_a_person_reads_words_and_not_stems() -> None:
    asked = parse_question("which entry goes first when there is no room left", stem)
    found = find_related_terms(asked, stem)
    assert found
    words = related_words(replace(asked, related=found))
    assert "capacity" in words
    assert [stem(word)[0] for word in words] == [term.text for term in found]


def test_long_phrases_are_not_looked_up() -> None:
    words = " ".join(f"word{number}" for number in range(MAX_PHRASE_WORDS + 1))
    long = table_of({words: {"never": 1.0}})
    assert not find_related_terms(question(f"is this found {words}"), stem, long)
