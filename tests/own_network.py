"""Run a server in its own network namespace, reachable through a Unix socket.

    unshare --net python own_network.py SOCKET PORT COMMAND…

Use this module for servers that always listen on all interfaces: the namespace has only loopback.
"""

from __future__ import annotations

import ctypes
import fcntl
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

_SIOCSIFFLAGS = 0x8914
_UP_AND_RUNNING = 0x41


def relay(listener: socket.socket, family: int, address: str | tuple[str, int]) -> None:
    """Forward connections to an address until the listener is closed."""
    with listener:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            server = socket.socket(family)
            threading.Thread(target=_connect, args=(client, server, address), daemon=True).start()


def _connect(client: socket.socket, server: socket.socket, address: str | tuple[str, int]) -> None:
    with client, server, suppress(OSError):
        server.connect(address)
        others = {client: server, server: client}
        while True:
            for source in select.select(list(others), [], [])[0]:
                data = source.recv(1 << 16)
                if not data:
                    return
                others[source].sendall(data)


def start_loopback() -> None:
    request = struct.pack("16sh", b"lo", _UP_AND_RUNNING)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, request)


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def main(path: str, port: int, command: list[str]) -> int:
    start_loopback()
    Path(path).unlink(missing_ok=True)  # left by a killed process
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(64)
    process = subprocess.Popen(command, preexec_fn=_die_with_parent)
    signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    address = ("127.0.0.1", port)
    threading.Thread(target=relay, args=(listener, socket.AF_INET, address), daemon=True).start()
    return process.wait()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]), sys.argv[3:]))
