"""The embedded memory store: persistence, search, deletion, concurrency and failures."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hash_embedder import HashEmbedder
from polling import TIMEOUT_S, wait_until

from rootle.embed.static import StaticEmbedder
from rootle.errors import MemoryStorageError, UnavailableError
from rootle.memory.corpus import Entry, Row
from rootle.memory.loader import MemoryLoader
from rootle.memory.sqlite_store import EmbeddedMemory
from rootle.types import Memory, MemoryReference

ME = "ada"
TOKEN = MemoryReference("src/auth/token.py", "validate", "/work/app", "d1")


class Clock:
    def __init__(self, now: str = "2024-05-10T12:00:00+00:00") -> None:
        self.set(now)

    def set(self, now: str) -> None:
        self.seconds = datetime.fromisoformat(now).astimezone(UTC).timestamp()

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "memories.db"


@pytest.fixture
def store(path: Path, clock: Clock) -> EmbeddedMemory:
    return EmbeddedMemory(path, HashEmbedder, clock)


def texts(memories: list[Memory]) -> list[str]:
    return [memory.text for memory in memories]


def memory_of(text: str, day: str) -> Memory:
    return Memory("", text, f"{day}T12:00:00Z")


def test_closing_does_not_wait_until_all_memories_are_loaded(
    store: EmbeddedMemory, path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(20):
        store.add(f"The stable {number} has hay", ME)
    other = EmbeddedMemory(path, HashEmbedder, clock)
    is_loading, may_continue = threading.Event(), threading.Event()
    loaded: list[str] = []
    make_entry = MemoryLoader._make_entry

    def make_slowly(loader: MemoryLoader, memory: Memory, vector: Row) -> Entry:
        loaded.append(memory.text)
        is_loading.set()
        may_continue.wait(TIMEOUT_S)
        return make_entry(loader, memory, vector)

    monkeypatch.setattr(MemoryLoader, "_make_entry", make_slowly)
    with ThreadPoolExecutor() as threads:
        search = threads.submit(other.search, "hay", ME, 7)
        assert is_loading.wait(TIMEOUT_S)
        closing = threads.submit(other.close)
        wait_until(other._is_closing.is_set, "the store is being closed")
        may_continue.set()
        closing.result(TIMEOUT_S)

        with pytest.raises(UnavailableError, match="closed"):
            search.result(TIMEOUT_S)
    assert len(loaded) == 1
    monkeypatch.undo()
    assert len(other.search("hay", ME, 30)) == 20


def test_a_stored_fact_is_found(store: EmbeddedMemory) -> None:
    store.add("The user runs the tests with pytest -q", ME)
    store.add("Deployments go out on Thursdays", ME)
    (found,) = store.search("when do we deploy?", ME, 7)
    assert found.text == "Deployments go out on Thursdays"
    assert found.created_at == "2024-05-10T12:00:00.000Z"
    assert 0 < found.score <= 1


def test_a_topic_without_a_match_finds_nothing(store: EmbeddedMemory) -> None:
    store.add("The user runs the tests with pytest -q", ME)
    assert store.search("favourite colour of the sea", ME, 7) == []
    assert store.search("", ME, 7) == []


def test_an_empty_store_creates_no_file(store: EmbeddedMemory, path: Path) -> None:
    assert store.search("anything", ME, 7) == []
    assert store.list_memories(ME) == []
    assert store.list_events(ME) == []
    assert store.forget(["1"], ME) == []
    assert not path.parent.exists()


def test_only_the_owner_can_read_the_file(store: EmbeddedMemory, path: Path) -> None:
    store.add("anything at all", ME)
    assert path.stat().st_mode & 0o077 == 0
    assert path.parent.stat().st_mode & 0o077 == 0


def test_users_have_separate_memories(store: EmbeddedMemory) -> None:
    store.add("The user likes tabs", ME)
    store.add("The user likes spaces", "grace")
    assert texts(store.search("what does the user like, tabs or spaces", ME, 7)) == [
        "The user likes tabs"
    ]
    assert store.forget([store.list_memories("grace")[0].id], ME) == []
    assert texts(store.list_memories("grace")) == ["The user likes spaces"]


def test_the_same_fact_is_one_memory_with_a_count(store: EmbeddedMemory, clock: Clock) -> None:
    store.add("The user likes  tabs", ME)
    clock.set("2024-06-01T08:00:00+00:00")
    again = store.add("the user\nlikes TABS ", ME)
    assert (again.count, again.created_at) == (2, "2024-06-01T08:00:00.000Z")
    (found,) = store.search("tabs", ME, 7)
    assert (found.text, found.count, found.created_at) == (
        "The user likes  tabs",
        2,
        "2024-06-01T08:00:00.000Z",
    )
    assert [event.what for event in store.list_events(ME)] == ["repeated", "added"]


def test_a_correction_does_not_replace_the_earlier_fact(
    store: EmbeddedMemory, clock: Clock
) -> None:
    store.add("The main project is called heron", ME)
    clock.set("2024-05-20T12:00:00+00:00")
    store.add("The main project is called osprey", ME)
    found = store.search("the name of the main project", ME, 7)
    assert texts(found) == [
        "The main project is called osprey",
        "The main project is called heron",
    ], "the newer of two equal matches comes first"


@pytest.mark.parametrize("topic", ["when do deploys run", "how the shop is deployed"])
def test_of_contradicting_facts_the_newer_one_comes_first(
    topic: str, tmp_path: Path, clock: Clock
) -> None:
    """Both are stored in the same second, and the older one would be first without reordering."""
    store = EmbeddedMemory(tmp_path / "facts.db", StaticEmbedder, clock)
    older = "Deploys of the shop run on Tuesdays with Ansible."
    newer = "Deploys of the shop now run on Fridays with Terraform."
    for second, fact in (("12:00:00.250", older), ("12:00:00.750", newer)):
        clock.set(f"2024-05-10T{second}+00:00")
        store.add(fact, ME)
    first, second_found = store.search(topic, ME, 7)
    assert (first.text, second_found.text) == (newer, older)
    assert first.created_at == "2024-05-10T12:00:00.750Z"
    assert first.score >= second_found.score
    assert texts(store.search(topic, ME, 1)) == [newer]


def test_facts_about_other_subjects_keep_the_order_of_their_scores(
    tmp_path: Path, clock: Clock
) -> None:
    store = EmbeddedMemory(tmp_path / "facts.db", StaticEmbedder, clock)
    store.add("Deploys of the shop run on Tuesdays.", ME)
    clock.set("2024-06-01T12:00:00+00:00")
    store.add("Backups of the shop are kept for a month in another region.", ME)
    assert texts(store.search("deploys of the shop", ME, 1)) == [
        "Deploys of the shop run on Tuesdays."
    ]


def test_a_topic_about_the_present_finds_the_newest_fact_first(store: EmbeddedMemory) -> None:
    store.import_memories(
        [
            memory_of("The main project is heron", "2023-01-01"),
            memory_of("From now on the main project is osprey, and heron ends", "2024-01-01"),
        ],
        ME,
    )
    topic = "main project"
    assert texts(store.search(topic, ME, 1)) == ["The main project is heron"]
    assert texts(store.search(f"current {topic}", ME, 1)) == [
        "From now on the main project is osprey, and heron ends"
    ]


@pytest.mark.parametrize(
    ("topic", "expected"),
    [
        ("which release went out in March 2024", "2024-03-05"),
        ("which release went out yesterday", "2024-05-09"),
        ("which release went out last week", "2024-05-01"),
        ("which release went out", "2024-05-09"),
    ],
)
def test_a_date_in_the_topic_affects_the_order(
    store: EmbeddedMemory, topic: str, expected: str
) -> None:
    days = ("2023-11-02", "2024-03-05", "2024-05-01", "2024-05-09")
    store.import_memories(
        [memory_of(f"Release {at} went out", day) for at, day in enumerate(days)], ME
    )
    assert store.search(topic, ME, 1)[0].created_at.startswith(expected)


def test_the_terms_of_a_memory_count_for_memories_stored_at_the_same_time(
    store: EmbeddedMemory,
) -> None:
    store.import_memories([memory_of("The staging server was moved", "2024-02-01")], ME)
    store.import_memories([memory_of("It answers on port 8443 since then", "2024-02-01")], ME)
    store.import_memories([memory_of("It answers on a port of its own", "2024-04-01")], ME)
    found = texts(store.search("on which port does the staging server answer", ME, 3))
    assert found.index("It answers on port 8443 since then") < found.index(
        "It answers on a port of its own"
    )


def test_a_memory_about_a_referenced_file_is_found_without_a_common_word(
    store: EmbeddedMemory,
) -> None:
    store.add("Never log what comes in here", ME, [TOKEN])
    assert store.search("expiry", ME, 7) == []
    for place in (TOKEN, MemoryReference(TOKEN.path, root=TOKEN.root)):
        (found,) = store.search("expiry", ME, 7, [place])
        assert found.about == (TOKEN,)
    assert store.search("expiry", ME, 7, [MemoryReference(TOKEN.path, root="/other")]) == []


def test_the_latest_reference_replaces_the_earlier_one(store: EmbeddedMemory) -> None:
    store.add("Never log tokens", ME, [TOKEN])
    newer = MemoryReference(TOKEN.path, TOKEN.symbol, TOKEN.root, "d2")
    assert store.add("Never log tokens", ME, [newer]).about == (newer,)
    assert store.search("log", ME, 7)[0].about == (newer,)


def test_a_forgotten_memory_leaves_no_trace_of_its_text(store: EmbeddedMemory, path: Path) -> None:
    kept = store.add("The user likes tabs", ME)
    gone = store.add("The user lives in Zanzibar", ME)
    assert store.search("Zanzibar", ME, 7)
    assert store.forget([gone.id, "999", "nonsense"], ME) == [gone.id]
    assert store.search("Zanzibar", ME, 7) == []
    assert texts(store.list_memories(ME)) == [kept.text]
    for file in path.parent.iterdir():
        assert b"Zanzibar" not in file.read_bytes(), file.name
    assert [(event.what, event.memory_id, event.text) for event in store.list_events(ME)] == [
        ("forgotten", gone.id, ""),
        ("added", gone.id, ""),
        ("added", kept.id, kept.text),
    ]


def test_a_forgotten_memory_can_be_stored_again(store: EmbeddedMemory) -> None:
    first = store.add("The user likes tabs", ME)
    store.forget([first.id], ME)
    second = store.add("The user likes tabs", ME)
    assert second.id != first.id
    assert second.count == 1


def test_importing_the_same_memories_twice_adds_nothing(store: EmbeddedMemory) -> None:
    memories = [memory_of("one thing", "2024-01-01"), memory_of("another thing", "2024-01-02")]
    assert store.import_memories(memories, ME) == 2
    assert store.import_memories(memories, ME) == 0
    assert [memory.count for memory in store.list_memories(ME)] == [1, 1]


def test_repeated_exchange_of_memories_counts_no_statement_twice(
    store: EmbeddedMemory, clock: Clock, tmp_path: Path
) -> None:
    other = EmbeddedMemory(tmp_path / "other.db", HashEmbedder, clock)
    store.add("Deploy on Thursdays", ME)
    assert other.import_memories(store.list_memories(ME), ME) == 1
    clock.set("2024-06-01T12:00:00+00:00")
    store.add("Deploy on Thursdays", ME)
    for _ in range(2):
        assert other.import_memories(store.list_memories(ME), ME) == 0
        (memory,) = other.list_memories(ME)
        assert (memory.count, memory.created_at) == (2, "2024-06-01T12:00:00.000Z")
    assert store.import_memories(other.list_memories(ME), ME) == 0
    assert [memory.count for memory in store.list_memories(ME)] == [2]


def test_a_project_that_an_import_adds_is_visible_to_another_store(
    store: EmbeddedMemory, path: Path
) -> None:
    memory = replace(memory_of("Deploy on Thursdays", "2024-01-01"), stored_in=("/old/shop",))
    other = EmbeddedMemory(path, HashEmbedder)
    store.import_memories([memory], ME)
    assert other.search("deploy", ME, 7)[0].stored_in == ("/old/shop",)
    store.import_memories([replace(memory, stored_in=("/new/shop",))], ME)
    assert other.search("deploy", ME, 7)[0].stored_in == ("/old/shop", "/new/shop")


def test_another_model_embeds_stored_memories_once(path: Path, clock: Clock) -> None:
    EmbeddedMemory(path, lambda: HashEmbedder(32), clock).add("The user likes tabs", ME)
    wider = HashEmbedder(128)
    for _ in range(2):
        store = EmbeddedMemory(path, lambda: wider, clock)
        assert store.search("tabs", ME, 7)
        store.close()
    assert wider.texts.count("The user likes tabs") == 1, (
        "the second store reads the vector from disk"
    )


def test_changes_by_another_store_are_visible_immediately(path: Path, clock: Clock) -> None:
    one, two = (EmbeddedMemory(path, HashEmbedder, clock) for _ in range(2))
    memory = one.add("The user likes tabs", ME)
    assert two.search("tabs", ME, 7)
    one.add("Tabs are four columns wide", ME)
    assert len(two.search("tabs", ME, 7)) == 2
    one.forget([memory.id], ME)
    assert texts(two.search("tabs", ME, 7)) == ["Tabs are four columns wide"]


def test_a_deleted_file_is_treated_as_an_empty_store(store: EmbeddedMemory, path: Path) -> None:
    store.add("The user likes tabs", ME)
    for file in list(path.parent.iterdir()):
        file.unlink()
    assert store.search("tabs", ME, 7) == []
    store.add("The user likes spaces", ME)
    assert texts(store.search("spaces", ME, 7)) == ["The user likes spaces"]


def test_several_threads_can_use_one_store(store: EmbeddedMemory) -> None:
    def work(thread: int) -> None:
        for at in range(10):
            store.add(f"fact {at} of thread {thread}", ME)
            store.search("which fact of which thread", ME, 7)

    threads = [threading.Thread(target=work, args=(at,)) for at in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(store.list_memories(ME)) == 40


WRITER = """
import sys
from hash_embedder import HashEmbedder
from pathlib import Path
from rootle.memory.sqlite_store import EmbeddedMemory

store = EmbeddedMemory(Path(sys.argv[1]), HashEmbedder)
for at in range(int(sys.argv[3])):
    store.add(f"fact {at} of {sys.argv[2]}", "ada")
    store.add("a fact of every process", "ada")
    print(at, flush=True)
"""


@pytest.fixture
def start(path: Path) -> Callable[[str, int], subprocess.Popen[str]]:
    def writer(name: str, facts: int) -> subprocess.Popen[str]:
        folder = os.path.dirname(__file__)
        environment = {**os.environ, "PYTHONPATH": os.path.dirname(folder)}
        return subprocess.Popen(
            [sys.executable, "-c", WRITER, path, name, str(facts)],
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )

    return writer


@pytest.mark.slow
def test_several_processes_can_write_concurrently(
    store: EmbeddedMemory, start: Callable[[str, int], subprocess.Popen[str]]
) -> None:
    for writer in [start(name, 30) for name in ("one", "two", "three")]:
        assert writer.wait(60) == 0
        assert writer.stdout is not None
        writer.stdout.close()
    memories = store.list_memories(ME)
    assert len(memories) == 91
    (shared,) = [memory for memory in memories if memory.text == "a fact of every process"]
    assert shared.count == 90


@pytest.mark.slow
def test_stored_memories_survive_sigkill(
    store: EmbeddedMemory, path: Path, start: Callable[[str, int], subprocess.Popen[str]]
) -> None:
    stored = []
    for name in ("one", "two", "three"):
        writer = start(name, 100_000)
        assert writer.stdout is not None
        lines = [writer.stdout.readline() for _ in range(20)]
        stored += [f"fact {int(line)} of {name}" for line in lines]
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        writer.stdout.close()
        assert set(stored) <= set(texts(store.list_memories(ME)))
    assert store.search("a fact of every process", ME, 1)[0].count >= 57
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


@pytest.mark.parametrize("damage", ["header", "pages"])
def test_a_damaged_file_is_renamed_and_reported(
    store: EmbeddedMemory, path: Path, clock: Clock, damage: str
) -> None:
    for at in range(200):
        store.add(f"fact number {at} about nothing in particular", ME)
    store.close()
    with path.open("r+b") as file:
        file.seek(0 if damage == "header" else 4_096)
        file.write(os.urandom(40_000))
    raw = path.read_bytes()
    with pytest.raises(MemoryStorageError, match=r"damaged.*renamed to .*\.damaged-"):
        EmbeddedMemory(path, HashEmbedder, clock).search("fact", ME, 7)
    (backup,) = (file for file in path.parent.glob("*.damaged-*") if file.suffix[-3:].isdecimal())
    assert backup.read_bytes() == raw
    assert store.search("fact", ME, 7) == []
    store.add("a new beginning", ME)
    assert texts(store.list_memories(ME)) == ["a new beginning"]


_VERSION_1 = """
CREATE TABLE memories (
    id INTEGER PRIMARY KEY AUTOINCREMENT, user_id TEXT NOT NULL, digest BLOB NOT NULL,
    text TEXT NOT NULL, model TEXT NOT NULL, vector BLOB NOT NULL, UNIQUE (user_id, digest)
);
CREATE TABLE tellings (
    number INTEGER PRIMARY KEY AUTOINCREMENT, memory_id INTEGER NOT NULL, user_id TEXT NOT NULL,
    told_at TEXT NOT NULL, times INTEGER NOT NULL
);
CREATE INDEX tellings_of_memory ON tellings (memory_id);
CREATE TABLE ties (
    memory_id INTEGER NOT NULL, root TEXT NOT NULL, path TEXT NOT NULL, symbol TEXT NOT NULL,
    digest TEXT NOT NULL
);
CREATE INDEX ties_of_memory ON ties (memory_id);
CREATE TABLE forgotten (
    number INTEGER PRIMARY KEY AUTOINCREMENT, memory_id INTEGER NOT NULL, user_id TEXT NOT NULL,
    forgotten_at TEXT NOT NULL
);
INSERT INTO memories VALUES (2, 'ada', x'00', 'The user likes tabs', 'another model', x'');
INSERT INTO tellings VALUES (1, 2, 'ada', '2024-01-02T03:04:05Z', 2);
INSERT INTO tellings VALUES (2, 1, 'ada', '2024-01-01T00:00:00Z', 1);
INSERT INTO ties VALUES (2, '/work/app', 'src/auth/token.py', 'validate', 'd1');
INSERT INTO forgotten VALUES (1, 1, 'ada', '2024-01-03T00:00:00Z');
PRAGMA user_version=1;
"""


def test_a_database_of_version_1_is_upgraded(store: EmbeddedMemory, path: Path) -> None:
    path.parent.mkdir(parents=True)
    with sqlite3.connect(path) as connection:
        connection.executescript(_VERSION_1)
    connection.close()
    (memory,) = store.search("tabs", ME, 7)
    assert (memory.text, memory.created_at) == ("The user likes tabs", "2024-01-02T03:04:05Z")
    assert (memory.count, memory.about) == (2, (TOKEN,))
    assert (memory.stored_in, memory.is_personal) == ((), False)
    assert [(event.what, event.memory_id) for event in store.list_events(ME)] == [
        ("forgotten", "1"),
        ("added", "2"),
        ("added", "1"),
    ]
    store.add("The user likes spaces", ME)
    store.forget(["2"], ME)
    assert texts(store.list_memories(ME)) == ["The user likes spaces"]


def test_an_upgrade_masks_secrets_that_an_older_version_stored(
    store: EmbeddedMemory, path: Path
) -> None:
    store.add("The cache is fast", ME)
    store.close()
    password = "Tr0ub4" + "dor3"
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE memories SET text = ?", (f"The password is {password}",))
        connection.execute("ALTER TABLE memories DROP COLUMN is_personal")
        connection.execute("DROP TABLE origins")
        connection.execute("PRAGMA user_version=2")
    connection.close()
    assert texts(store.search("password", ME, 7)) == ["The password is [masked: password]"]
    store.close()
    assert not any(password.encode() in file.read_bytes() for file in path.parent.iterdir())


def test_memories_of_a_newer_rootle_are_not_changed(store: EmbeddedMemory, path: Path) -> None:
    store.add("The user likes tabs", ME)
    store.close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version=99")
    connection.close()
    with pytest.raises(MemoryStorageError, match="newer rootle"):
        store.search("tabs", ME, 7)
    assert list(path.parent.glob("*.damaged-*")) == []


def test_an_error_names_a_folder_that_is_not_writable(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file where a folder should be")
    store = EmbeddedMemory(tmp_path / "data" / "memories.db", HashEmbedder)
    with pytest.raises(MemoryStorageError, match="cannot use the memories at"):
        store.add("The user likes tabs", ME)


@pytest.mark.slow
def test_a_full_disk_loses_no_stored_memory(store: EmbeddedMemory) -> None:
    store.add("The user likes tabs", ME)
    assert store._connection is not None
    store._connection.execute("PRAGMA max_page_count=10")
    with pytest.raises(MemoryStorageError, match="full; free space"):
        store.add("x " * 100_000, ME)
    assert texts(store.search("tabs", ME, 7)) == ["The user likes tabs"]
    assert texts(store.list_memories(ME)) == ["The user likes tabs"]


def test_a_locked_database_rejects_writes_and_allows_reads(
    store: EmbeddedMemory, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rootle.memory.database._BUSY_TIMEOUT_S", 0.05)
    store.add("The user likes tabs", ME)
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    with pytest.raises(MemoryStorageError, match=r"another process keeps .* locked"):
        store.add("The user likes spaces", ME)
    assert store.search("tabs", ME, 7)
    writer.close()
    store.add("The user likes spaces", ME)


@pytest.mark.slow
def test_a_topic_can_have_any_length(store: EmbeddedMemory) -> None:
    store.add("The user likes tabs", ME)
    topic = "tabs " + " ".join(f"word{at}" for at in range(50_000))
    assert store.search(topic, ME, 7) == []
    assert store.search("tabs " * 50_000, ME, 7)
