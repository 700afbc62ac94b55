"""The lines of a file that an agent receives."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from one_file_answer import OneFile

from rootle.serialization.path_text import group_lines
from rootle.text.word_stems import collect_stems, find_stems
from rootle.tools.excerpts.file_places import Place
from rootle.types import Definition, FileOutline, Span


def outline_of(text: str, *definitions: tuple[str, int, int]) -> FileOutline:
    found = tuple(Definition(*one) for one in definitions)
    return FileOutline("a.py", tuple(text.split("\n")), found)


_WORDS = st.sampled_from(
    ["retry_backoff", "RetryBackoff", "the", "ΣΑΣ", "İstanbul", "größe", "ΟΔΟΣ.x", " ", "(", "\t"]
)
_LINES = st.lists(st.one_of(_WORDS, st.text(max_size=8)), max_size=8).map("".join)


@pytest.mark.slow
@given(lines=st.lists(_LINES.filter(lambda line: "\n" not in line), max_size=12), question=_LINES)
def test_the_words_of_a_question_are_found_in_every_line_that_contains_them(
    lines: list[str], question: str
) -> None:
    stems = collect_stems(question)
    expected = {number: collect_stems(line) & stems for number, line in enumerate(lines, 1)}
    found = find_stems(lines, question)
    single = {
        at: {word for word in words if " " not in word and not word.startswith("=")}
        for at, words in found.items()
    }
    assert single == {number: some for number, some in expected.items() if some}


def test_lines_are_chosen_to_fit_and_end_where_statements_end() -> None:
    body = [f"    filler_{at} = compute({at})" for at in range(60)]
    body[30:34] = [
        "    if quota.exceeded:",
        "        raise QuotaError(",
        "            quota,",
        "        )",
    ]
    text = "\n".join(["def check(quota):", *body])
    excerpts = OneFile(
        outline_of(text, ("def check", 1, 61)), "raise an error if the quota is exceeded"
    )
    (place,) = excerpts.places([Span(28, 40, "", "def check")])
    chosen = excerpts.choose(place, 300)
    assert excerpts.size(chosen) <= 300
    assert {1, 32, 33} <= set(chosen)
    (_, _), (first, last) = group_lines(chosen)
    assert first <= 32
    assert last not in (32, 33, 34)  # these lines are within the statement
    assert excerpts.choose(place, 10_000) == tuple(range(1, 62))


def test_the_text_of_an_error_is_shown_with_the_statement_that_raises_it() -> None:
    error = [
        "    if crumb.is_hard():",
        "        raise CrumbError(",
        '            "the dough needs water from the well"',
        "        )",
    ]
    body = [f"    oven.turn(step={at}, water={at})" for at in range(60)]
    body[40:44] = error
    outline = outline_of("\n".join(["def bake(oven):", *body]), ("def bake", 1, 61))
    excerpts = OneFile(outline, "the dough needs water from the well")
    (place,) = excerpts.places([Span(1, 61, "", "def bake")])
    for room in range(190, 500, 20):
        assert {43, 44} <= set(excerpts.choose(place, room)), room


def test_a_method_is_shown_rather_than_the_class_around_it() -> None:
    text = (
        "class Door:\n    width = 3  # open door\n\n    def open(self):\n        return self.door\n"
    )
    outline = outline_of(text, ("class Door", 1, 5), ("class Door > def open", 4, 5))
    excerpts = OneFile(outline, "open the door")
    names = [place.name for place in excerpts.places([Span(1, 2, "", ""), Span(4, 5, "", "")])]
    assert names == ["class Door > def open", "class Door"]


def test_the_function_that_the_question_declares_is_shown_besides_its_caller() -> None:
    text = """\
def deleteOldSegments():
    # Delete old log segments whose records expired from the tail of each partition directory.
    return deleteRetentionBreachedSegments() + deleteLogStartBreachedSegments()


def deleteRetentionBreachedSegments():
    return deleteIf(is_breached)


def openSegment(path):
    return Segment(path)


def rollSegment(log):
    log.append(openSegment(log.next_path()))


def flush(log):
    log.file.flush()
"""
    outline = outline_of(
        text,
        ("def deleteOldSegments", 1, 3),
        ("def deleteRetentionBreachedSegments", 6, 7),
        ("def openSegment", 10, 11),
        ("def rollSegment", 14, 15),
        ("def flush", 18, 19),
    )
    spans = [Span(6, 7, "", ""), Span(1, 3, "", "")]
    described = (
        "Delete old log segments whose records expired from the tail of a partition directory."
    )
    for signature in (
        "int deleteRetentionBreachedSegments()",
        "def deleteRetentionBreachedSegments(self)",
    ):
        excerpts = OneFile(outline, f"{described} {signature}")
        chosen = {place.name: lines for place, lines in excerpts.choose_places(spans, 600)}
        assert chosen["def deleteRetentionBreachedSegments"] == (6, 7)
        assert chosen["def deleteOldSegments"] == (1, 2, 3)
    called = f"{described} It calls deleteRetentionBreachedSegments()"
    first, *_ = OneFile(outline, called).places(spans)
    assert first.name == "def deleteOldSegments"


def test_a_function_of_c_that_the_question_declares_precedes_its_prototype() -> None:
    body = [f"\tcheck_{at}(tls);" for at in range(40)]
    lines = [
        "static int verify_certificate(rdpTls* tls, const char* hostname);",
        "",
        "int verify_certificate(rdpTls* tls, const char* hostname)",
        "{",
        *body,
        "\tif (tls)",
        "\t{ stop(tls); }",
        "}",
    ]
    # The parser mistakes the `if` for a function.
    outline = outline_of(
        "\n".join(lines), ("verify_certificate", 3, 47), ("verify_certificate > if", 45, 46)
    )
    question = "Verify it. int verify_certificate(rdpTls* tls, const char* hostname)"
    spans = [Span(1, 1, "", ""), Span(3, 20, "", "")]
    (place, shown), *_ = OneFile(outline, question).choose_places(spans, 400)
    assert place.name == "verify_certificate"
    assert shown[0] == 3


def test_a_macro_that_the_question_declares_is_shown_with_all_its_lines() -> None:
    text = """\
#define CHECK_SIZE_OF(tag, s, n, size) \\
    check_size(tag, s, n, size)
#define CHECK_SIZE(tag, s, n) \\
    CHECK_SIZE_OF(tag, s, n, 1)

bool check_size(const char* tag, stream* s, size_t n, size_t size);
stream* open_stream(const char* tag, size_t n, size_t size);
stream* copy_stream(const char* tag, size_t n, size_t size);
"""
    question = "Checks the size of a stream. #define CHECK_SIZE(tag, s, n)"
    excerpts = OneFile(outline_of(text), question)
    (place, shown), *_ = excerpts.choose_places([Span(1, 8, "", "")], 400)
    assert place.name == "#define CHECK_SIZE"
    assert shown == (3, 4)


def test_the_comment_above_a_long_class_is_shown_if_it_matches_best() -> None:
    comment = ["/**", *[f" * Chapter {at} of the manual." for at in range(40)], " */"]
    comment[20:23] = [" * A consumer that polls too rarely", " * leaves its group.", " *"]
    body = [f"    int poll{at} = group.poll({at});" for at in range(60)]
    text = "\n".join([*comment, "public class Consumer {", *body, "}"])
    outline = outline_of(text, ("class Consumer", 1, 104))
    excerpts = OneFile(outline, "what happens to a consumer that polls too rarely")
    place, other = excerpts.places([Span(15, 30, "", ""), Span(60, 70, "", "class Consumer")])
    assert (place.first_line, place.last_line, place.name) == (15, 30, "class Consumer")
    assert {21, 22} <= set(excerpts.choose(place, 300))
    assert excerpts.choose(place, 2_000) == tuple(range(15, 31))
    assert 43 in excerpts.choose(other, 600)


def test_the_comment_above_a_short_function_is_shown_with_it() -> None:
    comment = [f"# Note {at} about doors." for at in range(8)]
    text = "\n".join([*comment, "def open_door():", "    return True"])
    excerpts = OneFile(outline_of(text, ("def open_door", 1, 10)), "notes about doors")
    (place,) = excerpts.places([Span(1, 5, "", "")])
    assert excerpts.choose(place, 600) == tuple(range(1, 11))


def test_a_very_long_line_is_truncated() -> None:
    excerpts = OneFile(outline_of("x" * 10_000), "x")
    assert excerpts.line(1) == "x" * 240 + "… (9760 more characters)"
    assert OneFile(outline_of("x" * 241), "x").line(1) == "x" * 241


def test_a_quoted_message_in_a_branch_is_shown_without_the_other_branches() -> None:
    branches = []
    for at in range(12):
        branches += [
            f"    }} else if (!properties.isExpected({at})) {{",
            f'        throw new Error("Invalid directory {at} in the properties found in a path");',
        ]
    branches[14:16] = [
        "    } else if (!properties.cluster().equals(expected)) {",
        '        throw new Error("Invalid cluster in: " + path + ". Expected " + expected);',
    ]
    text = "\n".join(
        ["void verify(Properties properties) {", "    if (ok) {", *branches, "    }", "}"]
    )
    excerpts = OneFile(
        outline_of(text, ("void verify", 1, len(branches) + 4)),
        'properties of a directory: throw new Error("Invalid cluster in: " + path + ". Expected")',
    )
    (place,) = excerpts.places([Span(2, 20, "", "void verify")])
    assert 18 in excerpts.choose(place, 330)


def test_a_second_function_that_matches_is_shown_too_and_no_line_twice() -> None:
    first = ["def merge_orders(orders):", *[f"    merge(orders[{at}], user)" for at in range(40)]]
    second = ["def merge_currencies(orders):", *[f"    check(currency, {at})" for at in range(40)]]
    text = "\n".join([*first, *second])
    outline = outline_of(text, ("def merge_orders", 1, 41), ("def merge_currencies", 42, 82))
    excerpts = OneFile(outline, "merge the orders of a user with another currency")
    spans = [Span(1, 30, "", ""), Span(42, 60, "", "")]
    (one, shown), (other, also_shown) = excerpts.choose_places(spans, 900)
    assert (one.name, other.name) == ("def merge_orders", "def merge_currencies")
    assert {1, 2} <= set(shown)
    assert {42, 43} <= set(also_shown)
    assert not set(shown) & set(also_shown)


def test_imports_do_not_take_the_characters_of_the_function_that_matches() -> None:
    body = [f"    move(crate, shelf={at})" for at in range(60)]
    text = "\n".join(["import shelves", "import crates", "", "def move_crates(crate):", *body])
    excerpts = OneFile(
        outline_of(text, ("def move_crates", 4, 64)), "who moves a crate to another shelf"
    )
    (one, _), (other, also_shown) = excerpts.choose_places(
        [Span(4, 40, "", ""), Span(1, 2, "", "")], 900
    )
    assert (one.name, other.name) == ("def move_crates", "")
    assert also_shown == ()


def test_a_class_that_the_question_declares_is_shown_with_its_comment() -> None:
    described = "A pool of buffers under a memory limit, fair to the longest waiter."
    comment = ["/**", f" * {described}", " */"]
    methods = []
    for at in range(20):
        methods += [f"    void allocate{at}(int memory) {{", f"        wait(limit, {at});", "    }"]
    text = "\n".join([*comment, "public class Pool {", "    private long memory;", *methods, "}"])
    inner = [(f"class Pool > method allocate{at}", 6 + 3 * at, 8 + 3 * at) for at in range(20)]
    outline = outline_of(text, ("class Pool", 1, 66), *inner)
    spans = [Span(6, 20, "", ""), Span(1, 5, "", "")]
    excerpts = OneFile(outline, f"{described} public class Pool {{ void allocate3(int memory)")
    place = excerpts.places(spans)[0]
    assert place.name == "class Pool"
    assert {2, 4} <= set(excerpts.choose(place, 300))


def test_the_body_is_shown_besides_the_first_lines_of_the_docstring() -> None:
    docstring = [
        '    """Return the value of a setting and its origin.',
        "",
        "    See the manual.",
        '    """',
    ]
    body = [f"    pass_over({at})" for at in range(60)]
    body[40:42] = ["    if environment:", "        origin = environment"]
    text = "\n".join(["def value_and_origin(setting):", *docstring, *body])
    excerpts = OneFile(
        outline_of(text, ("def value_and_origin", 1, 65)),
        "return the value of a setting and its origin: environment or default",
    )
    (place,) = excerpts.places([Span(1, 20, "", "")])
    assert {1, 2, 46, 47} <= set(excerpts.choose(place, 400))


def test_the_two_functions_of_a_question_are_shown_although_one_matches_more_of_it() -> None:
    long = [
        "def copy_requests(percent):",
        *[f"    request, percent, copy = mirror.request({at}), percent, copy" for at in range(60)],
    ]
    second = [
        "def reusable_body(stream):",
        "    # Keep the body, so that it is read again.",
        "    pass",
    ]
    third = ["def copy_percent(percent):", "    return percent.copy()"]
    text = "\n".join([*long, *third, *second])
    outline = outline_of(
        text,
        ("def copy_requests", 1, 61),
        ("def copy_percent", 62, 63),
        ("def reusable_body", 64, 66),
    )
    question = (
        "Send a copy of a percent of the requests to a mirror; keep the body of the request, so "
        "that it can be read again. def mirror_requests(percent); def reusable_body(stream)"
    )
    spans = [Span(1, 30, "", ""), Span(62, 63, "", "")]  # the search did not find the second part
    first, second_place, *_ = OneFile(outline, question).choose_places(spans, 900)
    shown = {place.name: lines for place, lines in (first, second_place)}
    assert shown["def reusable_body"] == (64, 65, 66)
    assert 1 in shown["def copy_requests"]


def test_the_row_of_the_asked_option_is_shown_whole_and_without_padding() -> None:
    padding = " " * 600
    rows = [f"| `net.option{at}` | The timeout of part {at}.{padding}| {at}s |" for at in range(30)]
    rows[20] = f"| `net.`<br />`graceTimeout` | Time to finish.{padding}| 10s |"
    lines = ("# Options", "", "| Name | Meaning | Default |", "|:--|:--|--|", *rows)
    outline = FileOutline("options.md", lines, (Definition("Options", 1, len(lines)),))
    excerpts = OneFile(outline, "what does net.graceTimeout do, default value")
    (first, *_) = excerpts.choose_places([Span(25, 34, "", "Options")], 400)
    assert first == (Place(25, 25, "Options"), (25,))
    assert excerpts.line(25) == "| `net.graceTimeout` | Time to finish. | 10s |"


def test_the_first_line_of_a_long_signature_is_shown_if_the_rest_does_not_fit() -> None:
    parameters = [f"    parameter_{at}: Mapping[str, Sequence[int]]," for at in range(6)]
    body = [f"    filler_{at} = compute({at})" for at in range(40)]
    body[20:23] = [
        "    if quota.exceeded:",
        "        notify(quota)",
        "        raise Exceeded(quota)",
    ]
    text = "\n".join(["def check(", *parameters, "):", *body])
    excerpts = OneFile(outline_of(text, ("def check", 1, 48)), "raise if the quota is exceeded")
    (place,) = excerpts.places([Span(28, 31, "", "def check")])
    chosen = excerpts.choose(place, 300)
    assert {1, 29, 31} <= set(chosen)
    assert 4 not in chosen
    assert excerpts.size(chosen) <= 300
