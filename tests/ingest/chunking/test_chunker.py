"""What holds for the pieces of any text, and how code, windows and limits behave."""

from __future__ import annotations

from itertools import pairwise

import pytest

from rootle.ingest.chunking.chunker import ChunkedText, split_text
from rootle.ingest.chunking.limits import ChunkLimits
from rootle.text.languages import LANGUAGES

LIMITS = ChunkLimits()


def lines_of(cut: ChunkedText) -> list[tuple[int, int]]:
    return [(piece.start_line, piece.end_line) for piece in cut.chunks]


def function(name: str, length: int) -> str:
    """A Python function of at least `length` characters."""
    body = "".join(f"    value_{row} = compute({row})\n" for row in range(length // 28 + 1))
    return f"def {name}():\n{body}    return value_0\n"


def test_two_functions_of_a_javascript_file_are_two_pieces() -> None:
    filler = "  console.log('a line that makes the function long enough to stand alone');\n" * 5
    text = f"function first() {{\n{filler}}}\n\nfunction second() {{\n{filler}}}\n"
    cut = split_text(text, "javascript", LIMITS)
    assert lines_of(cut) == [(1, 7), (9, 15)]
    assert [piece.symbols for piece in cut.chunks] == [("first",), ("second",)]
    assert [piece.scope for piece in cut.chunks] == ["function first", "function second"]


@pytest.mark.parametrize("text", ["", " ", "\n", "\n\n  \t\n", "\r\n\r\n"])
@pytest.mark.parametrize("language", ["python", "markdown", "text", "yaml", "unknown"])
def test_a_blank_text_has_no_pieces(text: str, language: str) -> None:
    assert split_text(text, language, LIMITS) == ChunkedText((), 0, True)


def test_tiny_neighbours_are_one_piece_and_bigger_functions_are_not() -> None:
    text = function("a", 50) + function("b", 50) + function("c", 600) + function("d", 600)
    pieces = split_text(text, "python", LIMITS).chunks
    assert [piece.symbols for piece in pieces] == [("a", "b"), ("c",), ("d",)]
    assert pieces[0].scope == ""


def test_a_class_is_cut_into_its_head_and_its_methods() -> None:
    methods = (function("one", 300) + function("two", 300)).replace("\n", "\n    ")
    text = f'class Box:\n    """{"What it is for. " * 20}"""\n\n    {methods}\n'
    pieces = split_text(text, "python", LIMITS).chunks
    assert [piece.scope for piece in pieces] == [
        "class Box",
        "class Box > def one",
        "class Box > def two",
    ]
    assert pieces[0].comments.startswith('"""What it is for.')


def test_a_small_class_stays_whole() -> None:
    text = (
        "class Box:\n    def one(self):\n        return 1\n\n    def two(self):\n        return 2\n"
    )
    (piece,) = split_text(text, "python", LIMITS).chunks
    assert (piece.scope, piece.symbols) == ("class Box", ("Box", "one", "two"))


def test_a_big_function_is_cut_inside_and_each_part_knows_its_place() -> None:
    pieces = split_text(function("big", 6_000), "python", LIMITS).chunks
    assert len(pieces) >= 6
    assert {piece.scope for piece in pieces} == {"def big"}
    assert [piece.symbols for piece in pieces] == [("big",)] + [()] * (len(pieces) - 1)
    assert all(piece.end - piece.start <= 1_100 for piece in pieces)


def test_a_big_function_is_cut_where_its_outermost_statements_begin() -> None:
    loop = "    for row in rows:\n" + "        handle(row, and_more)\n" * 16
    pieces = split_text(f"def big(rows):\n{loop * 8}", "python", LIMITS).chunks
    starts = [f"def big(rows):\n{loop * 8}".split("\n")[piece.start_line - 1] for piece in pieces]
    assert starts[1:] == ["    for row in rows:"] * (len(pieces) - 1)


def test_comments_and_decorators_stay_with_what_they_precede() -> None:
    text = function("a", 600) + "\n# About b.\n# More about b.\n@cached\n" + function("b", 600)
    second = split_text(text, "python", LIMITS).chunks[1]
    assert text[second.start : second.end].startswith("# About b.")
    assert second.comments == "# About b.\n# More about b."


def test_a_comment_apart_from_a_definition_does_not_belong_to_it() -> None:
    licence = "# All rights reserved.\n" * 20
    first, second = split_text(f"{licence}\n{function('a', 600)}", "python", LIMITS).chunks
    assert (first.symbols, second.symbols) == ((), ("a",))
    assert second.comments == ""


def test_the_part_of_a_long_comment_cut_off_from_its_definition_has_its_name() -> None:
    comment = "/// A sentence about what it does and why it does it.\n" * 40
    text = f"{comment}fn work() {{\n    one();\n    two();\n}}\n"
    pieces = split_text(text, "rust", LIMITS).chunks
    assert len(pieces) > 1
    assert pieces[0].symbols == pieces[-1].symbols == ("work",)
    assert sum(piece.comments.count("A sentence") for piece in pieces) == 40


def test_a_closing_brace_stays_with_what_it_closes() -> None:
    body = "    call(1, 2, 3);\n" * 60
    text = f"namespace a {{\nclass B {{\n  void c() {{\n{body}  }}\n}};\n}}  // namespace a\n"
    (piece,) = split_text(text, "cpp", LIMITS).chunks
    assert piece.scope == "namespace a > class B > c"


def test_windows_overlap_by_whole_lines_and_code_does_not_overlap() -> None:
    text = "".join(f"key_{row}: value number {row}\n" for row in range(400))
    windows = split_text(text, "yaml", LIMITS).chunks
    for left, right in pairwise(windows):
        assert 0 < left.end - right.start <= LIMITS.overlap_chars
        assert left.end_line < right.end_line
    pieces = split_text(function("a", 9_000), "python", LIMITS).chunks
    assert all(a.end < b.start for a, b in pairwise(pieces))


def test_windows_prefer_to_begin_after_a_blank_line() -> None:
    block = "section\n" + "  entry of the section\n" * 10 + "\n"
    pieces = split_text(block * 20, "nix", ChunkLimits(overlap_chars=0)).chunks
    lines = (block * 20).split("\n")
    assert {lines[piece.start_line - 1] for piece in pieces} == {"section"}


def test_a_language_without_a_grammar_still_has_names() -> None:
    text = "use strict;\n\nsub first {\n  return 1;\n}\n\nsub second { 2 }\n"
    (piece,) = split_text(text, "perl", LIMITS).chunks
    assert piece.symbols == ("first", "second")


def test_a_header_with_classes_is_read_as_cpp() -> None:
    text = "namespace shop {\nclass Basket {\n  int total() const { return 1; }\n};\n}\n"
    (piece,) = split_text(text, "c", LIMITS).chunks
    assert piece.symbols == ("shop", "Basket", "total")


def test_broken_syntax_keeps_the_definitions_that_can_be_read() -> None:
    text = function("a", 600) + "def broken(:\n    x = = 1 ][\n\n" + function("b", 600)
    cut = split_text(text, "python", LIMITS)
    assert {"a", "b"} <= {symbol for piece in cut.chunks for symbol in piece.symbols}


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_a_line_of_900_kb_is_cut_into_fragments_up_to_the_limit(language: str) -> None:
    text = "let a = [" + "12345, " * 130_000 + "];"
    cut = split_text(text, language, LIMITS)
    assert all(piece.start_line == piece.end_line == 1 for piece in cut.chunks)
    assert 0 < sum(piece.end - piece.start for piece in cut.chunks) <= LIMITS.max_file_chars
    assert cut.skipped_chars == len(text) - cut.chunks[-1].end


def test_an_overlong_line_in_code_is_cut_at_spaces_and_its_names_are_where_they_stand() -> None:
    text = "x = 1\n" + "a = 1; " * 500 + "\ny = 2\n"
    cut = split_text(text, "python", ChunkLimits(max_chars=300))
    assert cut.parsed
    inside = [piece for piece in cut.chunks if piece.start_line == 2]
    assert "".join(text[piece.start : piece.end] for piece in inside) == ("a = 1; " * 500).rstrip()
    assert all(piece.symbols == ("a",) for piece in inside)


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
def test_text_nested_ten_thousand_deep_is_cut(language: str, opening: str, closing: str) -> None:
    for text in (opening * 10_000 + closing * 10_000, opening * 10_000):
        cut = split_text(text, language, ChunkLimits(max_file_chars=0))
        assert cut.chunks
        assert cut.skipped_chars == 0


def test_a_file_over_its_limit_says_how_much_is_left_out() -> None:
    text = "".join(function(f"f{row}", 500) for row in range(40))
    limits = ChunkLimits(max_file_chars=5_000)
    cut = split_text(text, "python", limits)
    assert sum(piece.end - piece.start for piece in cut.chunks) <= 5_000
    assert cut.skipped_chars == len(text.rstrip()) - cut.chunks[-1].end > 0
    assert split_text(text, "python", ChunkLimits(max_file_chars=0)).skipped_chars == 0


@pytest.mark.parametrize("language", ["java", "csharp", "cpp", "typescript"])
def test_text_that_would_take_the_parser_gigabytes_is_cut_into_windows(language: str) -> None:
    cut = split_text("a < b < c <\n" * 9_000, language, LIMITS)
    assert not cut.parsed
    assert cut.chunks


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_nuls_and_lone_surrogates_do_no_harm(language: str) -> None:
    text = "a\0b = '\udc80\ud800'\n\n# ü\0\n" * 3
    cut = split_text(text, language, LIMITS)
    assert text[cut.chunks[0].start : cut.chunks[-1].end] == text.strip()


def test_columns_of_text_beyond_ascii_are_characters() -> None:
    text = "größe = 'ü' * 3\nclass Käse:\n    def weiß(self): pass  # süß\n"
    (piece,) = split_text(text, "python", LIMITS).chunks
    assert piece.symbols == ("größe", "Käse", "weiß")
    assert piece.comments == "# süß"


def test_a_carriage_return_belongs_to_its_line() -> None:
    text = "# Title\r\n\r\nText.\r\n"
    (piece,) = split_text(text, "markdown", LIMITS).chunks
    assert text[piece.start : piece.end] == "# Title\r\n\r\nText.\r"
    assert piece.scope == "Title"
