"""Edits of JSON, TOML and YAML: one thing changes, every other character stays."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rootle.agents.catalog import Format
from rootle.agents.config_entries import entry_at, with_entry, without_entry
from rootle.agents.line_endings import TextError

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


@settings(max_examples=60, deadline=None)
@given(DOCUMENTS, st.sampled_from([None, 0, 1, 2, 4, "\t"]), st.sampled_from(["", "\n", " // x\n"]))
def test_json_of_any_layout_gets_an_entry_and_loses_it(
    document: dict[str, Any], indent: int | str | None, tail: str
) -> None:
    text = json.dumps(document, indent=indent, ensure_ascii=False) + tail
    there = with_entry(text, "json", KEYS, ENTRY)
    assert entry_at(there, "json", KEYS) == ENTRY
    assert with_entry(there, "json", KEYS, ENTRY) == there
    assert without_entry(there, "json", KEYS, 1 if "servers" in document else 0) == text


BEFORE: list[tuple[Format, str]] = [
    ("json", ""),
    ("json", "// only a comment\n"),
    ("json", '{"servers": {}, "a": 1}'),
    ("json", '{"a": 1, "servers": { "b": {} }, }'),
    ("json", '{ // c\n"a": 1 /* d */ }\n'),
    ("json", '{\n  "servers": {\n    "a": {}, // one\n    /* two */\n  },\n}\n'),
    ("json", '{\n  "a": "rootle", "b": [\n  ]\n}'),
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
def test_an_entry_comes_and_goes_without_a_trace(kind: Format, before: str) -> None:
    there = with_entry(before, kind, KEYS, ENTRY)
    assert entry_at(there, kind, KEYS) == ENTRY
    assert with_entry(there, kind, KEYS, ENTRY) == there
    gone = without_entry(there, kind, KEYS, 1 if '"servers"' in before else 0)
    empty = "{}" if kind == "json" and "{" not in before else ""
    assert gone.rstrip() == (before + empty).rstrip()


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
def test_an_entry_of_any_form_is_brought_up_to_date(kind: Format, before: str) -> None:
    there = with_entry(before, kind, KEYS, ENTRY)
    found = entry_at(there, kind, KEYS)
    assert isinstance(found, dict)
    assert {key: found[key] for key in ENTRY} == ENTRY
    assert with_entry(there, kind, KEYS, ENTRY) == there


def test_a_comment_on_the_servers_stays_when_the_last_one_goes() -> None:
    yaml = "servers: # mine\n  rootle:\n    a: 1\n"
    assert without_entry(yaml, "yaml", KEYS, 0) == "servers: # mine\n"
    json_text = '{\n  "servers": { // mine\n    "rootle": {}\n  }\n}\n'
    assert without_entry(json_text, "json", KEYS, 0) == '{\n  "servers": { // mine\n  }\n}\n'


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
def test_a_key_of_yaml_with_nothing_under_it_is_filled(before: str, after: str) -> None:
    assert with_entry(before, "yaml", KEYS, {"a": 1}) == after


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
def test_what_cannot_be_changed_safely_is_an_error(kind: Format, text: str) -> None:
    with pytest.raises(TextError):
        with_entry(text, kind, KEYS, ENTRY)


def test_of_two_equal_keys_the_last_counts_and_both_go() -> None:
    text = '{"servers": {"rootle": {"command": "a"}, "b": 1, "rootle": {"command": "c"}}}'
    assert entry_at(text, "json", KEYS) == {"command": "c"}
    assert '"rootle": {"command": "a"}' in with_entry(text, "json", KEYS, ENTRY)
    assert without_entry(text, "json", KEYS, 0) == '{"servers": { "b": 1}}'


def test_a_large_file_is_changed_in_a_moment() -> None:
    projects = {f"/p{n}": {"history": [{"display": "x" * 200}] * 20} for n in range(200)}
    text = json.dumps({"projects": projects, "servers": {}}, indent=2)
    assert len(text) > 800_000
    assert len(with_entry(text, "json", KEYS, ENTRY)) > len(text)
