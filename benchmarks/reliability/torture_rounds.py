"""The rounds of `torture.py`: their processes, their faults and their checks."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final, Self

from benchmarks.reliability.checks import (
    ExpectedAnswers,
    answer_differences,
    compare_searcher,
    expected_answers,
    find_crash,
    find_open_files,
    last_message,
)
from benchmarks.reliability.fault_injection import FaultInjector, SmallDisk
from benchmarks.reliability.random_faults import RandomFaults
from benchmarks.reliability.random_text import draw_noun, random_questions
from benchmarks.reliability.random_tree import RandomTree
from benchmarks.reliability.services import (
    BatchSearcher,
    Command,
    HangError,
    McpServer,
    Place,
    Searcher,
    Service,
    Watcher,
    index_command,
    memory_command,
    search_command,
)

_UMASKS: Final = (0o000, 0o022, 0o077)
_MAX_STEPS: Final = 5
_MAX_EDITS: Final = 8
_QUESTIONS: Final = 6  # number of questions whose answers are compared after a round
_KILL_PROBABILITY: Final = 0.7  # probability that a step kills one process
_MAX_DELAY_S: Final = 0.5  # longest delay before a kill
# The message of a second watcher. `rootle mcp` watches the folder, too, so it may be the first.
_IS_WATCHED: Final = "is already watching"
_REMEDY: Final = "rootle index --rebuild"
_RECALLED: Final = 3  # number of newest and of random memories to look up after a round
_SERVICES: Final[Mapping[str, Callable[[Place, int], Service]]] = {
    "batch": BatchSearcher,
    "mcp": McpServer,
    "watch": Watcher,
}


@dataclass(frozen=True, slots=True)
class TortureOptions:
    """The options of a run."""

    seed: int
    comparison: str
    faults: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RoundResult:
    """The figures and the problems of one round."""

    number: int
    fault: str
    edits: int
    kills: int
    requests: int
    memories: int  # acknowledged since the first round
    problems: tuple[str, ...]
    seconds: float

    def describe(self) -> str:
        """Return a line with the figures, and one more for each problem."""
        figures = (
            f"round {self.number}: {self.fault}, {self.edits} edits, {self.kills} kills, "
            f"{self.requests} requests, {self.memories} memories, {self.seconds:.0f} s"
        )
        return "\n  PROBLEM: ".join((figures, *self.problems))


def summarize(results: Sequence[RoundResult]) -> str:
    """Return the figures of all rounds."""
    bad = sum(bool(result.problems) for result in results)
    return (
        f"{len(results)} rounds, {sum(result.edits for result in results)} edits, "
        f"{sum(result.kills for result in results)} kills, "
        f"{sum(result.requests for result in results)} requests, "
        f"{max((result.memories for result in results), default=0)} memories: "
        f"{bad} rounds with problems"
    )


class Torture:
    """A tree, an index, memories, and the processes that use them."""

    def __init__(self, folder: Path, options: TortureOptions) -> None:
        self._options = options
        self._rng = Random(options.seed)
        self._folder = folder
        (folder / "logs").mkdir()
        self._disk = SmallDisk(folder / "home")
        injector = FaultInjector(folder, self._disk.folder)
        index_dir = self._disk.folder / "index"
        self._faults = RandomFaults(self._rng, injector, self._disk, index_dir)
        self._tree = RandomTree(folder / "tree", self._rng, files=30)
        self._place = Place(
            self._tree.root, index_dir, folder / "logs", _environment(injector, self._disk.folder)
        )
        self._services: dict[str, Service] = {}
        self._commands: list[Command] = []
        self._facts: list[str] = []  # the acknowledged ones
        self._number = 0
        self._edits = self._kills = self._requests = 0
        self._problems: list[str] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._faults.end()
        for service in (*self._services.values(), *self._commands):
            service.kill()
        self._disk.unmount()

    def describe_disk(self) -> str:
        """Return a sentence on how a full disk is simulated."""
        if self._disk.is_mounted:
            return "disk full: a small file system in memory, and injected errors"
        return "disk full: injected errors only, because no file system can be mounted"

    def run_round(self) -> RoundResult:
        """Edit, search, kill and inject a fault; then check everything."""
        started = time.monotonic()
        self._edits = self._kills = self._requests = 0
        self._problems = []
        fault = self._rng.choice(self._options.faults)
        try:
            for _ in range(self._rng.randrange(2, _MAX_STEPS + 1)):
                self._start_missing(fault)
                self._faults.begin(fault)
                self._run_step(fault)
            self._faults.end()
            self._check(fault)
        except HangError as error:
            self._problems.append(str(error))
            self._restart_all()
        self._faults.end()
        self._number += 1
        return RoundResult(
            self._number - 1, fault, self._edits, self._kills, self._requests, len(self._facts),
            tuple(self._problems), time.monotonic() - started,
        )  # fmt: skip

    def _draw_umask(self) -> int:
        return self._rng.choice(_UMASKS)

    def _start_missing(self, fault: str) -> None:
        """Start the services that were killed or have ended, before the next fault."""
        self._faults.end()
        for name, start in _SERVICES.items():
            service = self._services.get(name)
            if service is not None and service.is_alive:
                continue
            if service is not None:
                self._report_end(service, fault)
                service.close()
            self._services[name] = start(self._place, self._draw_umask())

    def _report_end(self, service: Service, fault: str) -> None:
        """Record that a process ended although no fault explains this."""
        code = service.process.poll()
        if crash := find_crash(service):
            self._problems.append(crash)
        elif _IS_WATCHED in service.messages:
            return
        elif fault == "none" or (code is not None and code < 0):
            self._problems.append(f"{service.name} ended: {last_message(service)}")

    def _run_step(self, fault: str) -> None:
        """Let all processes work while the tree changes, and kill one of them."""
        self._edit()
        asked = [one for one in self._searchers() if one.send(self._draw_question())]
        self._requests += len(asked)
        self._start_command()
        self._edit()
        killed = self._kill_one() if self._rng.random() < _KILL_PROBABILITY else None
        for searcher in asked:
            if searcher is not killed:
                self._check_reply(searcher, fault)
        self._remember()
        self._finish_commands(fault, killed)

    def _edit(self) -> None:
        self._edits += len(self._tree.edit(self._rng.randrange(1, _MAX_EDITS)))

    def _searchers(self) -> Iterator[Searcher]:
        for service in self._services.values():
            if isinstance(service, Searcher) and service.is_alive:
                yield service

    def _draw_question(self) -> str:
        return self._rng.choice(random_questions(self._rng, 11))

    def _start_command(self) -> None:
        """Start a command that searches, indexes or stores a memory."""
        kind, umask = self._rng.randrange(10), self._draw_umask()
        if kind < 4:
            command = search_command(self._place, self._draw_question(), umask)
        elif kind < 6:
            command = index_command(self._place, umask)
        elif kind < 7:
            command = index_command(self._place, umask, "--rebuild")
        else:
            command = memory_command(self._place, umask, "add", self._new_fact())
        self._requests += 1
        self._commands.append(command)

    def _new_fact(self) -> str:
        """Return a fact with a word that occurs in no other fact."""
        word = f"{draw_noun(self._rng)}{self._rng.randrange(1 << 32):x}"
        return f"The {draw_noun(self._rng)} of the project {word} is in the {draw_noun(self._rng)}"

    def _kill_one(self) -> Service | None:
        """Kill a random process at a random moment."""
        time.sleep(self._rng.uniform(0, _MAX_DELAY_S))
        alive = [one for one in (*self._services.values(), *self._commands) if one.is_alive]
        if not alive:
            return None
        victim = self._rng.choice(alive)
        if crash := find_crash(victim):
            self._problems.append(crash)
        victim.kill()
        self._kills += 1
        self._services = {name: one for name, one in self._services.items() if one is not victim}
        return victim

    def _check_reply(self, searcher: Searcher, fault: str) -> None:
        reply = searcher.receive()
        if reply is not None and reply.error and fault == "none":
            self._problems.append(f"{searcher.name} answers with an error: {reply.error}")

    def _remember(self) -> None:
        server = self._services.get("mcp")
        if isinstance(server, McpServer) and server.is_alive:
            fact = self._new_fact()
            self._requests += 1
            if server.remember(fact):
                self._facts.append(fact)

    def _finish_commands(self, fault: str, killed: Service | None) -> None:
        for command in self._commands:
            if command is killed:
                continue
            code, _ = command.finish()
            if crash := find_crash(command):
                self._problems.append(crash)
            elif code not in (0, 1, 2) or (code == 2 and fault == "none"):
                self._problems.append(f"rootle {command.name}: {last_message(command)}")
            elif code == 0 and command.name == "memory":
                self._facts += [line for line in [_read_fact(command)] if line]
        self._commands = []

    def _check(self, fault: str) -> None:
        """Compare all answers and memories with the expected ones."""
        self._start_missing(fault)
        self._follow_remedy()
        new_index = self._folder / "new-index"
        questions = random_questions(self._rng, _QUESTIONS)
        expected = expected_answers(self._tree.root, new_index, questions)
        shutil.rmtree(new_index)
        for searcher in self._searchers():
            self._problems += compare_searcher(searcher, expected, self._options.comparison)
        self._check_command(expected)
        self._check_memories()
        self._problems += find_open_files(self._disk.folder)
        for name, service in list(self._services.items()):
            if crash := find_crash(service):
                self._problems.append(crash)
                service.kill()
                del self._services[name]  # so that the crash is reported once

    def _follow_remedy(self) -> None:
        """Rebuild the index if a search says that this is necessary."""
        command = search_command(self._place, self._draw_question(), self._draw_umask())
        code, _ = command.finish()
        if code == 2 and _REMEDY in command.messages:
            index_command(self._place, self._draw_umask(), "--rebuild").finish()

    def _check_command(self, expected: ExpectedAnswers) -> None:
        question = self._rng.choice(list(expected.answers))
        command = search_command(self._place, question, self._draw_umask())
        code, out = command.finish()
        if code not in (0, 1):
            self._problems.append(f"rootle search: {last_message(command)}")
            return
        comparison = self._options.comparison
        differences = answer_differences(question, json.loads(out), expected, comparison)
        self._problems += [f"rootle search: {line}" for line in differences]

    def _check_memories(self) -> None:
        """Check that each acknowledged memory is listed, and that some are recalled."""
        command = memory_command(self._place, self._draw_umask(), "list", "--json")
        code, out = command.finish()
        if code not in (0, 1):
            self._problems.append(f"rootle memory list: {last_message(command)}")
            return
        stored = {memory["text"] for memory in json.loads(out)}
        self._problems += [f"lost memory: {fact}" for fact in self._facts if fact not in stored]
        self._facts = [fact for fact in self._facts if fact in stored]
        server = self._services.get("mcp")
        if isinstance(server, McpServer):
            recent = self._facts[-_RECALLED:]
            for fact in {*recent, *self._rng.sample(self._facts, len(recent))}:
                if not any(fact in line for line in server.recall(fact) or ()):
                    self._problems.append(f"recall does not find the memory: {fact}")

    def _restart_all(self) -> None:
        for service in (*self._services.values(), *self._commands):
            service.kill()
        self._services, self._commands = {}, []


def _environment(injector: FaultInjector, home: Path) -> dict[str, str]:
    """Return the variables of all processes: their own home folder, and the faults."""
    names = ("CACHE", "CONFIG", "DATA", "STATE")
    folders = {f"XDG_{name}_HOME": os.fspath(home / name.lower()) for name in names}
    for path in folders.values():
        os.mkdir(path, 0o700)
    return {**injector.environment, **folders, "HOME": os.fspath(home)}


def _read_fact(command: Command) -> str:
    """Return the fact that a `rootle memory add` command stored."""
    return command.arguments[-1]
