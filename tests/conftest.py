"""Shared fixtures: no network, a separate home folder, a small repository, apps that index it."""

from __future__ import annotations

import gc
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from command import ENVIRONMENT
from hash_embedder import HashEmbedder
from real_servers import (
    RealServer,
    chroma_server,
    elasticsearch_server,
    opensearch_server,
    weaviate_server,
)
from sample import QUESTIONS, MakeApp, make_repository

from rootle.app import App, open_app
from rootle.concurrency.backoff import Backoff
from rootle.config.fields import Config
from rootle.http import connection, retry
from rootle.ingest.workers.worker_process import PrestartedWorkers
from rootle.serialization.json import to_json
from rootle.sources.source import Source
from rootle.types import SearchQuery

# The time that an example takes depends more on the machine than on the code.
hypothesis.settings.register_profile("rootle", deadline=None)
hypothesis.settings.load_profile("rootle")

_SERVERS = frozenset({"chroma", "own_chroma", "opensearch", "elasticsearch", "weaviate"})
_SLOW = ("server", "slow")  # markers, slowest first
_HOME_NUMBERS = itertools.count()
# Without these settings, git would wait for the disk, and start maintenance after every commit.
_GIT_CONFIG = """\
[init]
	defaultBranch = main
[core]
	fsync = none
[gc]
	auto = 0
[maintenance]
	auto = false
"""
# Git's own template has a dozen sample hooks.
_GIT_TEMPLATE = Path(__file__).parent / "git_template"
_MEMORY = "/dev/shm"
_SHORT_BACKOFF = Backoff(first_s=0.0025, longest_s=0.08)
_MEMORY_NEEDED = 4 << 30  # free bytes on `_MEMORY`


def pytest_configure(config: pytest.Config) -> None:
    if "TMPDIR" not in os.environ and _has_room_in_memory():
        # Tests write many small files. On a disk, they wait and take more processor time.
        # The processes of pytest-xdist inherit the variable.
        os.environ["TMPDIR"] = tempfile.tempdir = _MEMORY


def _has_room_in_memory() -> bool:
    try:
        status = os.statvfs(_MEMORY)
    except OSError:  # not on Linux
        return False
    # In some containers, programs cannot be started from this folder.
    allows_programs = not status.f_flag & os.ST_NOEXEC
    return allows_programs and status.f_bavail * status.f_frsize >= _MEMORY_NEEDED


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        uses_server = not _SERVERS.isdisjoint(getattr(item, "fixturenames", ()))
        if uses_server and item.get_closest_marker("server") is None:
            raise pytest.UsageError(f"{item.nodeid} uses a real server: mark it `server`")
    if hasattr(config, "workerinput"):
        # Run slow files first, so that no process still runs one after the others have finished.
        slow = [{item.path for item in items if item.get_closest_marker(mark)} for mark in _SLOW]
        items.sort(key=lambda item: [item.path in files for files in slow], reverse=True)


def pytest_collection() -> None:
    # Garbage collection would free little: pytest keeps nearly all objects that it creates here.
    gc.disable()


def pytest_collection_finish(session: pytest.Session) -> None:
    """Exempt the objects of all collected tests from garbage collection.

    Garbage collections that visit them take about 5 % of the CPU time of all tests. There is
    little garbage among them, so it is not collected first, which would take a second.
    """
    gc.freeze()
    gc.set_threshold(10_000)  # the default of 700 objects takes another 3 % of the CPU time
    gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Distribute whole files, in the order of collection, to the processes of pytest-xdist."""
    from xdist.scheduler import LoadScopeScheduling

    config.option.loadscopereorder = False  # keep the order; the default sorts by number of tests
    scheduler = LoadScopeScheduling(config, log)
    scheduler._split_scope = lambda test: _unit_of_work(config.rootpath / test.partition("::")[0])
    return scheduler


@cache
def _unit_of_work(file: Path) -> str:
    """Return the path of a test file, or one name for all files with tests of real servers.

    Marks with `xdist_group` would suffice, but pytest-xdist 3.8 ignores them under pytest 9.2
    (https://github.com/pytest-dev/pytest-xdist/issues/1386).
    """
    sources = (file, file.with_name("conftest.py"))
    marked = (source.exists() and "pytest.mark.server" in source.read_text() for source in sources)
    return "servers" if any(marked) else os.fspath(file)


@pytest.fixture(scope="session")
def _git_config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    config = tmp_path_factory.mktemp("git") / "config"
    config.write_text(_GIT_CONFIG)
    return config


@pytest.fixture(autouse=True)
def _separate_home(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, _git_config: Path
) -> Path:
    """Keep a test and its child processes from reading or writing the user's files."""
    # `mktemp` would list the folders of all earlier tests.
    home = tmp_path_factory.getbasetemp() / "homes" / str(next(_HOME_NUMBERS))
    home.mkdir(parents=True)
    monkeypatch.setenv("HOME", os.fspath(home))
    for kind in ("cache", "config", "data", "state"):
        monkeypatch.setenv(f"XDG_{kind.upper()}_HOME", os.fspath(home / kind))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.fspath(_git_config))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_TEMPLATE_DIR", os.fspath(_GIT_TEMPLATE))
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")
    # Block the network in child processes. Importing the guard has blocked it in this process.
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    return home


@pytest.fixture(autouse=True)
def _no_prestarted_workers(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Start no workers ahead of an index: small folders do not use them, and starting them is slow.

    Tests of prestarted workers are marked `prestarted_workers`.
    """
    if request.node.get_closest_marker("prestarted_workers") is None:
        monkeypatch.setattr(PrestartedWorkers, "start", lambda self: None)


@pytest.fixture(autouse=True)
def _short_retry_delays(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the delays before retries in this process to a hundredth.

    Tests with real servers need the full delays. Tests that measure the delays are marked
    `retry_delays` and keep them too.
    """
    if not any(map(request.node.get_closest_marker, ("server", "retry_delays"))):
        monkeypatch.setattr(retry, "_BACKOFF", _SHORT_BACKOFF)


@pytest.fixture
def home(_separate_home: Path) -> Path:
    return _separate_home


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Return a small repository in several languages, committed long ago."""
    return make_repository(tmp_path / "repository")


@pytest.fixture
def embedder() -> HashEmbedder:
    return HashEmbedder()


Answers = Callable[..., list[Any]]


@pytest.fixture
def make_app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MakeApp]:
    """Return a function that opens apps, which check the folder before every answer."""
    apps: list[App] = []

    def make(
        root: Path,
        *,
        index_dir: Path | None = None,
        embedder: HashEmbedder | None = None,
        notices: list[str] | None = None,
        initial_index_timeout_s: float | None = None,
        search_unfinished: bool = False,
        sources: Sequence[Source] = (),
        **settings: Any,
    ) -> App:
        app = open_app(
            root,
            index_dir=index_dir or tmp_path / "index",
            config=Config(**{"stale_check_seconds": 0.0, **settings}),
            on_warning=notices.append if notices is not None else None,
            initial_index_timeout_s=initial_index_timeout_s,
            search_unfinished=search_unfinished,
            sources=sources,
        )
        if embedder is not None:
            monkeypatch.setattr(app._container, "_embedder", embedder)
        # Tests with a fake clock retry embeddings, but this interval needs the real clock.
        monkeypatch.setattr("rootle.indexing.refresh._MAINTENANCE_INTERVAL_S", 0)
        apps.append(app)
        return app

    yield make
    for app in apps:
        app.close()


@pytest.fixture
def answers() -> Answers:
    """Return a function that opens an app and returns the answers as a user would see them."""

    def ask(root: Path, index_dir: Path, questions: Sequence[str] = QUESTIONS) -> list[Any]:
        seen = []
        with open_app(root, index_dir=index_dir, config=Config(stale_check_seconds=0)) as app:
            for question in questions:
                answer = to_json(app.search(SearchQuery(question, limit=50)))
                # `tookMs` depends on the clock and `generation` on the number of writes. A cursor
                # contains the time and the generation.
                del answer["tookMs"], answer["generation"]
                answer["nextCursor"] = answer["nextCursor"] is not None
                seen.append(answer)
        return seen

    return ask


@pytest.fixture
def certificate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a certificate for localhost that only this test trusts."""
    assert shutil.which("openssl"), "needs openssl: apt-get install openssl"
    made = tmp_path / "both.pem"
    subject = ("-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1")
    command = ("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256")
    files = ("-nodes", "-days", "2", "-keyout", str(made), "-out", str(tmp_path / "c.pem"))
    subprocess.run([*command, *files, *subject], check=True, capture_output=True)
    made.write_text(made.read_text() + (tmp_path / "c.pem").read_text())
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "c.pem"))
    connection._tls_context.cache_clear()
    yield made
    connection._tls_context.cache_clear()


@pytest.fixture(scope="session")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start the server of llama.cpp with a tiny cross-encoder; return its address."""
    model = tmp_path_factory.mktemp("model") / "tiny.gguf"
    program = Path(__file__).parent / "rerank" / "tiny_reranker.py"
    subprocess.run([sys.executable, program, "make", model], check=True)
    process = subprocess.Popen(
        [sys.executable, program, "serve", model],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.kill()


@pytest.fixture(scope="session")
def chroma(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealServer]:
    yield from _running(chroma_server(tmp_path_factory.mktemp("chroma")))


@pytest.fixture(scope="session")
def opensearch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealServer]:
    yield from _running(opensearch_server(tmp_path_factory.mktemp("opensearch")))


@pytest.fixture(scope="session")
def elasticsearch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealServer]:
    yield from _running(elasticsearch_server(tmp_path_factory.mktemp("elasticsearch")))


@pytest.fixture(scope="session")
def weaviate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealServer]:
    yield from _running(weaviate_server(tmp_path_factory.mktemp("weaviate")))


def _running(server: RealServer) -> Iterator[RealServer]:
    server.start()
    yield server
    server.stop()
