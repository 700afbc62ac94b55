"""The types of variables, read from a text without parsing it."""

from __future__ import annotations

import pytest

from rootle.search.symbols.types.variable_types import VariableTypes

GO = """\
func first(store *StateStore, other Reader) {
\tstore.Get()
}

func second(store Cache) {
\tbackup := &StateStore{}
\trestore Cache
}
"""


def test_the_declarations_of_a_variable_are_those_of_the_whole_word() -> None:
    types = VariableTypes(GO, "go")
    assert types.find("store") == {"StateStore", "Cache"}
    assert types.find("backup") == {"StateStore"}
    assert types.find("up") == types.find("$store") == types.find("") == frozenset()


def test_the_declarations_in_a_function_of_go_end_at_the_line_of_the_use() -> None:
    types = VariableTypes(GO, "go")
    assert types.find_in_function("store", GO.index("store.Get")) == {"StateStore"}
    assert types.find_in_function("store", GO.index("\tbackup")) == {"Cache"}
    assert types.find_in_function("other", GO.index("\tbackup")) == frozenset()


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("java", "Store store = open();\nvar other = new Cache();"),
        ("java", "void run(List<Item> store) {}\nStore store;"),
        ("php", "function run(Store $store) {}\n$other = new Cache();"),
        ("python", "store: Store = None\nother = Cache()"),
        ("rust", "let store: &mut Store = x;\nlet other = Cache::new();"),
        ("typescript", "const store: Store = x;\nconst other = await new Cache();"),
    ],
)
def test_types_are_read_before_and_after_a_variable(language: str, text: str) -> None:
    types = VariableTypes(text, language)
    assert "Store" in types.find("store")
    assert types.find("other") <= {"Cache"}
    assert not types.find("x")
