"""`rootle uninstall` restores the files and folders that existed before `rootle install`."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from install_sample import COMMAND, Install
from sample import write

from rootle.agents.agent import SCOPES, Agent, Format, Scope
from rootle.agents.catalog import AGENTS
from rootle.agents.locations import Machine, config_files, instruction_files
from rootle.storage.paths import install_records_path

CASES = [
    pytest.param(agent, scope, id=f"{agent.name}-{scope}")
    for agent in AGENTS
    for scope in SCOPES
    if agent.has_config(scope)
]
# KEY is the outermost key that contains the servers.
SHAPES: dict[Format, tuple[str, ...]] = {
    "json": (
        *("", " ", "\n", " \n\t\n", "// none\n", "/* none */", "// none", "{}", "{ }", "{\n}"),
        *('{"KEY": {}}', '{"KEY": {}}\n', '{\n  "KEY": {\n  }\n}\n', '{"KEY": { // none\n}}'),
        *('{"a": 1}', '{\n\t"a": 1 // one\n}', '{"a": 1,}', '{"KEY": {"b": {}}, }\r\n'),
        *('{"a": 1\r\n}', '{"KEY": {"b": {"command": "x"}}\n,\n"c": []}'),
    ),
    "toml": (
        *("", " ", "\n\n", "# none", "# none\n", "a = 1", "a = 1\n\n\n", "[KEY]", "[KEY]\n"),
        *("[KEY.b]\nc = 1\r\n", "[[list]]\nc = 2\n# end"),
    ),
    "yaml": (
        *("", " ", "\n\n", "# none", "# none\n", "{}", "{}\n", "KEY:", "KEY:\n", "KEY: {}"),
        *("KEY: {}\n", "KEY: {} # none\n", "KEY: ~\n", "KEY: null # none\na: 1\n", "a: 1"),
        *("KEY:\n  b:\n    c: 1", "---\na: 1\r\n", "KEY: {}\n\n\n# end\nb: 1"),
    ),
}
MARK = "\ufeff"


@pytest.mark.slow
@pytest.mark.parametrize(("agent", "scope"), CASES)
def test_a_file_of_any_shape_is_restored_exactly(
    agent: Agent, scope: Scope, install: Install, project: Path, home: Path
) -> None:
    machine = Machine.this(project)
    for path in config_files(agent, scope, machine):
        for shape in (*SHAPES[agent.format], MARK):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(shape.replace("KEY", agent.keys[0]).encode())
            before = tree(home), tree(project)
            ran = install("--agent", agent.name, "--scope", scope, "--yes")
            assert ran.code == 0, (shape, ran.out)
            assert install("--agent", agent.name, "--yes", command="uninstall").code == 0
            assert (tree(home), tree(project)) == before, shape
        path.unlink()


@pytest.mark.parametrize(("agent", "scope"), CASES)
@pytest.mark.parametrize("content", [None, b"", b"\n", b"# Rules", b"# Rules\r\n\r\n"])
def test_instructions_are_restored_exactly(
    agent: Agent,
    scope: Scope,
    content: bytes | None,
    install: Install,
    project: Path,
    home: Path,
) -> None:
    for path in instruction_files(agent, scope, Machine.this(project))[:1]:
        if content is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    before = tree(home), tree(project)
    for _ in range(2):
        assert install("--agent", agent.name, "--scope", scope, "--yes").code == 0
    assert (tree(home), tree(project)) != before
    assert install("--agent", agent.name, "--yes", command="uninstall").code == 0
    assert (tree(home), tree(project)) == before


@pytest.mark.slow
def test_all_agents_together_leave_nothing_behind(
    install: Install, project: Path, home: Path
) -> None:
    before = tree(home), tree(project)
    for scope in SCOPES:
        named = [
            word for agent in AGENTS if agent.has_config(scope) for word in select_agent(agent)
        ]
        assert install(*named, "--scope", scope, "--yes").code == 0
    hooks = [word for agent in AGENTS if agent.prompt_hook for word in select_agent(agent)]
    assert install(*hooks, "--memory-hook", "--yes").code == 0
    assert [name for name in tree(project) if "backup" in name or name.endswith("~")] == []
    assert install("--yes", command="uninstall").code == 0
    assert (tree(home), tree(project)) == before


def test_a_folder_with_other_files_stays(install: Install, project: Path) -> None:
    assert install("--agent", "cursor", "--scope", "project", "--yes").code == 0
    write(project, ".cursor/rules.md", "ours\n")
    assert install("--yes", command="uninstall").code == 0
    assert [name for name in tree(project) if tree(project)[name]] == [".cursor/rules.md"]


def test_a_folder_that_existed_before_stays(install: Install, project: Path) -> None:
    (project / ".cursor").mkdir()
    assert install("--agent", "cursor", "--scope", "project", "--yes").code == 0
    assert install("--yes", command="uninstall").code == 0
    assert tree(project) == {".cursor": None}


@pytest.mark.parametrize("text", ["", '{"mcpServers": {}}'])
def test_an_edit_by_another_program_is_kept(text: str, install: Install, home: Path) -> None:
    path = write(home, ".cursor/mcp.json", text)
    assert install("--agent", "cursor", "--yes").code == 0
    data = json.loads(path.read_text())
    path.write_text(json.dumps({**data, "theme": "dark"}))
    assert install("--yes", command="uninstall").code == 0
    expected = {"mcpServers": {}, "theme": "dark"} if text else {"theme": "dark"}
    assert json.loads(path.read_text()) == expected
    assert not install_records_path().exists()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("extensions: {}\na: 1\n", "extensions: {}\na: 1\n"),
        ("extensions:\na: 1\n", "extensions: {}\na: 1\n"),
        ("extensions:\n  # none yet\na: 1\n", "extensions: {}\n  # none yet\na: 1\n"),
    ],
)
def test_an_empty_yaml_mapping_outlives_an_edit_by_another_program(
    before: str, after: str, install: Install, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_CONFIG_HOME")
    path = write(home, ".config/goose/config.yaml", before)
    assert install("--agent", "goose", "--yes").code == 0
    path.write_text(path.read_text() + "b: 2\n")
    assert install("--yes", command="uninstall").code == 0
    assert path.read_text() == f"{after}b: 2\n"


def test_an_update_does_not_replace_the_recorded_text(install: Install, home: Path) -> None:
    path = write(home, ".gemini/settings.json", "")
    assert install("--agent", "gemini", "--yes").code == 0
    assert install("--agent", "gemini", "--memory-hook", "--yes").code == 0
    assert install("--yes", command="uninstall").code == 0
    assert path.read_bytes() == b""


def test_a_file_that_the_user_restored_is_recorded_again(install: Install, home: Path) -> None:
    path = write(home, ".cursor/mcp.json", "{}")
    assert install("--agent", "cursor", "--yes").code == 0
    path.write_text(' { "mine": 1 }')
    assert install("--agent", "cursor", "--yes").code == 0
    assert install("--yes", command="uninstall").code == 0
    assert path.read_text() == ' { "mine": 1 }'


def test_without_a_record_only_rootles_parts_are_removed(install: Install, home: Path) -> None:
    path = write(home, ".cursor/mcp.json", '{\n  "a": 1\n}\n')
    assert install("--agent", "cursor", "--agent", "codex", "--yes").code == 0
    install_records_path().write_text("damaged")
    assert install("--yes", command="uninstall").code == 0
    assert path.read_text() == '{\n  "a": 1\n}\n'
    assert not (home / ".codex/config.toml").exists()


def test_an_entry_that_the_user_wrote_is_removed_too(install: Install, home: Path) -> None:
    entry = {"command": "/v/bin/rootle", "args": ["mcp"]}
    path = write(home, ".cursor/mcp.json", json.dumps({"mcpServers": {"rootle": entry}, "a": 1}))
    assert install("--agent", "cursor", "--yes").code == 0
    assert install("--yes", command="uninstall").code == 0
    assert json.loads(path.read_text()) == {"a": 1}


def test_records_of_deleted_files_are_discarded(install: Install, project: Path) -> None:
    assert install("--agent", "cursor", "--scope", "project", "--yes").code == 0
    shutil.rmtree(project / ".cursor")
    (project / "AGENTS.md").unlink()
    assert install("--yes", command="uninstall").code == 0
    assert not install_records_path().exists()


def test_a_failed_write_is_not_recorded(install: Install, home: Path) -> None:
    path = write(home, ".cursor/mcp.json", "{}")
    path.chmod(0o444)
    assert install("--agent", "cursor", "--yes").code == 2
    assert not install_records_path().exists()


NAMES = st.text(st.sampled_from("ab \"'\\/{}[],:#\n\tä漢"), max_size=6)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | NAMES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)
FLAG: st.SearchStrategy[bool] = st.booleans()
SPACE: st.SearchStrategy[str] = st.sampled_from(
    ["", " ", "\n", "\r\n", "\t", " // note\n", "/* note */", "\n\n  "]
)


@st.composite
def json_texts(draw: st.DrawFn, key: str) -> str:
    """Return JSON with comments, any white space and trailing commas."""
    data = draw(st.dictionaries(NAMES.filter(bool), VALUES, max_size=3))
    if draw(FLAG):
        data[key] = draw(st.dictionaries(st.sampled_from("xyz"), VALUES, max_size=2))
    return draw(SPACE) + draw_json(draw, data) + draw(SPACE)


def draw_json(draw: st.DrawFn, value: Any) -> str:
    if not isinstance(value, (dict, list)):
        is_ascii = draw(FLAG)
        return json.dumps(value, ensure_ascii=is_ascii)
    pairs = value.items() if isinstance(value, dict) else [("", part) for part in value]
    parts: list[str] = []
    for name, part in pairs:
        key = f"{json.dumps(name)}{draw(SPACE)}:" if isinstance(value, dict) else ""
        parts.append(f"{draw(SPACE)}{key}{draw(SPACE)}{draw_json(draw, part)}{draw(SPACE)}")
    comma = "," if draw(FLAG) and parts else ""
    inside = f"{','.join(parts)}{comma}{draw(SPACE)}"
    return f"{{{inside}}}" if isinstance(value, dict) else f"[{inside}]"


@pytest.mark.slow
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_random_json_is_restored_exactly(
    data: st.DataObject, install: Install, project: Path, home: Path
) -> None:
    agents = [agent for agent in AGENTS if agent.format == "json" and agent.has_config("project")]
    agent = data.draw(st.sampled_from(agents))
    text = data.draw(json_texts(agent.keys[0]))
    path = config_files(agent, "project", Machine.this(project))[0]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    before = tree(home), tree(project)
    assert install("--agent", agent.name, "--scope", "project", "--yes").code == 0, text
    assert install("--yes", command="uninstall").code == 0
    assert (tree(home), tree(project)) == before
    path.unlink()


def select_agent(agent: Agent) -> tuple[str, str]:
    return "--agent", agent.name


def tree(folder: Path) -> dict[str, bytes | None]:
    """Return the content of all files below a folder, with None as the content of a folder."""
    return {
        os.path.relpath(path, folder): None if path.is_dir() else path.read_bytes()
        for path in sorted(folder.rglob("*"))
    }


USER_ENTRIES = {
    "cursor": {"command": "/old/rootle", "args": ["mcp", "--config", "x", "--no-watch"]},
    "claude-code": {"command": "python3", "args": ["-P", "-m", "rootle", "mcp", "--config", "x"]},
    "opencode": {"type": "local", "command": ["/old/rootle", "mcp", "--config", "x"]},
    "windsurf": {"command": "rootle", "args": ["mcp", "--root", "/old", "--config", "x"]},
}
OWN_KEYS = {"env": {"A": "b"}, "timeout": 7, "alwaysLoad": False}


@pytest.mark.parametrize("name", USER_ENTRIES)
def test_an_update_keeps_arguments_and_keys_of_the_user(
    name: str, install: Install, project: Path
) -> None:
    (agent,) = (agent for agent in AGENTS if agent.name == name)
    path = config_files(agent, "user", Machine.this(project))[0]
    data: Any = {**USER_ENTRIES[name], **OWN_KEYS}
    for key in (*agent.keys, "rootle")[::-1]:
        data = {key: data}
    write(path.parent, path.name, json.dumps(data))
    assert install("--agent", name, "--yes").code == 0
    entry = json.loads(path.read_text())[agent.keys[0]]["rootle"]
    assert {key: entry[key] for key in OWN_KEYS} == OWN_KEYS
    words = entry["command"] if name == "opencode" else [entry["command"], *entry["args"]]
    root = {"cursor": "${workspaceFolder}", "windsurf": str(project)}.get(name)
    expected = [COMMAND, "mcp", *(("--root", root) if root else ()), "--config", "x"]
    assert words == [*expected, *(["--no-watch"] if name == "cursor" else [])]
    assert install("--agent", name, "--yes").out == f"{name}: nothing to do\n"


def test_an_update_adds_the_setting_that_loads_the_tools(install: Install, home: Path) -> None:
    entry = {"command": COMMAND, "args": ["mcp"]}
    path = write(home, ".claude.json", json.dumps({"mcpServers": {"rootle": entry}}))
    assert install("--agent", "claude-code", "--yes").code == 0
    assert json.loads(path.read_text()) == {"mcpServers": {"rootle": {**entry, "alwaysLoad": True}}}


@pytest.mark.parametrize("words", [["--root", "/mine"], ["--root=/mine"]])
def test_an_update_keeps_the_root_of_the_user(
    words: list[str], install: Install, home: Path
) -> None:
    entry = {"command": "rootle", "args": ["mcp", *words]}
    path = write(home, ".cursor/mcp.json", json.dumps({"mcpServers": {"rootle": entry}}))
    assert install("--agent", "cursor", "--yes").code == 0
    updated = json.loads(path.read_text())["mcpServers"]["rootle"]
    assert updated == {"command": COMMAND, "args": ["mcp", *words]}


def test_an_update_keeps_arguments_in_toml_and_yaml(
    install: Install, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_CONFIG_HOME")
    toml = "[mcp_servers.rootle]\ncommand = 'rootle'\nargs = ['mcp', '--config', 'x']\nenv = {}\n"
    yaml = "extensions:\n  rootle:\n    cmd: rootle\n    args: [mcp, --config, x]\n    timeout: 7\n"
    codex = write(home, ".codex/config.toml", toml)
    goose = write(home, ".config/goose/config.yaml", yaml)
    assert install("--agent", "codex", "--agent", "goose", "--yes").code == 0
    assert codex.read_text() == toml.replace("'rootle'\n", f'"{COMMAND}"\n')
    assert goose.read_text() == yaml.replace("cmd: rootle", f'cmd: "{COMMAND}"')
