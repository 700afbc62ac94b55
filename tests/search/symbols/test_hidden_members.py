"""Fields and similar members whose names are also those of other definitions."""

from __future__ import annotations

import pytest
from sample import indexed_repository

from rootle import open_app
from rootle.types import SymbolAnswer, SymbolAspect

# For each case: the files, the name, and the places of all its definitions.
SHARED = {
    "field of C++": (
        {
            "config.h": "struct Data {\n  bool verbose = false;\n};\n\n"
            "class Config {\n  bool verbose() const { return data_.verbose; }\n  Data data_;\n};\n",
        },
        "verbose",
        ["config.h:2", "config.h:6"],
    ),
    "parameter of a record of C#": (
        {
            "TypePair.cs": "public record struct TypePair(Type Source, Type Target);\n",
            "Map.cs": "class Map {\n  TypePair Types;\n  public Type Target => Types.Target;\n}\n",
        },
        "Target",
        ["Map.cs:3", "TypePair.cs:1"],
    ),
    "accessor and association of Ruby": (
        {
            "order.rb": "class Order\n  def action\n    1\n  end\nend\n",
            "credit.rb": "class Credit\n  attr_accessor :amount, :action\nend\n",
            "item.rb": "class Item\n  belongs_to :action\n  validates :action\nend\n",
        },
        "action",
        ["order.rb:2", "credit.rb:2", "item.rb:2"],
    ),
    "attribute of Python": (
        {
            "job.py": "class Job:\n    def __init__(self, state):\n        self.state = state\n"
            "        if self.state == 1:\n            pass\n",
            "flow.py": "class Flow:\n    def state(self):\n        return 1\n",
        },
        "state",
        ["flow.py:2", "job.py:3"],
    ),
    "fields of Go that are declared together": (
        {
            "box.go": "package box\n\ntype Box struct {\n\twidth, height int\n}\n",
            "page.go": "package box\n\nfunc height(one Box) int {\n\treturn one.height\n}\n",
        },
        "height",
        ["page.go:3", "box.go:4"],
    ),
    "promoted parameter of PHP": (
        {
            "a.php": (
                "<?php\nclass A {\n  public function __construct(private string $title) {}\n}\n"
            ),
            "b.php": "<?php\nclass B {\n  public function title() { return $this->a->title; }\n}\n",
        },
        "title",
        ["b.php:3", "a.php:3"],
    ),
    "requirement of a protocol of Swift": (
        {
            "Shape.swift": "protocol Shape {\n  var area: Int { get }\n}\n\n"
            "extension Shape {\n  var area: Int { 1 }\n}\n",
        },
        "area",
        ["Shape.swift:6", "Shape.swift:2"],
    ),
    "delegated method of Ruby with another name": (
        {
            "order.rb": "class Order\n  delegate :label, to: :box, prefix: true\n"
            "  delegate :id, :label, to: :bag, prefix: false\nend\n",
            "box.rb": "class Box\n  def label\n  end\nend\n",
        },
        "label",
        ["box.rb:2", "order.rb:3"],
    ),
    "initializers of Swift": (
        {
            "Store.swift": "class Store {\n  init(a: Int) {\n    self.a = a\n  }\n\n"
            "  convenience init?() {\n    self.init(a: 1)\n  }\n}\n",
            "Item.swift": "struct Item {\n  init() {}\n}\nlet item = Item.init()\n",
        },
        "Store.init",
        ["Store.swift:2", "Store.swift:6"],
    ),
    "namespace of C#": (
        {
            "Item.cs": "namespace Shop.Cart {\n  class Item {}\n}\n",
            "Bag.cs": "using Shop.Cart;\nnamespace Shop.Cart;\nclass Bag {}\n",
            "Size.cs": "namespace Shop.Cart.Sizes;\nclass Size {}\n",
        },
        "Cart",
        ["Bag.cs:2", "Item.cs:1"],
    ),
    "macros inside an enum of C": (
        {
            "kind.h": "enum kind {\n  FIRST = 1,\n#define FIRST FIRST\n  SECOND,\n"
            "#define SECOND SECOND\n};\n",
        },
        "SECOND",
        ["kind.h:4", "kind.h:5"],
    ),
}


def _ask(files: dict[str, str], name: str, aspect: SymbolAspect) -> SymbolAnswer:
    repository = indexed_repository(files)
    with open_app(repository.root, index_dir=repository.index_dir) as app:
        return app.symbols(name, aspect)


@pytest.mark.parametrize("case", SHARED)
@pytest.mark.parametrize("aspect", ["definitions", "uses"])
def test_a_field_with_the_name_of_another_definition_is_shown(
    case: str, aspect: SymbolAspect
) -> None:
    files, name, places = SHARED[case]
    answer = _ask(files, name, aspect)
    assert {f"{one.path}:{one.line}" for one in answer.definitions} == set(places)


def test_a_member_of_a_class_is_preferred_to_that_of_its_base_class() -> None:
    files = {
        "Qualifier.kt": "interface Qualifier {\n    val value: String\n}\n",
        "Text.kt": "class Text(override val value: String) : Qualifier\n",
    }
    answer = _ask(files, "Text.value", "definitions")
    assert [one.path for one in answer.definitions] == ["Text.kt"]


def test_a_use_of_another_field_is_no_use_of_a_member() -> None:
    files, _, _ = SHARED["parameter of a record of C#"]
    answer = _ask(files, "Map.Target", "uses")
    assert [use.line for use in answer.uses] == []


def test_options_with_the_name_of_a_function_define_nothing() -> None:
    files = {
        "load.js": "export function timeout() {}\n",
        "settings.js": "module.exports = {\n  timeout: 5,\n};\n",
    }
    answer = _ask(files, "timeout", "definitions")
    assert [one.path for one in answer.definitions] == ["load.js"]
