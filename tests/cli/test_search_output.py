"""Search output for people and for language models.

Answers that are not confident are shortened.
"""

from __future__ import annotations

import io
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from pathlib import Path

import pytest
from sample import MakeApp

from rootle.cli.results.style import Style, most_relevant
from rootle.cli.search_output import print_markdown, print_response
from rootle.cli.symbol_output import print_symbols
from rootle.serialization.markdown import response_as_markdown
from rootle.types import (
    CommitFacts,
    FileMetadata,
    SearchQuery,
    SearchResponse,
    SearchResult,
    Span,
    Symbol,
    SymbolAnswer,
    SymbolAspect,
    SymbolUse,
)

_WEAK = "kubernetes autoscaler quota"
_WARNING = 'not confident: no indexed text has the word "kubernetes", "autoscaler" or "quota"; '
_PLAIN = Style(is_terminal=False, has_color=False)


@pytest.fixture
def weak(repository: Path, make_app: MakeApp) -> SearchResponse:
    response: SearchResponse = make_app(repository).search(_WEAK)
    assert response.confident is False
    assert len(response.results) > 3
    return response


def _print_lines(response: SearchResponse, *, is_brief: bool = True) -> list[str]:
    """Return the lines on a terminal, which shows both streams in the order of writing."""
    terminal = io.StringIO()
    with redirect_stdout(terminal), redirect_stderr(terminal):
        print_response(response, _WEAK, _PLAIN, is_brief=is_brief)
    return terminal.getvalue().splitlines()


def _long_response(count: int) -> SearchResponse:
    """Return a confident response whose results have four spans of 20 long lines each."""
    text = "\n".join(f"line {number} of the zebra {'x' * 200}" for number in range(20))
    spans = tuple(Span(at, at + 19, text, f"scope_{at}") for at in (101, 201, 301))
    metadata = FileMetadata(None, "python", 1)
    return SearchResponse(
        tuple(
            SearchResult(f"file_{at}.py", 1, 20, text, 0.9, "merged", metadata, more_spans=spans)
            for at in range(count)
        ),
        None, (), True, 1, 1.0,
    )  # fmt: skip


def _set_terminal(monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("LINES", str(rows))


def _count_rows(lines: list[str]) -> int:
    return sum(max(1, -(-len(line) // 80)) for line in lines)


def _print_on_terminal(response: SearchResponse, question: str = "zebra") -> list[str]:
    terminal = io.StringIO()
    with redirect_stdout(terminal), redirect_stderr(terminal):
        print_response(response, question, Style(is_terminal=True, has_color=False))
    return terminal.getvalue().splitlines()


@pytest.mark.parametrize("rows", [60, 40, 24])
def test_a_long_answer_fits_on_one_screen_of_a_terminal(
    rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    _set_terminal(monkeypatch, rows)
    response = _long_response(10)
    lines = _print_on_terminal(response)
    assert len(_headings(lines, response)) == 10
    assert rows - 8 <= _count_rows(lines) < rows  # one row is left for the prompt
    assert lines[-1] == "rootle: shortened; -n 10 shows more lines"
    assert "  also 101-120 scope_101, 201-220 scope_201, 301-320 scope_301" in lines


def test_the_innermost_names_of_a_scope_are_visible(monkeypatch: pytest.MonkeyPatch) -> None:
    _set_terminal(monkeypatch, 40)
    scope = "namespace Zoo.Animals.Striped > class ZebraFeeder > method FeedAtNoon"
    long_path = "Source/Zoo.Animals.Striped/Feeding/Schedules/ZebraFeeder.cs"
    response = _long_response(2)
    first, second = (replace(one, scope=scope, more_spans=()) for one in response.results)
    response = replace(response, results=(first, replace(second, file_path=long_path)))
    lines = _print_on_terminal(response)
    assert lines[0] == "file_0.py:1-20  0.90  … > class ZebraFeeder > method FeedAtNoon"
    at = lines.index(f"{long_path}:1-20  0.90")
    assert lines[at + 1] == f"  {scope}"
    spans = tuple(Span(at, at, "zebra", scope) for at in (101, 201))
    response = replace(response, results=(replace(first, more_spans=spans),))
    also = "  also 101-101 method FeedAtNoon, 201-201 method FeedAtNoon"
    _set_terminal(monkeypatch, 10)
    assert also in _print_on_terminal(response)


def test_the_places_of_other_spans_are_complete_and_their_names_as_long_as_possible(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _set_terminal(monkeypatch, 10)
    (first,) = _long_response(1).results
    for scopes, also in (
        (
            ("def feed(self, zebras: list[Zebra])", "def wash(self)", "class ZebraKeeper"),
            "101-120 def feed, 201-220 def wash, 301-320 class ZebraKeeper",
        ),
        (
            ("func ZebraKeeper.FeedAtNoon", "func ZebraKeeper.Wash", ""),
            "101-120 ZebraKeeper.FeedAtNoon, 201-220 ZebraKeeper.Wash, 301-320",
        ),
        (
            ("func ZebraKeeper.FeedTheYoungOnes", "func ZebraKeeper.WashTheOldOnes", "class Z"),
            "101-120 ZebraKeeper.Fe…, 201-220 ZebraKeeper.Wa…, 301-320 Z",
        ),
    ):
        spans = [
            Span(at, at + 19, "", scope) for at, scope in zip((101, 201, 301), scopes, strict=True)
        ]
        response = replace(_long_response(1), results=(replace(first, more_spans=tuple(spans)),))
        assert f"  also {also}" in _print_on_terminal(response)


def test_lines_are_shown_without_tabs_and_their_common_indentation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _set_terminal(monkeypatch, 40)
    first, *others = _long_response(3).results
    code = f"\t\t\tif zebra {{\n\t\t\t\tfeed({'x' * 90})\n\t\t\t}}"
    second = replace(others[0], snippet=code, end_line=3, more_spans=())
    response = replace(_long_response(3), results=(first, second, others[1]))
    lines = _print_on_terminal(response)
    at = lines.index("  1  if zebra {")
    assert lines[at + 1] == f"  2      feed({'x' * 65}…"
    assert lines[at + 2] == "  3  }"


def test_the_whole_passages_of_a_small_answer_are_shown_without_tabs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _set_terminal(monkeypatch, 40)
    (first,) = _long_response(1).results
    code = "\t\tif zebra {\n\t\t\tfeed()\n\t\t}"
    first = replace(first, snippet=code, end_line=3, more_spans=())
    lines = _print_on_terminal(replace(_long_response(1), results=(first,)))
    assert lines[1:4] == ["  1  if zebra {", "  2      feed()", "  3  }"]


def test_the_title_of_a_commit_is_on_a_line_of_its_own_if_it_is_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _set_terminal(monkeypatch, 40)
    title = "Feed the zebras of the northern enclosure at noon"
    commit = CommitFacts("a" * 40, "2026-03-14T10:00:00+00:00", "Ada <ada@example.com>", title)
    (first,) = _long_response(1).results
    first = replace(first, file_path=f"git:{'a' * 40}", commit=commit)
    lines = _print_on_terminal(replace(_long_response(1), results=(first,)))
    assert any(line.startswith("  ") and line.endswith(title) for line in lines)


def test_the_title_of_a_commit_is_cut_even_if_there_is_room_for_more_lines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _set_terminal(monkeypatch, 40)
    date, subject = "2024-03-31T10:00:00Z", "Retry " + "again and again " * 8
    facts = CommitFacts("1" * 40, date, "Ada <ada@example.org>", subject)
    response = _long_response(1)
    response = replace(response, results=(replace(response.results[0], commit=facts),))

    lines = _print_on_terminal(response)

    assert lines[1].startswith("  2024-03-31 Ada: Retry again")
    assert len(lines[1]) == 80
    assert lines[1].endswith("…")


def test_a_list_of_commits_leaves_out_the_author_before_the_title_is_cut(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _set_terminal(monkeypatch, 24)
    title = "Feed the zebras at noon"
    commit = CommitFacts("a" * 40, "2026-03-14T10:00:00+00:00", "Ada Lovelace <a@x.org>", title)
    results = tuple(
        replace(one, file_path=f"git:{'a' * 40}", commit=commit, place="stables/zebra.py")
        for one in _long_response(10).results
    )
    lines = _print_on_terminal(replace(_long_response(1), results=results))
    short = [line for line in lines if line.endswith(f"2026-03-14 {title}")]
    assert len(short) >= 7
    assert all(len(line) <= 80 for line in lines)


def test_the_heading_above_a_pasted_text_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    _set_terminal(monkeypatch, 40)
    (first,) = _long_response(1).results
    text = "## first_error\n\nno zebra\n\n## second_error\n\nthe zebra is hungry"
    first = replace(
        first, file_path="errors.md", snippet=text, end_line=7, matching_lines=(7,), more_spans=()
    )
    lines = _print_on_terminal(replace(_long_response(1), results=(first,)))
    assert lines[0] == "errors.md:1-7  0.90  second_error"


def test_messages_take_rows_of_the_screen_too(monkeypatch: pytest.MonkeyPatch) -> None:
    _set_terminal(monkeypatch, 40)
    notes = tuple(f"note {number} {'about the files ' * 8}" for number in range(4))
    response = replace(_long_response(10), suggestions=notes)
    lines = _print_on_terminal(response)
    assert _count_rows(lines) < 40
    assert lines[-5:-1] == [f"rootle: {note}" for note in notes]


def test_the_lines_of_the_first_result_are_wrapped_if_there_is_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _set_terminal(monkeypatch, 40)
    response = _long_response(10)
    paragraph = " ".join(["zebra"] * 40)
    first = replace(response.results[0], snippet=f"# Zebra\n\n{paragraph}", end_line=3)
    response = replace(response, results=(first, *response.results[1:]))
    lines = _print_on_terminal(response)
    assert lines[1:3] == ["  1  # Zebra", f"  3  {paragraph}"]


_PADDING = " " * 200


def _print_table(rows: list[str], question: str, *, is_first: bool = True) -> list[str]:
    response = _long_response(10)
    document = replace(
        response.results[0], file_path="options.md", snippet="\n".join(rows), end_line=len(rows)
    )
    others = response.results[1:]
    results = (document, *others) if is_first else (others[0], document, *others[1:])
    return _print_on_terminal(replace(response, results=results), question)


def test_rows_of_tables_are_shown_without_padding_and_anchors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _set_terminal(monkeypatch, 40)
    anchor = '<a id="opt-net-timeout" href="#opt-net-timeout" title="#opt-net-timeout">'
    row = f"| {anchor}`net.`<br />`timeout`</a> | How long to wait.{_PADDING}| 5s{_PADDING}|"
    lines = _print_table(["| Name | Meaning | Default |", row], "net.timeout")
    assert "  2  | `net.timeout` | How long to wait. | 5s |" in lines


def test_a_row_that_is_cut_shows_its_match(monkeypatch: pytest.MonkeyPatch) -> None:
    _set_terminal(monkeypatch, 40)
    row = f"| `net` | {'Every other word. ' * 8} It also sets the timeout of a zebra. | 5s |"
    lines = _print_table(["| Name | Meaning | Default |", row], "zebra timeout", is_first=False)
    (shown,) = [line for line in lines if "timeout" in line]
    assert "sets the timeout of a zebra." in shown
    assert shown.startswith("  2  …")
    assert len(shown) <= 80


def test_a_repeated_word_is_not_two_words(monkeypatch: pytest.MonkeyPatch) -> None:
    _set_terminal(monkeypatch, 40)
    rows = [
        "| `shell` | Runs other commands | `sh` |",
        "| `scroll-lines` | Lines to scroll per scroll wheel step | `3` |",
        "| `scrolloff` | Padding at the edge of the screen | `5` |",
    ]
    response = _long_response(10)
    document = replace(response.results[9], snippet="\n".join(rows), end_line=3)
    response = replace(response, results=(*response.results[:9], document))
    lines = _print_on_terminal(response, "scrolloff")
    assert "  3  | `scrolloff` | Padding at the edge of the screen | `5` |" in lines


def test_a_line_is_shown_with_the_comment_that_describes_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _set_terminal(monkeypatch, 24)
    response = _long_response(10)
    text = [
        "class Zebras",
        *(f"    private Zebra zebra{at};" for at in range(20)),
        "    /// <summary>",
        "    /// The time in minutes that a zebra token is valid.",
        "    /// </summary>",
        "    private const int Timeout = 10;",
    ]
    first = replace(response.results[0], snippet="\n".join(text), end_line=len(text))
    response = replace(response, results=(first, *response.results[1:]))
    lines = _print_on_terminal(response, "how long is a zebra token valid")
    assert "  23      /// The time in minutes that a zebra token is valid." in lines
    assert "  25      private const int Timeout = 10;" in lines


def test_a_shortened_answer_names_untrusted_text_and_its_orders(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _set_terminal(monkeypatch, 40)
    response = _long_response(10)
    outside = replace(
        response.results[4],
        origin="https://a.example/",
        trust="external",
        warning="it orders",
    )
    response = replace(response, results=(*response.results[:4], outside, *response.results[5:]))
    lines = _print_on_terminal(response)
    assert lines[-1] == "rootle: shortened; -n 10 shows more lines"
    heading = next(at for at, line in enumerate(lines) if line.startswith("file_4.py"))
    assert lines[heading + 1 : heading + 3] == [
        "  untrusted, from https://a.example/",
        "  WARNING: it orders",
    ]


@pytest.mark.parametrize(("is_terminal", "is_brief"), [(False, True), (True, False)])
def test_a_long_answer_is_complete_in_a_pipe_and_with_a_limit(
    is_terminal: bool, is_brief: bool
) -> None:
    response, terminal = _long_response(10), io.StringIO()
    with redirect_stdout(terminal), redirect_stderr(terminal):
        style = Style(is_terminal=is_terminal, has_color=False)
        print_response(response, "zebra", style, is_brief=is_brief)
    lines = terminal.getvalue().splitlines()
    assert len(_headings(lines, response)) == 40
    assert not any("shortened" in line for line in lines)


_LONG_PATH = f"src/{'nested/' * 12}module.py"


def _answer_about_name(aspect: SymbolAspect) -> SymbolAnswer:
    """Return an answer with 32 definitions and the first 30 of 389 uses, all on long lines."""
    signature = f"def zebra({'x' * 200})"
    definitions = tuple(
        Symbol("zebra", "def", f"class C{at}", _LONG_PATH, at, at, at + 3, signature, "python", "")
        for at in range(1, 33)
    )
    use = SymbolUse(_LONG_PATH, 7, "call", f"def {'long_name_' * 20}", "zebra(1)", is_test=False)
    uses = () if aspect == "definitions" else (use,) * 30
    return SymbolAnswer(
        "zebra", aspect, definitions, uses, 0, 389, {"call": 389}, True, "cursor"
    )  # fmt: skip


@pytest.mark.parametrize("aspect", ["definitions", "uses"])
@pytest.mark.parametrize("rows", [40, 30])
def test_an_answer_about_a_widely_used_name_fits_on_one_screen_of_a_terminal(
    aspect: SymbolAspect, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    _set_terminal(monkeypatch, rows)
    lines = _print_on_terminal(replace(_long_response(10), symbols=_answer_about_name(aspect)))
    assert _count_rows(lines) < rows
    assert lines[0].startswith("32 definitions of zebra; ")
    assert f"{_LONG_PATH}:1-4…" in lines  # the path is complete
    assert "rootle: more definitions: `rootle symbol zebra`" in lines
    others = [line for line in lines if not line.startswith((_LONG_PATH, "rootle: "))]
    assert all(len(line) <= 80 for line in others)
    if aspect == "uses":
        row = next(line for line in lines if line.startswith("  7 (call, def long_name_"))
        assert row.endswith("…, by name)  zebra(1)")  # the scope is cut, and the code is not
        left = 389 - sum(line.startswith("  7 (call, ") for line in lines)
        assert f"rootle: {left} more uses; `rootle symbol --uses -n 389 zebra` lists them" in lines


@pytest.mark.parametrize(("is_terminal", "is_brief"), [(False, True), (True, False)])
def test_the_uses_of_a_name_are_not_shortened_in_a_pipe_or_with_a_limit(
    is_terminal: bool, is_brief: bool
) -> None:
    response = replace(_long_response(10), symbols=_answer_about_name("uses"))
    terminal = io.StringIO()
    with redirect_stdout(terminal), redirect_stderr(terminal):
        style = Style(is_terminal=is_terminal, has_color=False)
        print_response(response, "zebra", style, is_brief=is_brief)
    lines = terminal.getvalue().splitlines()
    assert sum(line.startswith("  7 (call, ") for line in lines) == 30
    assert all("…" not in line for line in lines)


def _headings(lines: list[str], response: SearchResponse) -> list[str]:
    paths = tuple(f"{result.file_path}:" for result in response.results)
    return [line for line in lines if line.startswith(paths)]


def test_a_weak_answer_is_announced_before_it_is_shown(weak: SearchResponse) -> None:
    lines = _print_lines(weak)
    count = len(weak.results)
    assert lines[0].startswith(f"rootle: {_WARNING}")
    assert lines[1] == f"rootle: the best 3 of {count} results follow; -n {count} shows all"
    assert lines[2].startswith(f"{weak.results[0].file_path}:")


def test_a_weak_answer_is_short(weak: SearchResponse) -> None:
    lines = _print_lines(weak)
    assert len(_headings(lines, weak)) == 3
    assert len(lines) <= 2 + 3 * (1 + 4) + 2


def _respond(lines: list[str], *, confident: bool | None) -> SearchResponse:
    """Return a response with one result, which begins in the first line of a file."""
    metadata = FileMetadata(None, "ruby", 1)
    result = SearchResult("quota.rb", 1, len(lines), "\n".join(lines), 0.1, "merged", metadata)
    return SearchResponse((result,), None, (), confident, 1, 1.0)


def test_a_weak_answer_shows_the_lines_with_the_words_of_the_question() -> None:
    lines = ["module Limits", *[f"  limit_{at} = {at}" for at in range(20)]]
    lines[12] = "  # The quota of the autoscaler."
    response = _respond(lines, confident=False)
    shown = _print_lines(response)
    assert shown[0] == "quota.rb:10-13  0.10"
    assert len(shown) == 5
    assert shown[4].split() == "13 # The quota of the autoscaler.".split()
    assert "The quota of the autoscaler" in response_as_markdown(response, _WEAK)


@pytest.mark.parametrize("confident", [True, None])
def test_long_lines_are_cut_only_if_the_answer_is_not_confident(
    *, confident: bool | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = f"quota = {' + '.join(['limit'] * 40)}"
    _set_terminal(monkeypatch, 24)
    assert long in "\n".join(_print_on_terminal(_respond([long], confident=confident)))
    weak = _print_on_terminal(_respond([long], confident=False))
    assert long not in "\n".join(weak)


def test_imports_and_comments_for_programs_are_not_shown_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = [
        "# frozen_string_literal: true", "", 'require "json"', "", "module Store", "  #",
        *[f"  step_{at}" for at in range(20)], "  zebra",
    ]  # fmt: skip
    _set_terminal(monkeypatch, 6)
    shown = _print_on_terminal(_respond(lines, confident=True))
    assert shown[:2] == ["quota.rb:1-27  0.10", "   5  module Store"]
    assert "  27    zebra" in shown
    assert not any(line.endswith("#") for line in shown)


def test_a_first_line_with_a_word_of_the_question_is_shown_even_if_it_resembles_an_import() -> None:
    lines = ["use the quota of the pool", "first step", "second step", "the quota"]
    assert most_relevant(lines, {"quota"}, 2) == [0, 3]


def test_a_limit_shows_a_weak_answer_in_full(weak: SearchResponse) -> None:
    lines = _print_lines(weak, is_brief=False)
    assert lines[0].startswith(f"rootle: {_WARNING}")
    headings = _headings(lines, weak)
    assert len({heading.partition(":")[0] for heading in headings}) == len(weak.results)


@pytest.mark.parametrize("name", ["partial", "stale"])
def test_that_the_index_lacks_files_is_printed_before_the_results(
    name: str, repository: Path, make_app: MakeApp
) -> None:
    response = replace(make_app(repository).search("RetryPolicy"), degraded=(name, "memory"))
    lines = _print_lines(response)
    assert lines[0].startswith(f"rootle: degraded: {name} (")
    assert lines[-1] == "rootle: degraded: memory (memories are not searched)"
    terminal = io.StringIO()
    with redirect_stdout(terminal), redirect_stderr(terminal):
        print_markdown(response)
    assert terminal.getvalue().startswith(f"rootle: degraded: {name} (")


def test_a_confident_answer_is_shown_in_full(repository: Path, make_app: MakeApp) -> None:
    response = make_app(repository).search("RetryPolicy")
    assert response.confident is True
    assert len(response.results) > 3
    lines = _print_lines(response)
    assert {line.partition(":")[0] for line in _headings(lines, response)} == {
        result.file_path for result in response.results
    }


def test_the_markdown_of_a_weak_answer_starts_with_the_warning(weak: SearchResponse) -> None:
    lines = response_as_markdown(weak).splitlines()
    assert lines[0].startswith(f"Note: {_WARNING}")
    assert lines[1] == f"Note: the best 3 of {len(weak.results)} results follow"
    assert sum(line.startswith("## ") for line in lines) == 3
    assert len(lines) <= 3 + 3 * (1 + 2 + 4 + 1)
    terminal = io.StringIO()
    with redirect_stdout(io.StringIO()), redirect_stderr(terminal):
        print_markdown(weak)
    assert terminal.getvalue() == ""  # the warning is not repeated


def test_a_budget_is_used_for_passages(repository: Path, make_app: MakeApp) -> None:
    """A warning would not fit into a small budget, so it precedes the Markdown as a message."""
    weak = make_app(repository).search(SearchQuery(_WEAK, budget=40))
    terminal = io.StringIO()
    with redirect_stdout(terminal), redirect_stderr(terminal):
        print_markdown(weak, is_brief=False)
    first, *rest = terminal.getvalue().splitlines()
    assert first.startswith(f"rootle: {_WARNING}")
    assert rest[0].startswith("## ")
    assert 0 < len("\n".join(rest)) <= 160


@pytest.mark.parametrize("aspect", ["definitions", "uses"])
def test_the_answer_of_rootle_symbol_fits_on_one_screen_of_a_terminal(
    aspect: SymbolAspect, monkeypatch: pytest.MonkeyPatch
) -> None:
    _set_terminal(monkeypatch, 30)
    terminal = io.StringIO()
    with redirect_stdout(terminal), redirect_stderr(terminal):
        print_symbols(_answer_about_name(aspect), is_brief=True)
    lines = terminal.getvalue().splitlines()
    assert _count_rows(lines) < 30
    others = [line for line in lines if not line.startswith((_LONG_PATH, "rootle: "))]
    assert all(len(line) <= 80 for line in others)
    assert lines[-1].endswith("; -n 389 shows everything")
