"""The documentation says what is: commands, options, settings, snippets, links, dependencies."""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest

from rootle import Config
from rootle.cli.main import build_parser
from rootle.config.fields import SECTION, key_of
from rootle.config.loading import load_config
from rootle.rerank.providers import WIRES
from rootle.search.search_log import SearchLog
from rootle.serialization.json import to_json
from rootle.telemetry.spans import spans
from rootle.types import camel_case

TOP = Path(__file__).resolve().parent.parent
DOCS = TOP / "docs"
PAGES = sorted([*TOP.glob("*.md"), *DOCS.rglob("*.md")])
RUN_AS_PASTED = [
    "README.md",
    "docs/tutorials/quickstart.md",
    "docs/explanation/ranking.md",
    "docs/how-to/context.md",
]
# What the specification asks for beside its numbered points.
UNNUMBERED = ("Commit history", "Office documents", "Outside knowledge")
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def specified() -> list[tuple[str, ...]]:
    """The rows of docs/reference/specification.md: point, what, code, tests, difference."""
    lines = (DOCS / "reference/specification.md").read_text().splitlines()
    rows = [tuple(cell.strip() for cell in line.split("|")[1:-1]) for line in lines if "|" in line]
    return [row for row in rows if row[0] not in {"Point", "---"}]


def test_every_command_and_option_stands_in_the_docs() -> None:
    page = (DOCS / "reference/cli.md").read_text()
    for name, command in commands():
        section = re.split(r"^## ", page.partition(f"## rootle {name}\n")[2], flags=re.MULTILINE)[0]
        assert section, f"rootle {name} is not in docs/reference/cli.md"
        for action in command._actions:
            for option in action.option_strings:
                assert re.search(rf"`{re.escape(option)}[ `]", section), f"rootle {name} {option}"


def test_every_setting_stands_in_the_docs_with_its_default() -> None:
    page = (DOCS / "reference/configuration.md").read_text()
    for field in fields(Config):
        row = f"| `{key_of(field.name)}` | `{json.dumps(to_json(field.default))}` |"
        assert row in page, f"docs/reference/configuration.md lacks {row}"


def test_the_configuration_of_the_docs_is_the_default(tmp_path: Path) -> None:
    sample = next(
        code for kind, code in fences(DOCS / "reference/configuration.md") if kind == "json"
    )
    assert {key_of(field.name) for field in fields(Config)} == set(json.loads(sample)[SECTION])
    path = tmp_path / "config.json"
    path.write_text(sample)
    assert load_config(path)[0] == Config()


def test_every_span_metric_and_event_stands_in_the_docs() -> None:
    page = (DOCS / "how-to/telemetry.md").read_text()
    for span, attributes in spans.SPANS.items():
        assert f"| `{span}` | {', '.join(f'`{name}`' for name in attributes)} |" in page
    for name in (*spans.METRICS, *spans.EVENTS):
        assert f"| `{name}` |" in page
    for field in fields(SearchLog):
        assert f"`{camel_case(field.name)}`" in page.partition("## The search log")[2]


def test_every_reranker_stands_in_the_docs() -> None:
    page = (DOCS / "how-to/reranking-server.md").read_text()
    for provider, wire in WIRES.items():
        row = next(line for line in page.splitlines() if line.startswith(f"| `{provider}` |"))
        assert row.endswith(f"| `{wire.url}` | `POST {wire.path}` |")


def test_every_point_of_the_specification_has_its_row() -> None:
    points = [row[0] for row in specified()]
    sections = {
        "1": 5, "2.1": 4, "2.2": 4, "3": 3, "4.1": 4, "4.2": 7, "4.3": 3, "5": 6, "7": 9,
        "8.1": 5, "8.2": 3, "8.3": 3, "9": 6, "10": 7,
    }  # fmt: skip
    wanted = [f"{name}.{at + 1}" for name, count in sections.items() for at in range(count)]
    assert sorted(points) == sorted([*wanted, "6", *UNNUMBERED])


@pytest.mark.parametrize("row", specified(), ids=lambda row: row[0])
def test_a_row_of_the_specification_names_what_exists(row: tuple[str, ...]) -> None:
    point, _, code, tests, difference = row
    for name in re.findall(r"`([^`]*)`", code):
        assert (TOP / "src/rootle" / name).exists(), f"{point}: {name}"
    for name in re.findall(r"`([^`]*)`", tests):
        path, _, function = name.partition("::")
        text = (TOP / "tests" / path).read_text()
        assert f"def {function}(" in text or not function, f"{point}: {name}"
    is_elsewhere = re.search(r"[Nn]ot built yet|issue of its own|benchmark", difference)
    assert tests or is_elsewhere, f"{point}: say which test shows it, or that it is not built yet"


def test_generated_parts_are_up_to_date() -> None:
    child = subprocess.run(
        [sys.executable, DOCS / "scripts/generate_reference.py", "--check"],
        capture_output=True,
        text=True,
    )
    assert child.returncode == 0, child.stdout + child.stderr


@pytest.mark.parametrize("page", RUN_AS_PASTED)
def test_commands_run_as_pasted(page: str, repository: Path, tmp_path: Path) -> None:
    pasted = list(console_lines(TOP / page))
    assert pasted
    environment = {**os.environ, "PATH": f"{program_folder(tmp_path)}:{os.environ['PATH']}"}
    for line in pasted:
        child = subprocess.run(
            ["bash", "-c", line], cwd=repository, env=environment, capture_output=True, text=True
        )
        assert child.returncode == 0, f"{page}: {line}\n{child.stderr}"


@pytest.mark.parametrize(
    "page", ["README.md", "docs/how-to/context.md", "docs/reference/python.md"]
)
def test_python_runs_as_pasted(page: str, repository: Path) -> None:
    for kind, code in fences(TOP / page):
        if kind != "python" or "import" not in code:
            continue
        child = subprocess.run(
            [sys.executable, "-c", code], cwd=repository, capture_output=True, text=True
        )
        assert child.returncode == 0, child.stderr
        assert "retry.py" in child.stdout.splitlines()[0]


def test_the_agents_of_the_docs_run_as_pasted(repository: Path) -> None:
    said = []
    for kind, code in fences(DOCS / "how-to/agent-tools.md"):
        if kind == "python":
            child = subprocess.run(
                [sys.executable, "-c", code], cwd=repository, capture_output=True, text=True
            )
            assert child.returncode == 0, child.stderr
            said.append(child.stdout)
    plain, loop, own = said
    assert plain.startswith("1. src/net/retry.py:")
    assert "retry.py:4-6 of 13 (python)" in plain
    assert "return base * 2**attempt" in loop
    assert own.startswith("1. meeting.md score=")


def test_the_first_command_of_the_readme_sets_up_and_shows_a_result() -> None:
    pasted = [code for kind, code in fences(TOP / "README.md") if kind == ""]
    assert pasted[0].splitlines()[0] == "make demo"


def test_every_make_target_of_the_docs_exists() -> None:
    makefile = (TOP / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    for page in PAGES:
        for kind, code in fences(page):
            named = set(re.findall(r"^make ([a-z-]+)", code, re.MULTILINE)) if not kind else set()
            assert named <= targets, f"{page.name}: make {named - targets}"
        named = set(re.findall(r"`make ([a-z-]+)[^`]*`", page.read_text()))
        assert named <= targets, f"{page.name}: make {named - targets}"
    phony = makefile.partition(".PHONY:")[2].split("\n")[0].split()
    assert set(phony) == targets
    described = set(re.findall(r"^([a-z-]+):.*## ", makefile, re.MULTILINE))
    assert described == targets, "every target says in a comment what it does"


def test_the_result_in_the_readme_is_what_the_files_say() -> None:
    shown = next(code for _, code in fences(TOP / "README.md")).splitlines()[1:]
    assert re.match(r"\S+:\d+-\d+  0\.\d\d", shown[0]), "a result stands below the command"
    text = ""
    for line in shown:
        place = re.match(r"(\S+):\d+-\d+", line)
        if place:
            text = (TOP / place[1]).read_text()
        elif numbered := re.match(r" +\d+  (.*)", line):
            assert numbered[1] in text, f"README.md is out of date, paste again: {line}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(TOP)))
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(_FENCE, "", page.read_text())
    for link in _LINK.findall(text):
        if "://" in link or link.startswith("mailto:"):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{page.name}: {link}"
        if anchor:
            assert anchor in anchors(target), f"{page.name}: {link}"


def test_the_dependencies_of_the_docs_are_those_of_the_project() -> None:
    project = tomllib.loads((TOP / "pyproject.toml").read_text())["project"]
    page = (DOCS / "reference/dependencies.md").read_text()
    listed = re.findall(r"^\| ([a-z][\w.-]+) \| [\d.]+ \|", page, re.MULTILINE)
    assert listed == sorted(name_of(line) for line in project["dependencies"])
    choice = page.partition("## By choice")[2].partition("## Not used")[0]
    by_choice = re.findall(r"^- \*\*([\w-]+)\*\* ", choice, re.MULTILINE)
    extras = [line for lines in project["optional-dependencies"].values() for line in lines]
    assert sorted(by_choice) == sorted(name_of(line) for line in extras)


def test_every_page_can_be_reached_from_the_readme() -> None:
    pending, seen = [TOP / "README.md"], set()
    while pending:
        page = pending.pop()
        if page in seen:
            continue
        seen.add(page)
        if page.is_dir():
            pending += page.glob("*.md")
        elif page.suffix == ".md":
            links = (link.partition("#")[0] for link in _LINK.findall(page.read_text()))
            pending += [
                (page.parent / path).resolve() for path in links if path and ":" not in path
            ]
    assert set(PAGES) <= seen, set(PAGES) - seen


def commands() -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for name, command in subcommands(build_parser()):
        yield name, command
        yield from ((f"{name} {action}", part) for action, part in subcommands(command))


def subcommands(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.items()


def fences(page: Path) -> Iterator[tuple[str, str]]:
    """The fenced blocks of a page: what they are and what they hold."""
    for match in _FENCE.finditer(page.read_text()):
        yield match[1], match[2]


def console_lines(page: Path) -> Iterator[str]:
    for kind, code in fences(page):
        if kind == "console":
            yield from (line[2:] for line in code.splitlines() if line.startswith("$ "))


def program_folder(tmp_path: Path) -> Path:
    """A folder with the `rootle` command in it, whatever is installed."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "rootle"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m rootle "$@"\n')
    program.chmod(0o755)
    return folder


def anchors(page: Path) -> set[str]:
    """What a heading is called in a link."""
    text = re.sub(_FENCE, "", page.read_text())
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {
        re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-") for heading in headings
    }


def name_of(requirement: str) -> str:
    return re.split(r"[^\w.-]", requirement, maxsplit=1)[0]
