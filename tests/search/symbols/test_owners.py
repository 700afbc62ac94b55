"""The classes, modules and files that definitions and uses belong to."""

from __future__ import annotations

import pytest
from sample import indexed_repository

from rootle import open_app
from rootle.types import SearchQuery, SymbolAnswer, SymbolAspect


def _ask(files: dict[str, str], name: str, aspect: SymbolAspect = "definitions") -> SymbolAnswer:
    repository = indexed_repository(files)
    with open_app(repository.root, index_dir=repository.index_dir) as app:
        return app.symbols(name, aspect)


def _places(answer: SymbolAnswer) -> list[str]:
    return [f"{one.path}:{one.line} {one.kind} {one.scope}" for one in answer.definitions]


def test_another_class_in_the_file_of_a_class_is_not_this_class() -> None:
    code = "record Pair(int A);\n\nclass Request {\n  public bool Same(int a) { return true; }\n}\n"
    answer = _ask({"Pair.cs": code}, "Pair.Same")
    assert answer.definitions == ()
    assert answer.similar == ("class Request > Same",)


def test_a_function_belongs_to_its_file_in_languages_with_modules() -> None:
    answer = _ask({"pair.py": "class Request:\n    def same(self):\n        pass\n"}, "pair.same")
    assert _places(answer) == ["pair.py:2 def class Request"]


def test_a_type_parameter_is_no_base_class() -> None:
    files = {
        "Scope.swift": "struct Scope<Action> {\n  var state: Int\n}\n",
        "Other.swift": "enum Action {\n  case tick\n}\n",
    }
    assert _ask(files, "Scope.tick").definitions == ()


def test_a_constant_of_ruby_can_be_assigned_with_its_module() -> None:
    files = {
        "lib/shop/config.rb": "Shop::Config = Shop::Settings.new\n",
        "lib/shop/api.rb": "module Shop\n  module Api\n    Config = Shop::Other.new\n  end\nend\n",
        "app.rb": "puts Shop::Config.currency\n",
    }
    assert _places(_ask(files, "Shop::Config")) == ["lib/shop/config.rb:1 constant Shop"]
    uses = _ask(files, "Shop::Config", "uses").uses
    assert [(use.path, use.target) for use in uses] == [("app.rb", "lib/shop/config.rb:1")]


def test_an_alias_of_a_type_is_defined_by_its_using_directive() -> None:
    files = {
        "Map.cs": "using Names = System.Collections.Generic.List<string>;\n\n"
        "class Map { Names All; }\n",
    }
    assert _places(_ask(files, "Names")) == ["Map.cs:1 alias "]


def test_a_constant_of_an_enum_with_arguments_is_no_declaration_of_a_function() -> None:
    files = {"Field.java": 'enum Field {\n  AUTHOR("author"),\n  YEAR;\n}\n'}
    assert _places(_ask(files, "AUTHOR")) == ["Field.java:2 variable enum Field"]


def test_a_reference_to_a_method_belongs_to_its_class() -> None:
    files = {
        "Names.java": "class Names {\n  static Names parse(String a) { return null; }\n}\n",
        "Dates.java": "class Dates {\n  static Dates parse(String a) { return null; }\n}\n",
        "App.java": "class App {\n  void run() {\n    all.map(Names::parse);\n"
        "    all.map(Dates::parse);\n  }\n}\n",
    }
    uses = _ask(files, "Names.parse", "uses").uses
    assert [(use.line, use.target) for use in uses] == [(3, "Names.java:2")]


def test_a_static_method_has_no_value_as_its_receiver() -> None:
    files = {
        "Lists.java": "class Lists {\n  static List copy(List all) { return all; }\n}\n",
        "App.java": "import static Lists.copy;\n\nclass App {\n  void run(Stream all) {\n"
        "    all.copy();\n    all.filter(one)\n        .copy();\n    Lists.copy(all);\n"
        "    copy(all);\n  }\n}\n",
    }
    uses = _ask(files, "Lists.copy", "uses").uses
    assert [(use.line, use.kind) for use in uses] == [
        (8, "call"), (9, "call"), (1, "import"),
    ]  # fmt: skip


def test_a_static_method_of_java_can_be_called_on_a_value_of_its_class() -> None:
    files = {
        "A.java": "class A {\n  static int f(int x) { return x; }\n}\n",
        "B.java": "class B {\n  A a;\n"
        "  int g(Other b) {\n    b.f(2);\n    return a.f(1);\n  }\n}\n",
        "Other.java": "class Other {\n  int f(int x) { return x; }\n}\n",
    }
    uses = _ask(files, "A.f", "uses").uses
    assert [(use.path, use.line, use.target) for use in uses] == [("B.java", 5, "A.java:2")]


def test_an_extension_method_has_a_value_as_its_receiver() -> None:
    files = {
        "Lists.cs": "static class Lists {\n"
        "  public static int Size(this Names all) { return 1; }\n}\n",
        "App.cs": "class App {\n  void Run() { Names.All().Size(); }\n}\n",
    }
    assert [use.line for use in _ask(files, "Lists.Size", "uses").uses] == [2]


PATHS = {
    "shop/order.rb": "class Order\n  def total\n    1\n  end\nend\n",
    "shop/cart.rb": "class Cart\n  def total\n    Order.new.total\n  end\nend\n",
    "app.rb": "order = Order.new\norder.total\ncart = Cart.new\ncart.total\n",
}


@pytest.mark.parametrize("name", ["shop/order.rb#total", "order.rb#total", "order.rb#Order.total"])
def test_a_name_with_the_path_of_a_file_is_about_the_definition_in_this_file(name: str) -> None:
    assert _places(_ask(PATHS, name)) == ["shop/order.rb:2 def class Order"]
    uses = _ask(PATHS, name, "uses").uses
    assert ("app.rb", 2) in [(use.path, use.line) for use in uses]
    assert ("app.rb", 4) not in [(use.path, use.line) for use in uses]
    assert _ask(PATHS, "other.rb#total").definitions == ()


def test_a_file_name_with_two_dots_is_only_a_path() -> None:
    code = "namespace Shop {\n  partial class Cart {\n    int Total() { return 1; }\n  }\n}\n"
    for name in ("Cart.Api.cs#Total", "Cart.Api.cs#Cart.Total"):
        assert [one.line for one in _ask({"Cart.Api.cs": code}, name).definitions] == [3]
    tests = {"lib/foo.test.ts": "export function setUp() {\n  return 1;\n}\n"}
    assert [one.line for one in _ask(tests, "foo.test.ts#setUp").definitions] == [1]


def test_an_owner_after_a_path_is_a_class_even_if_the_file_has_its_name() -> None:
    files = {
        "Cart.java": "class Cart {\n  int total() { return 1; }\n"
        "  static class Line {\n    int total() { return 2; }\n  }\n}\n",
    }
    assert [one.line for one in _ask(files, "Cart.java#Cart.total").definitions] == [2]
    assert [one.line for one in _ask(files, "Cart.java#Line.total").definitions] == [4]
    assert [one.line for one in _ask(files, "Cart.java#total").definitions] == [2, 4]


def test_a_function_in_the_file_of_a_path_is_used_through_its_module() -> None:
    files = {
        "shop/cart.py": "def total():\n    return 1\n",
        "shop/order.py": "def total():\n    return 2\n",
        "app.py": "from shop import cart, order\n\ncart.total()\norder.total()\n",
    }
    uses = _ask(files, "shop/cart.py#total", "uses").uses
    assert [(use.path, use.line, use.target) for use in uses] == [("app.py", 3, "shop/cart.py:1")]


def test_a_query_with_the_path_of_a_file_and_a_name_finds_the_definition_in_this_file() -> None:
    repository = indexed_repository(PATHS)
    with open_app(repository.root, index_dir=repository.index_dir) as app:
        response = app.search(SearchQuery("shop/order.rb#total"))
    assert response.symbols is not None
    assert [one.path for one in response.symbols.definitions] == ["shop/order.rb"]
