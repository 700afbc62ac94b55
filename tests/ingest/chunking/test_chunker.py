"""Chunks of code and plain windows: symbols, scopes and limits."""

from __future__ import annotations

from itertools import pairwise

import pytest

from rootle.ingest.chunking.chunk_size_defaults import ChunkLimits
from rootle.ingest.chunking.chunker import ChunkedText, split_text
from rootle.text.languages import LANGUAGES

LIMITS = ChunkLimits()


def lines_of(chunked: ChunkedText) -> list[tuple[int, int]]:
    return [(chunk.start_line, chunk.end_line) for chunk in chunked.chunks]


def function(name: str, length: int) -> str:
    """Return a Python function of at least `length` characters."""
    body = "".join(f"    value_{row} = compute({row})\n" for row in range(length // 28 + 1))
    return f"def {name}():\n{body}    return value_0\n"


def test_two_functions_of_a_javascript_file_are_two_chunks() -> None:
    filler = "  console.log('a line that makes the function long enough to stand alone');\n" * 5
    text = f"function first() {{\n{filler}}}\n\nfunction second() {{\n{filler}}}\n"
    chunked = split_text(text, "javascript", LIMITS)
    assert lines_of(chunked) == [(1, 7), (9, 15)]
    assert [chunk.symbols for chunk in chunked.chunks] == [("first",), ("second",)]
    assert [chunk.scope for chunk in chunked.chunks] == ["function first", "function second"]


@pytest.mark.parametrize("text", ["", " ", "\n", "\n\n  \t\n", "\r\n\r\n"])
@pytest.mark.parametrize("language", ["python", "markdown", "text", "yaml", "unknown"])
def test_a_blank_text_has_no_chunks(text: str, language: str) -> None:
    assert split_text(text, language, LIMITS) == ChunkedText((), 0, True)


def test_adjacent_tiny_functions_are_joined_and_larger_ones_are_not() -> None:
    text = function("a", 50) + function("b", 50) + function("c", 600) + function("d", 600)
    chunks = split_text(text, "python", LIMITS).chunks
    assert [chunk.symbols for chunk in chunks] == [("a", "b"), ("c",), ("d",)]
    assert chunks[0].scope == ""


def test_a_class_is_split_into_its_head_and_its_methods() -> None:
    methods = (function("one", 300) + function("two", 300)).replace("\n", "\n    ")
    text = f'class Box:\n    """{"What it is for. " * 20}"""\n\n    {methods}\n'
    chunks = split_text(text, "python", LIMITS).chunks
    assert [chunk.scope for chunk in chunks] == [
        "class Box",
        "class Box > def one",
        "class Box > def two",
    ]
    assert chunks[0].comments.startswith('"""What it is for.')


def test_a_small_class_stays_whole() -> None:
    text = (
        "class Box:\n    def one(self):\n        return 1\n\n    def two(self):\n        return 2\n"
    )
    (chunk,) = split_text(text, "python", LIMITS).chunks
    assert (chunk.scope, chunk.symbols) == ("class Box", ("Box", "one", "two"))


def test_a_large_function_is_split_and_each_part_has_its_scope() -> None:
    chunks = split_text(function("big", 6_000), "python", LIMITS).chunks
    assert len(chunks) >= 6
    assert {chunk.scope for chunk in chunks} == {"def big"}
    assert [chunk.symbols for chunk in chunks] == [("big",)] + [()] * (len(chunks) - 1)
    assert all(chunk.end - chunk.start <= 1_100 for chunk in chunks)


def test_a_large_function_is_split_at_its_outermost_statements() -> None:
    loop = "    for row in rows:\n" + "        handle(row, and_more)\n" * 16
    chunks = split_text(f"def big(rows):\n{loop * 8}", "python", LIMITS).chunks
    starts = [f"def big(rows):\n{loop * 8}".split("\n")[chunk.start_line - 1] for chunk in chunks]
    assert starts[1:] == ["    for row in rows:"] * (len(chunks) - 1)


def test_comments_and_decorators_stay_with_the_definition_below() -> None:
    text = function("a", 600) + "\n# About b.\n# More about b.\n@cached\n" + function("b", 600)
    second = split_text(text, "python", LIMITS).chunks[1]
    assert text[second.start : second.end].startswith("# About b.")
    assert second.comments == "# About b.\n# More about b."


def test_a_comment_separated_from_a_definition_does_not_belong_to_it() -> None:
    notice = "# All rights reserved.\n" * 20
    first, second = split_text(f"{notice}\n{function('a', 600)}", "python", LIMITS).chunks
    assert (first.symbols, second.symbols) == ((), ("a",))
    assert second.comments == ""


def test_a_comment_that_is_split_from_its_definition_has_its_symbol() -> None:
    comment = "/// A sentence about what it does and why it does it.\n" * 40
    text = f"{comment}fn work() {{\n    one();\n    two();\n}}\n"
    chunks = split_text(text, "rust", LIMITS).chunks
    assert len(chunks) > 1
    assert chunks[0].symbols == chunks[-1].symbols == ("work",)
    assert sum(chunk.comments.count("A sentence") for chunk in chunks) == 40


def test_a_closing_brace_stays_with_its_block() -> None:
    body = "    call(1, 2, 3);\n" * 60
    text = f"namespace a {{\nclass B {{\n  void c() {{\n{body}  }}\n}};\n}}  // namespace a\n"
    (chunk,) = split_text(text, "cpp", LIMITS).chunks
    assert chunk.scope == "namespace a > class B > c"


def test_windows_overlap_by_whole_lines_and_code_does_not_overlap() -> None:
    text = "".join(f"key_{row}: value number {row}\n" for row in range(400))
    windows = split_text(text, "yaml", LIMITS).chunks
    for left, right in pairwise(windows):
        assert 0 < left.end - right.start <= LIMITS.overlap_chars
        assert left.end_line < right.end_line
    chunks = split_text(function("a", 9_000), "python", LIMITS).chunks
    assert all(a.end < b.start for a, b in pairwise(chunks))


def test_a_window_contains_as_many_lines_as_fit() -> None:
    chunked = split_text("\n".join(["x" * 400] * 5), "yaml", ChunkLimits(overlap_chars=0))
    assert lines_of(chunked) == [(1, 2), (3, 4), (5, 5)]


def test_a_line_after_a_blank_line_begins_a_window_even_if_a_tab_precedes_it() -> None:
    filler = "x" * 89 + "\n"
    text = filler * 7 + "\n\tsection\n" + filler * 7
    windows = split_text(text, "nix", ChunkLimits(overlap_chars=0)).chunks
    assert windows[1].start_line == 9


@pytest.mark.parametrize("language", ["python", "markdown"])
def test_the_parts_of_a_definition_or_section_overlap_by_whole_lines(language: str) -> None:
    text = function("a", 9_000) if language == "python" else "A sentence of prose.\n\n" * 400
    apart = split_text(text, language, LIMITS).chunks
    limits = ChunkLimits(part_overlap_chars=200)
    chunks = split_text(text, language, limits).chunks
    assert len(chunks) == len(apart) > 5
    for left, right in pairwise(chunks):
        assert 100 < left.end - right.start <= 200
        assert text[right.start - 1] == "\n"
    assert [chunk.end for chunk in chunks] == [chunk.end for chunk in apart]


def test_windows_prefer_to_begin_after_a_blank_line() -> None:
    block = "section\n" + "  entry of the section\n" * 10 + "\n"
    chunks = split_text(block * 20, "nix", ChunkLimits(overlap_chars=0)).chunks
    lines = (block * 20).split("\n")
    assert {lines[chunk.start_line - 1] for chunk in chunks} == {"section"}


def test_names_are_found_in_a_language_without_a_grammar() -> None:
    text = "use strict;\n\nsub first {\n  return 1;\n}\n\nsub second { 2 }\n"
    (chunk,) = split_text(text, "perl", LIMITS).chunks
    assert chunk.symbols == ("first", "second")


def test_a_header_with_classes_is_parsed_as_cpp() -> None:
    text = "namespace shop {\nclass Basket {\n  int total() const { return 1; }\n};\n}\n"
    (chunk,) = split_text(text, "c", LIMITS).chunks
    assert chunk.symbols == ("shop", "Basket", "total")


@pytest.mark.parametrize(
    "line", ["#include <string>", "  virtual ~Pool() {}", "private:", "using std::vector;"]
)
def test_a_header_with_a_line_that_only_cpp_has_is_parsed_as_cpp(line: str) -> None:
    text = (
        f"{line}\nstruct Pool {{\n  bool ShouldDelayEdge() const {{ return depth_ != 0; }}\n}};\n"
    )
    symbols = [name for chunk in split_text(text, "c", LIMITS).chunks for name in chunk.symbols]
    assert "ShouldDelayEdge" in symbols


def test_c_functions_are_found_in_a_file_with_unbalanced_directives() -> None:
    text = """\
    int
win_close(
    win_T\t*win,
    int\t\tfree_buf)\t// free the "buffer"; if (unused)
{
#ifdef FEAT_A
    if (win == NULL) {
#else
    if (win == NULL || free_buf) {
#endif
        close_all(win);
    CHECK_ALL(win) {
    }
}

static void do_write(exarg_T *eap) {
#if X
    if (eap) {
#else
    {
#endif
    }
}
"""
    symbols = {name for chunk in split_text(text, "c", LIMITS).chunks for name in chunk.symbols}
    assert {"win_close", "do_write"} <= symbols
    assert symbols.isdisjoint({"if", "close_all", "CHECK_ALL"})


def test_a_call_after_an_unbalanced_directive_defines_nothing() -> None:
    text = """\
void leave(buf_T *buf)
{
    start(buf);
#ifdef FEAT_FOLDING
    else
\tclear_folding(buf);
#endif
theend:
#ifdef FEAT_BROWSE
    free_text(browse_file);
#endif
}

    int
declared(buf_T *buf);
"""
    symbols = {name for chunk in split_text(text, "c", LIMITS).chunks for name in chunk.symbols}
    assert {"leave", "declared"} <= symbols
    assert symbols.isdisjoint({"clear_folding", "free_text"})


def test_a_type_that_is_only_used_is_not_defined_in_unparsable_text() -> None:
    text = "#if X\n}\n#else\n) {\n#endif\ntypedef win_T *luaV_Window;\nstruct pass *pw = get();\n"
    symbols = {name for chunk in split_text(text, "c", LIMITS).chunks for name in chunk.symbols}
    assert "luaV_Window" in symbols
    assert symbols.isdisjoint({"win_T", "pass"})


def test_definitions_that_can_be_parsed_survive_broken_syntax() -> None:
    text = function("a", 600) + "def broken(:\n    x = = 1 ][\n\n" + function("b", 600)
    chunked = split_text(text, "python", LIMITS)
    assert {"a", "b"} <= {symbol for chunk in chunked.chunks for symbol in chunk.symbols}


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_a_line_of_900_kb_is_split_into_fragments_up_to_the_limit(language: str) -> None:
    text = "let a = [" + "12345, " * 130_000 + "];"
    limits = ChunkLimits(max_file_chars=204_800)
    chunked = split_text(text, language, limits)
    assert all(chunk.start_line == chunk.end_line == 1 for chunk in chunked.chunks)
    assert 0 < sum(chunk.end - chunk.start for chunk in chunked.chunks) <= limits.max_file_chars
    assert chunked.skipped_chars == len(text) - chunked.chunks[-1].end


def test_an_overlong_line_is_split_at_spaces_and_each_fragment_has_its_symbols() -> None:
    text = "x = 1\n" + "a = 1; " * 500 + "\ny = 2\n"
    chunked = split_text(text, "python", ChunkLimits(max_chars=300))
    assert chunked.parsed
    inside = [chunk for chunk in chunked.chunks if chunk.start_line == 2]
    assert "".join(text[chunk.start : chunk.end] for chunk in inside) == ("a = 1; " * 500).rstrip()
    assert all(chunk.symbols == ("a",) for chunk in inside)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "opening", "closing"),
    [
        ("python", "[", "]"),
        ("javascript", "(function() {\n", "})\n"),
        ("java", "class A {\n", "}\n"),
        ("rust", "mod a {\n", "}\n"),
        ("cpp", "namespace a {\n", "}\n"),
        ("html", "<div>\n", "</div>\n"),
        ("ruby", "module A\n", "end\n"),
    ],
)
def test_text_nested_ten_thousand_levels_deep_is_split(
    language: str, opening: str, closing: str
) -> None:
    for text in (opening * 10_000 + closing * 10_000, opening * 10_000):
        chunked = split_text(text, language, ChunkLimits(max_file_chars=0))
        assert chunked.chunks
        assert chunked.skipped_chars == 0


def test_a_file_over_its_limit_reports_the_skipped_characters() -> None:
    text = "".join(function(f"f{row}", 500) for row in range(40))
    limits = ChunkLimits(max_file_chars=5_000)
    chunked = split_text(text, "python", limits)
    assert sum(chunk.end - chunk.start for chunk in chunked.chunks) <= 5_000
    assert chunked.skipped_chars == len(text.rstrip()) - chunked.chunks[-1].end > 0
    assert split_text(text, "python", ChunkLimits(max_file_chars=0)).skipped_chars == 0


def test_a_file_that_fills_its_limit_exactly_is_complete() -> None:
    text = "".join(function(f"f{row}", 500) for row in range(5))
    chunks = split_text(text, "python", LIMITS).chunks
    size = sum(chunk.end - chunk.start for chunk in chunks)
    assert split_text(text, "python", ChunkLimits(max_file_chars=size)).chunks == chunks


def test_text_with_many_type_arguments_is_parsed() -> None:
    lines = "".join(f"  List<String> part{row} = new ArrayList<>();\n" for row in range(600))
    assert split_text(f"class Box {{\n{lines}}}\n", "java", LIMITS).parsed


@pytest.mark.parametrize("language", ["java", "csharp", "cpp", "typescript"])
def test_text_that_would_cost_the_parser_gigabytes_is_split_into_windows(language: str) -> None:
    chunked = split_text("a < b < c <\n" * 9_000, language, LIMITS)
    assert not chunked.parsed
    assert chunked.chunks


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_nuls_and_lone_surrogates_are_accepted(language: str) -> None:
    text = "a\0b = '\udc80\ud800'\n\n# ü\0\n" * 3
    chunked = split_text(text, language, LIMITS)
    assert text[chunked.chunks[0].start : chunked.chunks[-1].end] == text.strip()


def test_columns_of_non_ascii_text_count_characters() -> None:
    text = "größe = 'ü' * 3\nclass Käse:\n    def weiß(self): pass  # süß\n"
    (chunk,) = split_text(text, "python", LIMITS).chunks
    assert chunk.symbols == ("größe", "Käse", "weiß")
    assert chunk.comments == "# süß"


def test_a_carriage_return_belongs_to_its_line() -> None:
    text = "# Title\r\n\r\nText.\r\n"
    (chunk,) = split_text(text, "markdown", LIMITS).chunks
    assert text[chunk.start : chunk.end] == "# Title\r\n\r\nText.\r"
    assert chunk.scope == "Title"
