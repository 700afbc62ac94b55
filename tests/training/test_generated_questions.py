"""Generated questions: their text is removed from the code, and their target lines answer them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

_ROOT = Path(__file__).parents[2]
_ANIMALS = (
    "badger beaver bison camel cheetah coyote dolphin donkey falcon ferret gazelle giraffe gopher "
    "hamster heron iguana jackal koala lemur leopard lizard lobster meerkat mongoose otter panther"
).split()

_MODULE = '''"""Everything about the {0}."""

from den import Den


def feed_{0}(meal, times):
    """Divides the meal into portions that a hungry {0} can swallow.

    Args:
        meal: what there is to eat today, in grams.
    """
    if times < 1:
        raise ValueError(f"the {0} cannot eat {{times}} times a day")
    return [meal / times] * times


# Finds the warmest den where the {0} may sleep tonight.
def shelter_{0}(dens):
    ranked = sorted(dens, key=lambda den: den.warmth)
    return ranked[-1]
'''
_TEST = """def test_{0}_sleeps_in_the_warmest_place():
    den = shelter_{0}([Den(1), Den(2)])
    assert den == Den(2)
"""


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    """A folder with one package, "farm": 26 modules with tests, a reserved name and a document."""
    farm = tmp_path / "packages" / "farm"
    for animal in _ANIMALS:
        _write(farm / f"zoo/{animal}.py", _MODULE.format(animal))
        _write(farm / f"tests/test_{animal}.py", _TEST.format(animal))
    _write(farm / "zoo/click.py", _MODULE.format("mouse"))
    sections = ("Building winter dens", "Summer feeding times")
    body = "".join(f"## {title}\n\n{'Dig deeper. ' * 40}\n\n" for title in sections)
    _write(farm / "README.md", f"# Farm\n\n{body}")
    return tmp_path / "packages"


@pytest.mark.slow
def test_questions_refer_to_code_that_does_not_contain_their_text(
    packages: Path, tmp_path: Path
) -> None:
    questions = _make(packages, tmp_path)
    repo = tmp_path / "out/packages-farm/repo"
    by_kind: dict[str, list[dict[str, Any]]] = {}
    for question in questions:
        by_kind.setdefault(question["kind"], []).append(question)
        for path, first, last in question["targets"]:
            assert 1 <= first <= last <= len((repo / path).read_text().split("\n"))
    assert {"behaviour", "error", "documentation", "symbol", "tests", "usage"} == set(by_kind)
    for question in by_kind["behaviour"]:
        ((path, first, last),) = question["targets"]
        text = (repo / path).read_text()
        assert text.split("\n")[first - 1].startswith("def ")
        if "meal" in question["query"]:
            assert "Divides the meal" not in text
            assert "return [meal / times]" in text.split("\n")[last - 1]
        else:
            assert "Finds the warmest" not in text
            assert "return ranked" in text.split("\n")[last - 1]
    for question in by_kind["documentation"]:
        assert "winter dens" in question["query"] or "feeding times" in question["query"]
    for question in by_kind["tests"]:
        ((path, first, _),) = question["targets"]
        assert "warmest" in question["query"]
        assert "test_case_1" in (repo / path).read_text().split("\n")[first - 1]
    for question in by_kind["error"]:
        assert "{" not in question["query"]
        assert "cannot eat" in question["query"]

    # This file is left out, because it has the name of a reserved project.
    assert not (repo / "zoo/click.py").exists()
    # The same packages give the same questions.
    assert _make(packages, tmp_path) == questions


@pytest.mark.slow
def test_a_reserved_project_is_an_error(packages: Path, tmp_path: Path) -> None:
    left_out = tmp_path / "repos.json"
    left_out.write_text(json.dumps([{"name": "farm"}]))
    done = _run(packages, tmp_path, "--leave-out", str(left_out))
    assert done.returncode != 0
    assert "packages/farm is reserved" in done.stderr


def _make(packages: Path, tmp_path: Path) -> list[dict[str, Any]]:
    done = _run(packages, tmp_path)
    assert done.returncode == 0, done.stderr
    (project,) = map(json.loads, (tmp_path / "out/projects.jsonl").read_text().splitlines())
    assert (project["name"], project["language"]) == ("packages-farm", "python")
    lines = (tmp_path / "out/packages-farm/questions.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def _run(packages: Path, tmp_path: Path, *more: str) -> subprocess.CompletedProcess[str]:
    listed = tmp_path / "projects.tsv"
    listed.write_text("packages/farm\n")
    command = [sys.executable, "-m", "training.questions.generate_questions"]
    return subprocess.run(
        [*command, str(packages), "--projects", str(listed), "--out", str(tmp_path / "out"), *more],
        capture_output=True,
        text=True,
        cwd=_ROOT,
        check=False,
    )


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
