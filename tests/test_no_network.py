"""The network guard of the tests works, and rootle needs no socket."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from command import rootle
from sample import many_files, write_tree

from rootle.ingest.workers import scheduler


@pytest.mark.parametrize("address", [("93.184.216.34", 80), ("2606:2800::1", 80, 0, 0)])
def test_a_connection_to_the_network_raises_an_error(address: tuple[str, int]) -> None:
    family = socket.AF_INET if len(address) == 2 else socket.AF_INET6
    with socket.socket(family) as connection, pytest.raises(RuntimeError, match="network"):
        connection.connect(address)
    with pytest.raises(RuntimeError, match="resolved a host name"):
        socket.getaddrinfo("example.com", 80)


def test_loopback_connections_are_allowed() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname(), timeout=5).close()


def test_child_processes_are_guarded_too() -> None:
    code = "import socket; socket.socket().connect(('93.184.216.34', 80))"
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "a test connected to the network" in child.stderr


@pytest.mark.slow
def test_indexing_and_searching_open_no_socket(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = many_files(260, functions=20)
    # There is enough text to start workers too.
    assert sum(map(len, files.values())) > scheduler._PARALLEL_BYTES
    root = write_tree(tmp_path / "large", files)
    monkeypatch.setenv("ROOTLE_TEST_NO_SOCKETS", "1")
    assert rootle("index", root, preloaded=False).code == 0
    assert rootle("search", "flush the ledger", "--root", root, preloaded=False).code == 0
    assert rootle("status", root, preloaded=False).code == 0


@pytest.mark.slow
@pytest.mark.skipif(
    shutil.which("unshare") is None
    or subprocess.run(["unshare", "-n", "true"], capture_output=True).returncode != 0,
    reason="needs the permission to create a network namespace",
)
def test_a_search_works_without_any_network(repository: Path) -> None:
    alone = ("unshare", "-n")
    assert rootle("search", "retry_backoff", "--json", cwd=repository, wrapper=alone).paths


@pytest.mark.slow
def test_a_search_without_a_server_imports_no_http_module(repository: Path) -> None:
    program = (
        "import sys\n"
        "from rootle.cli.main import main\n"
        "main()\n"
        "print([name for name in ('http.client', 'ssl') if name in sys.modules], file=sys.stderr)"
    )
    assert rootle("search", "retry", "--root", repository, program=program).err == "[]\n"
