"""Edits of JSON, TOML and YAML files change one entry and no other character."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rootle.agents.agent import Format
from rootle.agents.config_entries import read_entry, remove_entry, set_entry
from rootle.agents.config_text import ConfigTextError

ENTRY = {"command": '/opt/a "b"/rootle', "args": ["mcp", "--root", "C:\\x"], "enabled": True}
KEYS = ("servers", "rootle")
SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
OBJECTS = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=12,
)
DOCUMENTS = st.fixed_dictionaries(
    {},
    optional={
        "a": OBJECTS,
        "servers": st.dictionaries(st.sampled_from(["x", "y", "z"]), OBJECTS),
        "z": OBJECTS,
    },
)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(DOCUMENTS, st.sampled_from([None, 0, 1, 2, 4, "\t"]), st.sampled_from(["", "\n", " // x\n"]))
def test_json_of_any_layout_is_restored_exactly(
    document: dict[str, Any], indent: int | str | None, tail: str
) -> None:
    text = json.dumps(document, indent=indent, ensure_ascii=False) + tail
    added = set_entry(text, "json", KEYS, ENTRY)
    assert read_entry(added, "json", KEYS) == ENTRY
    assert set_entry(added, "json", KEYS, ENTRY) == added
    assert remove_entry(added, "json", KEYS, 1 if "servers" in document else 0) == text


BEFORE: list[tuple[Format, str]] = [
    ("json", ""),
    ("json", "// only a comment\n"),
    ("json", '{"servers": {}, "a": 1}'),
    ("json", '{"a": 1, "servers": { "b": {} }, }'),
    ("json", '{ // c\n"a": 1 /* d */ }\n'),
    ("json", '{\n  "servers": {\n    "a": {}, // one\n    /* two */\n  },\n}\n'),
    ("json", '{\n  "a": "rootle", "b": [\n  ]\n}'),
    ("json", '{"servers": {"a": 1, /* b */}/* c */\n}\n'),
    ("toml", ""),
    ("toml", "a = 1\n"),
    ("toml", 'a = """\n[servers]\n"""\n'),
    ("toml", "[servers]\n"),
    ("toml", "[servers.a]\nb = 1\n\n\n"),
    ("toml", "servers.a.b = 1\n[[list]]\nc = 2\n"),
    ("toml", "[servers.rootle2]\nb = nan\n# end"),
    ("yaml", ""),
    ("yaml", "# only a comment\n"),
    ("yaml", "a: 1"),
    ("yaml", "---\na: 1\n"),
    ("yaml", "servers:\n    x:\n        a: |\n            text\n\n\n# end\nb: [1,\n  2]\n"),
    ("yaml", "servers:\n  x: {a: 1} # one\n\n  # two\nb: &c\n  - 1\nd: *c\n"),
    ("yaml", "b:\n- 1\n- 2\n\n\n"),
]


@pytest.mark.parametrize(("kind", "before"), BEFORE)
def test_removing_an_entry_restores_the_text(kind: Format, before: str) -> None:
    added = set_entry(before, kind, KEYS, ENTRY)
    assert read_entry(added, kind, KEYS) == ENTRY
    assert set_entry(added, kind, KEYS, ENTRY) == added
    removed = remove_entry(added, kind, KEYS, 1 if '"servers"' in before else 0)
    empty = "{}" if kind == "json" and "{" not in before else ""
    assert removed.rstrip() == (before + empty).rstrip()


@pytest.mark.parametrize(
    ("kind", "before"),
    [
        (
            "toml",
            "[servers.rootle]\nargs = [ # a\n  'a]#', \"]\\\"\", # ]\n]\ncommand = '/a#b' # c\n",
        ),
        ("toml", "[servers.rootle]\n[servers.rootle.env]\nargs = 1\n"),
        (
            "yaml",
            "servers:\n  rootle:\n    args:\n    - a\n    - b\n    command: >-\n      x\n  b: 1\n",
        ),
        ("yaml", "x: &x {a: 1}\nservers:\n  rootle: {}\n  b: *x\n"),
        ("yaml", "x: &x\n  a: 1\nservers:\n  b: *x\n# end\n"),
        ("json", '{"servers": {"rootle": {"args": [ 1, // x\n 2 ]}}}'),
    ],
)
def test_an_existing_entry_in_any_notation_is_updated(kind: Format, before: str) -> None:
    added = set_entry(before, kind, KEYS, ENTRY)
    found = read_entry(added, kind, KEYS)
    assert isinstance(found, dict)
    assert {key: found[key] for key in ENTRY} == ENTRY
    assert set_entry(added, kind, KEYS, ENTRY) == added


def test_a_comment_at_the_key_that_holds_the_servers_outlives_the_last_server() -> None:
    yaml = "servers: # mine\n  rootle:\n    a: 1\n"
    assert remove_entry(yaml, "yaml", KEYS, 0) == "servers: # mine\n"
    yaml = "servers:\n  rootle:\n    a: 1\n\n  # mine\n# other\nb: 1\n"
    assert remove_entry(yaml, "yaml", KEYS, 0) == "servers:\n\n  # mine\n# other\nb: 1\n"
    yaml = "servers:\n  rootle:\n    a: 1\n# other\nb: 1\n  # last\n"
    assert remove_entry(yaml, "yaml", KEYS, 0) == "# other\nb: 1\n  # last\n"
    json_text = '{\n  "servers": { // mine\n    "rootle": {}\n  }\n}\n'
    assert remove_entry(json_text, "json", KEYS, 0) == '{\n  "servers": { // mine\n  }\n}\n'


@pytest.mark.parametrize(
    "before",
    [
        '{"a":1, // c\n}',
        '{"a": 1 // c\n}',
        '{"a": 1, /* c */ }',
        '{"a": 1 /* c */, /* d */\n}',
        '{\n  "a": 1, // c\n}',
    ],
)
def test_comments_at_other_members_outlive_the_entry(before: str) -> None:
    assert remove_entry(set_entry(before, "json", KEYS, ENTRY), "json", KEYS, 0) == before


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("servers: {}  # none\n", "servers:  # none\n  rootle:\n    a: 1\n"),
        ("servers:   # none\n\nb: 1\n", "servers:   # none\n  rootle:\n    a: 1\n\nb: 1\n"),
        ("{}  # none\n", "servers:\n  rootle:\n    a: 1\n"),
        ("servers: ~\n", "servers:\n  rootle:\n    a: 1\n"),
        ("servers:", "servers:\n  rootle:\n    a: 1\n"),
    ],
)
def test_the_entry_is_added_to_an_empty_yaml_key(before: str, after: str) -> None:
    assert set_entry(before, "yaml", KEYS, {"a": 1}) == after


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("toml", "servers = { a = 1 }\n"),
        ("toml", 'a = """\n[servers.rootle]\n"""\n'),
        ("toml", "[servers]\nrootle = { command = 'x' }\n"),
        ("yaml", "servers: {a: {b: 1}}\n"),
        ("yaml", "{servers: {}}\n"),
        ("yaml", "--- 1\n--- 2\n"),
        ("yaml", "day: 2026-13-41\n"),
    ],
)
def test_a_notation_that_cannot_be_edited_safely_is_an_error(kind: Format, text: str) -> None:
    with pytest.raises(ConfigTextError):
        set_entry(text, kind, KEYS, ENTRY)


def test_the_last_of_two_equal_keys_is_updated_and_both_are_removed() -> None:
    text = '{"servers": {"rootle": {"command": "a"}, "b": 1, "rootle": {"command": "c"}}}'
    assert read_entry(text, "json", KEYS) == {"command": "c"}
    assert '"rootle": {"command": "a"}' in set_entry(text, "json", KEYS, ENTRY)
    assert remove_entry(text, "json", KEYS, 0) == '{"servers": { "b": 1}}'


@pytest.mark.slow
def test_a_large_file_is_edited() -> None:
    projects = {f"/p{n}": {"history": [{"display": "x" * 200}] * 20} for n in range(200)}
    text = json.dumps({"projects": projects, "servers": {}}, indent=2)
    assert len(text) > 800_000
    assert len(set_entry(text, "json", KEYS, ENTRY)) > len(text)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a." * 500 + "b = 1\n", "a key has more than 100 parts"),
        ("x = {" + "a." * 500 + "b = 1}\n", "a key has more than 100 parts"),
        ("\n[" + "'a' . " * 100 + "b]\n", "a key has more than 100 parts"),
        ("a = " + "[" * 5_000 + "]" * 5_000 + "\n", "the values are nested too deeply"),
    ],
)
def test_a_toml_file_that_takes_too_long_is_refused(text: str, problem: str) -> None:
    with pytest.raises(ConfigTextError, match=problem):
        set_entry(text, "toml", ["mcp_servers", "rootle"], {"command": "rootle"})


def test_a_toml_file_may_have_long_values() -> None:
    text = f'address = "{"a." * 500}"\nlist = [\n"{"b." * 500}",\n]\n'
    assert "[mcp_servers.rootle]" in set_entry(
        text, "toml", ["mcp_servers", "rootle"], {"command": "rootle"}
    )
