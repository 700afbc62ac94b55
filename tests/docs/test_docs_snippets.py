"""Commands, Python snippets and configuration files in the documentation work as printed."""

from __future__ import annotations

import ast
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from command import Outcome, rootle
from doc_pages import PAGES, TOP, blocks, console_sessions, page_name

from rootle import SearchQuery, open_app
from rootle.config.fields import SECTION
from rootle.config.precedence import load_config

pytestmark = pytest.mark.slow

TESTED = [
    page
    for page in PAGES
    if page.parent == TOP
    or page_name(page).startswith(
        ("docs/tutorials/", "docs/how-to/", "docs/reference/", "docs/explanation/")
    )
]
# Patterns for the beginning of commands that tests do not run, each with the reason.
NOT_RUN = {
    r"pip install": "downloads packages",
    r"make ": "creates an environment; test_docs_pages.py checks that the target exists",
    r"rootle watch$": "runs until Ctrl-C",
    r"rootle watch --": "controls a running watcher",
    r"rootle mcp": "waits for a client",
    r"rootle add https://": "reads a web site",
    r"ssh ": "needs another machine",
    r"jq ": "jq may not be installed",
    r"export OTEL_": "affects the other commands of the page",
    r".*docs/scripts/": "writes a file of this repository",
}
# Patterns for the beginning of commands whose expected exit code is not 0.
EXIT_CODES = {
    r"rootle search --changed-within": 1,  # no results: the files of the sample repository are old
    r"rootle memory import": 1,  # nothing is imported: the memories exist already
}
_NEEDS_SHELL = re.compile(r"[|<>&;$`*~\n]")
# Languages of code blocks that show data or output. A test must run all other blocks.
SHOWN_ONLY = {"text", "toml", "json"}


def test_every_code_block_has_a_language_that_a_test_checks() -> None:
    for page in TESTED:
        languages = {block.language for block in blocks(page)}
        assert languages <= {"console", "python", *SHOWN_ONLY}, page_name(page)


@pytest.mark.parametrize("page", TESTED, ids=page_name)
def test_commands_run_and_print_the_documented_output(
    page: Path, repository: Path, tmp_path: Path, home: Path
) -> None:
    (home / ".claude").mkdir()  # makes an agent look installed
    environment = {**os.environ, "PATH": f"{program_folder(tmp_path)}:{os.environ['PATH']}"}
    for command, expected in console_sessions(page):
        if not is_runnable(command):
            continue
        outcome = _run(command, repository, environment)
        codes = [code for pattern, code in EXIT_CODES.items() if re.match(pattern, command)]
        assert outcome.code == sum(codes), f"{page_name(page)}: {command}\n{outcome.err}"
        for line in expected:
            pattern = ".*".join(map(re.escape, line.split("…")))
            assert re.search(rf"^{pattern}$", outcome.out, re.MULTILINE), f"{command}: {line}"


def _run(command: str, folder: Path, environment: dict[str, str]) -> Outcome:
    """Run a command, in a shell unless it is a command of rootle that needs none."""
    if command.startswith("rootle ") and _NEEDS_SHELL.search(command) is None:
        return rootle(*shlex.split(command)[1:], cwd=folder)
    child = subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True
    )
    return Outcome(child.returncode, child.stdout, child.stderr)


@pytest.mark.parametrize("pattern", NOT_RUN)
def test_every_exempted_command_occurs_in_the_documentation(pattern: str) -> None:
    commands = [command for page in TESTED for command, _ in console_sessions(page)]
    assert any(re.match(pattern, command) for command in commands)


@pytest.mark.parametrize("page", TESTED, ids=page_name)
def test_python_snippets_run(page: Path, repository: Path) -> None:
    for block in blocks(page, "python"):
        outcome = _run_python(block.code, repository)
        assert outcome.code == 0, f"{page_name(page)}:\n{block.code}\n{outcome.err}"


def _run_python(code: str, folder: Path) -> Outcome:
    return rootle(program=code, preloaded=True, cwd=folder)


@pytest.mark.parametrize("page", ["README.md", "docs/tutorials/python-program.md"])
def test_the_first_python_snippet_finds_the_answer(page: str, repository: Path) -> None:
    snippet = blocks(TOP / page, "python")[0]
    assert "retry.py" in _run_python(snippet.code, repository).out.splitlines()[0]


def test_the_paging_snippet_prints_the_results_of_every_page(repository: Path) -> None:
    snippets = blocks(TOP / "docs/tutorials/python-program.md", "python")
    (snippet,) = [block.code for block in snippets if "cursor" in block.code]
    pages = [ast.literal_eval(line) for line in _run_python(snippet, repository).out.splitlines()]
    query = SearchQuery("how long to wait before the next attempt", limit=50)
    with open_app(repository) as app:
        expected = [result.file_path for result in app.search(query).results]
    assert len(pages) > 2
    assert [path for page in pages for path in page] == expected


def test_the_agent_tool_snippets_print_the_documented_answers(repository: Path) -> None:
    page = TOP / "docs/how-to/agent-tools.md"
    output = [_run_python(block.code, repository).out for block in blocks(page, "python")]
    tools, loop, own_vectors = output
    assert tools.startswith("1. src/net/retry.py:")
    assert "retry.py:4-6 of 13 (python)" in tools
    assert "return base * 2**attempt" in loop
    assert own_vectors.startswith("1. meeting.md score=")


def test_the_source_snippet_prints_the_documented_citation(repository: Path) -> None:
    snippet = blocks(TOP / "docs/how-to/sources.md", "python")[0]
    outcome = _run_python(snippet.code, repository)
    assert outcome.out == "ticket:17#comment-1 Printer on floor 3 is offline\n"


@pytest.mark.parametrize("page", TESTED, ids=page_name)
def test_configuration_snippets_are_valid(page: Path, tmp_path: Path) -> None:
    decoder = json.JSONDecoder()
    for block in blocks(page, "json"):
        rest = block.code.strip()
        while rest:
            value, end = decoder.raw_decode(rest)
            rest = rest[end:].strip()
            if SECTION in value:
                path = tmp_path / "config.json"
                path.write_text(json.dumps(value))
                load_config(path)


def is_runnable(command: str) -> bool:
    return not any(re.match(pattern, command) for pattern in NOT_RUN)


def program_folder(tmp_path: Path) -> Path:
    """Create a folder with a `rootle` command that runs this interpreter."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "rootle"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m rootle "$@"\n')
    program.chmod(0o755)
    return folder
