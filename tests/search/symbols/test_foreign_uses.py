"""The uses of `Owner.member` do not include those that certainly belong to another owner."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from sample import indexed_repository

from rootle import open_app
from rootle.serialization.symbols import describe_uses


def find_uses(files: Mapping[str, str], name: str) -> list[str]:
    """Return the uses of a name in code, as "path:line"."""
    repository = indexed_repository(files)
    with open_app(repository.root, index_dir=repository.index_dir) as app:
        uses = app.symbols(name, "uses", limit=300).uses
        return [f"{one.path}:{one.line}" for one in uses if one.kind not in ("comment", "string")]


RUST = {
    "src/id.rs": """\
pub struct Id(u32);

impl Id {
    pub fn new(value: u32) -> Self {
        Id(value)
    }

    pub fn first() -> Self {
        Self::new(1)
    }
}

pub type Number = Id;
""",
    "src/shell.rs": """\
use crate::id::{Id, Number};
use std::collections::HashMap;
use crate::id::Id as Key;

pub struct Shell;

impl Shell {
    pub fn new() -> Self {
        Shell
    }

    pub fn open(new: bool) -> Self {
        Self::new()
    }
}

pub fn run() {
    let map: HashMap<u32, u32> = HashMap::new();
    let list = Vec::<u32>::new();
    let shell = Shell::new();
    let id = Id::new(3);
    let key = Key::new(4);
    let number = Number::new(5);
}
""",
}


@pytest.mark.slow
def test_a_path_names_the_type_of_a_function_in_rust() -> None:
    assert set(find_uses(RUST, "Id::new")) == {
        "src/id.rs:9", "src/shell.rs:21", "src/shell.rs:22", "src/shell.rs:23",
    }  # fmt: skip


def test_files_that_are_not_parsed_are_filtered_by_their_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("rootle.search.symbols.parsed_files._MAX_FILE_CHARS", 250)
    found = set(find_uses(RUST, "Id::new"))
    assert found >= {f"src/shell.rs:{line}" for line in (21, 22, 23)}
    assert not found & {f"src/shell.rs:{line}" for line in (12, 13, 18, 19, 20)}


def test_a_type_in_a_go_package_is_not_a_field_of_the_same_name() -> None:
    files = {
        "store/id.go": "package store\n\ntype ID [32]byte\n\nfunc Hash(id ID) ID { return id }\n",
        "store/node.go": "package store\n\ntype Node struct {\n\tID ID\n\tName string\n}\n",
        "cmd/main.go": (
            'package main\n\nimport (\n\tst "example.org/store"\n\t"example.org/other"\n)\n\n'
            "type row struct {\n\tID string\n}\n\n"
            "func show(node *st.Node, id st.ID) row {\n"
            "\tvar other other.ID\n"
            "\treturn row{ID: node.ID.String()}\n}\n"
        ),
    }
    assert set(find_uses(files, "store.ID")) == {
        "store/id.go:5", "store/node.go:4", "cmd/main.go:12",
    }  # fmt: skip


def test_a_variable_of_an_unrelated_class_is_left_out_and_one_of_a_related_class_is_not() -> None:
    files = {
        "Producer.java": "interface Producer {}\n",
        "KafkaProducer.java": (
            "class KafkaProducer implements Producer {\n    public void send(String text) {}\n}\n"
        ),
        "Loud.java": "class Loud extends KafkaProducer {}\n",
        "Main.java": (
            "class Main {\n"
            "    private NetworkClient client;\n"
            "    private Producer producer;\n"
            "    void run(Loud loud, Mailer mailer) {\n"
            '        client.send("a");\n'
            '        producer.send("b");\n'
            '        loud.send("c");\n'
            '        mailer.send("d");\n'
            '        find().send("e");\n'
            '        Mailer.send("f");\n'
            "    }\n"
            "}\n"
        ),
    }
    assert set(find_uses(files, "KafkaProducer.send")) == {
        "Main.java:6", "Main.java:7", "Main.java:9",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("suffix", "kiln", "use"),
    [
        (
            "cs",
            "class Kiln {\n    public int heat;\n}\n",
            "class Use {\n    void Run() { var kiln = _host.GetKiln(); kiln.heat = 3; }\n}\n",
        ),
        (
            "cpp",
            "struct Kiln {\n    int heat;\n};\n",
            "struct Use {\n    void run() { auto kiln = GetKiln(); kiln.heat = 3; }\n};\n",
        ),
    ],
)
def test_a_function_whose_result_is_assigned_is_no_class(suffix: str, kiln: str, use: str) -> None:
    files = {f"kiln.{suffix}": kiln, f"use.{suffix}": use}
    assert find_uses(files, "Kiln.heat") == [f"use.{suffix}:2"]


def test_a_class_that_inherits_a_function_is_not_another_class() -> None:
    files = {
        "model.py": "class Model:\n    @classmethod\n    def create(cls):\n        return cls()\n",
        "user.py": (
            "from model import Model\n\n\nclass User(Model):\n    pass\n\n\nclass Admin(User):\n"
            "    pass\n"
        ),
        "main.py": (
            "from other import Page\nfrom user import Admin, User\nimport factory\n\n"
            "Form = factory.form()\n\n\n"
            "def run():\n    User.create()\n    Admin.create()\n    Page.create()\n"
            "    Form.create()\n"
        ),
    }
    assert set(find_uses(files, "Model.create")) == {"main.py:9", "main.py:10", "main.py:12"}


def test_a_word_in_the_quoted_name_of_a_kotlin_function_is_no_use() -> None:
    files = {
        "Rule.kt": "open class Rule {\n    fun report(text: String) {}\n}\n",
        "RuleSpec.kt": (
            "class RuleSpec {\n    fun `should report nothing`() {\n"
            '        Rule().report("x")\n        Rule().`report`("y")\n    }\n}\n'
        ),
    }
    assert set(find_uses(files, "Rule.report")) == {"RuleSpec.kt:3", "RuleSpec.kt:4"}


@pytest.mark.slow
def test_uses_that_may_belong_to_another_definition_are_counted() -> None:
    files = {
        "src/http-error.ts": "export class HttpError extends Error {\n  send(): void {}\n}\n",
        "src/main.ts": (
            "import { HttpError } from './http-error'\n\n"
            "export function fail(reply) {\n  reply.send()\n  find(reply).send()\n"
            "  throw new HttpError('x')\n}\n"
        ),
        "src/other/http-error.ts": "export class HttpError {}\n",
    }
    repository = indexed_repository(files)
    with open_app(repository.root, index_dir=repository.index_dir) as app:
        sends = app.symbols("HttpError.send", "uses")
        errors = app.symbols("HttpError", "uses")
    assert sends.uses_by_name == 2
    assert describe_uses(sends).endswith(
        '; all are "by name": only the name matches, and no other definition of send was found'
    )
    assert errors.uses_by_name == 0
    assert {use.target for use in errors.uses if use.path == "src/main.ts"} == {
        "src/http-error.ts:1"
    }
