"""The reference pages list every command, option, setting, span, dependency and requirement."""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest
from doc_pages import DOCS, TOP

from rootle import Config
from rootle.cli.main import build_parser
from rootle.config.fields import SECTION, make_key
from rootle.config.precedence import load_config
from rootle.rerank.providers import PROVIDERS
from rootle.search.search_trace import SearchLog
from rootle.serialization.json import _OPTIONAL_FIELDS, camel_case, to_json
from rootle.telemetry import spans
from rootle.types import SearchResponse

# Requirements of the specification that have no number.
UNNUMBERED = ("Commit history", "Office documents", "Outside knowledge")


def specification_rows() -> list[tuple[str, ...]]:
    """Return the rows of the specification page: point, requirement, code, test, difference."""
    lines = (DOCS / "reference/specification.md").read_text().splitlines()
    rows = [tuple(cell.strip() for cell in line.split("|")[1:-1]) for line in lines if "|" in line]
    return [row for row in rows if row[0] not in {"Point", "---"}]


def test_generated_parts_are_up_to_date() -> None:
    # `make docs-check` also compares the recorded terminal, which takes ten seconds.
    child = subprocess.run(
        [sys.executable, DOCS / "scripts/generate_reference.py", "--check"],
        capture_output=True,
        text=True,
    )
    assert child.returncode == 0, child.stdout + child.stderr


def test_every_command_and_option_is_documented() -> None:
    page = (DOCS / "reference/cli.md").read_text()
    for name, command in commands(build_parser()):
        section = re.split(r"^## ", page.partition(f"## rootle {name}\n")[2], flags=re.MULTILINE)[0]
        assert section, f"rootle {name} is not in docs/reference/cli.md"
        for action in command._actions:
            for option in action.option_strings:
                assert re.search(rf"`{re.escape(option)}[ `]", section), f"rootle {name} {option}"


def test_every_setting_is_documented_with_its_default() -> None:
    page = (DOCS / "reference/configuration.md").read_text()
    for field in fields(Config):
        row = f"| `{make_key(field.name)}` | `{json.dumps(to_json(field.default))}` |"
        assert row in page, f"docs/reference/configuration.md lacks {row}"


def test_the_documented_configuration_file_contains_the_defaults(tmp_path: Path) -> None:
    page = (DOCS / "reference/configuration.md").read_text()
    sample = page.partition("<!-- generated: sample -->")[2].split("```")[1].removeprefix("json\n")
    assert {make_key(field.name) for field in fields(Config)} == set(json.loads(sample)[SECTION])
    path = tmp_path / "config.json"
    path.write_text(sample)
    assert load_config(path)[0] == Config()


def test_every_span_metric_and_event_is_documented() -> None:
    page = (DOCS / "how-to/telemetry.md").read_text()
    for span, attributes in spans.SPANS.items():
        assert f"| `{span}` | {', '.join(f'`{name}`' for name in attributes)} |" in page
    for name in (*spans.METRICS, *spans.EVENTS):
        assert f"| `{name}` |" in page
    for field in fields(SearchLog):
        assert f"`{camel_case(field.name)}`" in page.partition("## The search log")[2]


def test_the_fields_that_json_leaves_out_are_documented() -> None:
    page = " ".join((DOCS / "reference/python.md").read_text().split())
    sentence = page.partition("In JSON, the fields ")[2].partition(" are left out if they are None")
    assert sentence[1]
    assert set(re.findall(r"`(\w+)`", sentence[0])) == _OPTIONAL_FIELDS
    response = to_json(SearchResponse((), None, (), None, 1, 0.5))
    assert response["nextCursor"] is response["confident"] is None
    assert not response.keys() & _OPTIONAL_FIELDS


def test_every_reranking_provider_is_documented() -> None:
    page = (DOCS / "how-to/reranking-server.md").read_text()
    for provider, wire in PROVIDERS.items():
        row = next(line for line in page.splitlines() if line.startswith(f"| `{provider}` |"))
        assert row.endswith(f"| `{wire.url}` | `POST {wire.path}` |")


def test_every_point_of_the_specification_has_a_row() -> None:
    points = [row[0] for row in specification_rows()]
    sections = {
        "1": 5, "2.1": 4, "2.2": 4, "3": 3, "4.1": 4, "4.2": 7, "4.3": 3, "5": 6, "7": 9,
        "8.1": 5, "8.2": 3, "8.3": 3, "9": 6, "10": 7,
    }  # fmt: skip
    # The number of points in each of the smaller specifications.
    sections |= {"V": 10, "R": 6, "W": 10, "M": 8}
    expected = [f"{name}.{at + 1}" for name, count in sections.items() for at in range(count)]
    assert sorted(points) == sorted([*expected, "6", *UNNUMBERED])


@pytest.mark.parametrize("row", specification_rows(), ids=lambda row: row[0])
def test_the_code_and_tests_of_a_specification_row_exist(row: tuple[str, ...]) -> None:
    point, _, code, tests, difference = row
    for name in re.findall(r"`([^`]*)`", code):
        assert (TOP / "src/rootle" / name).exists(), f"{point}: {name}"
    for name in re.findall(r"`([^`]*)`", tests):
        path, _, function = name.partition("::")
        assert (TOP / "tests" / path).exists(), f"{point}: {name}"
        if function:
            source = (TOP / "tests" / path).read_text()
            assert f"def {function}(" in source, f"{point}: {name}"
    is_planned = "Planned separately" in difference
    assert is_planned or (code and tests), f"{point}: the row must name code and a test"
    assert not (is_planned and code), f"{point}: planned separately, but the row names code"
    for name in re.findall(r"`(benchmarks/[^`]*)`", difference):
        assert (TOP / name).is_file(), f"{point}: {name}"


def test_the_documented_dependencies_are_those_of_the_project() -> None:
    project = tomllib.loads((TOP / "pyproject.toml").read_text())["project"]
    page = (DOCS / "reference/dependencies.md").read_text()
    listed = re.findall(r"^\| ([A-Za-z][\w.-]+) \| [\d.]+ \|", page, re.MULTILINE)
    names = [package_name(line) for line in project["dependencies"]]
    assert listed == sorted(names, key=str.lower)
    optional = page.partition("## Optional dependencies")[2].partition("\n## ")[0]
    listed_optional = re.findall(r"^- \*\*([\w-]+)\*\* ", optional, re.MULTILINE)
    extras = [line for lines in project["optional-dependencies"].values() for line in lines]
    assert sorted(listed_optional) == sorted(package_name(line) for line in extras)


def commands(
    parser: argparse.ArgumentParser, prefix: str = ""
) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Yield every command and subcommand with its full name."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, command in action.choices.items():
                yield f"{prefix}{name}", command
                yield from commands(command, f"{prefix}{name} ")


def package_name(requirement: str) -> str:
    return re.split(r"[^\w.-]", requirement, maxsplit=1)[0]
