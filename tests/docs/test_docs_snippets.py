"""Commands, Python snippets and configuration files in the documentation work as printed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from doc_pages import DOCS, PAGES, TOP, blocks, console_commands, page_name

from rootle.config.fields import SECTION
from rootle.config.loading import load_config

TESTED = [
    page
    for page in PAGES
    if page.parent == TOP or page.relative_to(TOP).parts[1] in ("tutorials", "how-to", "reference")
]
# Commands that no test can run as printed, and the reason.
NOT_RUN = {
    r"pip install": "downloads packages",
    r"make ": "builds an environment; test_docs_pages checks that the target exists",
    r"rootle watch$": "runs until Ctrl-C",
    r"rootle mcp": "waits for a client",
    r"jq ": "jq may not be installed",
    r"ssh ": "needs another machine",
    r"export OTEL_|OTEL_": "needs a collector",
    r".*benchmarks[./]": "needs repositories that are not part of the project",
}
EXPECTED_EXIT_CODES = {"rootle search": {0, 1}}


def is_runnable(command: str) -> bool:
    return not any(re.match(pattern, command) for pattern in NOT_RUN)


@pytest.mark.parametrize("page", TESTED, ids=page_name)
def test_console_commands_run_as_printed(page: Path, repository: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PATH": f"{program_folder(tmp_path)}:{os.environ['PATH']}"}
    for command in filter(is_runnable, console_commands(page)):
        child = subprocess.run(
            ["bash", "-c", command], cwd=repository, env=environment, capture_output=True, text=True
        )
        assert child.returncode == 0, f"{page_name(page)}: {command}\n{child.stderr}"


@pytest.mark.parametrize("pattern", NOT_RUN)
def test_every_exception_is_still_needed(pattern: str) -> None:
    commands = [command for page in TESTED for command in console_commands(page)]
    assert any(re.match(pattern, command) for command in commands)


@pytest.mark.parametrize("page", TESTED, ids=page_name)
def test_python_snippets_run_as_printed(page: Path, repository: Path) -> None:
    for block in blocks(page, "python"):
        child = subprocess.run(
            [sys.executable, "-c", block.code], cwd=repository, capture_output=True, text=True
        )
        assert child.returncode == 0, f"{page_name(page)}:\n{block.code}\n{child.stderr}"
