"""Names that several things share: methods and variables, classes and constructors, settings."""

from __future__ import annotations

from pathlib import Path

from sample import MakeApp, indexed_repository, write_tree

from rootle import open_app
from rootle.serialization.symbols import describe_definitions, describe_uses

NAMES = {
    "Check.java": (
        "class Check {\n  boolean isSame(int a) { return a > 0; }\n  void run() { isSame(1); }\n}\n"
    ),
    "Other.java": (
        "class Other {\n  void go(Check c) {\n"
        "    boolean isSame = load();\n    use(isSame);\n  }\n}\n"
    ),
    "Failure.java": "class Failure {\n  Failure() {}\n  Failure(int code) {}\n}\n",
    "tick.erl": "run(isSame) ->\n  isSame.\n",
    "config.go": "package config\n\ntype Root struct {\n\tBuildLater bool\n}\n",
    "page_test.go": (
        "package config\n\nfunc TestBuild() {\n\ttype row struct {\n\t\tbuildLater bool\n\t}\n"
        "\tx := row{buildLater: true}\n}\n"
    ),
}


def test_local_variables_are_no_uses_of_a_method() -> None:
    repository = indexed_repository(NAMES)
    with open_app(repository.root, index_dir=repository.index_dir) as app:
        answer = app.symbols("Check.isSame", "uses")
    assert [(use.path, use.line) for use in answer.uses] == [("Check.java", 3)]
    assert describe_uses(answer) == (
        "1 use of Check.isSame (1 call); without 2 lines that have a local variable with this name"
    )


def test_constructors_are_counted_apart_from_their_class() -> None:
    repository = indexed_repository(NAMES)
    with open_app(repository.root, index_dir=repository.index_dir) as app:
        answer = app.symbols("Failure")
    assert describe_definitions(answer) == "1 definition and 2 constructors of Failure"


def test_a_name_that_only_tests_define_leads_to_the_field_with_the_same_letters() -> None:
    repository = indexed_repository(NAMES)
    with open_app(repository.root, index_dir=repository.index_dir) as app:
        answer = app.symbols("buildLater", "assignments")
    assert [symbol.path for symbol in answer.definitions] == ["page_test.go"]
    assert answer.similar == ("type Root > BuildLater (config.go:4)",)


def test_the_kind_of_uses_is_not_repeated_in_parentheses() -> None:
    code = "class Pool:\n    def __init__(self):\n        self.max_size = 1\n\n"
    code += "    def grow(self):\n        # Twice the max_size.\n        self.max_size = 2\n"
    code += "\n    def shrink(self):\n        self.max_size = 1\n"
    repository = indexed_repository({"pool.py": code})
    with open_app(repository.root, index_dir=repository.index_dir) as app:
        found = describe_uses(app.symbols("max_size", "assignments"))
    assert found.startswith("1-2 of 2 assignments of max_size")
    assert "(2 assignments" not in found


def test_a_variable_of_a_test_does_not_hide_the_key_of_a_setting(
    tmp_path: Path, make_app: MakeApp
) -> None:
    files = {
        "chart/values.yaml": "# Pens of the shop.\npenLimits: 3\nother: 4\n",
        "test/e2e/config.go": "package e2e\n\nvar penLimits string\n",
        "src/pen.go": "package pen\n\nfunc Open() int {\n\treturn 1\n}\n",
    }
    write_tree(tmp_path / "p", files)
    response = make_app(tmp_path / "p").search("penLimits")
    assert response.results[0].file_path == "chart/values.yaml"
    assert response.symbols is not None
    places = [f"{one.path}:{one.line}" for one in response.symbols.definitions]
    assert places == ["chart/values.yaml:2", "test/e2e/config.go:3"]
