"""The tests of a module or a file."""

from __future__ import annotations

from sample import indexed_repository

from rootle import open_app
from rootle.serialization.symbols import describe_definitions, describe_uses
from rootle.types import SearchQuery

FILES = {
    "core/src/lib.rs": "pub mod surround;\npub mod textobject;\n",
    "core/src/surround.rs": (
        "pub fn find() {}\n\n#[cfg(test)]\nmod test {\n    use super::*;\n\n"
        "    #[test]\n    fn finds_pairs() {\n        find();\n    }\n\n    fn helper() {}\n}\n"
    ),
    "core/src/textobject.rs": (
        "pub fn word() {}\n\n#[cfg(test)]\nmod test {\n    #[test]\n    fn words() {}\n}\n"
    ),
    "core/src/syntax.rs": (
        "pub fn query() {}\n\n#[cfg(test)]\nmod test {\n    #[test]\n    fn queries() {\n"
        "        let textobject = query();\n        run(textobject);\n    }\n}\n"
    ),
    "core/src/pairs.rs": "pub fn close() {}\n",
    "core/tests/test/pairs.rs": (
        '#[tokio::test(flavor = "multi_thread")]\n'
        "async fn inserts() -> Result<()> {\n    Ok(())\n}\n"
    ),
    "lib/Store.java": "class Store { void put() {} }\n",
    "test/ATest.java": "class ATest {\n  @Test void a() { new Store(); }\n}\n",
    "test/StoreTest.java": (
        "class StoreTest {\n  @Test\n  void puts() { new Store().put(); }\n  void setUp() {}\n}\n"
    ),
    "shop/matching.py": "def find():\n    return 1\n",
    "tests/test_matching.py": "class TestFind:\n    def test_one(self):\n        pass\n",
    "tests/fixtures/matching.yaml": "matching: 1\n",
}


# A group of busted with a test, one without, and a test that is not run.
BUSTED = (
    'local list = require("shop.list")\n\ndescribe("shop.list", function()\n'
    '  describe("a full list", function()\n    it("has a total", function()\n'
    "      assert.equal(list.total(), 1)\n    end)\n  end)\n"
    '  describe("an empty list", function()\n    assert.equal(list.total(), 0)\n  end)\n'
    '  -- it("is sorted", function() end)\n  pending("is sorted")\nend)\n'
)
QUALIFIED = {
    "lib/shop/list.lua": "local list = {}\n\nfunction list.total() end\n\nreturn list\n",
    "lib/other/list.lua": "local list = {}\n\nreturn list\n",
    "spec/shop/list_spec.lua": BUSTED,
    "spec/other/list_spec.lua": 'it("is another list", function() end)\n',
    "lib/shop/order.rb": "module Shop\n  class Order\n  end\nend\n",
    "spec/order_spec.rb": 'describe "orders" do\n  it "has a date" do\n  end\nend\n',
    "tests/list_suite.lua": "TestList = {}\n\nfunction TestList:testTotal()\nend\n",
}


def _list_tests(name: str, files: dict[str, str] = FILES) -> list[tuple[str, int, str]]:
    repository = indexed_repository(files)
    with open_app(repository.root, index_dir=repository.index_dir) as app:
        uses = app.symbols(name, "tests").uses
    return [(use.path, use.line, use.kind) for use in uses]


def test_tests_of_a_module_are_those_in_its_file() -> None:
    assert _list_tests("surround") == [("core/src/surround.rs", 8, "test")]


def test_a_local_variable_is_not_what_a_test_covers() -> None:
    assert _list_tests("textobject") == [("core/src/textobject.rs", 6, "test")]


def test_tests_in_a_test_file_of_the_name_are_list_tests() -> None:
    assert _list_tests("pairs") == [("core/tests/test/pairs.rs", 2, "test")]


def test_the_test_class_of_the_name_comes_first() -> None:
    assert _list_tests("Store") == [
        ("test/StoreTest.java", 3, "test"),
        ("test/ATest.java", 2, "call"),
    ]


def test_the_name_of_a_file_finds_its_tests() -> None:
    assert _list_tests("surround.rs") == [("core/src/surround.rs", 8, "test")]


def test_a_question_about_tests_of_a_module_lists_them_before_other_files() -> None:
    repository = indexed_repository(FILES)
    with open_app(repository.root, index_dir=repository.index_dir) as app:
        response = app.search(SearchQuery("which tests cover matching"))
    assert response.symbols is not None
    assert describe_definitions(response.symbols) == "1 file of matching"
    assert describe_uses(response.symbols) == "1 test of matching"
    assert response.results[0].file_path == "tests/test_matching.py"


def test_no_test_of_a_name_is_not_claimed_beyond_its_lines() -> None:
    repository = indexed_repository(FILES)
    with open_app(repository.root, index_dir=repository.index_dir) as app:
        answer = app.symbols("close", "tests")
    assert describe_uses(answer) == "no test contains close"


def test_a_qualified_name_finds_the_test_file_of_its_module() -> None:
    tests = _list_tests("shop.list", QUALIFIED)
    assert tests[:3] == [
        ("spec/shop/list_spec.lua", 5, "test"),
        ("spec/shop/list_spec.lua", 9, "test"),
        ("spec/shop/list_spec.lua", 13, "test"),
    ]
    assert {path for path, _, _ in tests} == {"spec/shop/list_spec.lua"}
    assert _list_tests("Shop::Order", QUALIFIED) == [("spec/order_spec.rb", 2, "test")]


def test_a_method_of_a_table_of_lua_whose_name_begins_with_test_is_a_test() -> None:
    assert _list_tests("list_suite", QUALIFIED) == [("tests/list_suite.lua", 3, "test")]
