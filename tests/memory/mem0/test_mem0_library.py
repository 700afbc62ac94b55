"""The mem0 library as a store: local, without network access, and persistent."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hash_embedder import HashEmbedder

from rootle.errors import MissingExtraError, UnavailableError
from rootle.memory.mem0.library import Mem0Store
from rootle.types import MemoryReference

pytestmark = pytest.mark.slow

ME = "me"
# Prints all network calls, even those whose errors are suppressed.
_PROGRAM = """
import sys
out = ("connect", "sendto", "sendmsg", "getaddrinfo", "gethostbyname")
called = []
sys.addaudithook(
    lambda event, args: called.append(args) if event in map("socket.{{}}".format, out) else None
)
{before}
from pathlib import Path
from rootle.embed.static import StaticEmbedder
from rootle.memory.mem0.library import Mem0Store
store = Mem0Store(Path(sys.argv[1]), StaticEmbedder)
store.add("the user likes terse test output", "me")
print(store.search("how does the user like test output?", "me", 7)[0].text)
store.close()
print(called)
"""


def store_facts(folder: Path, *texts: str) -> None:
    store = Mem0Store(folder, HashEmbedder)
    for text in texts:
        store.add(text, ME)
    store.close()


@pytest.mark.parametrize("before", ["", "import mem0"])
def test_the_library_sends_nothing_and_writes_nothing_to_the_home_folder(
    before: str, tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if before:  # the host program uses mem0 too, with a folder of its choice
        monkeypatch.setenv("MEM0_DIR", os.fspath(tmp_path / "host"))
    program = _PROGRAM.format(before=before)
    command = [sys.executable, "-c", program, os.fspath(tmp_path / "memories")]
    child = subprocess.run(command, capture_output=True, text=True)
    assert child.stdout.splitlines() == ["the user likes terse test output", "[]"], child.stderr
    assert child.stderr == ""
    assert not (home / ".mem0").exists()


def test_the_environment_is_restored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEM0_TELEMETRY", "true")
    store_facts(tmp_path / "memories", "a fact")
    assert os.environ["MEM0_TELEMETRY"] == "true"
    assert "MEM0_DIR" not in os.environ


def test_memories_persist_and_only_the_owner_can_read_them(tmp_path: Path) -> None:
    folder = tmp_path / "data" / "memories"
    store_facts(folder, "the user likes terse test output", "the user likes terse test output")
    store = Mem0Store(folder, HashEmbedder)
    (found,) = store.search("terse output", ME, 7)
    assert (found.text, found.count) == ("the user likes terse test output", 2)
    store.close()
    assert folder.stat().st_mode & 0o077 == 0


def test_another_embedding_model_finds_earlier_memories(tmp_path: Path) -> None:
    store_facts(tmp_path, "the user likes terse test output", "deploys happen on Fridays")
    for dimensions in (32, 128):
        store = Mem0Store(tmp_path, lambda: HashEmbedder(dimensions))  # noqa: B023 - used at once
        assert [one.text for one in store.search("terse output", ME, 1)] == [
            "the user likes terse test output"
        ]
        store.add(f"stored with {dimensions}", ME)
        store.close()
    store = Mem0Store(tmp_path, HashEmbedder)
    assert len(store.search("the stored deploys user", ME, 7)) == 4
    store.close()


# qdrant does not close the file that it cannot lock.
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_folder_that_another_store_has_opened_is_an_error(tmp_path: Path) -> None:
    first, second = Mem0Store(tmp_path, HashEmbedder), Mem0Store(tmp_path, HashEmbedder)
    first.add("a fact", ME)
    with pytest.raises(UnavailableError, match="one process at a time"):
        second.search("fact", ME, 7)
    first.close()
    assert len(second.search("fact", ME, 7)) == 1
    second.close()


def test_several_threads_can_use_one_store(tmp_path: Path) -> None:
    store = Mem0Store(tmp_path, HashEmbedder)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda at: store.add(f"fact {at % 10}", ME), range(40)))
    found = store.search("fact", ME, 50)
    assert sorted((one.text, one.count) for one in found) == [(f"fact {at}", 4) for at in range(10)]
    store.close()


def test_a_damaged_file_is_an_error(tmp_path: Path) -> None:
    store_facts(tmp_path, "a fact")
    for damaged in tmp_path.rglob("*.sqlite"):
        damaged.write_bytes(b"no database " * 1_000)
    with pytest.raises(UnavailableError, match="not a database"):
        Mem0Store(tmp_path, HashEmbedder).search("fact", ME, 7)


def test_a_folder_that_cannot_be_created_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UnavailableError, match="file"):
        Mem0Store(tmp_path / "file" / "memories", HashEmbedder).add("a fact", ME)


def test_a_missing_package_is_an_error_with_the_install_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "mem0"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "mem0", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'rootle\[mem0\]'"):
        Mem0Store(tmp_path, HashEmbedder).add("a fact", ME)


def test_memories_about_a_referenced_file_come_before_the_best_matches(
    tmp_path: Path,
) -> None:
    store = Mem0Store(tmp_path, HashEmbedder)
    store.add("the pool holds ten connections", ME)
    store.add("the pool is opened late", ME, [MemoryReference("src/pool.py")])
    found = store.search("pool of ten connections", ME, 7, [MemoryReference("src/pool.py")])
    assert [one.text for one in found] == [
        "the pool is opened late",
        "the pool holds ten connections",
    ]
    assert len(store.search("pool", ME, 1, [MemoryReference("src/pool.py")])) == 1
    store.close()
