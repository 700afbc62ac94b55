"""Secrets never reach the index, an answer or a log, and no other user can read any file."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from command import rootle
from platformdirs import user_cache_path, user_data_path, user_state_path
from sample import MakeApp, git, make_repository, write

from rootle.index.local.database import DATABASE_NAME, open_database
from rootle.index.local.docstore import DocStore
from rootle.index.local.manifest import Manifest
from rootle.indexing.watch.watcher_channel import WatcherChannel
from rootle.storage.paths import default_index_dir, result_cache_dir, search_log_path
from rootle.types import SearchQuery

PASSWORD = "Tr0ub4" + "dor3"
KEY_BODY = "MIIEowIBAAKCAQEA" + "x7Qp9Zk3LmT7xWv2" * 2
SETTINGS = f"""\
# How the warehouse is reached
host = "warehouse"
password = "{PASSWORD}"
port = 5432
-----BEGIN RSA PRIVATE KEY-----
{KEY_BODY}
{KEY_BODY}
-----END RSA PRIVATE KEY-----
timeout_of_the_warehouse = 30
"""


@pytest.fixture(params=[0o000, 0o077], ids=["umask 000", "umask 077"])
def umask(request: pytest.FixtureRequest) -> Iterator[None]:
    previous = os.umask(request.param)
    yield
    os.umask(previous)


def state_folders() -> list[Path]:
    return [path("rootle") for path in (user_cache_path, user_data_path, user_state_path)]


def shared_paths(folder: Path) -> list[str]:
    """Return the mode and path of each file or folder that other users may access."""
    paths = [folder, *folder.rglob("*")]
    return [
        f"{stat.S_IMODE(path.lstat().st_mode):o} {path}"
        for path in paths
        if path.lstat().st_mode & 0o077
    ]


@pytest.mark.slow
@pytest.mark.usefixtures("umask")
def test_every_file_is_private_whatever_the_umask(
    repository: Path, make_app: MakeApp, tmp_path: Path
) -> None:
    index_dir = default_index_dir(repository)
    with make_app(repository, index_dir=index_dir) as app:
        app.search("how long to wait before the next attempt")
        app.search("how long to wait before the next attempt", at="HEAD")
        app.sources.add(write(tmp_path, "guide/locks.md", "# Locks\n").parent)
        app.memory.remember("The user likes tests in the folder src/net")
        with app.watch():
            write(repository, "src/new.py", "def fresh() -> None: ...\n")
            assert WatcherChannel(index_dir).sync(10)
            found = [path for folder in state_folders() for path in shared_paths(folder)]
            assert found == []
        app.index()
    names = {path.name for folder in state_folders() for path in folder.rglob("*")}
    assert {DATABASE_NAME, "dense.json", "words.json", "memories.db", "searches.jsonl"} <= names
    assert {"used", "documents.db"} <= names
    assert [path for folder in state_folders() for path in shared_paths(folder)] == []


def test_permissions_of_an_older_version_are_corrected(
    repository: Path, make_app: MakeApp, tmp_path: Path
) -> None:
    folder = tmp_path / "index"
    make_app(repository, index_dir=folder).index()
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o777 if path.is_dir() else 0o666)
    make_app(repository, index_dir=folder).index()
    assert shared_paths(folder) == []


def test_an_index_is_shared_on_request(repository: Path, make_app: MakeApp, tmp_path: Path) -> None:
    folder = tmp_path / "index"
    app = make_app(repository, index_dir=folder, index_sharing="group")
    app.index()
    write(repository, "src/new.py", "def fresh() -> None: ...\n")
    app.index()
    locks = [path for path in folder.rglob("*.lock") if path.is_file()]
    assert {stat.S_IMODE(path.stat().st_mode) for path in locks} == {0o600}
    paths = [path for path in (folder, *folder.rglob("*")) if path.suffix != ".lock"]
    assert len(paths) > 10
    assert {stat.S_IMODE(path.stat().st_mode) for path in paths if path.is_dir()} == {0o750}
    assert {stat.S_IMODE(path.stat().st_mode) for path in paths if path.is_file()} == {0o640}


@pytest.mark.slow
def test_an_unknown_kind_of_sharing_is_refused(repository: Path, tmp_path: Path) -> None:
    outcome = rootle(
        "index", repository, "--index-dir", tmp_path / "index", "--set", "indexSharing=world"
    )
    assert outcome.code == 2
    assert 'indexSharing is "world"; use private, group or everyone' in outcome.err


def test_a_secret_in_a_file_is_neither_stored_nor_shown(tmp_path: Path, make_app: MakeApp) -> None:
    root = make_repository(tmp_path / "repo", {"src/settings.py": SETTINGS})
    app = make_app(root, index_dir=tmp_path / "index")
    response = app.search(SearchQuery("timeout_of_the_warehouse", context=True))
    passage = app.read("src/settings.py")
    assert [result.file_path for result in response.results] == ["src/settings.py"]
    assert passage.lines[3 - 1] == 'password = "[masked: password]"'
    assert passage.lines[9 - 1] == "timeout_of_the_warehouse = 30"
    with closing(open_database(tmp_path / "index", create=False)) as connection:
        (state,) = Manifest(connection).files()
        text = DocStore(connection).text(state.id)
    assert state.masked == 2
    assert text.count("\n") == SETTINGS.count("\n")
    for shown in (str(response), "\n".join(passage.lines), text):
        assert PASSWORD not in shown
        assert KEY_BODY not in shown
    assert not app.search(f'"{PASSWORD}"').results


def test_a_secret_is_masked_in_a_file_that_changed_after_it_was_indexed(
    tmp_path: Path, make_app: MakeApp
) -> None:
    root = make_repository(tmp_path / "repo", {"src/settings.py": "host = 'warehouse'\n"})
    app = make_app(root, index_dir=tmp_path / "index")
    app.index()
    app.pause_indexing()
    write(root, "src/settings.py", SETTINGS)
    response = app.search(SearchQuery("warehouse", context=True))
    assert "how the warehouse is reached" in str(response).lower()
    assert PASSWORD not in str(response)


def test_a_secret_in_a_commit_is_masked(repository: Path, make_app: MakeApp) -> None:
    write(repository, "src/settings.py", f'password = "{PASSWORD}"\n')
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", f"Set password={PASSWORD}")
    sha = git(repository, "rev-parse", "HEAD").strip()
    lines = make_app(repository).read(sha).lines
    assert '+password = "[masked: password]"' in lines
    assert PASSWORD not in "\n".join(lines)


def test_an_exception_shows_a_false_alarm(tmp_path: Path, make_app: MakeApp) -> None:
    files = {"src/settings.py": SETTINGS, "test/prod.env": "HOST=a\n"}
    root = make_repository(tmp_path / "repo", files)
    app = make_app(root, secret_exceptions=(PASSWORD, "test/*"))
    assert app.read("src/settings.py").lines[3 - 1] == f'password = "{PASSWORD}"'
    assert app.read("test/prod.env").lines == ("HOST=a",)
    assert app.search(f'"{PASSWORD}"').results
    assert PASSWORD in search_log_path().read_text("utf-8")
    remembered = app.memory.remember(f"The password = {PASSWORD} is a fixture of the tests")
    assert remembered.memory is not None
    assert PASSWORD in remembered.memory.text


@pytest.mark.slow
def test_the_search_log_masks_secrets_and_clear_deletes_it(repository: Path) -> None:
    question = f"where is password={PASSWORD} used"
    rootle("search", question, "--root", repository)
    log = search_log_path().read_text("utf-8")
    assert "where is password=[masked: password] used" in log
    assert not list(result_cache_dir(default_index_dir(repository)).glob("*"))
    rootle("clear", repository)
    assert not search_log_path().exists()


@pytest.mark.slow
def test_an_upgrade_deletes_unmasked_text(repository: Path) -> None:
    write(repository, "src/settings.py", SETTINGS)
    rootle("index", repository)
    database = default_index_dir(repository) / DATABASE_NAME
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("CREATE TABLE old (text)")
        connection.execute("INSERT INTO old VALUES (?)", (PASSWORD,))
        connection.execute("PRAGMA user_version=6")
        connection.commit()
    state = user_state_path("rootle")
    for name in ("search-log.jsonl", "search-log.1.jsonl", "answers/0a/page.json"):
        (state / name).parent.mkdir(parents=True, exist_ok=True)
        (state / name).write_text(PASSWORD)
    rootle("search", "warehouse", "--root", repository)
    files = [path for folder in state_folders() for path in folder.rglob("*") if path.is_file()]
    assert database in files
    assert [path for path in files if PASSWORD.encode() in path.read_bytes()] == []
