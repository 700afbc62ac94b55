"""Uses of functions that one class or module defines several times."""

from __future__ import annotations

import pytest
from sample import indexed_repository

from rootle import open_app

# For each language: the files, the name, and the uses with the place of the definition.
OVERLOADS = {
    "elixir": (
        {
            "lib/walk.ex": "defmodule Shop.Walk do\n  def walk(node, fun), do: fun.(node)\n"
            "  def walk(node, acc, fun), do: fun.(node, acc)\nend\n",
            "lib/tree.ex": "defmodule Shop.Tree do\n  def walk(node), do: node\nend\n",
            "lib/run.ex": "defmodule Shop.Run do\n  alias Shop.Walk\n\n"
            "  def run(node), do: Walk.walk(node, &print/1)\nend\n",
        },
        "Shop.Walk.walk",
        ["lib/run.ex:4 lib/walk.ex:2"],
    ),
    "swift, with an extension": (
        {
            "Store.swift": "class Store {\n  func send(_ one: Int) {}\n}\n",
            "More.swift": "extension Store {\n  func send(_ one: Int, again: Bool) {}\n}\n",
            "Other.swift": "class Other {\n  func send() {}\n}\n",
            "Run.swift": "func run() {\n  let store = Store()\n  store.send(1)\n}\n",
        },
        "Store.send",
        ["Run.swift:3 Store.swift:2"],
    ),
    "scala": (
        {
            "Cart.scala": "class Cart {\n  def add(one: Int) = 1\n"
            "  def add(one: Int, two: Int) = 2\n}\n",
            "Other.scala": "class Other {\n  def add() = 1\n}\n",
            "Run.scala": "object Run {\n  def run(cart: Cart) = cart.add(1)\n}\n",
        },
        "Cart.add",
        ["Run.scala:2 Cart.scala:2"],
    ),
}


@pytest.mark.parametrize("language", OVERLOADS)
def test_a_use_leads_to_the_first_of_the_overloads_of_its_class(language: str) -> None:
    files, name, expected = OVERLOADS[language]
    repository = indexed_repository(files)
    with open_app(repository.root, index_dir=repository.index_dir) as app:
        answer = app.symbols(name, "uses")
    assert [f"{use.path}:{use.line} {use.target}" for use in answer.uses] == expected


def test_overloads_in_two_classes_with_the_same_name_are_not_one_definition() -> None:
    files = {
        "a/Cart.scala": "class Cart {\n  def add(one: Int) = 1\n}\n",
        "b/Cart.scala": "class Cart {\n  def add(one: Int) = 1\n}\n",
        "Run.scala": "object Run {\n  def run(cart: Cart) = cart.add(1)\n}\n",
    }
    repository = indexed_repository(files)
    with open_app(repository.root, index_dir=repository.index_dir) as app:
        answer = app.symbols("Cart.add", "uses")
    assert [use.target for use in answer.uses] == [""]


def test_a_specification_of_elixir_is_neither_a_definition_nor_a_call() -> None:
    files = {
        "lib/cart.ex": "defmodule Cart do\n  @spec total(list) :: integer\n"
        "  def total(items), do: sum(items)\n"
        "  def total(items, tax), do: total(items) + tax\nend\n",
    }
    repository = indexed_repository(files)
    with open_app(repository.root, index_dir=repository.index_dir) as app:
        answer = app.symbols("total", "uses")
    assert [one.line for one in answer.definitions] == [3, 4]
    assert sorted((use.line, use.kind) for use in answer.uses) == [(2, "type"), (4, "call")]


def test_a_module_of_elixir_is_used_under_its_full_name_or_an_alias() -> None:
    files = {
        "lib/type.ex": "defmodule Shop.Type.Item do\n  defstruct [:a]\nend\n",
        "lib/input.ex": "defmodule Shop.Input.Item do\n  defstruct [:a]\nend\n",
        "lib/run.ex": (
            "defmodule Shop.Run do\n  alias Shop.{Input, Type}\n  alias Shop.Type.Item, as: Thing\n"
            "  def f(%Type.Item{a: 1}), do: %Shop.Type.Item{}\n"
            "  def g(%Input.Item{}), do: %Thing{}\nend\n"
        ),
    }
    repository = indexed_repository(files)
    with open_app(repository.root, index_dir=repository.index_dir) as app:
        answer = app.symbols("Shop.Type.Item", "uses")
    assert [(use.line, use.target) for use in answer.uses] == [
        (4, "lib/type.ex:1"),
        (5, "lib/type.ex:1"),
        (3, "lib/type.ex:1"),
    ]
