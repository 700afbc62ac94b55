"""Tests and functions that a report names without a full place lead to their definitions."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sample import indexed_repository

from rootle import open_app
from rootle.app import App
from rootle.search.query.test_reports import read_reported_tests

FILES = {
    "tests/test_pool.py": """\
class TestPool:
    def test_open(self):
        pass

    def test_reuse(self):
        pass


def test_reuse():
    pass
""",
    "tests/test_other.py": "class TestOther:\n    def test_reuse(self):\n        pass\n",
    "store/pool_test.go": "package store\n\nfunc TestPool(t *testing.T) {\n}\n",
    "src/pool_test.cc": "TEST(OtherTest, Reuse) {\n}\n\nTEST_F(PoolTest, Reuse) {\n}\n",
    "src/test/java/org/shop/CartTest.java": """\
package org.shop;

class CartTest {
  @Test
  void adds() {
    assertEquals(1, 2);
  }
}
""",
    "tests/Store/CartTest.php": """\
<?php
namespace Shop\\Store;

class CartTest extends TestCase
{
    public function testAdds(): void
    {
    }
}
""",
    "test/Retry.Tests/RetryTests.cs": """\
namespace Retry.Tests;

public class RetryTests
{
    [Fact]
    public void Waits()
    {
    }
}
""",
    "src/net.rs": "pub fn run() {}\n\nmod tests {\n    #[test]\n    fn waits() {}\n}\n",
    "core/spec/cart_spec.rb": "describe Cart do\n  it 'adds an item' do\n  end\nend\n",
    "web/cart.test.ts": "describe('Cart', () => {\n  test('adds an item', () => {\n  })\n})\n",
    "test/test_binder.rb": "class TestBinder\n  def test_close\n  end\nend\n",
}


@pytest.fixture(scope="module")
def app() -> Iterator[App]:
    repository = indexed_repository(FILES)
    with open_app(repository.root, index_dir=repository.index_dir) as app:
        yield app


@pytest.mark.parametrize(
    ("query", "path", "line"),
    [
        ("tests/test_pool.py::TestPool::test_reuse", "tests/test_pool.py", 5),
        ("tests/test_pool.py::test_reuse", "tests/test_pool.py", 9),
        ("/ci/w/tests/test_pool.py::TestPool::test_reuse[a/b-1]", "tests/test_pool.py", 5),
        (r"C:\w\tests\test_pool.py::TestPool::test_reuse", "tests/test_pool.py", 5),
        (
            "FAILED tests/test_pool.py::TestPool::test_reuse - AssertionError: assert 3 == 4",
            "tests/test_pool.py",
            5,
        ),
        ("_________ TestPool.test_reuse[1] _________", "tests/test_pool.py", 5),
        ("FAIL: test_reuse (tests.test_pool.TestPool.test_reuse)", "tests/test_pool.py", 5),
        ("ERROR: test_reuse (tests.test_pool.TestPool)", "tests/test_pool.py", 5),
        ("--- FAIL: TestPool (0.02s)", "store/pool_test.go", 3),
        ("    --- FAIL: TestPool/reuse (0.02s)", "store/pool_test.go", 3),
        ("--- FAIL: TestPool/reuse (0.02s)\n    pool_test.go:4: got 3", "store/pool_test.go", 4),
        ("[  FAILED  ] PoolTest.Reuse (2 ms)", "src/pool_test.cc", 4),
        (
            "[ERROR]   CartTest.adds:6 expected: <1> but was: <2>",
            "src/test/java/org/shop/CartTest.java",
            6,
        ),
        (
            "[ERROR] org.shop.CartTest.adds -- Time elapsed: 0.1 s <<< FAILURE!",
            "src/test/java/org/shop/CartTest.java",
            5,
        ),
        ("CartTest > adds() FAILED", "src/test/java/org/shop/CartTest.java", 5),
        (
            "1) Shop\\Store\\CartTest::testAdds with data set #0 ('0.9', '1.0')",
            "tests/Store/CartTest.php",
            6,
        ),
        ("  Failed Retry.Tests.RetryTests.Waits [3 ms]", "test/Retry.Tests/RetryTests.cs", 6),
        ("   at Retry.Tests.RetryTests.Waits(String s)", "test/Retry.Tests/RetryTests.cs", 6),
        ("test tests::waits ... FAILED", "src/net.rs", 5),
        ("---- tests::waits stdout ----", "src/net.rs", 5),
        ("rspec './spec/cart_spec.rb[1:1]' # Cart adds an item", "core/spec/cart_spec.rb", 2),
        (" FAIL  web/cart.test.ts > Cart > adds an item", "web/cart.test.ts", 2),
        (" FAIL  web/cart.test.ts\n  ● Cart › adds an item\n", "web/cart.test.ts", 2),
        ("TestBinder#test_close = 0.01 s = F", "test/test_binder.rb", 2),
    ],
)
def test_a_reported_test_is_the_first_result(query: str, path: str, line: int, app: App) -> None:
    first = app.search(query).results[0]
    assert (first.file_path, (first.matching_lines or ())[:1]) == (path, (line,))
    assert first.start_line <= line <= first.end_line


def test_a_test_that_is_not_found_leads_to_its_file(app: App) -> None:
    first = app.search("tests/test_pool.py::TestPool::test_removed").results[0]
    assert (first.file_path, first.matching_lines) == ("tests/test_pool.py", (1,))


@pytest.mark.parametrize(
    "query",
    [
        "test pool reuse",
        "FAIL if the pool is reused",
        "how does TestPool fail",
        "FAILED tests of a pool",
        "std::path::Path::new and tests::waits",
        "net.rs tests::waits",
        "1) open a pool",
        "at CartTest adds",
        "CartTest adds",
        "rspec of the cart",
    ],
)
def test_keywords_are_no_report(query: str) -> None:
    assert read_reported_tests(query) == []


SAME_TITLES = """\
describe("a pool", () => {
  describe("when empty", () => {
    it("opens a connection", () => {});
  });
  describe("when full", () => {
    it("opens a connection", () => {});
  });
});
describe("a queue", () => {
  describe("when empty", () => {
    it("opens a connection", () => {});
  });
});
"""


@pytest.mark.parametrize(
    ("titles", "line"),
    [
        ("a pool > when empty", 3),
        ("a pool > when full", 6),
        ("a queue > when empty", 11),
    ],
)
def test_a_title_in_several_groups_leads_only_to_the_test_in_its_group(
    titles: str, line: int
) -> None:
    repository = indexed_repository({"web/pool.test.js": SAME_TITLES, "web/pool.js": "run();\n"})
    query = f" FAIL  web/pool.test.js > {titles} > opens a connection"
    with open_app(repository.root, index_dir=repository.index_dir) as opened:
        first = opened.search(query).results[0]
    assert (first.file_path, first.matching_lines) == ("web/pool.test.js", (line,))


def test_a_test_outside_of_classes_is_not_that_of_a_class(app: App) -> None:
    first = app.search("tests/test_pool.py::test_reuse").results[0]
    assert first.matching_lines == (9,)
