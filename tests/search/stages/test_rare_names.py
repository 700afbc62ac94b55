"""Rare names in a sentence: their definition is one of the first two results."""

from __future__ import annotations

from pathlib import Path

import pytest
from sample import MakeApp, write_tree

from rootle.app import App
from rootle.types import SearchQuery, SearchResult

_FILLER = "".join(f"        state.step_{number}(consumer)\n" for number in range(60))
_READS = "".join(
    f"""
    def reset_{number}(self, o):
        # Where the state is reset.
        self.reset(o, o.pbytes, {number})
        return o.reset(o.pbytes, reset={number})
{_FILLER}"""
    for number in range(6)
)
FILES = {
    "src/float_node.py": '''\
class FloatNode:
    """A float, which may be NaN: check whether a float is NaN with is_nan."""

    def is_nan(self):
        """Check whether the float is NaN: why NaN floats are checked."""
        return self.value != self.value
''',
    "src/double_node.py": '''\
class DoubleNode:
    """A double float, which may be NaN: check it with is_nan."""

    def is_nan(self):
        """Check whether the double float is NaN."""
        return self.value != self.value
''',
    "src/reader.py": """\
class Reader:
    def _fromFloat(self, parser):
        if parser.is_nan():
            return self.nodes.number(parser)
        return self.nodes.decimal(parser)


class TimerReset:
    def fromFloat(self, value):
        return value
""",
    "src/consumer.py": f"""\
class Consumer:
{_READS}
    def acknowledge(self, state, consumer):
{_FILLER}        o = state.consumer
        o.pbytes = 0
{_FILLER}""",
    "src/reset.py": '''\
class Reset:
    """Where timers are reset: reset the state, reset all timers of a consumer."""

    def reset(self):
        """Reset everything, where a reset is needed."""
        self.timers = reset_all(self.timers)
''',
    "tests/test_reader.py": "def test_fromFloat_checks_is_nan():\n    Reader()._fromFloat(nan)\n",
    **{
        f"src/part_{number}.py": f"def run_part(value):\n    return value.is_nan() and {number}\n"
        for number in range(12)
    },
}


@pytest.fixture
def app(tmp_path: Path, make_app: MakeApp) -> App:
    write_tree(tmp_path / "project", FILES)
    app: App = make_app(tmp_path / "project")
    return app


def _lines(result: SearchResult) -> list[str]:
    spans = [result.snippet, *(span.snippet for span in result.more_spans)]
    return [line.strip() for text in spans for line in text.split("\n")]


@pytest.mark.parametrize(
    "query",
    [
        "why does _fromFloat check whether a float is NaN",
        "why does Reader._fromFloat check is_nan",
        "explain how `_fromFloat()` works with a NaN float",
        "a float that is NaN is not checked in _fromFloat",
        "warum wird in _fromFloat geprüft, ob der Wert der Gleitkommazahl NaN ist",
    ],
)
def test_the_only_definition_of_a_name_comes_before_similar_words(app: App, query: str) -> None:
    results = app.search(SearchQuery(query, limit=2)).results
    reader = next(result for result in results if result.file_path == "src/reader.py")
    assert "def _fromFloat(self, parser):" in _lines(reader)


def test_a_member_without_a_definition_is_shown_where_it_is_assigned(app: App) -> None:
    first = app.search("what happens to o.pbytes after a reset").results[0]
    assert first.file_path == "src/consumer.py"
    assert "o.pbytes = 0" in _lines(first)
    assert first.matching_lines is not None
    assert first.start_line <= first.matching_lines[0] <= first.end_line


def test_a_name_that_many_files_define_does_not_change_the_order(app: App) -> None:
    paths = [result.file_path for result in app.search("why run_part checks a float").results[:2]]
    assert "src/float_node.py" in paths


def test_filters_apply_to_the_files_that_define_a_name(app: App) -> None:
    found = app.search("why does _fromFloat check NaN path:src/float_node.py").results
    assert [result.file_path for result in found] == ["src/float_node.py"]


def test_later_pages_continue_the_first_one(app: App) -> None:
    query = "why does _fromFloat check whether a float is NaN"
    ordered = [one.file_path for one in app.search(SearchQuery(query, limit=6)).results]
    assert len(set(ordered)) == 6
    first = app.search(SearchQuery(query, limit=3))
    second = app.search(SearchQuery(query, limit=3, cursor=first.next_cursor))
    assert [one.file_path for one in (*first.results, *second.results)] == ordered


def test_a_file_that_the_question_names_comes_first(tmp_path: Path, make_app: MakeApp) -> None:
    steps = ("rotate", "merge", "split")
    functions = "".join(
        f"def {step}_functions(pages):\n    # {step} the pages of a bulk edit file\n"
        f"    return bulk_edit.{step}(pages)\n\n\n"
        for step in steps
    )
    files = {
        "src/views.py": functions,
        "src/serializers.py": functions.replace("pages)", "pages, method)"),
        "src/bulk_edit.py": "def turn(document):\n    document.turn()\n",
        "tests/bulk_edit.py": "def check(document):\n    document.turn()\n",
    }
    write_tree(tmp_path / "p", files)
    app = make_app(tmp_path / "p")
    question = "bulk edit file with the functions that rotate, merge and split pages"
    assert app.search(question).results[0].file_path == "src/bulk_edit.py"
    other = "functions that rotate, merge and split pages in a bulk edit"
    assert app.search(other).results[0].file_path != "src/bulk_edit.py"


_FLAGS = """\
#include <string.h>

/* Start the capture. The recording starts when the first frame arrives. */
static int startrecording(struct output *output) { return output->start(output); }

int main(int argc, char **argv) {
    for (int at = 1; at < argc; at++) {
        if (strcmp(argv[at], "--startrecording") == 0) {
            options.recording = 1;
        }
    }
    return run(&options);
}
"""


@pytest.mark.parametrize(
    "question",
    ["--startrecording", "option --startrecording parsing", "what does --startrecording do?"],
)
def test_an_option_of_one_word_leads_to_the_code_that_reads_it(
    tmp_path: Path, make_app: MakeApp, question: str
) -> None:
    recording = "void startrecording_{0}(void) {{\n    startrecording(&output_{0});\n}}\n"
    files = {f"src/output_{at}.c": recording.format(at) * 3 for at in range(12)}
    files |= {"src/main.c": _FLAGS, "docs/options.md": "# Options\n\n--startrecording: record\n"}
    files |= {
        "src/parse_options.c": "/* Parse what each option does. */\nint parse_option(void);\n"
    }
    write_tree(tmp_path / "p", files)
    first = make_app(tmp_path / "p").search(question).results[0]
    assert first.file_path == "src/main.c"
    assert 'if (strcmp(argv[at], "--startrecording") == 0) {' in _lines(first)
    assert first.matching_lines == (8,)


@pytest.mark.parametrize("question", ["error_empty", "what shows the string error_empty"])
def test_catalogues_with_a_key_do_not_hide_the_code_that_uses_it(
    tmp_path: Path, make_app: MakeApp, question: str
) -> None:
    languages = "ar be bg ca cs da de el es et fa fi fr hu it ja ko nl pl pt ru sk sv tr uk".split()
    message = '<resources>\n    <string name="error_empty">{}</string>\n</resources>\n'
    files = {f"res/values-{one}/strings.xml": message.format(one) for one in languages}
    files |= {
        "res/values/strings.xml": message.format("This cannot be empty."),
        "src/Compose.kt": "fun send() {\n    field.error = getString(R.string.error_empty)\n}\n",
        "src/Error.kt": "data class Error(val string: String, val isEmpty: Boolean)\n",
    }
    write_tree(tmp_path / "p", files)
    first = make_app(tmp_path / "p").search(question).results[0]
    assert first.file_path == "src/Compose.kt"
    assert "field.error = getString(R.string.error_empty)" in _lines(first)


@pytest.mark.parametrize("question", ["default value of max_peers", "max-peers default value"])
def test_the_default_of_a_field_is_shown_where_the_field_is_defined(
    tmp_path: Path, make_app: MakeApp, question: str
) -> None:
    fields = "".join(f"    int queue_part_{at} = {at};\n" for at in range(40))
    parse = "        if (option == max_peers) map.insert(max_peers, value);\n"
    files = {
        "src/settings.h": f"struct Settings {{\n{fields}    int max_peers = 200;\n{fields}}};\n",
        "src/parse.cc": f"void parse_default_value(int option, int value) {{\n{parse * 6}}}\n",
        "src/value.cc": "int default_value() {\n    return 3; // the default value\n}\n",
    }
    write_tree(tmp_path / "p", files)
    first = make_app(tmp_path / "p").search(question).results[0]
    assert first.file_path == "src/settings.h"
    assert "int max_peers = 200;" in _lines(first)
