"""Sections of OpenAPI, GraphQL and Protobuf files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sample import MakeApp, write_tree

from rootle.sources.files.discovery import WalkRules
from rootle.sources.files.file_source import FileReader
from rootle.sources.source import Document

OPENAPI = """\
openapi: 3.1.0
info:
  title: Harbour
paths:
  /ships/{id}:
    parameters:
      - name: id
    get:
      summary: One ship
      responses:
        "200":
          description: found
    # Sinks it.
    delete:
      summary: Remove a ship
  '/ships':
    post:
      summary: New ship
components:
  schemas:
    Ship:
      properties:
        get:
          type: string
  securitySchemes:
    key:
      type: apiKey
"""
PROTO = """\
syntax = "proto3";
// A ship
// with a name.
message Ship {
  string name = 1;
  message Mast { int32 height = 1; }
}

service Harbour {
  // Docks a ship.
  rpc Dock(Ship) returns (Ship) {
    option deadline = 5;
  }
  rpc Leave(Ship) returns (Ship);
}
"""
GRAPHQL = '''\
"""
A ship
of the line.
"""
type Ship {
  name: String
}

type Query {
  "One line."
  ship(id: ID!): Ship
  """Many ships."""
  ships(
    first: Int
    after: String
  ): [Ship]
}
extend type Mutation {
  sink(id: ID!): Boolean
}
'''


def sections_of(folder: Path, name: str, text: str) -> dict[str, str]:
    (folder / name).write_text(text)
    found = FileReader(str(folder), WalkRules()).read(name)
    assert isinstance(found, Document)
    assert found.text == text
    lines = text.split("\n")
    return {s.label: "\n".join(lines[s.start_line - 1 : s.end_line]) for s in found.sections}


def test_operations_and_schemas_of_openapi_are_sections(tmp_path: Path) -> None:
    found = sections_of(tmp_path, "api.yaml", OPENAPI)
    assert list(found) == [*("GET /ships/{id}", "DELETE /ships/{id}", "POST /ships", "schema Ship")]
    assert found["POST /ships"] == "  '/ships':\n    post:\n      summary: New ship"
    assert found["schema Ship"].endswith("type: string")
    assert "description: found" in found["GET /ships/{id}"]


@pytest.mark.parametrize("indent", [2, 4])
def test_openapi_can_be_json(tmp_path: Path, indent: int) -> None:
    data = {
        "swagger": "2.0",
        "paths": {"/a": {"get": {"summary": "x"}, "put": {}}, "/b": {"get": {"tags": ["t"]}}},
        "definitions": {"Ship": {"type": "object"}},
    }
    found = sections_of(tmp_path, "api.json", json.dumps(data, indent=indent))
    assert list(found) == ["GET /a", "PUT /a", "GET /b", "schema Ship"]
    assert sections_of(tmp_path, "flat.json", json.dumps(data)) == {}


def test_the_keys_of_openapi_can_be_sorted(tmp_path: Path) -> None:
    ships = {f"Ship{number}": {"type": "object"} for number in range(60)}
    data = {
        "components": {"schemas": ships},
        "info": {"title": "Harbour"},
        "openapi": "3.0.3",
        "paths": {"/ships/{id}": {"get": {"summary": "x"}}},
    }
    found = sections_of(tmp_path, "sorted.json", json.dumps(data, indent=2, sort_keys=True))
    assert "schema Ship59" in found
    assert list(found)[-1] == "GET /ships/{id}"
    lines = [f"  ship{number}: 1\n" for number in range(400)]
    text = f"components:\n{''.join(lines)}openapi: 3.0.3\npaths:\n  /a:\n    get:\n      x: 1\n"
    assert list(sections_of(tmp_path, "sorted.yaml", text)) == ["GET /a"]
    other = {"paths": {"/a": {"get": {}}}, **ships, "uses": {"swagger": "2.1.0"}}
    assert sections_of(tmp_path, "package.json", json.dumps(other, indent=2)) == {}


def test_other_yaml_files_have_no_sections(tmp_path: Path) -> None:
    assert sections_of(tmp_path, "a.yaml", "paths:\n  /a:\n    get: 1\n") == {}


def test_messages_and_calls_of_protobuf_are_sections(tmp_path: Path) -> None:
    found = sections_of(tmp_path, "harbour.proto", PROTO)
    assert list(found) == [
        *("message Ship", "service Harbour", "rpc Harbour.Dock", "rpc Harbour.Leave")
    ]
    assert found["message Ship"].startswith("// A ship\n// with a name.\nmessage Ship {")
    assert found["rpc Harbour.Dock"].startswith("  // Docks a ship.\n  rpc Dock")


def test_types_and_operations_of_graphql_are_sections(tmp_path: Path) -> None:
    found = sections_of(tmp_path, "schema.graphql", GRAPHQL)
    assert list(found) == [
        *("type Ship", "type Query", "query ship", "query ships"),
        *("type Mutation", "mutation sink"),
    ]
    assert found["type Ship"].startswith('"""\nA ship\nof the line.\n"""\ntype Ship {')
    assert found["query ships"].startswith('  """Many ships."""\n  ships(')
    assert "after: String" in found["query ships"]


def test_parentheses_in_comments_hide_no_field_of_graphql(tmp_path: Path) -> None:
    schema = 'type Query {\n  # ships (all\n  ships: Int\n  "the crew (all"\n  crew: Int\n}\n'
    found = sections_of(tmp_path, "schema.graphql", schema)
    assert list(found) == ["type Query", "query ships", "query crew"]


def test_a_question_finds_the_operation_with_its_lines(make_app: MakeApp, tmp_path: Path) -> None:
    files = {"api.yaml": OPENAPI, "schema.graphql": GRAPHQL, "harbour.proto": PROTO}
    app = make_app(write_tree(tmp_path / "project", files))
    found = app.search("endpoint to remove a ship").results[0]
    assert (found.file_path, found.scope) == ("api.yaml", "DELETE /ships/{id}")
    assert found.place is None
    assert app.read("api.yaml#POST /ships").start_line == 16


@pytest.mark.slow
def test_hostile_files_take_linear_time(tmp_path: Path) -> None:
    quotes = '"""\n' * 100_001 + "type A {\n"
    assert len(sections_of(tmp_path, "a.graphql", quotes)) <= 1
    deep = "openapi: 3.0.0\npaths:\n" + "".join(f"{' ' * n}a{n}:\n" for n in range(1, 2_000))
    assert sections_of(tmp_path, "a.yaml", deep) == {}
    rpcs = "service A {\n" + "  rpc B(C) returns (D);\n" * 20_000
    assert len(sections_of(tmp_path, "a.proto", rpcs)) == 5_000
    quoted = 'x """\nmessage A\n' * 20_000
    assert len(sections_of(tmp_path, "b.proto", quoted)) == 5_000


def test_the_comment_above_a_message_belongs_to_it(tmp_path: Path) -> None:
    comment = "// Stores ships.\n" * 3
    text = "message A {\n}\n" + comment + "message B {\n}\n" + comment * 100 + "message C {\n}\n"
    found = sections_of(tmp_path, "a.proto", text)
    assert found["message B"].startswith(comment)
    assert found["message C"].startswith(comment * 66)
