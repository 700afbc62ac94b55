"""The mutation check: sampling, counting, and the lines that it shows."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from benchmarks.mutation.mutants import Mutant
from benchmarks.mutation.mutation_check import (
    Result,
    changed_lines,
    chosen_tests,
    common_folders,
    id_of_test,
    read_results,
    report,
    sample,
)


def outcome_of(path: str, outcome: str) -> Result:
    return Result(path, 3, "drop not", "if not x:\n    a()", "if x:\n    a()", outcome, 2)


def test_a_sample_depends_only_on_its_seed() -> None:
    faults = [("a.py", Mutant(line, line, line, "k", "x", "y")) for line in range(50)]
    assert sample(faults, 10, seed=1) == sample(faults, 10, seed=1)
    assert sample(faults, 10, seed=1) != sample(faults, 10, seed=2)
    assert len(sample(faults, 100, seed=1)) == 50


def test_outcomes_are_counted_by_package() -> None:
    results = [
        outcome_of("src/rootle/rank/x.py", "killed"),
        outcome_of("src/rootle/rank/x.py", "survived"),
        outcome_of("src/rootle/index/reader.py", "not executed"),
    ]
    lines = report(results).splitlines()
    assert lines[1].split() == ["index", "1", "0", "0", "1"]
    assert lines[2].split() == ["rank", "2", "1", "1", "0"]
    assert lines[3].split() == ["all", "3", "1", "1", "1"]


def test_faults_that_survive_are_listed_with_their_change() -> None:
    text = report([outcome_of("src/rootle/rank/x.py", "survived")])
    assert "src/rootle/rank/x.py:3 survived (drop not)\n  - if not x:\n  + if x:" in text


def test_the_first_changed_line_is_shown() -> None:
    assert changed_lines("if a:\n    b = 1", "if a:\n    b = 2") == "  - b = 1\n  + b = 2"


def test_a_coverage_context_names_its_test() -> None:
    assert id_of_test("tests/a.py::test_b[x|y]|run") == "tests/a.py::test_b[x|y]"


def test_results_are_read_back(tmp_path: Path) -> None:
    written = outcome_of("src/rootle/rank/x.py", "killed")
    (tmp_path / "results.jsonl").write_text(json.dumps(asdict(written)) + "\n")
    assert read_results(tmp_path / "results.jsonl") == [written]
    assert read_results(tmp_path / "none.jsonl") == []


def test_golden_rankings_run_in_addition_to_the_first_sixty_tests_of_a_fault() -> None:
    tests = [*(f"tests/rank/test_{number}.py::test" for number in range(80)), "tests/golden/g::t"]
    fault = ("src/rootle/rank/x.py", Mutant(3, 3, 3, "k", "x", "y"))
    chosen = chosen_tests(fault, {fault[0]: {3: tests}})
    assert chosen == [*tests[:60], "tests/golden/g::t"]
    assert chosen_tests(fault, {}) == []


def test_tests_of_the_folder_of_a_module_are_recognized() -> None:
    assert (
        common_folders("src/rootle/search/query/operators.py", "tests/search/query/test_a.py") == 2
    )
    assert common_folders("src/rootle/search/query/operators.py", "tests/search/test_agent.py") == 1
    assert common_folders("src/rootle/search/query/operators.py", "tests/rank/test_intent.py") == 0
