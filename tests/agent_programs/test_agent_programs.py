"""Whole turns of real coding agents: the requests that reach the model of each program."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from mcp_process import session_of, text_of
from sample import FILES, make_repository

from agent_programs.exchange import SEARCH_TOOL
from agent_programs.numbered_lines import read_shown_lines
from agent_programs.programs import PROGRAMS
from agent_programs.turns import Turn, run_turn
from rootle.agents.instructions_block import add_block

pytestmark = pytest.mark.agents

ANSWERED = "how long to wait before the next attempt"
UNANSWERED = "zebra migration over the savannah in winter"
QUESTIONS = (ANSWERED, UNANSWERED)
RIGHT_FILE = "src/net/retry.py"
DECIDING_LINE = "    return base * 2**attempt"
# Limit on the characters that a program adds to a tool result: some programs add the running time
# or a reminder of about a hundred characters.
FRAME_CHARS = 200


@dataclass(frozen=True)
class Server:
    """The output of `rootle mcp` for an ordinary MCP client."""

    instructions: str
    tools: Mapping[str, Any]
    answers: Sequence[str]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_repository(tmp_path_factory.mktemp("agents") / "project")


@pytest.fixture(scope="module")
def server(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    home = str(tmp_path_factory.mktemp("home"))
    folders = {
        f"XDG_{kind}_HOME": f"{home}/{kind}" for kind in ("CACHE", "CONFIG", "DATA", "STATE")
    }
    with session_of(project, started_in=project, HOME=home, **folders) as session:
        tools = {tool.name: tool for tool in session.tools()}
        answers = [
            text_of(session.call(SEARCH_TOOL, {"query": question})) for question in QUESTIONS
        ]
        yield Server(session.instructions, tools, answers)


@pytest.fixture(scope="module", params=PROGRAMS, ids=str)
def turn(
    request: pytest.FixtureRequest, project: Path, tmp_path_factory: pytest.TempPathFactory
) -> Turn:
    return run_turn(request.param, project, tmp_path_factory.mktemp("program"), QUESTIONS)


def test_the_first_request_lists_the_tools_with_all_descriptions(
    turn: Turn, server: Server
) -> None:
    listed = {name: _find(turn, name) for name in (SEARCH_TOOL, "vectordb_read")}
    for name, tool in listed.items():
        expected = server.tools[name]
        assert expected.description in tool.description
        parameters = expected.input_schema["properties"]
        # Gemini CLI adds a parameter of its own; Copilot CLI appends limits to a description.
        received = _descriptions(tool.parameters["properties"])
        for parameter, description in _descriptions(parameters).items():
            assert received[parameter].startswith(description)
        assert all(_descriptions(parameters).values())


def test_the_model_gets_the_answers_complete_and_once(turn: Turn, server: Server) -> None:
    results = _results(turn)
    for received, answer in zip(results, server.answers, strict=True):
        assert answer in received
        assert len(received) - len(answer) < FRAME_CHARS
    answered = results[0]
    assert answered.count(DECIDING_LINE) == 1
    # The line that answers the question does not occur elsewhere in the conversation.
    assert turn.last_body.count(DECIDING_LINE.strip()) == _count(DECIDING_LINE, results)


def test_the_model_sees_numbered_lines_of_the_right_file(turn: Turn) -> None:
    received = _results(turn)[0]
    shown = read_shown_lines(received)
    assert shown, received
    assert shown[0].path == RIGHT_FILE
    assert DECIDING_LINE in [line.text for line in shown if line.path == RIGHT_FILE]
    for line in shown:
        assert line.text.rstrip() == FILES[line.path].splitlines()[line.number - 1].rstrip()
        assert line.is_in_range, line
    places = [(line.path, line.number) for line in shown]
    assert len(places) == len(set(places))


def test_an_unanswered_question_begins_with_a_warning(turn: Turn) -> None:
    received = _results(turn)[1]
    found = [received.lower().find(words) for words in ("no matches found", "not confident")]
    first = min((position for position in found if position >= 0), default=-1)
    assert first >= 0, received
    before = received[:first]
    assert not any(path in before for path in FILES), received
    assert len(before) < FRAME_CHARS


def test_the_notes_reach_the_model(turn: Turn) -> None:
    received = _results(turn)[1]
    assert all(f'"{word}"' in received for word in ("zebra", "savannah")), received


def test_the_model_reads_the_instructions(turn: Turn, server: Server) -> None:
    prompt = turn.first_request.prompt
    # Claude Code removes HTML comments.
    without_markers = [line for line in add_block("").splitlines() if not line.startswith("<!--")]
    assert "\n".join(without_markers) in prompt
    # OpenCode indents the instructions of servers.
    shown = set(map(str.strip, server.instructions.splitlines())).issubset(
        map(str.strip, prompt.splitlines())
    )
    # If a new version of a program changes this value, update docs/how-to/install-into-agents.md.
    assert shown == turn.program.shows_server_instructions


def _find(turn: Turn, name: str) -> Any:
    for tool in turn.first_request.tools:
        if tool.name.endswith(name):
            return tool
    listed = ", ".join(tool.name for tool in turn.first_request.tools)
    raise AssertionError(f"{turn.program} does not list {name} in its first request: {listed}")


def _results(turn: Turn) -> Sequence[str]:
    results = turn.last_request.search_results
    assert len(results) == len(QUESTIONS), f"{turn.program} returned {len(results)} results"
    return results


def _descriptions(properties: Mapping[str, Any]) -> dict[str, str]:
    return {name: schema.get("description", "") for name, schema in properties.items()}


def _count(line: str, results: Sequence[str]) -> int:
    return sum(result.count(line.strip()) for result in results)
