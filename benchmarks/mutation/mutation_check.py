"""Run the tests against small faults in the code, and report the faults that no test notices.

    python -m benchmarks.mutation.mutation_check WORK [--count 300] [--seed 1] [--jobs 2]
        [--packages rank,search,index,ingest] [--tests tests/rank,tests/search,…] [--only FILE:LINE]

The first run in WORK uses coverage.py to record which tests execute which lines. Then each sampled
fault (see `mutants.py`) is written into a copy of the working tree, and the tests that execute its
line run until one fails. Tests that fail without a fault are excluded. A fault survives if all
tests that execute its line pass. A fault whose line no test executes is reported as "not executed".
The results go to WORK/results.jsonl, one JSON object per line; a fault with a result is not run
again.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from itertools import chain, takewhile
from pathlib import Path
from queue import SimpleQueue

from coverage import CoverageData

from benchmarks.common.arguments import COUNT, JOBS, SEED, WORK, add_options
from benchmarks.mutation.mutants import Mutant, list_mutants

TOP = Path(__file__).resolve().parents[2]
PACKAGES = "rank,search,index,ingest"
TESTS = (
    "tests/rank,tests/search,tests/index,tests/ingest,tests/sources,tests/indexing,tests/tools,"
    "tests/plugins,tests/telemetry,tests/spec,tests/robustness,tests/golden"
)
# The tests of a fault are stopped after this time, because a mutated loop may never end.
_TIMEOUT_S = 120
_MAX_TESTS = 60  # per fault, in addition to the tests of golden rankings

# By path and line: the ids of the tests that execute the line. They are ordered by the number of
# folders that they have in common with the path, then by the number of lines that they execute.
TestsByLine = Mapping[str, Mapping[int, list[str]]]


@dataclass(frozen=True, slots=True)
class Result:
    """The outcome of one fault."""

    path: str
    line: int
    kind: str
    before: str
    after: str
    outcome: str  # "killed", "survived" or "not executed"
    tests: int  # number of tests selected

    @property
    def key(self) -> tuple[str, int, str, str]:
        return self.path, self.line, self.kind, self.after


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    work = WORK.with_settings(help="folder for the copies and the results")
    add_options(parser, work, COUNT.with_settings(default=300, help="number of faults"), SEED, JOBS)
    parser.add_argument("--packages", default=PACKAGES)
    parser.add_argument("--tests", default=TESTS)
    parser.add_argument("--only", default="", help="FILE:LINE: run the faults of this line again")
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    tests = [folder for folder in args.tests.split(",") if (TOP / folder).exists()]
    executed = executed_lines(args.work, tests)
    faults = sample(all_faults(args.packages.split(",")), args.count, args.seed)
    if args.only:
        faults = [item for item in all_faults(args.packages.split(",")) if _is_at(item, args.only)]
    known = {result.key: result for result in read_results(args.work / "results.jsonl")}
    folders = [copy_tree(args.work / f"copy-{number}") for number in range(args.jobs)]
    wanted = {test for fault in faults for test in chosen_tests(fault, executed)}
    failing = failing_tests(folders[0], sorted(wanted), args.jobs)
    if failing:
        print("excluded, because they fail without a fault:", *sorted(failing), sep="\n  ")
    copies: SimpleQueue[Path] = SimpleQueue()
    for folder in folders:
        copies.put(folder)

    def run(fault: tuple[str, Mutant]) -> Result:
        path, mutant = fault
        key = (path, mutant.line, mutant.kind, mutant.after)
        if key in known and not args.only:
            return known[key]
        copy = copies.get()
        try:
            chosen = [test for test in chosen_tests(fault, executed) if test not in failing]
            result = run_fault(copy, path, mutant, chosen)
        finally:
            copies.put(copy)
        with (args.work / "results.jsonl").open("a", encoding="utf-8") as log:
            log.write(json.dumps(asdict(result)) + "\n")
        return result

    with ThreadPoolExecutor(args.jobs) as pool:
        results = list(pool.map(run, faults))
    print(report(results))


def all_faults(packages: Iterable[str]) -> list[tuple[str, Mutant]]:
    """Return every fault in these packages of rootle, with its path."""
    return [
        (path.relative_to(TOP).as_posix(), mutant)
        for package in packages
        for path in sorted((TOP / "src/rootle" / package).rglob("*.py"))
        for mutant in list_mutants(path.read_text(encoding="utf-8"))
    ]


def sample(faults: Sequence[tuple[str, Mutant]], count: int, seed: int) -> list[tuple[str, Mutant]]:
    """Return a random sample; the same seed and code give the same sample."""
    return random.Random(seed).sample(list(faults), min(count, len(faults)))


def executed_lines(work: Path, tests: Sequence[str]) -> TestsByLine:
    """Return the ids of the tests that execute each line of each file, in the order to run."""
    data_file = work / "coverage"
    if not data_file.exists():
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests]
        command += ["--cov=rootle", "--cov-context=test", "--cov-report="]
        environment = {**os.environ, "COVERAGE_FILE": str(data_file)}
        subprocess.run(command, cwd=TOP, env=environment, check=True)
    data = CoverageData(str(data_file))
    data.read()
    by_file = {path: data.contexts_by_lineno(path) for path in data.measured_files()}
    lines_of_test = Counter(
        test for lines in by_file.values() for contexts in lines.values() for test in contexts
    )

    def sort_tests(path: str, contexts: Iterable[str]) -> list[str]:
        tests = {id_of_test(context) for context in contexts if context}
        return sorted(
            tests,
            key=lambda test: (-common_folders(path, test), lines_of_test[f"{test}|run"], test),
        )

    executed = {}
    for full_path, lines in by_file.items():
        path = Path(full_path).relative_to(TOP).as_posix()
        # A constant is executed by the import, but any test of its module may use it.
        tests_of_file = sort_tests(path, chain.from_iterable(lines.values()))
        executed[path] = {
            line: tests_of_file if contexts == [""] else sort_tests(path, contexts)
            for line, contexts in lines.items()
        }
    return executed


def common_folders(path: str, test: str) -> int:
    """Count the folders that a module and a test have in common: `tests/` mirrors `src/rootle/`."""
    module, mirror = path.split("/")[2:-1], test.split("/")[1:-1]
    return sum(
        1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(module, mirror, strict=False))
    )


def id_of_test(context: str) -> str:
    """Return the test of a coverage context: "tests/a.py::test_b|run" -> "tests/a.py::test_b"."""
    return context.rpartition("|")[0]


def copy_tree(target: Path) -> Path:
    """Copy all files that git does not ignore, replacing an earlier copy."""
    shutil.rmtree(target, ignore_errors=True)
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listing, cwd=TOP, capture_output=True, check=True).stdout
    for name in filter(None, names.decode().split("\0")):
        if (TOP / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(TOP / name, target / name)
    # Some tests and fixtures need to be inside a git repository.
    subprocess.run(["git", "init", "-q", target], check=True)
    return target


def run_fault(copy: Path, path: str, mutant: Mutant, tests: Sequence[str]) -> Result:
    """Write a fault into a copy of the tree, and run the tests that execute its line."""
    source = (copy / path).read_text(encoding="utf-8")
    outcome = "not executed"
    if tests:
        (copy / path).write_text(mutant.apply(source), encoding="utf-8")
        try:
            outcome = "survived" if passes(copy, tests) else "killed"
        finally:
            (copy / path).write_text(source, encoding="utf-8")
    return Result(path, mutant.line, mutant.kind, mutant.before, mutant.after, outcome, len(tests))


def chosen_tests(fault: tuple[str, Mutant], executed: TestsByLine) -> list[str]:
    """Return the ids of the tests to run against a fault."""
    path, mutant = fault
    found = executed.get(path, {}).get(mutant.line, [])
    return [*found[:_MAX_TESTS], *(test for test in found[_MAX_TESTS:] if _is_golden(test))]


def failing_tests(copy: Path, tests: Sequence[str], jobs: int) -> set[str]:
    """Return the ids of the tests that fail in an unchanged copy: they would kill every fault."""
    if not tests:
        return set()
    ended = run_pytest(copy, ["-n", str(jobs), "-rfE", *tests], timeout_s=None)
    if ended.returncode not in (0, 1):
        raise SystemExit(f"pytest ended with status {ended.returncode} in {copy}:\n{ended.stdout}")
    lines = ended.stdout.splitlines()
    return {line.split(" ")[1] for line in lines if line.startswith(("FAILED ", "ERROR "))}


def passes(copy: Path, tests: Sequence[str]) -> bool:
    """Return whether the tests pass; tests that do not end in time count as failed."""
    try:
        return run_pytest(copy, ["-x", *tests], timeout_s=_TIMEOUT_S).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def _is_golden(test: str) -> bool:
    """Return whether a test compares whole rankings, so that it notices many faults."""
    return test.startswith("tests/golden/")


def run_pytest(
    copy: Path, arguments: Sequence[str], timeout_s: float | None
) -> subprocess.CompletedProcess[str]:
    # Unlike a command line, an argument file has no length limit.
    listing = copy.parent / f"{copy.name}.arguments"
    listing.write_text("\n".join(arguments), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"@{listing}"]
    environment = {**os.environ, "PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        command, cwd=copy, env=environment, capture_output=True, text=True, timeout=timeout_s
    )


def read_results(path: Path) -> list[Result]:
    if not path.exists():
        return []
    return [Result(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def report(results: Sequence[Result]) -> str:
    """Return a table of the outcomes by package, and every fault that was not killed."""
    packages = sorted({find_package(result) for result in results})
    lines = [f"{'package':<12} {'faults':>6} {'killed':>6} {'survived':>8} {'not executed':>12}"]
    for package in [*packages, "all"]:
        counts = Counter(
            result.outcome for result in results if package in ("all", find_package(result))
        )
        lines.append(
            f"{package:<12} {counts.total():>6} {counts['killed']:>6} {counts['survived']:>8} "
            f"{counts['not executed']:>12}"
        )
    for result in results:
        if result.outcome != "killed":
            lines.append(f"\n{result.path}:{result.line} {result.outcome} ({result.kind})")
            lines.append(changed_lines(result.before, result.after))
    return "\n".join(lines)


def find_package(result: Result) -> str:
    return result.path.removeprefix("src/rootle/").partition("/")[0]


def changed_lines(before: str, after: str) -> str:
    """Return the first line that differs, before and after."""
    old, new = before.split("\n"), after.split("\n")
    for was, is_now in zip(old, new, strict=False):
        if was != is_now:
            return f"  - {was.strip()}\n  + {is_now.strip()}"
    return f"  - {old[0].strip()}\n  + {new[0].strip()}"


def _is_at(fault: tuple[str, Mutant], where: str) -> bool:
    path, _, line = where.rpartition(":")
    return fault[0] == path and fault[1].line == int(line)


if __name__ == "__main__":
    main()
