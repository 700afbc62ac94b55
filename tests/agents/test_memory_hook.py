"""The memory hook: its installation into each agent, and the documented protocol."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ages import replace_yesterday
from command import rootle
from install_sample import COMMAND, Install
from sample import write

from rootle.agents.agent import SCOPES, Agent, PromptHook, Scope
from rootle.agents.catalog import AGENTS
from rootle.agents.hook_entry import hook_files
from rootle.agents.locations import Machine

TIMEOUT_S = 60
CASES = [
    pytest.param(agent, agent.prompt_hook, scope, id=f"{agent.name}-{scope}")
    for agent in AGENTS
    for scope in SCOPES
    if agent.prompt_hook is not None
]
# Files before the installation. EVENT is the event of the agent's hook.
BEFORE = {
    "empty object": "{}\n",
    "other settings": '{\n  "theme": "dark" // mine\n}\n',
    "other event": '{\n    "hooks": {\n        "Stop": [{"hooks": []}]\n    }\n}\n',
    "empty list": '{"hooks": {"EVENT": [ ]}}',
    "empty hooks": '{"hooks": {}, "a": 1}\n',
    "own hook of the user": """\
{
  "hooks": {
    "EVENT": [
      {
        "hooks": [{"type": "command", "command": "my-rootle memory hook.sh"}]
      } // keep
    ]
  },
  "theme": "dark"
}
""",
    "trailing comma": '{\n\t"hooks": {\n\t\t"EVENT": [\n\t\t\t{"hooks": []},\n\t\t],\n\t},\n}\n',
}


@pytest.mark.parametrize(("agent", "hook", "scope"), CASES)
@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize("name", BEFORE)
def test_uninstalling_restores_the_file_exactly(
    agent: Agent,
    hook: PromptHook,
    scope: Scope,
    *,
    newline: str,
    name: str,
    install: Install,
    project: Path,
) -> None:
    path = hook_files(hook, scope, Machine.this(project))[0]
    before = BEFORE[name].replace("EVENT", hook.event).replace("\n", newline).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(before)
    options = ("--agent", agent.name, "--scope", scope, "--memory-hook", "--yes")
    assert install(*options).code == 0
    (command,) = own_commands(path, hook)
    program = COMMAND if scope == "user" else "rootle"
    assert command == f"{program} memory hook"
    assert "nothing to do\n" in install(*options).out
    assert install("--agent", agent.name, "--yes", command="uninstall").code == 0
    assert path.read_bytes() == before


@pytest.mark.parametrize(("agent", "hook", "scope"), CASES)
def test_a_file_created_for_the_hook_is_deleted_again(
    agent: Agent, hook: PromptHook, scope: Scope, install: Install, project: Path
) -> None:
    path = hook_files(hook, scope, Machine.this(project))[0]
    for options in ((), ("--memory-hook",)):  # the hook is added by the second installation
        install("--agent", agent.name, "--scope", scope, "--yes", *options)
    assert own_commands(path, hook)
    assert install("--agent", agent.name, "--yes", command="uninstall").code == 0
    assert not path.exists()


def test_without_the_option_there_is_no_hook(install: Install, home: Path) -> None:
    assert install("--agent", "claude-code", "--yes").code == 0
    assert not (home / ".claude" / "settings.json").exists()


def test_a_moved_handler_is_removed_and_its_group_stays(install: Install, home: Path) -> None:
    install("--agent", "claude-code", "--memory-hook", "--yes")
    path = home / ".claude" / "settings.json"
    data = json.loads(path.read_text())
    other = {"type": "command", "command": "echo hello"}
    data["hooks"]["UserPromptSubmit"][0]["hooks"].insert(0, other)
    path.write_text(json.dumps(data, indent=2))
    assert install("--yes", command="uninstall").code == 0
    assert json.loads(path.read_text()) == {"hooks": {"UserPromptSubmit": [{"hooks": [other]}]}}


def test_a_comment_at_the_next_hook_outlives_the_removal(install: Install, home: Path) -> None:
    install("--agent", "claude-code", "--memory-hook", "--yes")
    path = home / ".claude" / "settings.json"
    text = path.read_text()
    end = text.rindex("]")
    path.write_text(f'{text[:end]}, // mine\n  {{"hooks": []}}{text[end:]}')
    assert install("--yes", command="uninstall").code == 0
    assert "// mine" in path.read_text()
    assert '{"hooks": []}' in path.read_text()


def test_the_command_of_another_installation_is_updated(install: Install, home: Path) -> None:
    handler = {"type": "command", "command": "'/old place/rootle' memory hook", "timeout": 99}
    path = home / ".claude" / "settings.json"
    groups = {"hooks": {"UserPromptSubmit": [{"hooks": [handler]}]}}
    write(path.parent, path.name, json.dumps(groups))
    assert "memory hook updated" in install("--agent", "claude-code", "--memory-hook", "--yes").out
    handler["command"] = f"{COMMAND} memory hook"
    assert json.loads(path.read_text()) == groups


def test_an_agent_without_a_prompt_hook_is_refused(install: Install, home: Path) -> None:
    done = install("--agent", "cursor", "--memory-hook", "--yes")
    assert done.code == 2
    assert "Cursor has no hook that adds text to user messages" in done.out
    assert not (home / ".cursor").exists()


def test_the_user_of_codex_is_asked_to_trust_the_hook(install: Install) -> None:
    assert "/hooks" in install("--agent", "codex", "--memory-hook", "--yes").err


@pytest.mark.parametrize("content", ['{"hooks": []}', '{"hooks": {"UserPromptSubmit": 3}}', "{"])
def test_a_file_that_cannot_be_edited_is_not_changed(
    content: str, install: Install, home: Path
) -> None:
    path = home / ".claude" / "settings.json"
    write(path.parent, path.name, content)
    done = install("--agent", "claude-code", "--memory-hook", "--yes")
    assert (done.code, path.read_text()) == (2, content)
    assert "nothing was changed" in done.out


# The input that each agent documents for its event.
REQUESTS: dict[str, dict[str, Any]] = {
    "claude-code": {
        "session_id": "abc123",
        "transcript_path": "/tmp/t.jsonl",
        "permission_mode": "default",
        "hook_event_name": "UserPromptSubmit",
    },
    "codex": {
        "session_id": "s",
        "turn_id": "1",
        "transcript_path": None,
        "model": "m",
        "permission_mode": "default",
        "hook_event_name": "UserPromptSubmit",
    },
    "gemini": {
        "session_id": "s",
        "transcript_path": "/tmp/t.json",
        "timestamp": "2026-11-01T10:00:00Z",
        "hook_event_name": "BeforeAgent",
    },
    "qwen": {
        "session_id": "s",
        "transcript_path": "/tmp/t.json",
        "timestamp": "2026-11-01T10:00:00Z",
        "hook_event_name": "UserPromptSubmit",
        "submitted_prompt": "should I use tabs or spaces?",
    },
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "agent", [one for one in AGENTS if one.prompt_hook], ids=lambda it: it.name
)
def test_the_installed_command_answers_as_documented(agent: Agent, project: Path) -> None:
    assert shutil.which("rootle", path=os.path.dirname(sys.executable))
    options = ("--agent", agent.name, "--memory-hook", "--yes", "--root", project)
    assert rootle("install", *options, preloaded=False).code == 0
    hook = agent.prompt_hook
    assert hook is not None
    (command,) = own_commands(hook_files(hook, "user", Machine.this(project))[0], hook)
    assert rootle("memory", "add", "The user prefers tabs over spaces", cwd=project).code == 0
    assert run_hook(command, project, agent, "what is the capital of France?") == {}
    answer = run_hook(command, project, agent, "should I use tabs or spaces?")
    (output,) = answer.values()
    assert answer.keys() == {"hookSpecificOutput"}
    assert output["hookEventName"] == hook.event
    block = output["additionalContext"].splitlines()
    assert block[0].startswith("<rootle-memory note=")
    assert replace_yesterday(block[1]).endswith(
        'today, personal, stored in project] "The user prefers tabs over spaces"'
    )
    assert block[2:] == ["</rootle-memory>"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "request_text", ["", "no JSON", "[]", "{}", '{"prompt": 3}', '{"prompt": "x", "cwd": 3}']
)
def test_a_failed_hook_never_blocks_the_message(request_text: str, project: Path) -> None:
    done = rootle("memory", "hook", cwd=project, stdin=request_text)
    assert done.code in (0, 1)
    assert (done.code == 0) == (done.out == "{}\n")
    broken = rootle("memory", "hook", "--set", "nonsense=1", cwd=project, stdin='{"prompt": "x"}')
    assert (broken.code, broken.out) == (1, "")
    assert "nonsense" in broken.err


@pytest.mark.slow
def test_the_hook_uses_the_project_in_which_the_agent_works(project: Path, tmp_path: Path) -> None:
    write(project, "src/a.py", "x = 1\n")
    (project / ".git").mkdir()
    rootle("memory", "add", "Deploy the shop on Thursdays", cwd=project)
    request = {"prompt": "when do we deploy the shop?", "cwd": str(project / "src")}
    found = rootle("memory", "hook", cwd=tmp_path, stdin=json.dumps(request))
    assert "Thursdays" in found.data["hookSpecificOutput"]["additionalContext"]
    request["cwd"] = str(tmp_path)
    assert rootle("memory", "hook", cwd=tmp_path, stdin=json.dumps(request)).data == {}


def run_hook(command: str, project: Path, agent: Agent, prompt: str) -> Any:
    """Run a command as an agent does, in a shell, and return the JSON that it prints."""
    request = {**REQUESTS[agent.name], "cwd": str(project), "prompt": prompt}
    if "submitted_prompt" in request:
        request["submitted_prompt"] = prompt
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        cwd=project,
        input=json.dumps(request).encode(),
        capture_output=True,
        timeout=TIMEOUT_S,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    return json.loads(done.stdout)


def own_commands(path: Path, hook: PromptHook) -> list[str]:
    """Return the commands of rootle among the hooks of an event."""
    from rootle.agents.json_edits import parse

    return [
        handler["command"]
        for group in parse(path.read_text())["hooks"][hook.event]
        for handler in group["hooks"]
        if handler["command"].endswith("rootle memory hook")
    ]
