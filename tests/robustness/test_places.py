"""Full disks, read-only folders and unusual files."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from command import Outcome, rootle
from hash_embedder import HashEmbedder
from sample import FILES, make_repository, many_files, write

from rootle import Config, open_app
from rootle.errors import IndexStorageError, MemoryStorageError
from rootle.memory.sqlite_store import EmbeddedMemory

pytestmark = pytest.mark.slow

Answers = Callable[..., list[Any]]


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 300 kB that is mounted for one test."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", disk], capture_output=True
    )
    if mounted.returncode != 0:
        pytest.skip("needs the permission to mount a file system")
    yield disk
    subprocess.run(["umount", "-l", disk], check=True)


def _assert_one_line_error(outcome: Outcome) -> None:
    assert outcome.code == 2
    assert outcome.out == ""
    assert len(outcome.err.splitlines()) == 1, outcome.err
    assert outcome.err.startswith("rootle: ")


def test_a_full_disk_is_reported_and_the_next_run_completes_the_index(
    tiny_disk: Path, tmp_path: Path, answers: Answers
) -> None:
    root = make_repository(tmp_path / "repo", {**FILES, **many_files(60)})
    outcome = rootle("index", root, "--index-dir", tiny_disk / "index")
    _assert_one_line_error(outcome)
    assert "free up space" in outcome.err
    subprocess.run(["mount", "-o", "remount,size=60m", tiny_disk], check=True)
    intact = tmp_path / "intact"
    assert answers(root, tiny_disk / "index") == answers(root, intact)


def fill(file: Path) -> None:
    """Write a file that takes all the space of its disk."""
    with suppress(OSError), open(file, "wb", buffering=0) as stream:
        while stream.write(b"x" * 1_024):
            pass


def test_a_configuration_file_is_complete_or_missing(tiny_disk: Path, repository: Path) -> None:
    """A partial file would break every later command."""
    full = tiny_disk / "filler"
    fill(full)
    file = tiny_disk / "config.json"
    outcome = rootle("config", "init", file)
    _assert_one_line_error(outcome)
    assert "No space left on device" in outcome.err
    assert os.listdir(tiny_disk) == ["filler"]
    full.unlink()
    assert rootle("config", "init", file).code == 0
    fill(full)
    before = file.read_bytes()
    _assert_one_line_error(rootle("config", "init", file, "--force"))
    assert file.read_bytes() == before
    assert rootle("config", "show", repository, "--config", file).code == 0


def test_a_full_disk_is_an_error_with_a_remedy_for_every_index(
    tiny_disk: Path, tmp_path: Path
) -> None:
    root = make_repository(tmp_path / "repo")
    fill(tiny_disk / "filler")
    places = ("revisions", "dependencies", "external")
    with open_app(root, index_dir=tiny_disk) as app:
        attempts: tuple[Callable[[], object], ...] = (
            lambda: app.search("retry_backoff", at="HEAD"),
            lambda: app.sources.add(tmp_path / "repo"),
        )
        for attempt in attempts:
            with pytest.raises(IndexStorageError, match="free up space"):
                attempt()
    assert not any((tiny_disk / place / "CACHEDIR.TAG").exists() for place in places)


def test_a_full_disk_is_named_if_memories_cannot_be_opened(tiny_disk: Path) -> None:
    path = tiny_disk / "memories.db"
    store = EmbeddedMemory(path, HashEmbedder)
    store.add("The user likes tabs", "me")
    store.close()
    fill(tiny_disk / "filler")
    with pytest.raises(MemoryStorageError, match="is full; free space"):
        EmbeddedMemory(path, HashEmbedder).list_memories("me")


def test_an_export_on_a_full_disk_keeps_the_previous_file(
    tiny_disk: Path, repository: Path
) -> None:
    rootle("memory", "add", "The user likes tabs", cwd=repository)
    file = tiny_disk / "memories.jsonl"
    file.write_text("the previous export\n")
    fill(tiny_disk / "filler")
    outcome = rootle("memory", "export", file, cwd=repository)
    _assert_one_line_error(outcome)
    assert str(file) in outcome.err
    assert file.read_text() == "the previous export\n"
    assert sorted(os.listdir(tiny_disk)) == ["filler", "memories.jsonl"]


def test_an_update_on_a_full_disk_keeps_the_old_index(tiny_disk: Path, tmp_path: Path) -> None:
    root = make_repository(tmp_path / "repo")
    index_dir = tiny_disk / "index"
    assert rootle("index", root, "--index-dir", index_dir).code == 0
    for path, text in many_files(120).items():
        write(root, path, text)
    command = ("--root", root, "--index-dir", index_dir)
    outcome = rootle("search", "retry_backoff", "--json", *command)
    # Either the old index is searched and reported as stale, or there is a one-line error.
    if outcome.code == 0:
        assert outcome.data["degraded"] == ["stale"]
        assert outcome.paths[0] == "src/net/retry.py"
    else:
        _assert_one_line_error(outcome)
    subprocess.run(["mount", "-o", "remount,size=60m", tiny_disk], check=True)
    outcome = rootle("search", "retry_backoff", "--json", *command)
    assert (outcome.data["degraded"], outcome.paths[0]) == ([], "src/net/retry.py")


def test_a_disk_without_any_space_does_not_prevent_a_search(
    tiny_disk: Path, repository: Path
) -> None:
    index_dir = tiny_disk / "index"
    assert rootle("index", repository, "--index-dir", index_dir).code == 0
    command = ("--root", repository, "--index-dir", index_dir)
    fill(tiny_disk / "filler")
    write(repository, "src/net/other.py", "def okapi(): ...\n")
    for _ in range(2):
        outcome = rootle("search", "retry_backoff", "--json", *command)
        assert (outcome.code, outcome.data["degraded"]) == (0, ["stale"])
        assert outcome.paths[0] == "src/net/retry.py"
        assert "is full; free up space" in outcome.err
    (tiny_disk / "filler").unlink()
    outcome = rootle("search", "okapi", "--json", *command)
    assert (outcome.data["degraded"], outcome.paths[0]) == ([], "src/net/other.py")


def test_a_running_process_notices_changes_after_a_disk_was_full(
    tiny_disk: Path, repository: Path
) -> None:
    index_dir = tiny_disk / "index"
    assert rootle("index", repository, "--index-dir", index_dir).code == 0
    fill(tiny_disk / "filler")
    with open_app(repository, index_dir=index_dir, config=Config(stale_check_seconds=0)) as app:
        for word in ("okapi", "zebra"):
            write(repository, "src/net/other.py", f"def {word}(): ...\n")
            found = app.search("retry_backoff")
            assert (found.degraded, found.results[0].file_path) == (("stale",), "src/net/retry.py")
        (tiny_disk / "filler").unlink()
        # The other process writes the index before this one does.
        assert rootle("index", repository, "--index-dir", index_dir).code == 0
        assert app.search("zebra").results[0].file_path == "src/net/other.py"
        write(repository, "src/net/other.py", "def quagga(): ...\n")
        assert rootle("index", repository, "--index-dir", index_dir).code == 0
        assert app.search("quagga").results[0].file_path == "src/net/other.py"


def test_a_rebuild_on_a_full_disk_leaves_the_old_index(
    tiny_disk: Path, repository: Path, answers: Answers
) -> None:
    index_dir = tiny_disk / "index"
    assert rootle("index", repository, "--index-dir", index_dir).code == 0
    expected = answers(repository, index_dir)
    fill(tiny_disk / "filler")
    outcome = rootle("index", repository, "--rebuild", "--index-dir", index_dir)
    _assert_one_line_error(outcome)
    assert "free up space" in outcome.err
    assert answers(repository, index_dir) == expected
    subprocess.run(["mount", "-o", "remount,size=60m", tiny_disk], check=True)
    assert rootle("index", repository, "--rebuild", "--index-dir", index_dir).code == 0
    assert answers(repository, index_dir) == expected


@pytest.mark.parametrize("limit", [1, 4_000, 40_000, 150_000])
def test_a_limit_on_the_file_size_is_reported(limit: int, tmp_path: Path, answers: Answers) -> None:
    root = make_repository(tmp_path / "repo", {**FILES, **many_files(60)})
    index_dir = tmp_path / "index"

    def limit_file_size() -> None:
        import signal

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    _assert_one_line_error(rootle("index", root, "--index-dir", index_dir, limits=limit_file_size))
    assert answers(root, index_dir) == answers(root, tmp_path / "intact")


def _forbid_writing(folder: Path) -> None:
    for path in [folder, *folder.rglob("*")]:
        if not path.is_symlink():
            path.chmod(path.stat().st_mode & ~0o222)


def _allow_writing(folder: Path) -> None:
    for path in [folder, *folder.rglob("*")]:
        path.chmod(path.stat().st_mode | 0o200)


@pytest.fixture
def read_only() -> Iterator[Callable[[Path], None]]:
    folders: list[Path] = []

    def forbid(folder: Path) -> None:
        folders.append(folder)
        _forbid_writing(folder)

    yield forbid
    for folder in folders:
        _allow_writing(folder)


def test_a_read_only_index_can_be_searched(
    repository: Path, tmp_path: Path, read_only: Callable[[Path], None]
) -> None:
    index_dir = tmp_path / "index"
    command = ("search", "retry_backoff", "--json", "--root", repository, "--index-dir", index_dir)
    assert rootle("index", repository, "--index-dir", index_dir).code == 0
    read_only(index_dir)
    outcome = rootle(*command, unprivileged=True)
    assert (outcome.code, outcome.data["degraded"]) == (0, [])
    assert outcome.paths[0] == "src/net/retry.py"
    write(repository, "new.py", "def brand_new(): pass\n")
    outcome = rootle(*command, unprivileged=True)
    assert outcome.data["degraded"] == ["stale"]
    assert outcome.paths[0] == "src/net/retry.py"
    assert "cannot write the index" in outcome.err
    outcome = rootle("index", repository, "--index-dir", index_dir, unprivileged=True)
    _assert_one_line_error(outcome)
    assert "--index-dir" in outcome.err
    status = rootle("status", repository, "--json", "--index-dir", index_dir, unprivileged=True)
    assert status.data["pending"] == 1


def test_a_read_only_index_of_a_killed_process_can_be_searched(
    repository: Path, tmp_path: Path, read_only: Callable[[Path], None]
) -> None:
    from rootle import open_app

    index_dir = tmp_path / "index"
    copy = tmp_path / "copy"
    with open_app(repository, index_dir=index_dir) as app:
        app.index()
        app.search("retry")
        write(repository, "new.py", "def brand_new(): pass\n")
        app.index()
        shutil.copytree(index_dir, copy)  # includes the write-ahead log of the open database
    assert (copy / "rootle.db-wal").exists()
    read_only(copy)
    outcome = rootle(
        *("search", "brand_new", "--json", "--root", repository, "--index-dir", copy),
        unprivileged=True,
    )
    assert outcome.paths[0] == "new.py"


def test_a_read_only_home_without_an_index_is_reported(
    repository: Path, home: Path, read_only: Callable[[Path], None]
) -> None:
    read_only(home)
    for command in (("search", "retry"), ("index",)):
        outcome = rootle(*command, cwd=repository, unprivileged=True)
        _assert_one_line_error(outcome)
        assert "--index-dir" in outcome.err
    assert rootle("status", cwd=repository, unprivileged=True).code == 1


def test_an_inaccessible_home_is_reported(repository: Path, home: Path) -> None:
    home.chmod(0)
    try:
        for command in (("search", "retry"), ("index",)):
            outcome = rootle(*command, cwd=repository, unprivileged=True)
            _assert_one_line_error(outcome)
            assert "--index-dir" in outcome.err
        assert rootle("status", cwd=repository, unprivileged=True).code == 1
        assert rootle("clear", cwd=repository, unprivileged=True).code == 1
    finally:
        home.chmod(0o700)


def test_a_read_only_repository_is_indexed_in_the_cache_folder(
    repository: Path, read_only: Callable[[Path], None]
) -> None:
    read_only(repository)
    outcome = rootle("search", "retry_backoff", "--json", cwd=repository, unprivileged=True)
    assert outcome.paths[0] == "src/net/retry.py"
    assert outcome.err == ""


def test_a_search_writes_nothing_to_a_current_index(repository: Path, tmp_path: Path) -> None:
    index_dir = tmp_path / "index"
    command = ("search", "retry", "--root", repository, "--index-dir", index_dir)
    assert rootle(*command).code == 0
    before = _modification_times(index_dir)
    assert rootle(*command).code == 0
    assert _modification_times(index_dir) == before


def _modification_times(folder: Path) -> dict[str, int]:
    return {
        file.name: file.stat().st_mtime_ns for file in folder.rglob("*") if "-shm" not in file.name
    }


def test_a_root_that_is_not_a_folder_is_reported_and_nothing_is_written(
    repository: Path, home: Path
) -> None:
    for path in (repository / "README.md", repository / "nowhere"):
        for command in (("search", "x", "--root"), ("index",), ("status",), ("index", "--dry-run")):
            _assert_one_line_error(rootle(*command, path))
    assert list((home / "cache").rglob("*")) == []


@pytest.mark.parametrize("command", [("index", "--rebuild"), ("index",), ("clear",)])
def test_a_folder_with_other_files_is_not_used_as_an_index_and_keeps_its_files(
    command: tuple[str, ...], repository: Path, tmp_path: Path
) -> None:
    precious = tmp_path / "precious"
    for path in ("dense/thesis.txt", "sparse/files/poem.txt", ".gitignore"):
        write(precious, path, "years of work\n")
    outcome = rootle(*command, repository, "--index-dir", precious)
    assert outcome.code == (1 if command == ("clear",) else 2)
    assert sorted(p.name for p in precious.rglob("*") if p.is_file()) == [
        ".gitignore",
        "poem.txt",
        "thesis.txt",
    ]


def test_a_marker_that_another_process_is_writing_does_not_prevent_an_index(
    repository: Path, tmp_path: Path
) -> None:
    write(tmp_path, "index/CACHEDIR.TAG.1a2b3c4d.new", "Signature: ")
    write(tmp_path, "index/.gitignore.5e6f7a8b.new", "")
    found = rootle(
        "search", "retry_backoff", "--root", repository, "--index-dir", tmp_path / "index"
    )
    assert (found.code, found.err) == (0, "")


def test_clear_keeps_other_files(repository: Path, tmp_path: Path) -> None:
    index_dir = tmp_path / "index"
    assert rootle("index", repository, "--index-dir", index_dir).code == 0
    write(index_dir, "thesis.txt", "years of work\n")
    assert rootle("clear", repository, "--index-dir", index_dir).code == 0
    assert [path.name for path in index_dir.iterdir()] == ["thesis.txt"]


def test_an_index_dir_inside_the_repository_is_not_indexed(repository: Path) -> None:
    inside = repository / "my_index"
    assert rootle("index", repository, "--index-dir", inside).code == 0
    outcome = rootle("index", repository, "--json", "--index-dir", inside)
    assert outcome.data["filesIndexed"] == 0
    assert outcome.data["filesTotal"] == len(FILES)


def test_an_index_dir_that_is_a_file_is_reported(repository: Path) -> None:
    _assert_one_line_error(rootle("index", repository, "--index-dir", repository / "README.md"))


def test_a_deleted_working_directory_is_reported(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    outcome = rootle(
        "search", "x", cwd=gone, wrapper=("sh", "-c", f'rmdir "{gone}"; exec "$@"', "sh")
    )
    _assert_one_line_error(outcome)


@pytest.mark.parametrize(
    "command",
    [("search", "x", "--root", "."), ("index", "--index-dir", "x"), ("config", "init", "a/b.json")],
)
def test_a_relative_path_in_a_deleted_folder_is_reported(
    command: tuple[str, ...], tmp_path: Path
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    outcome = rootle(*command, cwd=gone, wrapper=("sh", "-c", f'rmdir "{gone}"; exec "$@"', "sh"))
    _assert_one_line_error(outcome)


@pytest.mark.parametrize("year", [1800, 2300, 2446])
def test_a_file_with_an_impossible_time_is_indexed(year: int, tmp_path: Path) -> None:
    root = make_repository(tmp_path / "repo")
    seconds = (year - 1970) * 31_556_952
    os.utime(write(root, "old.py", "def ancient(): pass\n"), (seconds, seconds))
    index = ("--index-dir", tmp_path / "index")
    for _ in range(2):
        found = rootle("search", "ancient", "--json", "--root", root, *index)
        assert (found.code, found.err) == (0, "")
        assert found.paths[0] == "old.py"
    shown = rootle("search", "ancient", "--root", root, *index)
    assert (shown.code, shown.err) == (0, "")
    write(root, "old.py", "def renewed(): pass\n", when_s=None)
    assert rootle("search", "renewed", "--json", "--root", root, *index).paths[0] == "old.py"


def test_unusual_files_do_not_stop_indexing(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "repo")
    os.mkfifo(root / "pipe.py")
    write(root, "picture.py", bytes(range(256)) * 40)
    write(root, "one_line.js", "var a=1;" * 115_000)
    write(root, "closed.py", "secret = 1\n").chmod(0)
    write(root, "closed/inside.py", "x = 1\n")
    (root / "closed").chmod(0)
    write(root, "sub/.gitignore", "*.log\n").chmod(0)
    write(root, "sub/fine.py", "def fine_function(): pass\n")
    index_dir = tmp_path / "index"
    try:
        outcome = rootle("index", root, "--index-dir", index_dir, unprivileged=True)
        assert outcome.code == 0, outcome.err
        status = rootle("status", root, "--json", "--index-dir", index_dir, unprivileged=True).data
        shown = rootle("status", root, "--skipped", "--index-dir", index_dir, unprivileged=True)
        found = rootle(
            *("search", "fine_function", "--json", "--root", root, "--index-dir", index_dir),
            unprivileged=True,
        )
    finally:
        (root / "closed").chmod(0o755)
    reasons = dict(status["skippedFiles"])
    assert reasons["picture.py"] == "binary"
    assert reasons["one_line.js"] == "minified"
    assert reasons["closed.py"] == reasons["closed"] == "unreadable"
    assert reasons.get("pipe.py") in (None, "not a regular file")
    assert "minified" in shown.out
    assert "closed.py" in shown.out
    assert found.paths[0] == "sub/fine.py"


def test_a_file_is_indexed_once_it_is_readable(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "repo")
    closed = write(root, "closed.py", "def unreadable_function(): pass\n")
    closed.chmod(0)
    command = ("search", "unreadable_function", "--json", "--root", root)
    assert "closed.py" not in rootle(*command, unprivileged=True).paths
    closed.chmod(0o644)
    assert rootle(*command, unprivileged=True).paths[0] == "closed.py"
