"""The definitions and uses of a name in an indexed repository."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from time import process_time

import pytest
from sample import indexed_repository

from rootle import App, open_app
from rootle.errors import QueryError, StaleCursorError
from rootle.index.reader import FileState, IndexReader
from rootle.search.symbols import finder, name_scan
from rootle.search.symbols.definitions import FoundDefinition
from rootle.search.symbols.name_places import find_name
from rootle.search.symbols.scan_limits import FULL_SCAN
from rootle.serialization.citation import result_spans
from rootle.serialization.symbols import describe_definitions, describe_uses
from rootle.syntax.source_tree import Position
from rootle.types import SearchQuery, SymbolAnswer

FILES = {
    "shop/cart.py": '''\
from shop.prices import total


class Cart:
    """A cart; add() adds."""

    def add(self, item):
        self.items.append(item)

    def fill(self, items):
        for item in items:
            self.add(item)
        return total(self.items)


class Basket(Cart):
    def add(self, item):
        super().add(item)
''',
    "shop/prices.py": """\
def total(items):
    # total of all prices
    return sum(items)


def add(left, right):
    return left + right
""",
    "shop/checkout.py": """\
from shop import prices
from shop.cart import Cart
from shop.prices import add


def pay(unknown):
    cart = Cart()
    cart.add("total")
    unknown.add(2)
    return prices.total([add(1, 2)])
""",
    "tests/test_cart.py": """\
from shop.cart import Basket, Cart
from shop.prices import total


def test_total():
    assert total([1]) == 1


def test_add():
    cart: Cart = Cart()
    cart.add(3)
    Basket().add(4)
""",
    "docs/cart.md": "# Cart\n\n`total` sums the prices of a `Cart`.\n",
    "native/queue.h": """\
#ifndef QUEUE_H
#define QUEUE_H
#define QUEUE_MAX 64
int queue_push(struct queue *q, int value);
#endif
""",
    "native/queue.c": """\
#include "queue.h"
static int pushed;
int queue_push(struct queue *q, int value) {
    pushed++;
    return q->size < QUEUE_MAX;
}
""",
    "native/main.cpp": """\
namespace jobs {
class Runner { public: void run(); };
void Runner::run() { queue_push(nullptr, QUEUE_MAX); }
}
""",
    "web/index.ts": 'export { render } from "./render";\n',
    "web/render.ts": "export function render(page: string): string { return page; }\n",
    "web/app.ts": 'import { render } from "./index";\nconsole.log(render("x"));\n',
    "go/server.go": """\
package server

type Server struct{}

func (s *Server) Close() { s.stop() }

func (s *Server) stop() {}

type Client struct{}

func (c *Client) Close() { c.stop() }

func (c *Client) stop() {}
""",
}


def _open(files: Mapping[str, str]) -> App:
    """Return an app for a repository that has these files and is already indexed."""
    repository = indexed_repository(files)
    return open_app(repository.root, index_dir=repository.index_dir)


@pytest.fixture(scope="module")
def app() -> Iterator[App]:
    with _open(FILES) as opened:
        yield opened


def places(answer: SymbolAnswer) -> list[str]:
    return [f"{symbol.path}:{symbol.line}" for symbol in answer.definitions]


def rows(answer: SymbolAnswer) -> list[tuple[str, int, str]]:
    return [(use.path, use.line, use.kind) for use in answer.uses]


def test_a_question_about_a_word_without_a_definition_reads_no_file(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []

    def record(_index: IndexReader, state: FileState, _name: str) -> None:
        read.append(state.path)

    monkeypatch.setattr(name_scan, "read_occurrences", record)
    assert app.search("where is sums defined").symbols is None
    assert app.search("sums").symbols is None
    assert read == []


def test_the_definition_has_its_lines_and_scope(app: App) -> None:
    answer = app.symbols("fill")
    (symbol,) = answer.definitions
    assert (symbol.path, symbol.line, symbol.end_line) == ("shop/cart.py", 10, 13)
    assert (symbol.kind, symbol.scope, symbol.language) == ("def", "class Cart", "python")
    assert symbol.signature == "def fill(self, items):"
    assert answer.uses == ()


def test_uses_are_complete_and_ordered_from_calls_to_documents(app: App) -> None:
    answer = app.symbols("total", "uses")
    assert rows(answer) == [
        ("shop/cart.py", 13, "call"),
        ("shop/checkout.py", 10, "call"),
        ("shop/cart.py", 1, "import"),
        ("tests/test_cart.py", 6, "call"),
        ("tests/test_cart.py", 2, "import"),
        ("shop/prices.py", 2, "comment"),
        ("shop/checkout.py", 8, "string"),
        ("docs/cart.md", 3, "document"),
    ]
    assert answer.total_uses == 8
    assert answer.counts == {"call": 3, "import": 2, "comment": 1, "string": 1, "document": 1}
    assert answer.is_complete
    assert [use.scope for use in answer.uses[:2]] == ["class Cart > def fill", "def pay"]
    assert [use.is_test for use in answer.uses] == [use.path[:5] == "tests" for use in answer.uses]


def test_the_uses_that_the_code_resolves_name_their_definition(app: App) -> None:
    targets = {(use.path, use.line): use.target for use in app.symbols("total", "uses").uses}
    assert targets["shop/cart.py", 13] == "shop/prices.py:1"
    assert targets["shop/checkout.py", 10] == "shop/prices.py:1"
    assert targets["docs/cart.md", 3] == ""


@pytest.mark.slow
def test_a_use_on_the_line_of_a_definition_is_counted() -> None:
    text = "def size(): return 1\n\n\nclass Box:\n    def size(self): return size()\n"
    with _open({"box.py": text, "other.py": "import box\nbox.size()\n"}) as app:
        assert app.symbols("size").total_uses == app.symbols("size", "uses").total_uses == 2


def test_every_definition_of_a_repeated_name_is_listed(app: App) -> None:
    assert places(app.symbols("add")) == ["shop/prices.py:6", "shop/cart.py:7", "shop/cart.py:17"]


def test_methods_of_one_name_are_distinguished_by_their_class(app: App) -> None:
    answer = app.symbols("Cart.add", "uses")
    assert places(answer) == ["shop/cart.py:7"]
    found = {(use.path, use.line): use.target for use in answer.uses}
    assert found["shop/cart.py", 12] == "shop/cart.py:7"  # self.add in the class
    assert found["shop/checkout.py", 8] == "shop/cart.py:7"  # cart = Cart()
    assert found["tests/test_cart.py", 11] == "shop/cart.py:7"  # cart: Cart
    assert found["shop/checkout.py", 9] == ""  # the receiver is not known, so only the name matches
    assert ("tests/test_cart.py", 12) not in found  # Basket().add is another method
    assert ("shop/checkout.py", 10) not in found  # the function of another module


ONE_LINE_FOR_TWO_CLASSES = {
    "a.py": """\
class Opts:
    def limit(self): return 1
class Req:
    def limit(self): return 2
def run(o: Opts, r: Req):
    x = r.limit() + o.limit()
    y = o.limit() + r.limit()
    return o.limit()
""",
    "a.ts": """\
export class Opts { limit(): number { return 1 } }
export class Req { limit(): number { return 2 } }
export function run(o: Opts, r: Req) {
  const x = r.limit() + o.limit()
  const y = o.limit() + r.limit()
  return x + y
}
""",
    "a.go": """\
package a
type Opts struct{}
func (o *Opts) Limit() int { return 1 }
type Req struct{}
func (r *Req) Limit() int { return 2 }
func Run(o *Opts, r *Req, u any) int {
	x := r.Limit() + o.Limit()
	y := u.Limit() + o.Limit()
	return x + y
}
""",
}


@pytest.mark.slow
def test_a_line_with_members_of_two_classes_is_a_use_of_both() -> None:
    with _open(ONE_LINE_FOR_TWO_CLASSES) as app:
        found = {
            name: [(use.path, use.line, bool(use.target)) for use in app.symbols(name, "uses").uses]
            for name in ("Opts.limit", "Req.limit", "Opts.Limit")
        }
    assert found == {
        "Opts.limit": [
            *[("a.py", line, True) for line in (6, 7, 8)],
            *[("a.ts", line, True) for line in (4, 5)],
        ],
        "Req.limit": [
            *[("a.py", line, True) for line in (6, 7)],
            *[("a.ts", line, True) for line in (4, 5)],
        ],
        "Opts.Limit": [("a.go", 7, True), ("a.go", 8, True)],
    }


def test_a_module_qualifies_a_function(app: App) -> None:
    assert places(app.symbols("prices.add")) == ["shop/prices.py:6"]
    assert places(app.symbols("shop.prices.add")) == ["shop/prices.py:6"]


def test_methods_with_a_receiver_are_distinguished_in_go(app: App) -> None:
    answer = app.symbols("Server.stop", "uses")
    assert places(answer) == ["go/server.go:7"]
    assert rows(answer) == [("go/server.go", 5, "call")]


def test_macros_declarations_and_variables_are_definitions(app: App) -> None:
    assert places(app.symbols("QUEUE_MAX")) == ["native/queue.h:3"]
    assert app.symbols("QUEUE_MAX").definitions[0].kind == "macro"
    assert places(app.symbols("pushed")) == ["native/queue.c:2"]
    found = app.symbols("queue_push")
    assert places(found) == ["native/queue.c:3", "native/queue.h:4"]
    assert [symbol.kind for symbol in found.definitions] == ["function", "declaration"]


def test_a_method_outside_of_its_class_is_found_by_both_names(app: App) -> None:
    assert places(app.symbols("Runner::run")) == ["native/main.cpp:3", "native/main.cpp:2"]
    assert places(app.symbols("jobs::Runner")) == ["native/main.cpp:2"]


NAMES_WITH_SIGNS = {
    "point.hpp": """\
struct Point {
    Point operator+(const Point& other) const;
    Point operator++();
    int operator()(int factor) { return factor; }
};
Point Point::operator+(const Point& other) const { return Point{}; }
""",
    "queue.js": """\
class Queue {
  #grow() {}
  add(item) { this.#grow(); }
}
""",
    "src/user.php": """\
<?php
namespace App\\Models;
class User {
    public static $count = 0;
    function rename() { self::$count++; }
}
""",
    "src/page.php": "<?php\nuse App\\Models\\User;\n$user = new User();\n",
    "server.go": "package tool\n\nfunc Start(port int) {}\n",
    "cmd/main.go": "package main\n\nfunc main() { tool.Start(1) }\n",
    "Sum.hs": """\
module Sum where

total :: [Int] -> Int
total xs = total' xs 0

total' :: [Int] -> Int -> Int
total' [] n = n
""",
    "src/Table.java": """\
package com.example;
class Table {
    void put(String key, int value) {}
    void fill() { put("a", 1); }
}
""",
}


@pytest.fixture(scope="module")
def app_with_signs() -> Iterator[App]:
    with _open(NAMES_WITH_SIGNS) as opened:
        yield opened


@pytest.mark.parametrize(
    ("name", "definitions", "uses"),
    [
        ("Point::operator+", ["point.hpp:6", "point.hpp:2"], []),
        ("Point::operator()", ["point.hpp:4"], []),
        ("#grow", ["queue.js:2"], [("queue.js", 3, "call")]),
        ("Queue.#grow", ["queue.js:2"], [("queue.js", 3, "call")]),
        (
            "App\\Models\\User",
            ["src/user.php:3"],
            [("src/page.php", 3, "call"), ("src/page.php", 2, "import")],
        ),
        ("User::$count", ["src/user.php:4"], [("src/user.php", 5, "reference")]),
        ("tool.Start", ["server.go:3"], [("cmd/main.go", 3, "call")]),
        ("com.example.Table", ["src/Table.java:2"], []),
        ("total'", ["Sum.hs:7", "Sum.hs:6"], [("Sum.hs", 4, "call")]),
        ("Table#put(String, int)", ["src/Table.java:3"], [("src/Table.java", 4, "call")]),
    ],
)
def test_a_name_is_found_as_its_language_writes_it(
    name: str, definitions: list[str], uses: list[object], app_with_signs: App
) -> None:
    answer = app_with_signs.symbols(name, "uses")
    assert places(answer) == definitions
    assert rows(answer) == uses


def test_a_re_export_is_an_export(app: App) -> None:
    assert rows(app.symbols("render", "uses")) == [
        ("web/app.ts", 2, "call"),
        ("web/app.ts", 1, "import"),
        ("web/index.ts", 1, "export"),
    ]


def test_tests_and_implementations_are_listed_alone(app: App) -> None:
    assert [row[1] for row in rows(app.symbols("total", "tests"))] == [6, 2]
    assert rows(app.symbols("Cart", "implementations")) == [("shop/cart.py", 16, "implementation")]


IMPLICIT_IN_GO = {
    "render/render.go": """\
package render

import "net/http"

// Render is implemented by JSON and Text.
type Render interface {
	Render(w http.ResponseWriter, code int) error
	Closer
}

type Closer interface{ Close() }

type Body interface{ Render }
""",
    "render/json.go": """\
package render

import "net/http"

type base struct{}

func (base) Close() {}

type (
	JSON struct{ *base }
	Indented struct {
		JSON
	}
)

func (j *JSON) Render(http.ResponseWriter, int) (err error) { return nil }
""",
    "text/text.go": """\
package text

import (
	"net/http"

	"example.org/shop/render"
	other "example.org/shop/web"
)

type Text[T any] struct{ value T }

func (t *Text[T]) Render(w http.ResponseWriter, code int) error { return nil }

type Wrapped struct{ render.Render }

type Foreign struct{ other.Render }

// Short lacks a parameter.
type Short struct{}

func (s Short) Render(w http.ResponseWriter) error { return nil }

func (s Short) Close() {}

// Open has no Close.
type Open struct{}

func (o Open) Render(w http.ResponseWriter, code int) error { return nil }
""",
    "text/close.go": "package text\n\nfunc (t *Text[T]) Close() {}\n",
    "server/context.go": """\
package server

type Context struct{}

func (c *Context) Render(code int, name string) {}
""",
}


@pytest.mark.slow
def test_types_of_go_implement_an_interface_without_naming_it() -> None:
    with _open(IMPLICIT_IN_GO) as app:
        answer = app.symbols("Render", "implementations")
        qualified = app.symbols("render.Render", "implementations")
        filtered = app.search("implementations:Render path:text").symbols
    assert sorted((use.path, use.text) for use in answer.uses) == [
        ("render/json.go", "Indented struct {"),
        ("render/json.go", "JSON struct{ *base }"),
        ("render/render.go", "type Body interface{ Render }"),
        ("text/text.go", "type Text[T any] struct{ value T }"),
        ("text/text.go", "type Wrapped struct{ render.Render }"),
    ]
    assert answer.is_complete
    assert answer.definitions[0].signature == "type Render interface {"
    assert {(use.path, use.line) for use in qualified.uses} == {
        (use.path, use.line) for use in answer.uses
    }
    assert filtered is not None
    assert [use.line for use in filtered.uses] == [10, 14]


LISTERS = {
    "store/lister.go": """\
package store

import (
	"context"
	"io"

	"example.org/app/meta"
)

type Lister interface {
	List(ctx context.Context, fn func(ID, int64) error, out ...io.Writer) (meta.Info, error)
}

type ID [32]byte

type Kind = ID

type memory struct{}

func (m *memory) List(
	c context.Context, f func(id Kind, n int64) error, w ...io.Writer,
) (i meta.Info, err error) {
	return
}
""",
    "disk/disk.go": """\
package disk

import (
	"context"
	"io"

	"example.org/app/meta"
	st "example.org/app/store"
	"other.org/odd"
)

type Disk struct{}

func (d Disk) List(context.Context, func(st.ID, int64) error, ...io.Writer) (meta.Info, error) {
	return meta.Info{}, nil
}

// Odd may use an alias of another module.
type Odd[F any] struct{}

func (o Odd[F]) List(_ context.Context, _ F, _ ...odd.Writer) (meta.Info, error) { panic("") }

type Callback struct{}

func (d Callback) List(context.Context, func(meta.Info) error, ...io.Writer) (meta.Info, error) {
	return meta.Info{}, nil
}

type Slice struct{}

func (d Slice) List(context.Context, func(st.ID, int64) error, []io.Writer) (meta.Info, error) {
	return meta.Info{}, nil
}

type Pointer struct{}

func (d Pointer) List(context.Context, func(st.ID, int64) error, ...io.Writer) (*meta.Info, error) {
	return nil, nil
}

type Info struct{}

type Foreign struct{}

func (d Foreign) List(context.Context, func(st.ID, int64) error, ...io.Writer) (Info, error) {
	return Info{}, nil
}
""",
    "meta/info.go": "package meta\n\ntype Info struct{}\n",
}


def test_methods_of_a_go_implementation_have_the_types_of_the_interface() -> None:
    with _open(LISTERS) as app:
        answer = app.symbols("Lister", "implementations")
    assert [use.text for use in answer.uses] == [
        "type Disk struct{}",
        "type Odd[F any] struct{}",
        "type memory struct{}",
    ]


def test_implementations_in_go_are_lower_bounds_if_files_were_not_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(finder, "FULL_SCAN", replace(FULL_SCAN, parsed_chars=300))
    with _open(IMPLICIT_IN_GO) as app:
        answer = app.symbols("Render", "implementations")
    assert not answer.is_complete


@pytest.mark.parametrize(
    "declaration",
    [
        "type Any interface{}",
        "type Number interface{ ~int | ~string; Close() }",
        "type Loop interface{ Loop2 }\n\ntype Loop2 interface{ Loop }",
    ],
)
def test_interfaces_of_go_without_known_methods_have_no_implementations(declaration: str) -> None:
    name = declaration.split()[1]
    text = f"package a\n\n{declaration}\n\ntype File struct{{}}\n\nfunc (f File) Close() {{}}\n"
    with _open({"a.go": text}) as app:
        answer = app.symbols(name, "implementations")
    assert "File" not in " ".join(use.text for use in answer.uses)


def test_pages_continue_with_the_cursor(app: App) -> None:
    first = app.symbols("total", "uses", limit=3)
    assert (len(first.uses), first.total_uses) == (3, 8)
    second = app.symbols("total", "uses", limit=5, cursor=first.next_cursor)
    assert (second.offset, second.next_cursor) == (3, None)
    assert (*first.uses, *second.uses) == app.symbols("total", "uses").uses
    with pytest.raises(StaleCursorError, match="another question"):
        app.symbols("add", "uses", cursor=first.next_cursor)
    with pytest.raises(StaleCursorError, match="cannot be read"):
        app.symbols("total", "uses", cursor="x")


def test_a_name_that_is_not_defined_has_similar_ones(app: App) -> None:
    answer = app.symbols("queue_puch")
    assert answer.definitions == ()
    assert answer.similar == ("queue_push",)
    assert "class Cart > add" in app.symbols("Shelf.add").similar


@pytest.mark.parametrize("name", ["", "  ", "...", "two words", "x" * 400])
def test_an_invalid_name_is_refused(app: App, name: str) -> None:
    with pytest.raises(QueryError, match="name"):
        app.symbols(name)


def test_an_invalid_limit_is_refused(app: App) -> None:
    with pytest.raises(QueryError, match="limit is 0"):
        app.symbols("total", limit=0)


@pytest.mark.parametrize(
    ("question", "aspect", "first"),
    [
        ("where is total defined", "definitions", "shop/prices.py"),
        ("queue_push", "definitions", "native/queue.c"),
        ("who calls total", "uses", "shop/cart.py"),
        ("tests of total", "tests", "tests/test_cart.py"),
        ("implementations of Cart", "implementations", "shop/cart.py"),
    ],
)
def test_a_question_about_a_name_is_answered_from_the_symbols(
    app: App, question: str, aspect: str, first: str
) -> None:
    response = app.search(question, explain=True)
    assert response.symbols is not None
    assert response.symbols.aspect == aspect
    assert response.results[0].file_path == first
    assert response.confident
    assert response.interpretation is not None
    assert response.interpretation.symbol == f"{aspect} of {response.symbols.name}"


def test_filters_apply_to_the_uses(app: App) -> None:
    response = app.search("who calls total path:tests")
    assert response.symbols is not None
    assert {use.path for use in response.symbols.uses} == {"tests/test_cart.py"}


@pytest.mark.parametrize(
    ("question", "paths"),
    [
        ("who calls total in shop/cart.py", {"shop/cart.py"}),
        ("who calls total in tests and why?", {"tests/test_cart.py"}),
        ("where is queue_push called from native", {"native/main.cpp"}),
    ],
)
def test_a_path_at_the_end_of_a_question_limits_the_uses(
    app: App, question: str, paths: set[str]
) -> None:
    response = app.search(question)
    assert response.symbols is not None
    assert {use.path for use in response.symbols.uses} == paths
    assert {result.file_path for result in response.results} <= {
        *paths,
        "native/queue.c",
        "native/queue.h",
    }
    assert f" in {response.symbols.within} (" in describe_uses(response.symbols)


@pytest.mark.parametrize(
    ("question", "note"),
    [
        ("who calls queue_push in shop/cart.py", "no uses of queue_push in shop/cart.py"),
        ("who calls queue_push in Warehouse", 'no path here contains "Warehouse"'),
    ],
)
def test_uses_in_all_files_are_listed_if_the_path_has_none(
    app: App, question: str, note: str
) -> None:
    response = app.search(question)
    assert response.symbols is not None
    assert response.symbols.uses
    assert any(note in one for one in response.suggestions)


def test_the_results_pass_the_filters_and_definitions_elsewhere_are_only_listed(app: App) -> None:
    response = app.search("uses:total path:docs")
    assert [result.file_path for result in response.results] == ["docs/cart.md"]
    assert response.symbols is not None
    assert places(response.symbols) == ["shop/prices.py:1"]
    assert {use.path for use in response.symbols.uses} == {"docs/cart.md"}


def test_phrases_and_excluded_words_apply_to_an_operator(app: App) -> None:
    whole = app.search("uses:total").symbols
    quoted = app.search('uses:total "assert"').symbols
    excluded = app.search("uses:total -assert -docs").symbols
    unassigned = app.search("symbol:QUEUE_MAX -define").symbols
    assert whole is not None
    assert quoted is not None
    assert excluded is not None
    assert unassigned is not None
    assert ("tests/test_cart.py", 6, "call") in rows(whole)
    assert {use.path for use in quoted.uses} == {"tests/test_cart.py"}
    assert rows(excluded) == [row for row in rows(whole) if row[:2] != ("tests/test_cart.py", 6)]
    assert excluded.total_uses == whole.total_uses - 1
    assert places(unassigned) == []


def test_a_result_shows_a_use_without_the_excluded_word(app: App) -> None:
    response = app.search("uses:queue_push -include -QUEUE_H")
    assert response.results
    spans = [span for result in response.results for span in result_spans(result)]
    assert not any("include" in span.snippet for span in spans)


@pytest.mark.parametrize(
    "question", ["symbol:total symbol:add", "uses:total from:x", "uses:Cart in the shop"]
)
def test_an_operator_among_other_words_is_reported_as_plain_words(app: App, question: str) -> None:
    response = app.search(question)
    assert response.symbols is None
    operator = question.partition(" ")[0]
    assert any(f'"{operator}" is searched as plain words' in note for note in response.suggestions)
    for other in ("uses:total from:2", "how is total used", "uses:total path:docs"):
        assert not any("plain words" in note for note in app.search(other).suggestions)


@pytest.mark.parametrize(
    "question",
    ["how are the prices summed", "who calls nothing_like_it", "who calls total in hurry"],
)
def test_any_other_question_is_answered_as_before(app: App, question: str) -> None:
    assert app.search(question).symbols is None


def test_pages_of_results_about_a_name_do_not_overlap(app: App) -> None:
    first = app.search("who calls total", {"filePaths": ["shop", "tests"]})
    paths = [result.file_path for result in first.results]
    assert len(paths) == len(set(paths))


@pytest.mark.slow
@pytest.mark.parametrize("question", ["spider", "who calls spider", "uses:spider"])
def test_the_pages_of_an_answer_about_a_name_have_each_file_once(question: str) -> None:
    files = {f"tasks/part{at:03}.py": f"run_{at} = spider({at})\n" for at in range(150)}
    files["tasks/spider.py"] = "def spider(value):\n    return value\n"
    paths: list[str] = []
    cursor = None
    with _open(files) as app:
        while not paths or cursor:
            response = app.search(SearchQuery(question, limit=50, cursor=cursor))
            paths += [result.file_path for result in response.results]
            cursor = response.next_cursor
    assert len(paths) == len(set(paths))
    assert set(paths) == set(files)


@pytest.mark.slow
def test_a_search_lists_the_likeliest_of_very_many_definitions_and_says_so() -> None:
    padding = "# " + "x" * 97 + "\n"
    files = {f"handlers/part{at}.py": "def close():\n    pass\n" + padding * 40 for at in range(90)}
    files["tests/test_close.py"] = "def close():\n    pass\n"
    files["handlers/zoo.py"] = "class Pool:\n    def close(self):\n        pass\n"
    files["net/close.py"] = "def close():\n    pass\n"
    with _open(files) as app:
        everything = app.symbols("close")
        asked = app.search("where is close defined?").symbols
        found = app.search("close").symbols
        member = app.search("Pool.close").symbols
    assert asked is not None
    assert len(asked.definitions) == 93
    assert (len(everything.definitions), everything.has_all_definitions) == (93, True)
    assert found is not None
    assert 10 <= len(found.definitions) < 20
    assert not found.has_all_definitions
    assert found.definitions[0].path != "tests/test_close.py"
    assert "net/close.py:1" in places(found)
    assert describe_definitions(found).startswith("at least ")
    assert member is not None
    assert places(member) == ["handlers/zoo.py:2"]
    assert describe_definitions(member) == "1 definition of Pool.close"


@pytest.mark.slow
def test_a_qualified_name_is_found_among_many_definitions_of_its_last_part() -> None:
    files = {f"a/part{at:02}.py": "def close():\n    pass\n" for at in range(30)}
    files["z/pool.py"] = "def close():\n    pass\n"
    files["net/__init__.py"] = "def close():\n    pass\n"
    files["z/things.py"] = (
        "class Pool:\n    def close(self): ...\n\n\n"
        "class Bigger:\n    def open(self, first, second):\n        return first + second\n"
    )
    with _open(files) as app:
        for name, place in (
            ("pool.close", "z/pool.py:1"),
            ("net.close", "net/__init__.py:1"),
            ("Pool.close", "z/things.py:2"),
        ):
            found = app.search(name).symbols
            assert found is not None
            assert places(found) == [place]
            assert found.has_all_definitions


@pytest.mark.slow
def test_definitions_that_are_not_listed_are_not_counted_as_uses() -> None:
    files = {f"part{at:02}.py": "def close():\n    pass\n" for at in range(30)}
    files["user.py"] = "from part01 import close\n"
    with _open(files) as app:
        found = app.search("close").symbols
        everything = app.symbols("close")
    assert found is not None
    assert (len(found.definitions), found.total_uses) == (10, 1)
    assert describe_uses(found) == "used or mentioned on at least 1 other line"
    assert (len(everything.definitions), everything.total_uses) == (30, 1)
    assert describe_uses(everything) == "used or mentioned on 1 other line"


def test_a_name_without_uses_is_said_to_have_none() -> None:
    with _open({"cart.py": "def close():\n    pass\n"}) as app:
        answer = app.symbols("close")
    assert describe_uses(answer) == "not used or mentioned on any other line"


def test_many_uses_leave_the_number_of_definitions_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finder, "FULL_SCAN", replace(FULL_SCAN, parsed_chars=100))
    files = {f"user{at}.py": "only_once()\n" + "x = 1\n" * 9 for at in range(6)}
    files["home.py"] = "def only_once():\n    pass\n"
    with _open(files) as app:
        found = app.symbols("only_once", "uses")
    assert found.total_uses == 6
    assert describe_definitions(found) == "1 definition of only_once"


def test_definitions_in_files_beyond_the_limits_come_from_the_index(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(finder, "FULL_SCAN", replace(FULL_SCAN, parsed_chars=1))
    source = """\
class Part{at} {{
    /** Like close() of the parent. */
    @Override
    public void close() {{
        parent.close();
    }}
}}
"""
    files = {f"src/Part{at}.java": source.format(at=at) for at in range(5)}
    with _open(files) as app:
        answer = app.symbols("close")
        uses = app.symbols("close", "uses")
    assert places(answer) == [f"src/Part{at}.java:4" for at in range(5)]
    assert {symbol.scope for symbol in answer.definitions} == {f"class Part{at}" for at in range(5)}
    assert describe_definitions(answer) == "at least 5 definitions of close"
    assert {use.line for use in uses.uses} == {2, 5}


@pytest.mark.slow
def test_a_definition_in_a_file_that_is_too_large_to_parse_is_found() -> None:
    filler = "".join(f"    void other{at}() {{ run({at}); }}\n" for at in range(15_000))
    files = {"Big.java": f"class Big {{\n{filler}    void last() {{}}\n}}\n"}
    with _open(files) as app:
        answer = app.symbols("last")
        passage = app.read("Big.java#last")
    assert places(answer) == ["Big.java:15002"]
    assert answer.has_all_definitions
    assert passage.start_line == 15_002


PAGE = """\
<h1 title="ReplicaManager">Operations</h1>
<p>The ReplicaManager fetches records, as ReplicaManager(x) shows.</p>
<!-- ReplicaManager -->
"""


def test_the_text_of_a_web_page_mentions_a_name_like_a_document() -> None:
    with _open({"replica.py": "class ReplicaManager:\n    pass\n", "page.html": PAGE}) as app:
        answer = app.symbols("ReplicaManager", "uses")
    lines = {use.line: use.kind for use in answer.uses}
    assert lines == {1: "string", 2: "document", 3: "comment"}


def test_a_name_in_a_web_page_that_is_too_large_to_parse_is_a_mention() -> None:
    filler = "".join(f"<p>Paragraph {at} about nothing.</p>\n" for at in range(30_000))
    files = {"replica.py": "class ReplicaManager:\n    pass\n", "page.html": PAGE + filler}
    with _open(files) as app:
        answer = app.symbols("ReplicaManager", "uses")
    assert {use.kind for use in answer.uses} == {"document"}


def test_a_very_long_name_is_found() -> None:
    name = "shouldNotCreateUserCredentialsWithUnderMinimumIterationsUsing" + "BootstrapServer" * 2
    files = {"test_config.py": f"def {name}():\n    pass\n", "use.py": f"{name}()\n"}
    with _open(files) as app:
        answer = app.symbols(name, "uses")
        first = app.search(name).results[0]
    assert places(answer) == ["test_config.py:1"]
    assert [use.path for use in answer.uses] == ["use.py"]
    assert first.file_path == "test_config.py"


def test_implementations_are_lower_bounds_if_files_were_not_parsed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    files = {f"part{at}.py": f"class Part{at}(Base):\n    pass\n" for at in range(3)}
    files["base.py"] = "class Base:\n    pass\n"
    with _open(files) as app:
        assert app.symbols("Base", "implementations").is_complete
        monkeypatch.setattr(finder, "FULL_SCAN", replace(FULL_SCAN, parsed_chars=1))
        assert not app.symbols("Base", "implementations").is_complete


def test_a_comment_of_a_vim_script_calls_nothing() -> None:
    files = {"a.vim": '" Call Setup() before Run()\nfunction! Setup()\nendfunction\ncall Setup()\n'}
    with _open(files) as app:
        answer = app.symbols("Setup", "uses")
    assert [(use.line, use.kind) for use in answer.uses] == [(4, "call"), (1, "comment")]


def test_a_page_beyond_the_last_use_and_a_qualified_name_are_described_correctly(app: App) -> None:
    answer = app.symbols("Cart.add")
    assert describe_uses(answer).startswith("add is used or mentioned on ")
    beyond = app.search("uses:total from:999").symbols
    assert beyond is not None
    assert describe_uses(beyond).startswith("0 of 8 uses and mentions of total")


def test_the_two_names_of_a_typedef_are_one_definition() -> None:
    text = "typedef struct table {\n    int size;\n} table;\n"
    with _open({"table.h": text, "user.c": "static table *t;\n"}) as app:
        answer = app.symbols("table")
        uses = app.symbols("table", "uses")
    assert [(one.line, one.end_line) for one in answer.definitions] == [(1, 3)]
    assert rows(uses) == [("user.c", 1, "type")]


def test_a_declaration_of_a_type_in_a_file_that_is_not_parsed_is_no_definition(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(finder, "FULL_SCAN", replace(FULL_SCAN, parsed_chars=1))
    files = {
        "table.h": "struct table {\n    int size;\n};\n",
        "zoo.h": "struct table; /* in table.h */\nstruct zoo {\n    struct table *all;\n};\n",
    }
    with _open(files) as app:
        assert places(app.symbols("table")) == ["table.h:1"]
        assert places(app.symbols("table", "uses")) == ["table.h:1"]


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("a.py", "names = {}  # name -> table(name)"),
        ("a.c", "int names; // of table(name)"),
        ("a.c", "int names; /* of table(name) */"),
        ("a.lua", "names = {} -- of table(name)"),
    ],
)
def test_a_comment_at_the_end_of_a_line_calls_nothing(
    path: str, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finder, "FULL_SCAN", replace(FULL_SCAN, parsed_chars=0))
    code = 'names = fetch("http://zoo#a--b", table(name))'
    with _open({path: f"{line}\n{code}\n"}) as app:
        found = app.symbols("table", "uses")
    assert [(use.line, use.kind) for use in found.uses] == [(2, "call"), (1, "comment")]


MEMBERS = {
    "box.py": (
        "class Box:\n    def __init__(self):\n        self.width_mm = 3\n\n"
        "    def grow(self, other):\n        self.width_mm = 4\n        other.width_mm = 5\n"
    ),
    "pair.py": "(left_side, right_side) = 1, 2\nprint(left_side)\n",
    "a.ts": "export interface Door { openWide: boolean }\nclass A { static keyCount = 1 }\n",
    "b.ts": 'export { shut as shutFast } from "./c";\nconst x = { openWide: true };\n',
    "b.js": "class A {\n  #lockCode = 1;\n  hinge = this.#lockCode;\n}\n",
    "s.c": "struct s { int *depth_mm, size_mm[3]; };\nint f(struct s *s) { return s->depth_mm; }\n",
    "t.cpp": "class T { static constexpr int kLegs = 4; };\nint n = T::kLegs;\n",
    "g.go": "package g\n\ntype T struct {\n\tMaxSeats int\n}\n\nvar t = T{MaxSeats: 3}\n",
    "r.rs": "pub struct R { pub seat_mm: u8 }\npub use a::b as sit_down;\n",
    "E.java": "record Chair(int legs, String wood) {\n  int f(int count) { return legs; }\n}\n",
    "k.kt": "class Lamp(val watts: Int, shade: Int) {\n    val w = watts + shade\n}\n",
    "c.cs": "public record Stool(int Rungs);\n",
    "a.rb": (
        "class Shelf\n  attr_accessor :boards\n  delegate :nails, to: :box\n  alias planks boards\n"
        "  print :nails\nend\n"
    ),
    "p.php": (
        "<?php\nclass P { function __construct(private int $drawers) {} }\ndefine('OAK', 1);\n"
    ),
    "s.swift": "protocol S {\n  associatedtype Wood\n  var gloss: Int { get }\n}\n",
    "s.scala": "case class Plank(grain: Int)\n",
    "e.ex": "defmodule E do\n  @knots 3\n  defstruct [:sap, bark: 1]\n  def f, do: @knots\nend\n",
    "n.hs": "data N = N { leafCount :: Int }\n",
    "l.lua": "RootDepth = 2\nlocal M = {}\nM.stem = 3\nfunction M.f() stem_x = M.stem end\n",
    "z.zig": "const Z = struct { twigs: u8 };\nconst E = error{Withered};\n",
    "q.sql": "CREATE TABLE trees (ring_count INT);\nSELECT ring_count FROM trees;\n",
    "q.sh": "declare -A blossoms\necho $blossoms\n",
    "cases.py": (
        "crown = canopy = 1\nif crown:\n    pass\nelif canopy:\n    drupe = 1\ntry:\n    pass\n"
        "finally:\n    nectar = 1\nclass Leaf:\n    if crown:\n        petiole = 1\n"
        "def f():\n    if crown:\n        local_sap = 1\n"
    ),
    "d.ts": (
        "export namespace Grove { export const MAX_PALMS = 1 }\ndeclare const soilKind: string\n"
        "export const { humus, old: mulch } = load()\n"
        "function f() { const { innerClay } = load() }\n"
    ),
    "shrub.rb": (
        "Holly, Ivy = 1, 2\nYew ||= 1\nclass Shrub\n  define_method('prune') { }\n"
        "  alias_method :trim, :missing_name\nend\n"
    ),
    "moss.kt": (
        "enum class Moss {\n    Peat;\n    val spores = 1\n    fun f() {\n"
        "        val (x, inner_z) = g()\n    }\n}\nval (fronds, rhizoids) = g()\n"
    ),
    "fern.scala": "trait Fern {\n  val pinnae: Int\n  val stipe, rachis = 1\n}\n",
    "vine.hs": (
        "module Vine where\ndata Vine a where\n  Tendril :: Int -> Vine Int\nclass Climb a where\n"
        "  reach, grip :: a -> Int\nx `twine` y = x\npattern Bud x = Just x\n"
        'foreign import ccall "sin" c_sway :: Double -> Double\ntype family Habit a\n'
    ),
    "grass.lua": 'local M = {}\nM["mow"] = function() end\n',
    "codes.js": (
        "const codes = {\n  ERR_WILTED: create('wilted', 400),\n  nested: { 'err-dry': 1 },\n}\n"
        "module.exports = { kPetal: Symbol('petal') }\n"
        "const app = listen({ sunPort: 80 })\nfunction f() { const o = { shadeDepth: 1 } }\n"
        "const { kTaken, other } = require('taken')\n"
    ),
    "codes.ts": (
        "export const kinds = Object.freeze({ MOSSY: 1 } as const)\n"
        "export default { barkTone: 2 }\nconst shape = z.object({ sepals: z.number() })\n"
    ),
    "weed.sh": "if true; then\n  THISTLE=1\nfi\nalias hoe='ls'\nf() { nettle=1; }\n",
}


@pytest.fixture(scope="module")
def app_with_members() -> Iterator[App]:
    with _open(MEMBERS) as opened:
        yield opened


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("width_mm", ["box.py:3 attribute"]),
        ("Box.width_mm", ["box.py:3 attribute"]),
        ("right_side", ["pair.py:1 variable"]),
        ("openWide", ["a.ts:1 field"]),
        ("keyCount", ["a.ts:2 field"]),
        ("shutFast", ["b.ts:1 export"]),
        ("lockCode", ["b.js:2 field"]),
        ("hinge", ["b.js:3 field"]),
        ("depth_mm", ["s.c:1 field"]),
        ("size_mm", ["s.c:1 field"]),
        ("kLegs", ["t.cpp:1 field"]),
        ("MaxSeats", ["g.go:4 field"]),
        ("T.MaxSeats", ["g.go:4 field"]),
        ("seat_mm", ["r.rs:1 field"]),
        ("sit_down", ["r.rs:2 alias"]),
        ("legs", ["E.java:1 field"]),
        ("wood", ["E.java:1 field"]),
        ("count", []),  # a parameter
        ("watts", ["k.kt:1 field"]),
        ("shade", []),
        ("Rungs", ["c.cs:1 field"]),
        ("boards", ["a.rb:2 method"]),
        ("nails", ["a.rb:3 method"]),
        ("planks", ["a.rb:4 method"]),
        ("drawers", ["p.php:2 field"]),
        ("OAK", ["p.php:3 constant"]),
        ("Wood", ["s.swift:2 type"]),
        ("gloss", ["s.swift:3 property"]),
        ("grain", ["s.scala:1 field"]),
        ("knots", ["e.ex:2 attribute"]),
        ("sap", ["e.ex:3 field"]),
        ("bark", ["e.ex:3 field"]),
        ("leafCount", ["n.hs:1 field"]),
        ("RootDepth", ["l.lua:1 variable"]),
        ("stem", ["l.lua:3 variable"]),
        ("stem_x", []),
        ("twigs", ["z.zig:1 field"]),
        ("Withered", ["z.zig:2 error"]),
        ("ring_count", ["q.sql:1 column"]),
        ("blossoms", ["q.sh:1 variable"]),
        ("canopy", ["cases.py:1 variable"]),
        ("drupe", ["cases.py:5 variable"]),
        ("nectar", ["cases.py:9 variable"]),
        ("Leaf.petiole", ["cases.py:12 variable"]),
        ("local_sap", []),
        ("MAX_PALMS", ["d.ts:1 variable"]),
        ("soilKind", ["d.ts:2 variable"]),
        ("humus", ["d.ts:3 variable"]),
        ("mulch", ["d.ts:3 variable"]),
        ("innerClay", []),
        ("Ivy", ["shrub.rb:1 constant"]),
        ("Yew", ["shrub.rb:2 constant"]),
        ("prune", ["shrub.rb:4 method"]),
        ("trim", ["shrub.rb:5 method"]),
        ("missing_name", []),
        ("spores", ["moss.kt:3 variable"]),
        ("rhizoids", ["moss.kt:8 variable"]),
        ("inner_z", []),
        ("pinnae", ["fern.scala:2 variable"]),
        ("rachis", ["fern.scala:3 variable"]),
        ("Tendril", ["vine.hs:3 constructor"]),
        ("grip", ["vine.hs:5 declaration"]),
        ("twine", ["vine.hs:6 function"]),
        ("Bud", ["vine.hs:7 pattern"]),
        ("c_sway", ["vine.hs:8 function"]),
        ("Habit", ["vine.hs:9 type"]),
        ("mow", ["grass.lua:2 variable"]),
        ("THISTLE", ["weed.sh:2 variable"]),
        ("hoe", ["weed.sh:4 alias"]),
        ("nettle", []),
        ("ERR_WILTED", ["codes.js:2 key"]),
        ("err-dry", ["codes.js:3 key"]),
        ("kTaken", []),  # imported
        ("kPetal", ["codes.js:5 key"]),
        ("sunPort", []),  # an argument
        ("shadeDepth", []),
        ("MOSSY", ["codes.ts:1 key"]),
        ("barkTone", ["codes.ts:2 key"]),
        ("sepals", ["codes.ts:3 key"]),
    ],
)
def test_a_field_is_found_if_no_other_definition_has_the_name(
    name: str, expected: list[str], app_with_members: App
) -> None:
    found = app_with_members.symbols(name).definitions
    assert [f"{one.path}:{one.line} {one.kind}" for one in found] == expected


def test_the_uses_of_a_field_do_not_contain_its_definition(app_with_members: App) -> None:
    answer = app_with_members.symbols("MaxSeats", "uses")
    assert places(answer) == ["g.go:4"]
    assert [use.line for use in answer.uses] == [7]


@pytest.mark.parametrize("question", ["MaxSeats", "where is MaxSeats defined", "symbol:MaxSeats"])
def test_a_question_for_a_field_shows_its_definition(question: str, app_with_members: App) -> None:
    response = app_with_members.search(question)
    assert response.symbols is not None
    assert places(response.symbols) == ["g.go:4"]
    assert response.results[0].file_path == "g.go"


def test_a_word_that_only_code_contains_can_be_a_field(app_with_members: App) -> None:
    for question in ("where is the wood defined", "wood"):
        symbols = app_with_members.search(question).symbols
        assert symbols is not None
        assert places(symbols) == ["E.java:1"]


INHERITED = {
    "base.py": "class Shape:\n    def area_of(self):\n        return 0\n",
    "round.py": "from base import Shape\n\n\n@register\nclass Ring(Shape, Sized):\n    pass\n",
    "thin.py": "from round import Ring\n\n\nclass ThinRing(Ring):\n    other = Unrelated()\n",
    "unrelated.py": "class Unrelated:\n    def area_of(self):\n        return 1\n",
    "Tile.java": "class Tile extends Plate {}\n",
    "Plate.java": "class Plate { int weigh() { return 1; } }\n",
    "server.go": """\
package app

import "example.org/app/rpc"

type Server struct {
	other  *Unrelated
	*rpc.Handler
}

type Hub interface{ rpc.Sender }

type Unrelated struct{}

func (u *Unrelated) forward() {}
""",
    "rpc/rpc.go": """\
package rpc

type Handler struct{ base[int] }

type base[T any] struct{ port T }

func (b *base[T]) forward() {}

type Sender interface{ Send() }

type Mail struct{}

func (m Mail) Send() {}
""",
}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Ring.area_of", ["base.py:2"]),
        ("ThinRing.area_of", ["base.py:2"]),
        ("Tile.weigh", ["Plate.java:1"]),
        ("Server.forward", ["rpc/rpc.go:7"]),
        ("Server.port", ["rpc/rpc.go:5"]),
        ("Hub.Send", ["rpc/rpc.go:9"]),
        ("Mail.forward", []),
        ("Plate.area_of", []),
        ("Nothing.area_of", []),
    ],
)
def test_an_inherited_member_is_found_in_the_base_class(name: str, expected: list[str]) -> None:
    with _open(INHERITED) as app:
        assert places(app.symbols(name)) == expected


RENAMED = {
    "src/hive-base.ts": """\
class Hive {
  addRoute(path: string): void {
    this.routes.push(path)
    this.changed = true
  }

  removeRoute(path: string): void {
    this.routes = this.routes.filter((one) => one !== path)
    this.changed = true
  }
}

export { Hive as HiveBase }
""",
    "src/hive.ts": "import { HiveBase } from './hive-base'\n\nclass Bees extends HiveBase {}\n",
    "src/old/hive.ts": "export class Hive {}\n",
    "src/index.ts": """\
export { Hive as OldHive } from './old/hive'
export { default as Smoker, helper as lend } from './tools.js'
export { gone as missing } from './nowhere'
""",
    "src/tools.ts": "class Tool {}\n\nexport default Tool\n\nexport function helper() {}\n",
    "other/tools.ts": "export function helper() {}\n",
    "pkg/__init__.py": "from .inner import make_thing as create_thing\n",
    "pkg/inner.py": "import os as system\n\n\ndef make_thing():\n    pass\n",
    "pkg/user.py": "from pkg.inner import make_thing as short_lived\n",
    "src/lib.rs": "mod grain;\npub use crate::grain::{self, Wheat as Cereal};\n",
    "src/grain.rs": "pub struct Wheat;\n\nimpl Wheat {\n    pub fn mill(&self) {}\n}\n",
}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("HiveBase", ["src/hive-base.ts:1", "src/hive-base.ts:13"]),
        ("HiveBase.addRoute", ["src/hive-base.ts:2"]),
        ("OldHive", ["src/old/hive.ts:1", "src/index.ts:1"]),
        ("Smoker", ["src/tools.ts:1", "src/index.ts:2"]),
        ("lend", ["src/tools.ts:5", "src/index.ts:2"]),
        ("missing", ["src/index.ts:3"]),
        ("create_thing", ["pkg/inner.py:4", "pkg/__init__.py:1"]),
        ("short_lived", []),
        ("Cereal", ["src/grain.rs:1", "src/lib.rs:2"]),
        ("Cereal.mill", ["src/grain.rs:4"]),
    ],
)
def test_an_exported_alias_leads_to_the_definition_under_its_other_name(
    name: str, expected: list[str]
) -> None:
    with _open(RENAMED) as app:
        assert places(app.symbols(name)) == expected


def test_files_are_read_only_until_a_name_is_known_to_be_too_common(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    files = {f"src/m{at}.py": "def run():\n    pass\n" for at in range(20)}
    files |= {f"tests/test_m{at}.py": "def check():\n    pass\n" for at in range(5)}
    files |= {"src/one.py": "class One:\n    def check(self):\n        pass\n"}
    read: list[str] = []
    definitions_in = name_scan.NameScan.definitions_in

    def record(scan: name_scan.NameScan, state: FileState) -> dict[Position, FoundDefinition]:
        read.append(state.path)
        return definitions_in(scan, state)

    monkeypatch.setattr(name_scan.NameScan, "definitions_in", record)
    with _open(files) as app:
        index, symbols = app._container.indexer().snapshot(), app._container.symbol_finder()
        assert symbols.find_few_definitions(index, "run", 3) == []
        assert len(set(read)) == 4
        # Definitions in tests count only if there are no others.
        found = symbols.find_few_definitions(index, "check", 3)
        assert [f"{one.path}:{one.line}" for one in found] == ["src/one.py:2"]
        assert symbols.find_few_definitions(index, "One.check", 3) == found
        assert len(symbols.find_few_definitions(index, "run", 20)) == 20


def test_the_definitions_behind_equal_aliases_are_looked_up_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    files = {
        f"pkg{at}/{name}": text
        for at in range(9)
        for name, text in (
            ("impl.ts", f"export function create() {{\n  return {at}\n}}\n"),
            ("index.ts", "export { create as makeThing } from './impl'\n"),
        )
    }
    looked_up: list[str] = []
    definitions = name_scan.NameScan.definitions

    def record(scan: name_scan.NameScan) -> list[FoundDefinition]:
        looked_up.append(scan.name)
        return definitions(scan)

    monkeypatch.setattr(name_scan.NameScan, "definitions", record)
    with _open(files) as app:
        answer = app.symbols("makeThing")
    found = [(one.path, one.alias_of) for one in answer.definitions if one.alias_of]
    assert sorted(found) == [(f"pkg{at}/index.ts", "create") for at in range(9)]
    assert looked_up.count("create") == 1


def test_a_question_for_an_alias_shows_the_definition_and_the_alias() -> None:
    with _open(RENAMED) as app:
        results = app.search("where is OldHive defined").results
    assert [one.file_path for one in results[:2]] == ["src/old/hive.ts", "src/index.ts"]


def test_a_short_last_line_of_a_file_is_not_in_the_scope_of_the_definition_above_it() -> None:
    methods = [
        f"  move{at}(path: string): void {{\n    this.routes.push(path + '{at}')\n  }}\n"
        for at in range(40)
    ]
    text = "\n".join(["class Hive {", *methods, "}", "", "export { Hive as HiveBase }", ""])
    with _open({"src/hive.ts": text}) as app:
        result = app.search("where is HiveBase defined").results[0]
    scopes = {"HiveBase" in span.snippet: span.scope for span in result_spans(result)}
    assert scopes[True] == ""
    assert scopes[False].startswith("class Hive")


WORKERS = {
    "lib/app/worker.ex": "defmodule App.Worker do\n  @callback perform(job :: term) :: term\nend\n",
    "lib/app/repo.ex": """\
defmodule App.Repo do
  @moduledoc "Calls all/2 of JobTest."
  @callbacks [
    all: 2
  ]
  @limits [rows: 100]

  for {name, arity} <- @callbacks do
    def unquote(name)(arguments), do: arguments
  end
end
""",
    "lib/app/limits.ex": "defmodule App.Limits do\n  @limits [rows: 100]\nend\n",
    "test/job_test.exs": """\
defmodule App.JobTest do
  test "query/1" do
    all([])
  end

  defp all(filters), do: filters
end
""",
    "test/worker.ex": """\
defmodule App.Integration.Worker do
  use App.Worker

  def perform(job), do: job
end
""",
    "a/shop/cart.py": "class Cart:\n    def fill(self):\n        pass\n",
    "b/store/cart.py": "class Cart:\n    def fill(self):\n        pass\n",
}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Repo.all", ["lib/app/repo.ex:4"]),
        ("JobTest.all", ["test/job_test.exs:6"]),
        ("Limits.rows", []),
        ("App.Worker.perform", ["lib/app/worker.ex:2"]),
        ("Integration.Worker.perform", ["test/worker.ex:4"]),
        ("Worker.perform", ["lib/app/worker.ex:2", "test/worker.ex:4"]),
        ("Other.Worker.perform", ["lib/app/worker.ex:2", "test/worker.ex:4"]),
        ("shop.cart.Cart.fill", ["a/shop/cart.py:2"]),
        ("store.Cart.fill", ["b/store/cart.py:2"]),
    ],
)
def test_all_parts_of_a_qualified_name_select_the_definition(
    name: str, expected: list[str]
) -> None:
    with _open(WORKERS) as app:
        assert places(app.symbols(name)) == expected


SAME_AS_OUTSIDE = {
    "src/format.rs": "pub struct Display;\n\npub trait Paint {}\n\npub trait Show {}\n",
    "src/a.rs": "use std::fmt;\n\nstruct A;\n\nimpl fmt::Display for A {}\n",
    "src/b.rs": "use std::fmt::{Debug, Display};\n\nstruct B;\n\nimpl Display for B {}\n",
    "src/c.rs": "use crate::format::Paint;\n\nstruct C;\n\nimpl Paint for C {}\n",
    "src/d.rs": "struct D;\n\nimpl brush::Paint for D {}\n\nimpl crate::format::Show for D {}\n",
    "web/level.ts": "enum Level {\n  Failure = 'x',\n}\n",
    "web/errors.ts": "export class BadInput extends Failure {}\n",
    "web/view.tsx": "import { Component } from 'preact'\n\nclass View extends Component {}\n",
    "web/part.tsx": "import { Component } from '@/component'\n\nclass P extends Component {}\n",
    "web/component.ts": "export class Component {}\n",
    "py/models.py": "import orm\nfrom py.tables import Table\n\n\nclass User(Table):\n    pass\n",
    "py/tables.py": "Table = make_base()\n",
    "py/other.py": "import orm\n\n\nclass Other(orm.Table):\n    pass\n",
}


@pytest.mark.parametrize(
    ("name", "definitions", "implementations"),
    [
        ("Display", [], ["src/a.rs:5", "src/b.rs:5"]),
        ("Paint", ["src/format.rs:3"], ["src/c.rs:5"]),
        ("Show", ["src/format.rs:5"], ["src/d.rs:5"]),
        ("Failure", [], ["web/errors.ts:1"]),
        ("Component", ["web/component.ts:1"], ["web/part.tsx:3"]),
        ("Table", ["py/tables.py:1"], ["py/models.py:5"]),
    ],
)
def test_implementations_of_a_name_from_outside_are_not_those_of_a_local_definition(
    name: str, definitions: list[str], implementations: list[str]
) -> None:
    with _open(SAME_AS_OUTSIDE) as app:
        answer = app.symbols(name, "implementations")
    assert places(answer) == definitions
    assert [f"{use.path}:{use.line}" for use in answer.uses] == implementations


# In these files, each variable has the name of the module that contains its class.
LIKE_MODULES = {
    "net/session.py": """\
class Session:
    def close(self):
        pass


def close():
    pass
""",
    "net/variables.py": """\
from net.session import Session


def annotated(session: Session):
    session.close()


def assigned():
    session = Session()
    session.close()


def opened():
    with Session("a", 1) as session:
        session.close()
""",
    "net/unknown.py": "def run(session):\n    session.close()\n    self.session.close()\n",
    "net/modules.py": """\
import net.session
from net import session


def run():
    session.close()
    net.session.close()


def local(session: Session):
    session.close()
""",
    "web/timer.js": "export class Timer { stop() {} }\nexport function stop() {}\n",
    "web/all.js": 'import * as timer from "./timer";\ntimer.stop();\n',
    "web/one.js": 'import { Timer } from "./timer";\nfunction run(timer) { timer.stop(); }\n',
    "src/pool.rs": "pub struct Pool;\nimpl Pool { pub fn drain(&self) {} }\npub fn drain() {}\n",
    "src/run.rs": "use crate::pool;\nfn a(pool: &Pool) { pool.drain() }\nfn b() { pool::drain() }",
}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "Session.close",
            {
                ("net/variables.py", 5): "net/session.py:2",
                ("net/variables.py", 10): "net/session.py:2",
                ("net/variables.py", 15): "net/session.py:2",
                ("net/modules.py", 11): "net/session.py:2",
                ("net/unknown.py", 2): "",
                ("net/unknown.py", 3): "",
            },
        ),
        ("Timer.stop", {("web/one.js", 2): ""}),
        ("Pool.drain", {("src/run.rs", 2): "src/pool.rs:2"}),
    ],
)
def test_a_variable_with_the_name_of_a_module_is_no_module(
    name: str, expected: dict[tuple[str, int], str]
) -> None:
    with _open(LIKE_MODULES) as app:
        uses = app.symbols(name, "uses").uses
        calls = app.symbols("close", "uses").uses
    assert {(use.path, use.line): use.target for use in uses if use.kind == "call"} == expected
    targets = {(use.path, use.line): use.target for use in calls}
    assert targets["net/modules.py", 6] == targets["net/modules.py", 7] == "net/session.py:6"


MEMBER_USES = {
    "door.py": """\
class Door:
    def shut(self):
        pass

    slam = shut

    @shut.setter
    def width(self, value=shut) -> shut:
        shut(value)


def run(door, shut):
    shut()
    door.shut(shut=1)
    door.shut = shut
""",
    "alias.py": "def run(door):\n    shut = door.shut\n    shut()\n",
    "door.js": "class Gate { lift() {} }\nfunction run(lift, gate) { lift(); }\ngate.lift();\n",
    "other.ts": "const { lift } = gate;\nlift();\nrun({ lift: 1 });\n",
    "gate.go": (
        "package gate\n\ntype Gate struct {\n\tlatch int\n}\n\nfunc (g *Gate) Open() {}\n\n"
        "func run(latch int, g Gate) {\n\tg = Gate{latch: 1}\n\tuse(latch)\n\tg.latch = latch\n}\n"
    ),
    "gate.rs": (
        "struct Lock { bolt: u8 }\nimpl Lock { fn turn(&self) {} }\n"
        'fn run(turn: u8, lock: Lock) {\n    turn;\n    println!("{}", lock.turn());\n'
        "    Lock::turn(&lock);\n}\n"
    ),
    "Gate.java": "class Wall { void paint() {}\n  void run() { paint(); } }\n",
}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Door.shut", ["alias.py:2", "alias.py:3", *(f"door.py:{at}" for at in (5, 7, 8, 14, 15))]),
        ("Gate.lift", ["door.js:3", "other.ts:1", "other.ts:2", "other.ts:3"]),
        ("Gate.latch", ["gate.go:10", "gate.go:12"]),
        ("Lock.turn", ["gate.rs:5", "gate.rs:6"]),
        ("Wall.paint", ["Gate.java:2"]),
    ],
)
def test_a_variable_with_the_name_of_a_member_is_no_use_of_it(
    name: str, expected: list[str]
) -> None:
    with _open(MEMBER_USES) as app:
        uses = app.symbols(name, "uses").uses
    assert sorted(f"{use.path}:{use.line}" for use in uses) == sorted(expected)


WIDE_NAMES = {
    "repo.ex": (
        "defmodule Repo do\n  def fetch(id), do: {:ok, id}\n  def fetch!(id), do: id\n"
        "  def valid?(x), do: x\nend\n\n"
        "defmodule UsesRepo do\n  def go do\n    Repo.fetch!(1)\n    Repo.fetch(2)\n"
        "    1 = Repo.valid?(1)\n    fetch != 2\n  end\nend\n"
    ),
    "model.rb": (
        "class Model\n  def save\n  end\n\n  def save!\n    save or raise\n  end\n\n"
        "  def title=(v)\n  end\n\n  def title\n    title if title!=1\n  end\nend\n\n"
        "m.save!\nm.title = 1\nm.title += 1\nm.title == 1\nm.save?\n"
    ),
    "el.js": (
        "const user$ = stream();\nconst user = 1;\nuse(`${user}`, user$);\n"
        "function $scope() {}\nfunction scope() {}\n$scope();\n"
    ),
    "build.sh": (
        "build() { :; }\nbuild-all() { build; }\nbuild-all\nmake --build\nsize=1\n"
        "echo $size-x ${size:-size} $((2-size))\n"
    ),
    "page.css": ".btn { color: red }\n.btn-primary { color: blue }\n.big.btn { color: red }\n",
    "P.hs": "module P where\n\ntotal xs = xs\n\n-- 'total' of all\nf xs = total' xs (total xs)\n",
}


@pytest.fixture(scope="module")
def app_with_wide_names() -> Iterator[App]:
    with _open(WIDE_NAMES) as opened:
        yield opened


@pytest.mark.parametrize(
    ("question", "name", "uses"),
    [
        ("who calls save! in the model code", "save!", ["model.rb:17"]),
        ("who calls save!", "save!", ["model.rb:17"]),
        ("where is valid? checked", "valid?", ["repo.ex:11"]),
        ("who calls valid?", "valid?", ["repo.ex:11"]),
        ("who calls save?", "save", ["model.rb:6"]),  # no method is named `save?`
        ("where is save? called", "save?", ["model.rb:21"]),
        ("who calls fetch?", "fetch", ["repo.ex:10", "repo.ex:12"]),
        ("uses:Model.save!", "Model.save!", ["model.rb:17"]),
        ("uses:save!", "save!", ["model.rb:17"]),
        ("uses:Repo.valid?", "Repo.valid?", ["repo.ex:11"]),
    ],
)
def test_the_last_character_of_a_name_in_a_question_is_part_of_it(
    question: str, name: str, uses: list[str], app_with_wide_names: App
) -> None:
    symbols = app_with_wide_names.search(question).symbols
    assert symbols is not None
    assert symbols.name == name
    assert sorted(f"{use.path}:{use.line}" for use in symbols.uses) == sorted(uses)


def test_an_operator_shows_the_definition_of_the_name_with_its_last_character(
    app_with_wide_names: App,
) -> None:
    found = app_with_wide_names.search("symbol:Model.save!").symbols
    other = app_with_wide_names.search("symbol:Model.title!")
    missing = app_with_wide_names.search("symbol:Model.load!").symbols
    assert found is not None
    assert [(one.name, one.line) for one in found.definitions] == [("save!", 5)]
    assert other.symbols is not None
    assert [(one.name, one.line) for one in other.symbols.definitions] == [("title", 12)]
    note = 'Model.title! was not found; the answer is about the name without "!"'
    assert note in other.suggestions
    assert missing is not None
    assert (missing.name, missing.definitions) == ("Model.load!", ())


@pytest.mark.parametrize(
    ("name", "definitions", "uses"),
    [
        ("title!", [], []),
        ("fetch", ["repo.ex:2"], ["repo.ex:10 call", "repo.ex:12 reference"]),
        ("fetch!", ["repo.ex:3"], ["repo.ex:9 call"]),
        ("valid?", ["repo.ex:4"], ["repo.ex:11 call"]),
        ("save", ["model.rb:2"], ["model.rb:6 call"]),
        ("save!", ["model.rb:5"], ["model.rb:17 call"]),
        ("title=", ["model.rb:9"], ["model.rb:18 call", "model.rb:19 call"]),
        (
            "title",
            ["model.rb:12"],
            ["model.rb:13 call", "model.rb:18 call", "model.rb:19 call", "model.rb:20 call"],
        ),
        ("user", ["el.js:2"], ["el.js:3 reference"]),
        ("user$", ["el.js:1"], ["el.js:3 reference"]),
        ("scope", ["el.js:5"], []),
        ("$scope", ["el.js:4"], ["el.js:6 call"]),
        ("build", ["build.sh:1"], ["build.sh:2 call"]),
        ("build-all", ["build.sh:2"], ["build.sh:3 call"]),
        ("size", ["build.sh:5"], ["build.sh:6 reference"]),
        ("btn", ["page.css:1", "page.css:3"], []),
        ("total", ["P.hs:3"], ["P.hs:6 call", "P.hs:5 comment"]),
    ],
)
def test_a_name_is_no_part_of_a_longer_name_of_its_language(
    name: str, definitions: list[str], uses: list[str], app_with_wide_names: App
) -> None:
    answer = app_with_wide_names.symbols(name, "uses")
    assert places(answer) == definitions
    assert [f"{use.path}:{use.line} {use.kind}" for use in answer.uses] == uses


@pytest.mark.slow
def test_one_line_with_several_names_that_contain_another_is_read_in_linear_time() -> None:
    text = "build-" * 200_000 + "((" * 100_000 + " build " * 100_000
    start = process_time()
    assert len(list(find_name(text, "build", "bash"))) == 100_000
    assert process_time() - start < 5


def test_the_declaration_of_a_constructor_is_a_definition() -> None:
    files = {
        "w.h": (
            "class Window {\n public:\n  Window(int width);\n  Window(int w, int h) { }\n"
            "  ~Window();\n};\n"
        ),
        "w.cpp": (
            '#include "w.h"\nWindow::Window(int width) {}\nWindow::~Window() {}\n'
            "void f() { Window w(1); w.~Window(); }\n"
        ),
    }
    with _open(files) as app:
        answer = app.symbols("Window", "uses")
        constructor = app.symbols("Window::Window", "uses")
        destructor = app.symbols("~Window", "uses")
    assert places(answer) == ["w.h:1", "w.cpp:2", "w.h:4", "w.h:3"]
    assert [one.kind for one in answer.definitions][-2:] == ["function", "declaration"]
    assert {("w.cpp", 3, "reference"), ("w.h", 5, "reference")} < set(rows(answer))
    assert places(constructor) == ["w.cpp:2", "w.h:4", "w.h:3"]
    assert ("w.cpp", 4) in {(use.path, use.line) for use in constructor.uses}
    assert rows(destructor) == [("w.cpp", 4, "call"), ("w.h", 5, "reference")]


MISREAD_CLASSES = {
    "dialog.h": """\
namespace app {
class APP_EXPORT Dialog : public Widget {
 public:
  void show();
};
struct APP_API ALIGNED(16) Point final
{
  int x;
};
enum class APP_API Color : int { RED };
class APP_API Later;
struct LIMITS limits;
class APP_API [[nodiscard]] Guard { void lock(); };
}
""",
    "packed.h": "struct PACKED header {\n    int size;\n};\n",
    "Starter.kt": """\
@OptIn(Internal::class)
@Marker
open class Starter protected constructor() {
    fun go() {}
}

@Internal
actual object Registry {
    fun fetch() {}
}

@Config(values = [Starter::class])
@Marker
private class Empty
""",
    "broken.kt": """\
open class Column {
    val name
        @Internal
        get() = 3

    fun of(): String = @Internal ?:
}
""",
}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Dialog", ["dialog.h:2-5 class"]),
        ("Dialog::show", ["dialog.h:4-4 declaration"]),
        ("Point", ["dialog.h:6-9 struct"]),
        ("Color", ["dialog.h:10-10 enum"]),
        ("APP_EXPORT", []),
        ("Later", []),
        ("limits", ["dialog.h:12-12 variable"]),
        ("header", ["packed.h:1-3 struct"]),
        ("Guard::lock", ["dialog.h:13-13 declaration"]),
        ("Starter.go", ["Starter.kt:4-4 fun"]),
        ("Starter", ["Starter.kt:3-5 class"]),
        ("Registry.fetch", ["Starter.kt:9-9 fun"]),
        ("Empty", ["Starter.kt:14-14 class"]),
        ("Column", ["broken.kt:1-1 variable"]),
    ],
)
def test_a_class_is_found_although_the_grammar_misreads_it(name: str, expected: list[str]) -> None:
    with _open(MISREAD_CLASSES) as app:
        found = app.symbols(name).definitions
    assert [f"{one.path}:{one.line}-{one.end_line} {one.kind}" for one in found] == expected


def test_a_prime_is_part_of_a_name_in_haskell(app_with_signs: App) -> None:
    assert places(app_with_signs.symbols("total")) == ["Sum.hs:4", "Sum.hs:3"]


DECLARATORS = {
    "plain.h": """\
typedef void (handler_t)(int);
typedef int row_t[10];
typedef void (*callback_t)(int);
extern char **names;
#ifdef WIDE
#if WIDE > 1
int grid[3][4];
#else
int (*hook)(int), *(*hooks[3])(int);
#endif
#endif
""",
    "plain.c": """\
int (*make_hook(int kind))(int) {
    char **inner;
#ifdef WIDE
    int below;
#endif
    return 0;
}
int (quiet)(int c) { return c; }
void use(void) { make_hook(1)(2); }
""",
    "shape.cpp": """\
typedef void (*Draw)(int);
int Shape::count = 0;
int& shared = Shape::count;
template <typename T> constexpr bool is_shape_v = true;
template <typename T> T* Pool<std::pair<T, int>>::spare = nullptr;
API_EXPORT extern Local<Shape*> current;
API_EXPORT Drawer* get_drawer();
inline T& unlocked(T& v) NO_ANALYSIS { return v; }
DECLARE_ALL(int32_t);
""",
}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("handler_t", ["plain.h:1 typedef"]),
        ("row_t", ["plain.h:2 typedef"]),
        ("callback_t", ["plain.h:3 typedef"]),
        ("names", ["plain.h:4 variable"]),
        ("grid", ["plain.h:7 variable"]),
        ("hook", ["plain.h:9 variable"]),
        ("hooks", ["plain.h:9 variable"]),
        ("make_hook", ["plain.c:1 function"]),
        ("quiet", ["plain.c:8 function"]),
        ("inner", []),
        ("below", []),
        ("Draw", ["shape.cpp:1 typedef"]),
        ("count", ["shape.cpp:2 variable"]),
        ("shared", ["shape.cpp:3 variable"]),
        ("is_shape_v", ["shape.cpp:4 variable"]),
        ("spare", ["shape.cpp:5 variable"]),
        ("get_drawer", ["shape.cpp:7 declaration"]),
        ("unlocked", ["shape.cpp:8 function"]),
        ("Pool", []),
        ("Local", []),
        ("NO_ANALYSIS", []),
        ("int32_t", []),
    ],
)
def test_a_name_in_any_declarator_of_c_is_found(name: str, expected: list[str]) -> None:
    with _open(DECLARATORS) as app:
        found = app.symbols(name).definitions
    assert [f"{one.path}:{one.line} {one.kind}" for one in found] == expected


def test_prose_with_an_ordinary_word_does_not_mention_a_member() -> None:
    files = {
        "server.py": "class Server:\n    def serve(self):\n        pass\n\n\nServer().serve()\n",
        "client.py": (
            "class Client:\n    def serve(self):\n        pass\n\n\n"
            "# Client.serve is not meant.\n# Call server.serve() first.\n# Then serve tea.\n"
        ),
        "README.md": "# Tea\n\nRun `ng serve`.\n\nThe Server can serve.\n\nSee `serve`.\n",
        "package.json": '{"scripts": {"serve": "ng serve"}}\n',
    }
    with _open(files) as app:
        found = [(use.path, use.line) for use in app.symbols("Server.serve", "uses").uses]
    assert found == [("server.py", 6), ("client.py", 7), ("README.md", 5), ("README.md", 7)]


def test_prose_mentions_a_member_by_its_bare_name_if_the_name_is_no_ordinary_word() -> None:
    files = {
        "box.go": (
            "package box\n\ntype Box struct{}\n\ntype Lid struct{}\n\n"
            "func (b *Box) setOpen() {}\n\nfunc (l *Lid) setOpen() {}\n\n"
            "// Before setOpen, call lid.setOpen.\n// After lid.setOpen, wait.\nvar x = 1\n"
        ),
    }
    with _open(files) as app:
        assert [use.line for use in app.symbols("Box.setOpen", "uses").uses] == [11]


def test_declarations_are_counted_apart_from_definitions() -> None:
    files = {
        "oven.h": "int heat(int degrees);\nint cool(int degrees);\n",
        "oven.c": '#include "oven.h"\nint heat(int degrees) { return degrees; }\n',
    }
    with _open(files) as app:
        texts = [describe_definitions(app.symbols(name)) for name in ("heat", "cool")]
    assert texts == ["1 definition and 1 declaration of heat", "1 declaration of cool"]


@pytest.mark.slow
def test_a_bare_name_has_the_definitions_in_several_large_files() -> None:
    rest = "".join(f"func step{at}(x int) int {{ return x + {at} }}\n\n" for at in range(5_500))
    files = {
        f"{owner}.go": f"package box\n\ntype {owner} struct{{}}\n\n"
        f"func (b *{owner}) setLeader() {{\n}}\n\n{rest}"
        for owner in ("box", "lid")
    }
    with _open(files) as app:
        symbols = app.search("setLeader").symbols
    assert symbols is not None
    assert places(symbols) == ["box.go:5", "lid.go:5"]


def test_a_question_about_a_member_of_a_variable_lists_the_member() -> None:
    files = {
        "box.go": (
            "package box\n\ntype Box struct {\n\tpbytes int\n}\n\n"
            "func (o *Box) clear() {\n\to.pbytes = 0\n}\n"
        ),
    }
    with _open(files) as app:
        response = app.search("where is o.pbytes reset")
    assert response.symbols is not None
    assert places(response.symbols) == ["box.go:4"]
    assert [use.line for use in response.symbols.uses] == [8]
    assert any("showing pbytes of any class" in note for note in response.suggestions)


_RETRY = {
    "Retry.java": (
        "class Retry {\n  int maxAttempts = 3;\n  void limit(int n) {\n    this.maxAttempts = n;\n"
        "    if (maxAttempts == n) { maxAttempts++; }\n  }\n  int left() {\n"
        "    return maxAttempts - used();\n  }\n}\n"
    ),
    "config/retry.yaml": "retry:\n  maxAttempts: 5\n",
    "docs/retry.md": "# Retry\n\nThe limit is maxAttempts.\n",
}


@pytest.mark.parametrize(
    "question", ["where is maxAttempts set", "who writes maxAttempts", "assignments:maxAttempts"]
)
def test_the_assignments_of_a_field_are_listed_without_its_other_uses(question: str) -> None:
    with _open(_RETRY) as app:
        symbols = app.search(question).symbols
    assert symbols is not None
    assert places(symbols) == ["Retry.java:2"]
    assert [(use.path, use.line, use.kind) for use in symbols.uses] == [
        ("Retry.java", 4, "assignment"),
        ("Retry.java", 5, "assignment"),
        ("config/retry.yaml", 2, "assignment"),
    ]


def test_the_reads_of_a_field_are_its_other_uses() -> None:
    with _open(_RETRY) as app:
        symbols = app.search("where is maxAttempts read").symbols
        listed = app.symbols("maxAttempts", "reads")
    assert symbols is not None
    assert [(use.path, use.line) for use in symbols.uses] == [("Retry.java", 5), ("Retry.java", 8)]
    assert [use.path for use in listed.uses][2:] == ["docs/retry.md"]


_CLIENT = {
    "object.h": "typedef struct client {\n    int fd;\n    size_t pbytes;\n} client;\n",
    "object.c": "void reset(client *o) {\n    o->pbytes = 0;\n    grow(o->pbytes, o->fd);\n}\n" * 9,
    "stats.c": "size_t used(client *o) {\n    return o->pbytes + o->pbytes;\n}\n" * 9,
    "docs/limit.md": "# The limit\n\nSet the limit of a client. A limit is a number.\n",
    "limit.c": "struct limits {\n    int limit;\n};\n",
}


@pytest.mark.parametrize("query", ["pbytes", "where is pbytes defined", "who writes pbytes"])
def test_the_declaration_of_a_field_without_a_sign_of_a_name_is_found(query: str) -> None:
    with _open(_CLIENT) as app:
        response = app.search(query)
    assert response.symbols is not None
    assert places(response.symbols) == ["object.h:3"]
    if query == "pbytes":
        first = response.results[0]
        assert first.file_path == "object.h"
        assert first.start_line <= 3 <= first.end_line


@pytest.mark.parametrize("query", ["limit", "where is the limit set"])
def test_a_field_named_like_a_word_of_the_documents_is_searched_as_a_word(query: str) -> None:
    with _open(_CLIENT) as app:
        assert app.search(query).symbols is None


@pytest.mark.slow
def test_the_budget_for_fields_is_not_used_up_by_a_constant_with_the_name() -> None:
    lines = "".join(f"int value_{number} = {number};\n" for number in range(12_000))
    files = {
        "main.c": f"enum kinds {{ SLAB_MOVE }};\n{lines}int f(void) {{ return s.slab_move; }}\n",
        "settings.h": "struct settings {\n    bool slab_move;\n};\n",
    }
    with _open(files) as app:
        response = app.search("slab_move")
    assert response.symbols is not None
    assert places(response.symbols) == ["settings.h:2"]
    assert response.results[0].file_path == "settings.h"


def test_a_bare_name_in_ruby_is_a_call_unless_it_is_a_variable() -> None:
    order = """\
class Order
  def recalculate
  end

  def empty!
    recalculate
    items.each { |item| recalculate if item }
  end

  def local(recalculate)
    recalculate
  end

  def assigned
    recalculate = 1
    recalculate
  end

  def inside
    items.map { |recalculate, _| recalculate }
    recalculate(1)
  rescue E => other
    [recalculate]
  end
  recalculate
end
"""
    with _open({"order.rb": order, "other.rb": "def run\n  unknown_thing\nend\n"}) as app:
        answer = app.symbols("recalculate", "uses")
        uses = {use.line: use.kind for use in answer.uses}
        unknown = app.symbols("unknown_thing", "uses").uses
    assert [line for line, kind in uses.items() if kind == "call"] == [6, 7, 21, 23]
    assert uses.keys().isdisjoint((10, 11, 15, 16, 20))
    assert answer.local_variables == 5
    assert uses[25] == "reference"
    assert [use.kind for use in unknown] == ["reference"]


_ONCE = """\
#define DEFINE_DEFAULT_(type, value) \\
  template <>                        \\
  class Default<type> {              \\
    static type Get() { return value; } \\
  }

DEFINE_DEFAULT_(void, );  // NOLINT
DEFINE_DEFAULT_(::std::string, "");
DEFINE_DEFAULT_(bool, false);
DEFINE_DEFAULT_(unsigned char, '\\0');
DEFINE_DEFAULT_(signed char, '\\0');
DEFINE_DEFAULT_(char, '\\0');
DEFINE_DEFAULT_(unsigned int, 0U);
DEFINE_DEFAULT_(signed int, 0);

template <typename F>
class [[nodiscard]] OnceAction;

template <typename Result, typename... Args>
class [[nodiscard]] OnceAction<Result(Args...)> final {
 public:
  Result Call(Args... args) && {
    return function_(std::forward<Args>(args)...);
  }
};

template <typename T>
struct API_EXPORT Converter<T*> : Base {
  template <typename F>
  friend class OnceAction;
};
"""


def test_a_partial_specialization_is_found_after_calls_of_macros() -> None:
    with _open({"actions.h": _ONCE}) as app:
        once = app.symbols("OnceAction")
        call = app.symbols("OnceAction.Call")
        converter = app.symbols("Converter")
        macro = app.symbols("DEFINE_DEFAULT_", "uses")
    assert places(once) == ["actions.h:20"]
    assert (once.definitions[0].start_line, once.definitions[0].end_line) == (19, 25)
    assert places(call) == ["actions.h:22"]
    assert places(converter) == ["actions.h:28"]
    assert [(use.line, use.kind) for use in macro.uses] == [(at, "call") for at in range(7, 15)]


@pytest.mark.slow
def test_a_long_file_that_mentions_a_field_is_read_after_short_ones() -> None:
    files = {
        "main.c": "void reset(void) {\n" + "  slab_move = o->slab_move;\n" * 9_000 + "}\n",
        "settings.h": (
            "struct settings {\n    bool slab_move;\n" + "    int other;\n" * 900 + "};\n"
        ),
    }
    with _open(files) as app:
        symbols = app.search("slab_move").symbols
    assert symbols is not None
    assert places(symbols) == ["settings.h:2"]


def test_all_uses_are_listed_if_nothing_sets_a_name() -> None:
    with _open({"a.py": "def save_order():\n    pass\n\nsave_order()\n"}) as app:
        response = app.search("who updates save_order")
    assert response.symbols is not None
    assert [use.line for use in response.symbols.uses] == [4]
    assert any("all its uses are listed" in note for note in response.suggestions)


_BUNDLE = """\
(function (global, factory) {
  typeof exports === 'object' ? factory(exports) : factory(global.parser = {});
})(this, function (exports) {
  function decodeText(text) {
    return text;
  }
  exports.decoded = decodeText('a');
});
"""
BUILT = {
    "client-dist/parser.js": _BUNDLE,
    "dist/parser.js": _BUNDLE,
    "dist/index.d.ts": "export declare function decodeText(text: string): string;\n",
    "lib/zoo/parser.ts": """\
export function decodeText(text: string): string {
  return text;
}
export const decoded = decodeText("a");
""",
    "lib/zoo/copy.ts": "import { decodeText } from './parser';\ndecodeText('b');\n",
    "lib/zoo/other.ts": "import { decodeText } from './parser';\ndecodeText('b');\n",
    "test/parser.test.ts": "import { decodeText } from '../lib/zoo/parser';\ndecodeText('c');\n",
}


@pytest.mark.slow
def test_built_files_come_after_their_source_and_copies_of_them_are_listed_once() -> None:
    with _open(BUILT) as app:
        found = app.symbols("decodeText", aspect="uses")
        first = app.search("decodeText").results[0]
        described = app.search("decode a text").results[0]
    assert found.definitions[0].path == "lib/zoo/parser.ts"
    assert "dist/parser.js" not in {one.path for one in found.definitions}
    calls = [one.path for one in found.uses if one.kind == "call"]
    sources = ["lib/zoo/copy.ts", "lib/zoo/other.ts", "lib/zoo/parser.ts"]
    assert calls[:3] == sources  # hand-written copies are all listed
    assert sorted(calls[3:]) == ["client-dist/parser.js", "test/parser.test.ts"]
    assert found.is_complete
    assert first.file_path == described.file_path == "lib/zoo/parser.ts"


def test_tests_that_name_the_class_of_a_method_come_first() -> None:
    files = {
        "shop/models.py": "class Page:\n    def copy(self):\n        return Page()\n",
        "tests/test_blocks.py": "def test_block(data):\n    assert data.copy() == data\n",
        "tests/test_audit.py": "def test_log(home_page):\n    home_page.copy()\n",
        "tests/test_page_model.py": (
            "from shop.site import about\n\n\ndef test_links():\n    about.copy()\n"
        ),
        "tests/test_a.py": "class TestCopyPage:\n    def test_it(self, it):\n        it.copy()\n",
    }
    with _open(files) as app:
        found = app.symbols("Page.copy", "tests").uses
    assert {use.path for use in found[:3]} == {
        "tests/test_audit.py",
        "tests/test_page_model.py",
        "tests/test_a.py",
    }
    assert found[3].path == "tests/test_blocks.py"


def test_an_import_from_a_package_is_not_taken_for_one_from_a_module_of_the_same_name() -> None:
    files = {
        "shop/models/__init__.py": "from .pages import Page\n",
        "shop/models/pages.py": "class Page:\n    pass\n",
        "shop/test/app/models.py": "class Page:\n    pass\n",
        "shop/views.py": "from shop.models import Page\n\npage = Page()\n",
    }
    with _open(files) as app:
        found = app.symbols("Page", "uses").uses
    targets = {use.target for use in found if use.path == "shop/views.py"}
    assert targets == {"shop/models/pages.py:1"}
