"""Speed benchmarks: corpora, processes, the race of tools and the printed tables."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from benchmarks.common.git import run_git
from benchmarks.speed import concurrency, first_index, mcp_server, watch_latency
from benchmarks.speed.corpora import (
    Limits,
    SourceFile,
    balance_languages,
    commit_all,
    corpus_path,
    describe,
    find_files,
    is_plain_text,
    write_files,
)
from benchmarks.speed.paired_versions import edit, measure_ratio
from benchmarks.speed.paired_versions import report as paired_report
from benchmarks.speed.processes import (
    CommandError,
    MemorySampler,
    cpu_seconds,
    process_tree,
    proportional_bytes,
    resident_bytes,
    run_command,
)
from benchmarks.speed.queries import QUERIES, WARM_UP
from benchmarks.speed.race import (
    EDIT_TEXT,
    Race,
    disk_figures,
    edit_marker,
    file_to_edit,
    restore_after,
    summarize,
)
from benchmarks.speed.tool_comparison import format_corpus, read_corpus
from benchmarks.speed.tools import GitGrep, Rootle, Semble, Tool


def source(name: str, size: int, language: str = "c", folder: Path = Path()) -> SourceFile:
    return SourceFile(name.encode(), language, size, name, folder / name)


def test_large_files_keep_the_mean_size_and_alternate_languages() -> None:
    files = [
        source("c1", 100_000), source("c2", 300_000), source("c3", 190_000),
        source("d1", 210_000, "d"), source("d2", 10_000, "d"),
    ]  # fmt: skip
    # The file nearest to 200,000 bytes comes first; the next ones keep the mean near this size.
    assert [file.name for file in balance_languages(files, 200_000)] == ["c3", "d1", "c1", "c2"]


def test_a_corpus_has_no_duplicates_and_no_excluded_folders(tmp_path: Path) -> None:
    trees = tmp_path / "trees"
    for name, text in (("build/a.c", "int a;\n"), ("b.c", "int a;\n"), ("sub/c.c", "int c;\n")):
        (trees / name).parent.mkdir(parents=True, exist_ok=True)
        (trees / name).write_text(text * 40)
    files = sorted(find_files([trees]), key=lambda file: file.name)
    assert [corpus_path(file) for file in files] == [
        "c/trees/b.c", "c/trees/build_/a.c", "c/trees/sub/c.c"
    ]  # fmt: skip
    out = tmp_path / "out"
    write_files(out, files, Limits(files=10, size=10_000))
    assert sorted(path.name for path in out.rglob("*.c")) == ["b.c", "c.c"]


@pytest.mark.parametrize(
    ("limits", "count"),
    [
        (Limits(files=2, size=10_000), 2),
        (Limits(files=9, size=450), 2),
        (Limits(files=9, size=10_000, language_size=250), 1),
    ],
)
def test_a_corpus_ends_at_its_limits(limits: Limits, count: int, tmp_path: Path) -> None:
    files = []
    for number in range(4):
        (tmp_path / f"{number}.c").write_text(f"int a{number};\n" * 31)
        files.append(source(f"{number}.c", 31 * 8, folder=tmp_path))
    write_files(tmp_path / "out", files, limits)
    assert len(list((tmp_path / "out").rglob("*.c"))) == count


def test_the_same_files_give_the_same_git_tree(tmp_path: Path) -> None:
    hashes = []
    for name in ("one", "two"):
        (tmp_path / name / "c").mkdir(parents=True)
        (tmp_path / name / "c/a.c").write_text("int a;\n")
        assert describe(tmp_path / name) == "1 files, 0.0 MB in c"
        hashes.append(commit_all(tmp_path / name))
    assert hashes[0] == hashes[1]
    assert len(hashes[0]) == 40


def test_only_text_with_ordinary_lines_is_used() -> None:
    assert is_plain_text(b"int a;\nint b;\n")
    assert not is_plain_text(b"int a;\0")
    assert not is_plain_text(b"\xff\xfe\n")
    assert not is_plain_text(b"x" * 500)


def test_a_command_returns_its_output_and_duration() -> None:
    code = "import sys, time; time.sleep(0.1); print(sys.stdin.read() * 2); sys.exit(1)"
    done = run_command([sys.executable, "-c", code], {}, stdin="ab")
    assert done.output == "abab\n"
    assert done.seconds >= 0.1
    assert done.peak_bytes is None


def test_a_command_that_fails_is_an_error() -> None:
    with pytest.raises(CommandError, match=r"exit code 3: .*: last line"):
        run_command(["sh", "-c", "echo first >&2; echo last line >&2; exit 3"], {})


@pytest.mark.skipif(not os.path.exists("/proc/self/smaps_rollup"), reason="needs /proc")
def test_memory_includes_child_processes() -> None:
    code = "import time; data = b'x' * 30_000_000; print(flush=True); time.sleep(60)"
    shell = subprocess.Popen(
        ["sh", "-c", f'{sys.executable} -c "{code}"; true'], stdout=subprocess.PIPE
    )
    assert shell.stdout is not None
    try:
        shell.stdout.readline()
        tree = process_tree(shell.pid)
        assert len(tree) == 2
        assert resident_bytes(tree[1]) > 30_000_000
        assert proportional_bytes(tree[1]) > 30_000_000
        sampler = MemorySampler(shell.pid)
        deadline = time.monotonic() + 5
        while not sampler._peak and time.monotonic() < deadline:
            time.sleep(0.02)
        peak = sampler.stop()
        assert peak is not None
        assert peak > 30_000_000
    finally:
        for pid in reversed(process_tree(shell.pid)):
            os.kill(pid, 9)
        shell.wait()
        shell.stdout.close()
    assert resident_bytes(shell.pid) == proportional_bytes(shell.pid) == 0


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="needs /proc")
def test_the_processor_time_of_a_process_is_measured() -> None:
    assert cpu_seconds(os.getpid()) == pytest.approx(sum(os.times()[:2]), abs=0.1)


class EchoTool(Tool):
    """A search tool that prints the only file of its folder."""

    name = "echo"

    def index(self) -> list[str]:
        return ["true"]

    def search(self, query: str) -> list[str]:
        return ["grep", query, str(self.root / "a.py")]


class BrokenTool(EchoTool):
    name = "broken"

    def search(self, query: str) -> list[str]:
        return ["sh", "-c", "exit 5", query]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "root").mkdir()
    (tmp_path / "root/a.py").write_text("one\ntwo\nthree\n")
    return tmp_path / "root"


def test_a_race_keeps_all_samples_and_drops_tools_that_fail(root: Path) -> None:
    race = Race([EchoTool(root, root.parent), BrokenTool(root, root.parent)])
    race.measure_first("index", 2, lambda tool: tool.index())
    race.measure_searches(["one", "two", "three"])
    assert len(race.samples["echo"]["search_s"]) == 3
    assert len(race.samples["broken"]["index_s"]) == 2
    assert race.samples["broken"]["failed"][0].startswith("search: exit code 5")
    assert [tool.name for tool in race.tools] == ["echo"]


def test_an_edit_is_found_and_then_undone(root: Path) -> None:
    before = (root / "a.py").read_bytes(), (root / "a.py").stat().st_mtime_ns
    race = Race([EchoTool(root, root.parent), GitGrep(root, root.parent)])
    race.measure_edits(root / "a.py", 3)
    assert race.samples["echo"]["edits_missed"] == [False] * 3
    assert race.samples["git grep"]["edits_missed"] == [False] * 3
    assert ((root / "a.py").read_bytes(), (root / "a.py").stat().st_mtime_ns) == before
    assert len({edit_marker(number) for number in range(676)}) == 676


def test_an_edit_that_a_tool_does_not_find_counts_as_missed(root: Path) -> None:
    class StaleTool(EchoTool):
        def search(self, query: str) -> list[str]:
            return ["grep", "one", str(self.root / "a.py")]

    race = Race([StaleTool(root, root.parent)])
    race.measure_edits(root / "a.py", 2)
    assert summarize(race.samples["echo"])["edits_missed"] == 2


def test_a_file_is_restored_after_an_error(root: Path) -> None:
    def edit_and_fail() -> None:
        with restore_after(root / "a.py"):
            (root / "a.py").write_text(EDIT_TEXT)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        edit_and_fail()
    assert (root / "a.py").read_text() == "one\ntwo\nthree\n"


def test_the_index_on_disk_is_measured_in_blocks(root: Path) -> None:
    tool = EchoTool(root, root.parent)
    (tool.state_dir / "index.bin").write_bytes(b"x" * 10_000)
    figures = disk_figures(tool, source_bytes=6_144)
    blocks = (tool.state_dir / "index.bin").stat().st_blocks
    assert figures == {"index_mb": blocks * 512 / 1e6, "index_ratio": blocks * 512 / 6_144}
    assert disk_figures(GitGrep(root, root.parent), source_bytes=1) is None


def test_the_file_of_median_size_is_edited(root: Path) -> None:
    for name, size in (("b.py", 100), ("c.py", 50), ("test_d.py", 60), ("e.txt", 55)):
        (root / name).write_text("x" * size)
    assert file_to_edit(root).name == "c.py"  # the middle one by size of a.py, c.py and b.py
    assert read_corpus(root) == (5, 14 + 100 + 50 + 60 + 55)


def test_figures_are_medians_and_pooled_percentiles() -> None:
    figures = summarize({
        "index_s": [3.0, 1.0, 2.0], "edits_missed": [True, False, True], "chunks": [7, 7],
        "ms": [[float(ms) for ms in range(1, 50)], [float(ms) for ms in range(50, 100)]],
        "failed": ["edit: exit code 2", "later"],
    })  # fmt: skip
    assert (figures["index_s"], figures["edits_missed"], figures["chunks"]) == (2.0, 2, 7)
    assert (figures["warm_p50_ms"], figures["warm_p95_ms"]) == (50.0, 95.0)
    assert figures["failed"] == "edit: exit code 2"


def test_the_table_has_one_column_per_tool() -> None:
    corpus = {
        "files": 3, "rootle": {"index_s": 1.5, "chunks": 1234}, "semble": {"index_s": 2.25},
        "git grep": {"failed": "search: exit code 2"},
    }  # fmt: skip
    assert format_corpus("small", corpus).splitlines() == [
        f"{'small':28}{'rootle':>12}{'semble':>12}{'git grep':>12}",
        f"{'first index, s':28}{'1.50':>12}{'2.25':>12}{'–':>12}",
        f"{'chunks':28}{'1,234':>12}{'–':>12}{'–':>12}",
        "git grep failed at search: exit code 2",
    ]


def test_each_tool_has_commands_for_its_tasks(tmp_path: Path) -> None:
    rootle = Rootle(tmp_path, tmp_path, {"searchAgent": {}})
    assert rootle.search("where")[-4:] == [str(tmp_path), "-n", "10", "where"]
    assert json.loads(rootle.config.read_text()) == {"searchAgent": {}}
    semble = Semble(tmp_path, tmp_path, Path("/peer/bin/python"), Path("/model"))
    assert semble.search("where")[:3] == ["/peer/bin/semble", "search", "where"]
    assert semble.env["SEMBLE_MODEL_NAME"] == "/model"
    grep = GitGrep(tmp_path, tmp_path)
    assert (grep.index(), grep.warm_queries()) == (None, None)
    assert grep.search("is a connection closed?")[-3:] == ["-F", "-e", "connection"]


def test_rounds_of_concurrent_queries_do_not_repeat() -> None:
    rounds = [concurrency.distinct_queries(100, number) for number in range(5)]
    assert len({query for one in rounds for query in one}) == 500
    assert len(QUERIES) == 60
    assert not set(WARM_UP) & set(QUERIES)


def test_latencies_are_summarized_by_percentiles() -> None:
    latencies = [float(number) for number in range(1, 100)]
    assert concurrency.summarize(latencies) == {"p50": 50.0, "p95": 95.0, "max": 99.0}


def test_figures_of_the_server_are_printed_in_rows() -> None:
    keys = ("chunks", "start_s", "sdk_s", "above_sdk_s", "schema_bytes", "search_p50_ms")
    figures = dict.fromkeys((*keys, "search_p95_ms"), 1234)
    lines = mcp_server.format_figures(figures).splitlines()
    assert lines[0] == "chunks" + " " * 30 + "       1,234"
    assert lines[1] == "process start to tool list, s" + " " * 7 + "    1234.000"


def test_first_index_figures_are_printed_in_a_sentence() -> None:
    figures = {"files": 500, "megabytes": 100.04, "chunks": 100_000, "seconds": 30.0,
               "cpu_s": 55.5, "peak_mb": 750.4}  # fmt: skip
    assert first_index.format_figures(figures) == (
        "500 files, 100.0 MB, 100,000 chunks in 30.0 s "
        "(55.5 s of processor time), peak memory 750 MB"
    )


def test_branches_differ_in_the_requested_files(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    watch_latency.make_branches(tmp_path, 3)
    diff = run_git(tmp_path, "diff", "--name-only", "old", "new").split()
    assert diff == [f"many/{number}/part_{number}.py" for number in range(3)]
    assert "old_part_0" in (tmp_path / "many/0/part_0.py").read_text()


def test_queries_during_a_checkout_are_summarized() -> None:
    figures = watch_latency.summarize_queries([0.1, 0.2, 0.9], [False, True, True])
    assert list(figures.values()) == [3, 2, 0.2, 0.9]


def test_waiting_returns_the_seconds_or_exits(monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes = iter([False, False, True])
    assert 0.02 < watch_latency.wait_until(lambda: next(outcomes), "answer") < 1
    monkeypatch.setattr(watch_latency, "TIMEOUT_S", 0.01)
    with pytest.raises(SystemExit, match="no answer within"):
        watch_latency.wait_until(lambda: False, "answer")


def test_the_ratio_of_two_versions_is_the_median_over_the_rounds() -> None:
    ratio, (low, high) = measure_ratio([1.0, 2.0, 4.0], [1.1, 2.0, 6.0])
    assert ratio == pytest.approx(1.1)
    assert (low, high) == (1.0, 1.5)


def test_a_table_of_two_versions_has_a_row_for_each_task() -> None:
    lines = paired_report({"first index": [2.0, 2.0]}, {"first index": [1.0, 1.0]}).splitlines()
    assert lines[1].split() == "first index 2.000 1.000 0.500 0.500 to 0.500".split()


def test_an_edit_is_removed_after_its_measurement(tmp_path: Path) -> None:
    path = tmp_path / "a.c"
    path.write_text("int a;\nint b;\n")
    with edit(path, "quorvaak"):
        assert path.read_text() == f"int a;\n// quorvaak {EDIT_TEXT}\nint b;\n"
    assert path.read_text() == "int a;\nint b;\n"
