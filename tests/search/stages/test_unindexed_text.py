"""Text that is not indexed is reported wherever an answer depends on it."""

from __future__ import annotations

from pathlib import Path

import pytest
from sample import FILES, MakeApp, indexed_repository, make_repository, write, write_tree

from rootle.app import App
from rootle.index.reader import SKIPPED_CODE, TEXTLESS
from rootle.sources.files.skip_rules import REASONS
from rootle.types import PartialFile, SearchQuery

_STEPS = [f"static int step_{row}(int x) {{ return x + {row}; }}\n\n" for row in range(9_000)]
_LONG = "".join(_STEPS)
_HALF = "".join(_STEPS[:4_500])  # long enough for tests that set a lower limit
_END = "void sentinelTimer(void) {\n    tick();\n}\n"
_FILES = {
    **FILES,
    "src/long.c": f"{_LONG}{_END}",
    "package-lock.json": '{"left-pad": "1.2.3"}\n',
    "src/gen/a_pb2.py": "GENERATED_VALUE = 1\n",
}
_TIMER = '"void sentinelTimer(void) {"'


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "repo", {**_FILES, "src/long.c": f"{_HALF}{_END}"})


@pytest.fixture
def app(make_app: MakeApp) -> App:
    """Return an app with default settings, whose folder and index must not be changed."""
    root, index_dir = indexed_repository({**_FILES, "src/long.c": f"{_STEPS[12]}{_END}"})
    return make_app(root, index_dir=index_dir)


@pytest.mark.slow
def test_the_end_of_a_long_file_is_found_by_default(make_app: MakeApp) -> None:
    root, index_dir = indexed_repository(_FILES)
    app = make_app(root, index_dir=index_dir)
    (result,) = app.search(_TIMER).results
    assert result.file_path == "src/long.c"
    assert "void sentinelTimer(void) {" in result.snippet
    status = app.status()
    assert (status.skipped_text_share, status.partial_files) == (0.0, ())


@pytest.mark.slow
def test_a_plain_word_without_results_may_be_in_text_that_is_not_indexed(
    root: Path, make_app: MakeApp
) -> None:
    write(root, "src/tail.c", f"{_HALF}int bigtailword;\n")
    response = make_app(root, max_file_bytes=100_000).search("bigtailword")
    assert response.results == ()
    assert "src/tail.c (last " in response.suggestions[-1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("setting", "value"), [("maxChunksPerFile", 20), ("maxFileBytes", 100_000)]
)
def test_a_limit_leaves_out_the_end_and_answers_say_so(
    root: Path, make_app: MakeApp, setting: str, value: int
) -> None:
    name = {"maxChunksPerFile": "max_chunks_per_file", "maxFileBytes": "max_file_bytes"}[setting]
    app = make_app(root, **{name: value})
    response = app.search(_TIMER)
    assert response.results == ()
    assert response.suggestions[0].startswith("no indexed text has")
    assert "not searched: src/long.c (last " in response.suggestions[-1]
    assert app.search("step_12").results[0].file_path == "src/long.c"
    (partial,) = app.status().partial_files
    assert (partial.path, partial.limit) == ("src/long.c", setting)
    assert 0.5 < partial.missing_share < 1
    assert app.status().skipped_text_share > 0.5


@pytest.mark.slow
def test_raising_the_limit_indexes_the_rest(root: Path, make_app: MakeApp, tmp_path: Path) -> None:
    make_app(root, index_dir=tmp_path / "shared", max_file_bytes=100_000).index()
    assert make_app(root, index_dir=tmp_path / "shared").search(_TIMER).results


@pytest.mark.slow
@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ('"left-pad"', ("package-lock.json (lock file)", "src/gen/a_pb2.py (generated)")),
        ("/left.pad/", ("package-lock.json (lock file)", "src/gen/a_pb2.py (generated)")),
        ('"left-pad" lang:json', ("package-lock.json (lock file)",)),
        ('"retry_backoff" path:src', ("src/gen/a_pb2.py (generated)",)),
        ("pad path:package-lock.json", ("package-lock.json (lock file)",)),
        ("value path:src/gen/", ("src/gen/a_pb2.py (generated)",)),
        ("value path:*_pb2.py", ("src/gen/a_pb2.py (generated)",)),
    ],
)
def test_skipped_files_that_may_match_are_named(
    app: App, question: str, expected: tuple[str, ...]
) -> None:
    note = app.search(question).suggestions[-1]
    what = "not searched" if question[0] in '"/' else "not indexed"
    assert note == f"{what}: {', '.join(expected)}; `rootle status --skipped` lists the reasons"


def test_partly_indexed_files_are_named_before_skipped_ones(
    tmp_path: Path, make_app: MakeApp
) -> None:
    files = {**FILES, "package-lock.json": "{}\n", "z.py": "value = 1\n" * 400}
    app = make_app(write_tree(tmp_path / "repo", files), max_file_bytes=3_000)
    note = app.search('"left-pad"').suggestions[-1]
    assert note.startswith("not searched: z.py (last 25%), package-lock.json (lock file);")


def test_a_path_argument_that_names_a_skipped_file_is_noted(app: App) -> None:
    response = app.search(SearchQuery("pad", file_paths=("package-lock.json",)))
    assert response.results == ()
    assert response.suggestions[-1].startswith("not indexed: package-lock.json (lock file)")


@pytest.mark.parametrize("question", ["retry backoff", "backoff path:src", "retry path:*.py -x"])
def test_other_questions_get_no_note(app: App, question: str) -> None:
    suggestions = app.search(question).suggestions
    assert not [note for note in suggestions if "indexed" in note or "searched" in note]


def test_binary_files_are_not_named(tmp_path: Path, make_app: MakeApp) -> None:
    root = write_tree(tmp_path / "repo", {**FILES, "logo.png": b"\x89PNG\0\0", "x.txt": b"a\0b"})
    (root / "link.md").symlink_to("README.md")
    assert make_app(root).search('"retry_backoff"').suggestions == ()
    assert TEXTLESS < REASONS
    assert SKIPPED_CODE < REASONS


@pytest.mark.slow
def test_a_changed_end_updates_the_missing_share(root: Path, make_app: MakeApp) -> None:
    app = make_app(root, max_file_bytes=100_000)
    before = _missing_share(app)
    (root / "src/long.c").write_text(_LONG + "// more\n" * 100_000)
    app.index()
    assert _missing_share(app) > before


def _missing_share(app: App) -> float:
    app.index()
    (partial,) = app.status().partial_files
    assert isinstance(partial, PartialFile)
    return partial.missing_share


@pytest.mark.parametrize(
    "question", ["who calls NewLimitError", "where is NewLimitError defined", "NewLimitError"]
)
def test_a_name_that_generated_code_defines_is_not_called_undefined(
    question: str, tmp_path: Path, make_app: MakeApp
) -> None:
    header = "// Code generated by errgen. DO NOT EDIT.\npackage server\n\n"
    files = {
        "server/errors.go": f"{header}func NewLimitError() error {{ return nil }}\n",
        "server/stream.go": "package server\n\nvar limit = NewLimitError()\n",
    }
    app = make_app(make_repository(tmp_path / "repo", files))
    response = app.search(question)
    note = "NewLimitError also occurs in a file that is not fully indexed: "
    assert f"{note}server/errors.go:4 (generated)" in response.suggestions
    assert not any(note in one for one in app.search("who calls NewLimit").suggestions)


@pytest.mark.parametrize(
    "question", ["implementations of Problem", "which classes extend Problem", "uses of Problem"]
)
def test_a_list_of_uses_says_that_generated_code_has_the_name(
    question: str, tmp_path: Path, make_app: MakeApp
) -> None:
    files = {
        "src/problem.js": "export class Problem {}\n",
        "src/local.js": 'import { Problem } from "./problem.js";\nclass Local extends Problem {}\n',
        "src/errors.js": "/* This file is generated. Do not edit! */\n"
        'import { Problem } from "./problem.js";\nclass Other extends Problem {}\n',
    }
    app = make_app(make_repository(tmp_path / "repo", files))
    note = "Problem also occurs in a file that is not fully indexed: src/errors.js:2 (generated)"
    assert note in app.search(question).suggestions
    assert note not in app.search("where is Problem defined").suggestions


@pytest.mark.slow
def test_a_note_about_a_name_does_not_repeat_its_listed_definition(
    root: Path, make_app: MakeApp
) -> None:
    app = make_app(root, max_file_bytes=100_000)
    answer = app.search("implementations of step_12")
    assert answer.symbols is not None
    assert [one.path for one in answer.symbols.definitions] == ["src/long.c"]
    assert not any("also occurs" in one for one in answer.suggestions)


def test_a_note_about_generated_code_names_one_of_the_files(
    tmp_path: Path, make_app: MakeApp
) -> None:
    generated = "// Code generated by mockgen. DO NOT EDIT.\npackage shop\n\nvar _ Order\n"
    files = {
        "order.go": "package shop\n\ntype Order interface {\n\tPay()\n}\n",
        **{f"mock_{at}.go": generated for at in range(5)},
    }
    app = make_app(make_repository(tmp_path / "repo", files))
    (note,) = (one for one in app.search("uses of Order").suggestions if "Order also" in one)
    assert note == (
        "Order also occurs in 5 files that are not fully indexed: mock_0.go:4 (generated), …"
    )


@pytest.mark.slow
def test_a_secret_file_is_not_read_for_a_name(tmp_path: Path, make_app: MakeApp) -> None:
    files = {**FILES, "id_rsa": "HiddenName\n", ".env": "HiddenName=1\n"}
    response = make_app(make_repository(tmp_path / "repo", files)).search("who calls HiddenName")
    assert not any("also occurs" in one for one in response.suggestions)


def test_a_generated_file_with_a_rare_name_in_the_question_is_named(
    tmp_path: Path, make_app: MakeApp
) -> None:
    header = "# THIS FILE IS AUTOMATICALLY GENERATED. DO NOT EDIT.\n"
    files = {
        "ci/quaggascan.yaml": f"{header}on: schedule\n",
        "ci/shop.yaml": f"{header}on: push\n",
        **{f"src/part_{at}.py": "def shop():\n    '''Scan the shop.'''\n" for at in range(9)},
        "Makefile": "scan:\n\tquaggascan ./...\n",
    }
    write_tree(tmp_path / "p", files)
    app = make_app(tmp_path / "p")
    note = "not indexed, but may be the file of the question: ci/quaggascan.yaml (generated)"
    notes = " ".join(app.search("workflow that runs quaggascan for the shop").suggestions)
    assert note in notes
    assert "shop.yaml" not in notes
    notes = " ".join(app.search("workflow that scans the shop").suggestions)
    assert "may be the file" not in notes
