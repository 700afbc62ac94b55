"""Names that resemble a name."""

import difflib
import random

import pytest

from rootle.text.similarity.similar_names import similar_names


def test_the_most_similar_names_come_first() -> None:
    names = ["preheat", "reheat", "prehaeter", "heat", "oven"]
    found = [name for _, name in similar_names("prehaet", names, 0.7)]
    assert found == ["prehaeter", "preheat", "reheat"]
    assert similar_names("prehaet", names, 0.9) == []


def test_the_names_are_those_of_get_close_matches() -> None:
    rng = random.Random(1)
    parts = ["get", "set", "User", "Name", "er", "_"]
    for _ in range(200):
        name, *names = ("".join(rng.choices(parts, k=rng.randint(1, 4))) for _ in range(30))
        names = list(dict.fromkeys(names))
        found = [other for _, other in similar_names(name, names, 0.7)]
        assert found == difflib.get_close_matches(name, names, 3, 0.7)


def test_only_a_few_long_names_are_compared_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(1)
    name, *names = ("".join(rng.choices("ab", k=199)) for _ in range(1_001))
    compared: list[float] = []
    ratio = difflib.SequenceMatcher.ratio

    def count(matcher: difflib.SequenceMatcher[str]) -> float:
        compared.append(ratio(matcher))
        return compared[-1]

    monkeypatch.setattr(difflib.SequenceMatcher, "ratio", count)
    similar_names(name, names, 0.7)
    assert len(compared) <= 3
