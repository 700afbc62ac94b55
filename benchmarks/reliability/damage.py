"""Damage copies of an index at random, and compare their answers with those of the intact index.

    python -m benchmarks.reliability.damage ROOT [--cases 1000] [--seed 1] [--without sparse]

Each case damages one random file of a copy. A new process then searches this copy. Three outcomes
are allowed: the answers are equal, because the damage is harmless or the index was repaired; an
error names the remedy; or the answers report that they are incomplete. Other answers and crashes
are defects. They are listed with the command that repeats them. In every second case, the process
has no write access to the index and cannot repair it.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final, Literal

from benchmarks.common.arguments import FIRST, ROOT, SEED, command_parser, option
from rootle import open_app
from rootle.config.fields import Config
from rootle.errors import RootleError
from rootle.serialization.json import to_json
from rootle.types import SearchQuery

QUESTIONS: Final = (
    "where is the retry backoff computed",
    "how are errors reported to the user",
    "parse the configuration file",
    "open a connection",
    '"return"',
    "/def \\w+/",
    "tests for the cache",
    "path:docs how to install",
)
_PAGE: Final = 4_096
_TIMEOUT_S: Final = 120

Verdict = Literal["equal", "clean error", "reported", "unclear error", "silent difference", "crash"]
DEFECTS: Final = frozenset({"unclear error", "silent difference", "crash"})


@dataclass(frozen=True)
class Outcome:
    """The answers of a process, or why there are none."""

    answers: str = ""  # as JSON
    error: str = ""  # the message for the user
    crash: str = ""  # a traceback or a signal


@dataclass(frozen=True)
class Case:
    """One damaged copy and its verdict."""

    number: int
    damage: str
    verdict: Verdict
    details: str = ""


def main() -> None:
    args = command_parser(
        __doc__,
        ROOT,
        option("--cases", type=int, default=1000, help="number of damaged copies (default: 1000)"),
        SEED,
        FIRST,
        option("--without", action="append", default=[], help="an index folder to leave intact"),
    ).parse_args()
    counts: Counter[tuple[str, Verdict]] = Counter()
    with tempfile.TemporaryDirectory(prefix="rootle-damage-") as work:
        index = build_index(args.root, Path(work))
        trial = Trial(args.root, index, Path(work), args.seed, tuple(args.drop))
        for number in range(args.first, args.first + args.cases):
            case = trial.run(number)
            counts[case.damage.split(" ", 1)[0], case.verdict] += 1
            if case.verdict in DEFECTS:
                print(f"--seed {args.seed} --first {number} --cases 1: {case}", flush=True)
    for (kind, verdict), count in sorted(counts.items()):
        print(f"{kind:9} {verdict:18} {count:5}")
    defects = sum(count for (_, verdict), count in counts.items() if verdict in DEFECTS)
    print(f"{defects} defects in {args.cases} cases")


def build_index(root: Path, work: Path) -> Path:
    """Build the intact index of a folder; return its directory."""
    index = work / "intact"

    def build() -> str:
        with open_app(root, index_dir=index, config=_config(may_write=True)) as app:
            app.index()
        return ""

    outcome = _run_in_child(build)
    assert outcome == Outcome(), outcome
    return index


class Trial:
    """Damages copies of an intact index and judges the answers."""

    def __init__(
        self, root: Path, index: Path, work: Path, seed: int, without: Sequence[str] = ()
    ) -> None:
        self._root = root
        self._index = index
        self._copy = work / "damaged"
        self._seed = seed
        names = (file.relative_to(index) for file in index.rglob("*") if file.is_file())
        self._files = sorted(name for name in names if name.parts[0] not in without)
        shutil.copytree(index, self._copy)
        self._expected = self._search(may_write=True)
        shutil.rmtree(self._copy)
        assert self._expected.answers, self._expected

    def run(self, number: int) -> Case:
        """Damage a copy and search it; the number determines the damage."""
        rng = Random(f"{self._seed}/{number}")
        shutil.copytree(self._index, self._copy)
        try:
            damage = _damage(self._copy, rng.choice(self._files), rng)
            verdict, details = self._judge(self._search(may_write=number % 2 == 0))
            return Case(number, damage, verdict, details)
        finally:
            shutil.rmtree(self._copy)

    def _search(self, *, may_write: bool) -> Outcome:
        return _run_in_child(lambda: _ask(self._root, self._copy, may_write=may_write))

    def _judge(self, found: Outcome) -> tuple[Verdict, str]:
        if found.crash:
            return "crash", found.crash
        if found.error:
            names_remedy = "rootle index" in found.error or "--index-dir" in found.error
            return ("clean error" if names_remedy else "unclear error"), found.error
        if found == self._expected:
            return "equal", ""
        pairs = zip(json.loads(self._expected.answers), json.loads(found.answers), strict=True)
        silent = [(old, new) for old, new in pairs if old != new and not new["degraded"]]
        if not silent:
            return "reported", ""
        old, new = silent[0]
        names = [name for name in new if new[name] != old.get(name)]
        return "silent difference", f"{len(silent)} answers differ in {names}"


def _ask(root: Path, index: Path, *, may_write: bool) -> str:
    answers = []
    with open_app(root, index_dir=index, config=_config(may_write=may_write)) as app:
        for question in QUESTIONS:
            answer = to_json(app.search(SearchQuery(question, limit=30)))
            # These depend on the clock and on the number of writes, and a cursor contains both.
            del answer["tookMs"], answer["generation"], answer["nextCursor"]
            answers.append(answer)
    return json.dumps(answers)


def _config(*, may_write: bool) -> Config:
    return Config(
        stale_check_seconds=0, enable_indexing=may_write, search_log=False, memory_store=""
    )


def _damage(folder: Path, name: Path, rng: Random) -> str:
    """Damage a file of an index and describe the damage."""
    content = bytearray((folder / name).read_bytes())
    kind = rng.choice(("flip", "overwrite", "zero", "truncate"))
    at = rng.randrange(len(content)) if content else 0
    if kind == "truncate":
        del content[at:]
    elif kind == "zero":
        at -= at % _PAGE
        content[at : at + _PAGE] = bytes(len(content[at : at + _PAGE]))
    elif kind == "flip" and content:
        content[at] ^= 1 << rng.randrange(8)
    else:
        content[at : at + 16] = rng.randbytes(len(content[at : at + 16]))
    os.chmod(folder / name, 0o600)
    (folder / name).write_bytes(content)
    return f"{kind} {name} at {at}"


def _run_in_child(work: Callable[[], str]) -> Outcome:
    """Run a function in a new process and return its outcome."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        _report(work, writing)
    os.close(writing)
    with open(reading, "rb") as pipe:
        content = pipe.read()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return Outcome(crash=f"ended by {signal.Signals(os.WTERMSIG(status)).name}")
    return Outcome(**json.loads(content))


def _report(work: Callable[[], str], pipe: int) -> None:
    """Write the outcome of a function to a pipe, and end this process."""
    signal.alarm(_TIMEOUT_S)
    discarded = os.open(os.devnull, os.O_WRONLY)
    os.dup2(discarded, 2)
    try:
        outcome = {"answers": work()}
    except RootleError as error:
        outcome = {"error": str(error)}
    except BaseException:
        outcome = {"crash": traceback.format_exc()}
    with open(pipe, "w") as stream:
        json.dump(outcome, stream)
    os._exit(0)


if __name__ == "__main__":
    main()
