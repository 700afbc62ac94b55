"""Definitions that a grammar reads wrongly, or that only look like definitions."""

from __future__ import annotations

import pytest
from sample import indexed_repository

from rootle import App, open_app
from rootle.serialization.symbols import describe_definitions
from rootle.types import SymbolAnswer


def _open(files: dict[str, str]) -> App:
    repository = indexed_repository(files)
    return open_app(repository.root, index_dir=repository.index_dir)


def _ranges(answer: SymbolAnswer) -> list[str]:
    return [f"{one.path}:{one.line}-{one.end_line}" for one in answer.definitions]


MACROS = {
    "reader.h": """\
#pragma once
namespace feed {
class reader {
public:
  feed_inline explicit reader(int limit) noexcept;
  feed_inline feed_result<entry> next(int count) & noexcept;
  bool next(int count) && = delete;
  Q_INVOKABLE void reset(int limit) { limit_ = limit; }
  FEED_EXPORT
  const char *name() const;
};
}
""",
    "reader-inl.h": """\
#include <vector>
namespace feed {
feed_inline reader::reader(int limit) noexcept
  : limit_{limit} {
}
feed_warn_unused feed_inline feed_result<entry> reader::next(int count) & noexcept {
  return read(count);
}
FEED_EXPORT std::vector<std::pair<int, entry>> reader::all() const {
  return {};
}
FEED_API(2) unsigned long reader::size() const { return 1; }
FEED_EXPORT
const char *reader::name() const
{
  return "feed";
}
}
""",
    "feed.c": "FEED_EXTERN int\nfeed_open(const char *path)\n{\n    return 0;\n}\n",
}


@pytest.mark.parametrize(
    ("name", "ranges"),
    [
        ("reader::reader", ["reader-inl.h:3-5", "reader.h:5-5"]),
        ("reader::next", ["reader-inl.h:6-8", "reader.h:6-6", "reader.h:7-7"]),
        ("reader::all", ["reader-inl.h:9-11"]),
        ("reader::size", ["reader-inl.h:12-12"]),
        ("reader::name", ["reader-inl.h:14-17", "reader.h:10-10"]),
        ("reader::reset", ["reader.h:8-8"]),
        ("feed_open", ["feed.c:2-5"]),
    ],
)
def test_a_function_after_a_macro_is_a_definition(name: str, ranges: list[str]) -> None:
    with _open(MACROS) as app:
        assert _ranges(app.symbols(name)) == ranges


ATTRIBUTES = """\
static lock_t drop_page(struct page *page)
	__releases(page->lock)
{
	each_entry(entry)
		__free_entry(entry);
	return 0;
}
static int __must_check take_page(void)
	__acquires(&first) __releases(second)
{
	return drop_page(first);
}
struct page *next_page(int count) __attribute__((nonnull));
int count_pages(int first) __must_check;
static void __init init_pages(struct page *page) __must_hold(&page->lock);
"""


@pytest.mark.parametrize(
    ("name", "ranges"),
    [
        ("drop_page", ["page.c:1-7"]),
        ("take_page", ["page.c:8-12"]),
        ("next_page", ["page.c:13-13"]),
        ("count_pages", ["page.c:14-14"]),
        ("init_pages", ["page.c:15-15"]),
        ("__releases", []),
        ("__must_hold", []),
    ],
)
def test_a_function_with_attributes_after_its_parameters_is_a_definition(
    name: str, ranges: list[str]
) -> None:
    with _open({"page.c": ATTRIBUTES}) as app:
        assert _ranges(app.symbols(name)) == ranges
        uses = app.symbols("__free_entry", "uses").uses
        assert [(use.line, use.kind, use.scope) for use in uses] == [(5, "call", "drop_page")]


LONE_MACROS = {
    "panel.h": """\
#pragma once
UI_BEGIN_NAMESPACE

namespace ui {
// Shows a picture.
class UI_EXPORT panel : public widget {
  Q_OBJECT
  Q_PROPERTY(int zoom READ zoom WRITE set_zoom)
public:
  UI_DEPRECATED("Use zoom() (an int) instead.")
  double factor() const { return 1.5; }
  result<int> area() const &
#if UI_HAS_CONCEPTS
    noexcept(is_safe<int, panel> ? is_fast<int> : true)
#else
    noexcept
#endif
  {
    return 1;
  }
signals:
  void zoomed(int zoom);
public slots:
  void set_zoom(int zoom) { zoom_ = zoom; }
private:
  UI_DISABLE_COPY(panel)
  int zoom_ = 1;
};
enum class state {
  UI_OPEN
};
}
UI_END_NAMESPACE
""",
    "state.c": "enum state {\n  APP_OPEN,\n#ifdef FEED\n  APP_FED,\n#endif\n  APP_SHUT\n};\n",
}


@pytest.mark.parametrize(
    ("name", "ranges", "scope"),
    [
        ("panel", ["panel.h:6-28"], "namespace ui"),
        ("factor", ["panel.h:11-11"], "namespace ui > class panel"),
        ("area", ["panel.h:12-20"], "namespace ui > class panel"),
        ("zoomed", ["panel.h:22-22"], "namespace ui > class panel"),
        ("set_zoom", ["panel.h:24-24"], "namespace ui > class panel"),
        ("UI_OPEN", ["panel.h:30-30"], "namespace ui > enum state"),
        ("APP_FED", ["state.c:4-4"], "enum state"),
        ("APP_SHUT", ["state.c:6-6"], "enum state"),
    ],
)
def test_macros_without_semicolons_do_not_hide_the_class_around_them(
    name: str, ranges: list[str], scope: str
) -> None:
    with _open(LONE_MACROS) as app:
        answer = app.symbols(name)
    assert _ranges(answer) == ranges
    assert {one.scope for one in answer.definitions} == {scope}


def test_a_class_with_macros_is_shown_as_a_whole() -> None:
    with _open(LONE_MACROS) as app:
        shown = app.read("panel.h#panel")
        calls = app.symbols("UI_DISABLE_COPY", "uses").uses
    assert "class UI_EXPORT panel : public widget {" in shown.lines
    assert "  int zoom_ = 1;" in shown.lines
    assert [(use.line, use.kind) for use in calls] == [(26, "call")]


def test_a_deleted_function_is_a_declaration() -> None:
    with _open(MACROS) as app:
        answer = app.symbols("reader::next")
        calls = app.symbols("reader::next", "uses")
    assert describe_definitions(answer) == "1 definition and 2 declarations of reader::next"
    assert not calls.uses


@pytest.mark.slow
def test_an_import_by_require_is_not_a_definition() -> None:
    files = {
        "ui/manager.lua": "local Manager = {\n  a = 1,\n}\nreturn Manager\n",
        "app.lua": 'local Manager = require("ui/manager")\nManager:show()\n',
        "text.lua": 'local Manager = require "ui/manager"\nManager:hide()\n',
        "web/clock.js": "const Clock = make();\nmodule.exports = Clock;\n",
        "web/app.js": 'const Clock = require("./clock");\nvar x = 1;\nClock.start();\n',
        "web/late.js": 'const Clock = await import("./clock");\nClock.stop();\n',
    }
    with _open(files) as app:
        assert _ranges(app.symbols("Manager")) == ["ui/manager.lua:1-1"]
        assert _ranges(app.symbols("Clock")) == ["web/clock.js:1-1"]
        assert _ranges(app.symbols("x")) == ["web/app.js:2-2"]
        uses = app.symbols("Manager", "uses").uses
        first = app.search("where is Manager defined").results[0]
    assert {(use.path, use.line, use.kind) for use in uses if use.kind == "import"} == {
        ("app.lua", 1, "import"),
        ("text.lua", 1, "import"),
    }
    assert first.file_path == "ui/manager.lua"


def test_a_method_with_a_colon_is_a_qualified_name() -> None:
    files = {
        "manager.lua": "function Manager:schedule(seconds)\nend\n",
        "other.lua": "function Other:schedule(seconds)\nend\n",
        "user.lua": "function run()\n  Manager:schedule(1)\nend\n",
    }
    with _open(files) as app:
        defined = app.search("where is Manager:schedule defined").symbols
        called = app.search("who calls Manager:schedule").symbols
    assert defined is not None
    assert _ranges(defined) == ["manager.lua:1-2"]
    assert called is not None
    assert [(use.path, use.line, use.kind) for use in called.uses] == [("user.lua", 2, "call")]


SCALA = """\
package shop.cart

trait Cart {
  /** Adds an item. */
  def add(item: Item): Cart =
    put(
      item
    )
    // The end of add.

  /** Removes an item. */
  def remove(item: Item): Cart =
    drop(item)

  def size: Int = count(1)

  private val rate =
    2
}
"""


@pytest.mark.parametrize(
    ("name", "first", "last"), [("add", 4, 9), ("remove", 11, 13), ("size", 15, 15)]
)
def test_a_body_on_the_next_line_ends_before_the_next_definition(
    name: str, first: int, last: int
) -> None:
    with _open({"cart.scala": SCALA}) as app:
        found = app.symbols(f"shop.cart.Cart.{name}").definitions
        passage = app.read(f"cart.scala#Cart.{name}")
        uses = app.symbols("count", "uses").uses
    assert [(one.start_line, one.end_line) for one in found] == [(first, last)]
    assert (passage.start_line, len(passage.lines)) == (first, last - first + 1)
    assert [use.scope for use in uses] == ["trait Cart > def size"]


def test_a_macro_that_looks_like_a_function_is_used_and_not_defined() -> None:
    files = {
        "color.c": (
            "const char* name_of(int x)\n{\n"
            "#define ENTRY(x) \\\n\tif (is(#x)) \\\n\t\treturn x;\n\n"
            "\tif (!x)\n\t\treturn 0;\n\n\tENTRY(RED)\n\tENTRY(GREEN)\n\tENTRY(BLUE)\n"
            "\treturn 0;\n}\n\nstatic int count_of(int x)\n{\n\treturn x;\n}\n"
        ),
        "macros.h": "#define CASE(a, b) static void a##b(void)\n",
        "cases.cpp": "CASE(One, Two) {\n  run();\n}\n\nCASE(Three, Four) {\n  run();\n}\n",
        "qr.cpp": "struct QR {\n  QR() {\n  }\n  QR(int x);\n};\n\nQR::QR(int x) {\n}\n",
    }
    with _open(files) as app:
        entry = app.symbols("ENTRY", "uses")
        case = app.symbols("CASE", "uses")
        code = app.symbols("QR")
    assert [(one.path, one.line) for one in entry.definitions] == [("color.c", 3)]
    assert [use.line for use in entry.uses] == [10, 11, 12]
    assert [(one.path, one.line) for one in case.definitions] == [("macros.h", 1)]
    assert [(use.path, use.line) for use in case.uses] == [("cases.cpp", 1), ("cases.cpp", 5)]
    assert sorted(one.line for one in code.definitions) == [1, 2, 4, 7]


def test_a_field_of_a_struct_that_is_the_argument_of_a_macro_is_found() -> None:
    files = {
        "settings.h": (
            "struct settings {\n\tDEPRECATED(ALIGN64 UINT32 AckTimeout); /* 1 */\n"
            "\tDEPRECATED(ALIGN64 char* HostName);\n};\n"
        ),
        "use.c": "void f(struct settings* s)\n{\n\ts->AckTimeout = 9000;\n}\n",
    }
    with _open(files) as app:
        timeout = app.symbols("AckTimeout", "assignments")
        name = app.symbols("settings::HostName")
    assert [(one.path, one.line, one.kind) for one in timeout.definitions] == [
        ("settings.h", 2, "field")
    ]
    assert [(use.path, use.line) for use in timeout.uses] == [("use.c", 3)]
    assert [one.line for one in name.definitions] == [3]


def test_a_table_of_lua_inherits_the_methods_of_the_index_of_its_metatable() -> None:
    files = {
        "base.lua": "local Base = {}\nfunction Base:render(x)\n  return x\nend\nreturn Base\n",
        "widget.lua": "local Widget = {}\nsetmetatable(Widget, {__index = Base})\nreturn Widget\n",
        "list.lua": "local List = setmetatable({}, { __index = Widget })\nreturn List\n",
        "other.lua": "local Other = {}\nfunction Other:render()\nend\nreturn Other\n",
    }
    with _open(files) as app:
        for name in ("Widget:render", "List.render"):
            assert _ranges(app.symbols(name)) == ["base.lua:2-4"]


def test_an_extension_method_of_csharp_belongs_to_the_type_that_it_extends() -> None:
    files = {
        "Extensions.cs": "public static class TextExtensions {\n"
        "  public static string Shorten(\n    this Title value, int max) { return value.Text; }\n"
        "  public static bool Shorten<T>(this T value) { return true; }\n}\n",
        "Other.cs": "public class Other {\n  public void Shorten(int max) { }\n}\n",
        "App.cs": "public class App {\n  void Run(Title title, Other other) {\n"
        "    title.Shorten(3);\n    other.Shorten(2);\n  }\n}\n",
    }
    with _open(files) as app:
        assert _ranges(app.symbols("Title.Shorten")) == ["Extensions.cs:2-3"]
        uses = app.symbols("Title.Shorten", "uses").uses
        both = app.symbols("TextExtensions.Shorten")
    assert [(use.path, use.line) for use in uses] == [("App.cs", 3)]
    assert _ranges(both) == ["Extensions.cs:2-3", "Extensions.cs:4-4"]


def test_an_overloaded_function_is_shown_with_all_its_signatures() -> None:
    code = (
        "export function parse(text: string): Tree;\nexport function parse(data: Blob): Tree;\n"
        "export function parse(input: unknown) {\n  return read(input);\n}\n\n"
        "function parse(): void {}\n"
    )
    with _open({"parse.ts": code}) as app:
        shown = app.read("parse.ts#parse")
    assert shown.lines == tuple(code.split("\n")[:5])
    assert shown.note == "1 other place has this name: lines 7-7"


def test_an_attribute_that_methods_assign_belongs_to_their_class() -> None:
    files = {
        "worker.py": "class Worker:\n    def start(self, count):\n"
        "        self.prefetch_count = count\n\n"
        "    def reset(self):\n        self.prefetch_count = 0\n        log(self.prefetch_count)\n",
        "other.py": "class Timer:\n    def stop(self):\n        return self.prefetch_count\n",
    }
    with _open(files) as app:
        answer = app.symbols("prefetch_count", "uses")
        member = app.symbols("Worker.prefetch_count", "uses")
    assert [(one.line, one.scope) for one in answer.definitions] == [(3, "class Worker")]
    targets = {f"{use.path}:{use.line}": use.target for use in answer.uses}
    assert targets == {
        "worker.py:6": "worker.py:3",
        "worker.py:7": "worker.py:3",
        "other.py:3": "",
    }
    assert {f"{use.path}:{use.line}": use.target for use in member.uses} == targets
    assert [use.path for use in member.uses][-1] == "other.py"


def test_a_variable_with_other_letters_is_no_definition_in_a_file_without_a_syntax_tree() -> None:
    files = {
        "list.svelte": "<script>\n  let queue = new Queue();\n</script>\n\n<p>{queue}</p>\n",
        "ordered.js": "export class Ordered extends Queue {}\n",
    }
    with _open(files) as app:
        answer = app.symbols("Queue", "implementations")
        variable = app.symbols("queue")
    assert answer.definitions == ()
    assert [f"{use.path}:{use.line}" for use in answer.uses] == ["ordered.js:1"]
    assert _ranges(variable) == ["list.svelte:2-2"]


def test_a_file_that_is_too_large_to_parse_has_definitions_with_their_kinds() -> None:
    code = (
        "#ifndef WIDE_HPP\n#define WIDE_HPP\n\nclass Wide {\n  int size;\n};\n\n"
        "using Handle = Wide*;\n\nint size(Handle one);\n"
    )
    with _open({"wide.hpp": code + "// filler\n" * 60_000 + "#endif\n"}) as app:
        found = [app.symbols(name).definitions for name in ("WIDE_HPP", "Wide", "Handle")]
    assert [[(one.line, one.kind) for one in some] for some in found] == [
        [(2, "macro")], [(4, "class")], [(8, "variable")],
    ]  # fmt: skip
