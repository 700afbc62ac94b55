"""Run git read-only: without prompts, network, locks, or programs that a repository configures."""

from __future__ import annotations

import os
import select
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import IO, Final

from rootle.sources.files.regular_file_reader import read_regular
from rootle.sources.git.environment import SAFE_CONFIG, build_environment
from rootle.sources.git.git_dirs import GitFolders, check_git_folders, find_work_tree
from rootle.sources.git.special_files import find_special_file

# Commands that print hunks. The header of a hunk names a function, which git finds with a regular
# expression that the repository may set.
_DIFF_COMMANDS: Final = frozenset({"diff-tree", "log", "show"})
_DRIVER: Final = r"^diff\..*\.x?funcname$"
# The default of git: a line that begins with a letter, "_" or "$" is the head of a function.
_HEADING: Final = "^([A-Za-z_$].*)$"
_CONFIG_TIMEOUT_S: Final = 10.0
# Seconds without output after which rootle looks for a file that git may be waiting for, such as a
# pipe.
_STALL_S: Final = 0.5
_KILL_S: Final = 1.0
_POLL_S: Final = 0.2
_FAILED: Final = 128  # the return code of git outside a repository
_BUFFERED: Final[dict[str, str]] = {"GIT_FLUSH": "0"}
_CHUNK_BYTES: Final = 65_536


@dataclass(frozen=True, slots=True)
class GitOutput:
    """The output of a git command, incomplete if it timed out."""

    stdout: bytes
    stderr: bytes
    returncode: int
    timed_out: bool = False


def run_git(
    folder: str,
    *arguments: str,
    timeout_s: float,
    config: Mapping[str, str] | None = None,
    stdin: bytes = b"",
) -> GitOutput:
    """Run git in `folder`, with `stdin` as its standard input.

    If git cannot be started, the return code is 127 and `stderr` is a message. The return code is
    128 if there is no repository, or if its git folders may belong to another work tree.
    """
    if not stdin:
        return _run(folder, arguments, config or {}, timeout_s, subprocess.DEVNULL)
    # The input is passed as a file, not through a pipe, because `communicate` writes to a pipe only
    # in its first call. If git takes longer than _STALL_S, a second call follows, and git would
    # wait for the rest of the input.
    with tempfile.TemporaryFile() as file:
        file.write(stdin)
        file.seek(0)
        return _run(folder, arguments, config or {}, timeout_s, file)


def _run(
    folder: str,
    arguments: tuple[str, ...],
    config: Mapping[str, str],
    timeout_s: float,
    stdin: int | IO[bytes],
) -> GitOutput:
    started = _start(folder, arguments, config, stdin=stdin)
    if isinstance(started, GitOutput):
        return started
    with started.process as process:
        return _collect(process, timeout_s, started.find_special)


class GitStream:
    """The output of a git command that may still be running, in chunks of bytes."""

    def __init__(self, running: _Running | None) -> None:
        """`running` is the command, or None if it cannot be started."""
        self._running = running
        self._has_output = False
        self._is_stopped = False

    def __iter__(self) -> Iterator[bytes]:
        stdout = self._running.process.stdout if self._running is not None else None
        while stdout is not None and self._wait_for_output(stdout.fileno()):
            chunk = os.read(stdout.fileno(), _CHUNK_BYTES)
            if not chunk:
                return
            self._has_output = True
            yield chunk

    def _wait_for_output(self, descriptor: int) -> bool:
        """Wait for output or its end; return False if git was stopped.

        After a stop, the output may not end, because a program started by git may keep it open.
        """
        if os.name == "nt":  # select cannot wait for pipes on Windows
            return True
        while not select.select([descriptor], [], [], _POLL_S)[0]:
            if self._is_stopped:
                return False
        return True

    def wait(self) -> int:
        """Return the return code of git, which is negative if a signal stopped it."""
        return _FAILED if self._running is None else self._running.process.wait()

    @property
    def is_stopped(self) -> bool:
        """Whether git was stopped, so that the output may be incomplete."""
        return self._is_stopped

    def stop(self) -> None:
        """Stop git. One thread may call this while another waits for output."""
        self._is_stopped = True
        if self._running is not None:
            self._running.process.kill()

    def stop_if_stalled(self) -> None:
        """Stop git if it has written nothing yet and may be waiting for a file that never ends."""
        if self._running is not None and not self._has_output and self._running.find_special():
            self.stop()


@contextmanager
def stream_git(
    folder: str,
    *arguments: str,
    config: Mapping[str, str],
    buffers: bool = False,
    timeout_s: float | None = None,
) -> Iterator[GitStream]:
    """Run git in `folder` and read its output while it runs; stop it when the block ends.

    After `timeout_s` seconds, git is stopped too, and the output ends early.
    If `buffers` is set, git writes its output in blocks instead of one commit at a time. Reading a
    long history then takes half the time, but the end of the output is lost if git is stopped.
    """
    started = _start(
        folder,
        arguments,
        config,
        stdin=subprocess.DEVNULL,
        has_messages=False,
        buffers=buffers,
    )
    if isinstance(started, GitOutput):
        yield GitStream(None)
        return
    stream = GitStream(started)
    timers = [threading.Timer(_STALL_S, stream.stop_if_stalled)]
    if timeout_s is not None:
        timers.append(threading.Timer(max(0.0, timeout_s), stream.stop))
    for timer in timers:
        timer.daemon = True
        timer.start()
    with started.process:
        try:
            yield stream
        finally:
            for timer in timers:
                timer.cancel()
            stream.stop()


class GitSession:
    """A git command that answers requests on its standard input until it is closed."""

    def __init__(self, running: _Running) -> None:
        self._running = running
        self.is_open = True
        self.has_failed = False  # whether git ended with an error, not by a signal

    def ask(self, request: bytes, end: bytes, max_bytes: int, timeout_s: float) -> bytes:
        """Send a request and return the output before `end`.

        If the output has more than `max_bytes`, takes longer than the timeout, or ends early
        because git failed, it is incomplete, and the session is closed.
        """
        process = self._running.process
        if process.stdin is None or process.stdout is None or not self.is_open:
            return b""
        received = bytearray()
        deadline = monotonic() + timeout_s
        try:
            process.stdin.write(request)
            process.stdin.flush()
            while not received.endswith(end):
                chunk = self._receive(process.stdout.fileno(), deadline)
                received += chunk
                if not chunk or len(received) > max_bytes + len(end):
                    self._end(is_early=not chunk)
                    return bytes(received[:max_bytes])
        except BrokenPipeError:
            self._end(is_early=True)
            return bytes(received)
        return bytes(received[: -len(end)])

    def _end(self, *, is_early: bool) -> None:
        """End git. If it has already ended by itself, remember whether it reported an error."""
        if is_early:
            with suppress(subprocess.TimeoutExpired):  # git is still running, but stuck
                self.has_failed = self._running.process.wait(_KILL_S) > 0
        self.close()

    def close(self) -> None:
        """End git."""
        self.is_open = False
        process = self._running.process
        process.kill()
        with suppress(BrokenPipeError):  # git did not read the last request
            process.__exit__(None, None, None)

    def _receive(self, descriptor: int, deadline: float) -> bytes:
        """Return the next output; b"" at its end, after the deadline, or if git is stuck."""
        is_stuck = False
        while os.name != "nt" and not select.select([descriptor], [], [], _STALL_S)[0]:
            if is_stuck or monotonic() > deadline:
                return b""
            is_stuck = self._running.find_special() is not None
        return os.read(descriptor, _CHUNK_BYTES)


def open_session(folder: str, *arguments: str, config: Mapping[str, str]) -> GitSession | None:
    """Start a git command that answers requests; None if git cannot be started."""
    started = _start(folder, arguments, config, stdin=subprocess.PIPE, has_messages=False)
    return None if isinstance(started, GitOutput) else GitSession(started)


@dataclass(frozen=True, slots=True)
class _Running:
    """A git process, and a function that looks for a file that git may be waiting for."""

    process: subprocess.Popen[bytes]
    find_special: Callable[[], str | None]


def _start(
    folder: str,
    arguments: tuple[str, ...],
    config: Mapping[str, str],
    *,
    stdin: int | IO[bytes],
    has_messages: bool = True,
    buffers: bool = False,
) -> _Running | GitOutput:
    """Start git, or return an output whose `stderr` is the reason why it is not started."""
    top = find_work_tree(os.path.realpath(folder))
    if top is None:
        return GitOutput(b"", b"not a git repository", _FAILED)
    git = check_git_folders(top)
    if isinstance(git, str):
        return GitOutput(b"", os.fsencode(git), _FAILED)
    if not all(map(_is_argument, arguments)):
        return GitOutput(b"", b"an argument has a character that git cannot read", _FAILED)
    # The path must be absolute: `folder` may be untrusted, and git runs in this folder.
    program = shutil.which("git")
    if program is None:
        return GitOutput(b"", b"git is not installed", 127)
    drivers = {} if _DIFF_COMMANDS.isdisjoint(arguments) else _disable_headings(folder, git)
    try:
        process = subprocess.Popen(
            [os.path.abspath(program), "--no-pager", *arguments],
            cwd=folder,
            env=build_environment(top, {**drivers, **SAFE_CONFIG, **config})
            | (_BUFFERED if buffers else {}),
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if has_messages else subprocess.DEVNULL,
        )
    except OSError as error:
        return GitOutput(b"", os.fsencode(f"git cannot be started: {error}"), 127)
    return _Running(process, partial(find_special_file, top, git))


def _is_argument(text: str) -> bool:
    """Return whether a text can be passed to a process: it has no NUL, and can be encoded."""
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False


def _disable_headings(folder: str, git: GitFolders) -> dict[str, str]:
    """Return settings that override a repository's regular expressions for the headings of hunks.

    Such an expression can take exponential time to match.
    """
    paths = (os.path.join(git.common, "config"), os.path.join(git.own, "config.worktree"))
    texts = [text.lower() for text in map(read_regular, paths) if isinstance(text, bytes)]
    if not any(word in text for text in texts for word in (b"funcname", b"include")):
        return {}  # as in almost all repositories; this avoids starting git
    found = run_git(
        folder,
        *("config", "-z", "--name-only", "--get-regexp", _DRIVER),
        timeout_s=_CONFIG_TIMEOUT_S,
    )
    names = filter(None, os.fsdecode(found.stdout).split("\0"))
    # A driver may set `funcname` and `xfuncname`. git uses whichever is set last, and the settings
    # of rootle are the last.
    return {f"{name.rpartition('.')[0]}.xfuncname": _HEADING for name in names}


def _collect(
    process: subprocess.Popen[bytes],
    timeout_s: float,
    find_special: Callable[[], str | None],
) -> GitOutput:
    try:
        stdout, stderr = process.communicate(timeout=min(timeout_s, _STALL_S))
    except subprocess.TimeoutExpired:
        return _collect_slowly(process, timeout_s - _STALL_S, find_special)
    return GitOutput(stdout, stderr, process.returncode)


def _collect_slowly(
    process: subprocess.Popen[bytes], timeout_s: float, find_special: Callable[[], str | None]
) -> GitOutput:
    """Wait for git. Stop it after the timeout, or at once if it may wait for a special file."""
    special = find_special() if timeout_s > 0 else None
    timed_out = False
    try:
        stdout, stderr = process.communicate(timeout=0 if special else max(timeout_s, 0))
    except subprocess.TimeoutExpired:
        timed_out = special is None
        stdout, stderr = _kill(process)
        if special is not None:
            stderr = os.fsencode(f"git waits for {special}, which is not a regular file")
    return GitOutput(stdout, stderr, process.returncode, timed_out)


def _kill(process: subprocess.Popen[bytes]) -> tuple[bytes, bytes]:
    """Stop git and return its output so far."""
    process.kill()
    try:
        return process.communicate(timeout=_KILL_S)
    except subprocess.TimeoutExpired as error:  # a program that git started keeps its streams open
        return error.stdout or b"", error.stderr or b""
