"""What every test stands on: no network, a home of its own, a small repository, an app on it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hash_embedder import HashEmbedder
from no_network import sitecustomize as _guard  # installs itself when it is imported
from real_servers import (
    RealServer,
    chroma_server,
    elasticsearch_server,
    opensearch_server,
    weaviate_server,
)
from sample import QUESTIONS, MakeApp, make_repository

from rootle.app import App, open_app
from rootle.config.fields import Config
from rootle.http import connection
from rootle.serialization.json import to_json
from rootle.sources.source import Source
from rootle.types import SearchQuery

_GUARD_FOLDER = os.path.dirname(_guard.__file__)


@pytest.fixture(autouse=True)
def _home_of_its_own(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """No test reads or writes what belongs to the person who runs it, nor do its children."""
    home = tmp_path_factory.mktemp("home")
    for name, folder in (
        ("HOME", "."),
        ("XDG_CACHE_HOME", "cache"),
        ("XDG_CONFIG_HOME", "config"),
        ("XDG_DATA_HOME", "data"),
        ("XDG_STATE_HOME", "state"),
    ):
        (home / folder).mkdir(exist_ok=True)
        monkeypatch.setenv(name, os.fspath(home / folder))
    (home / "gitconfig").write_text("[init]\n\tdefaultBranch = main\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.fspath(home / "gitconfig"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")
    return home


@pytest.fixture(autouse=True)
def _no_network_in_children(monkeypatch: pytest.MonkeyPatch) -> None:
    """The guard holds in this process since it was imported; this hands it to every child."""
    monkeypatch.setenv("PYTHONPATH", _GUARD_FOLDER)


@pytest.fixture
def home(_home_of_its_own: Path) -> Path:
    return _home_of_its_own


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A small repository in several languages, committed long ago."""
    return make_repository(tmp_path / "repository")


@pytest.fixture
def embedder() -> HashEmbedder:
    return HashEmbedder()


Answers = Callable[..., list[Any]]


@pytest.fixture
def make_app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MakeApp]:
    """Apps that look at their folder before every answer and are closed after the test."""
    apps: list[App] = []

    def make(
        root: Path,
        *,
        index_dir: Path | None = None,
        embedder: HashEmbedder | None = None,
        notices: list[str] | None = None,
        initial_index_timeout_s: float | None = None,
        sources: Sequence[Source] = (),
        **settings: Any,
    ) -> App:
        app = open_app(
            root,
            index_dir=index_dir or tmp_path / "index",
            config=Config(**{"stale_check_seconds": 0.0, **settings}),
            on_warning=notices.append if notices is not None else None,
            initial_index_timeout_s=initial_index_timeout_s,
            sources=sources,
        )
        if embedder is not None:
            monkeypatch.setattr(app._container, "_embedder", embedder)
        # However little time has passed since the last look: a test changes files quickly.
        monkeypatch.setattr("rootle.indexing.refresh._CHECK_INTERVAL_FACTOR", 0)
        apps.append(app)
        return app

    yield make
    for app in apps:
        app.close()


@pytest.fixture
def answers() -> Answers:
    """All that a user sees of the answers to some questions, by an app that is opened for it."""

    def ask(root: Path, index_dir: Path, questions: Sequence[str] = QUESTIONS) -> list[Any]:
        seen = []
        with open_app(root, index_dir=index_dir, config=Config(stale_check_seconds=0)) as app:
            for question in questions:
                answer = to_json(app.search(SearchQuery(question, limit=50)))
                # The clock, and a counter of writes that a user has no use for; a cursor has both.
                del answer["tookMs"], answer["generation"]
                answer["nextCursor"] = answer["nextCursor"] is not None
                seen.append(answer)
        return seen

    return ask


@pytest.fixture
def certificate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A certificate for this machine that only this test trusts."""
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
    """The address of llama.cpp's own server with a tiny cross-encoder."""
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
