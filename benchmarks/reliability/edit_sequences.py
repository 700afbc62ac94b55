"""Compare an index after random edits with a new index of the same tree.

    python -m benchmarks.reliability.edit_sequences [--sequences 200] [--seed N] [--kills 0]
        [--compare answers|ranked|paths] [--first N] [--jobs 2] [--json FILE]

A sequence is a git working tree that is edited at random. After every few edits its index is
updated, by `App.index` or by a search. With `--kills`, processes that update it are killed with
SIGKILL at random moments. At the end of a sequence, the same questions are asked of this index and
of a new one. To repeat a sequence, pass the printed seed and `--first NUMBER --sequences 1`.

`--compare` selects how strict the comparison is: all values of an answer (`answers`), paths,
scores and lines (`ranked`), or only the order of paths (`paths`).
"""

from __future__ import annotations

import multiprocessing
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from itertools import repeat
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random, SystemRandom
from typing import Final

from benchmarks.common.arguments import FIRST, JOBS, JSON, RANDOM_SEED, command_parser, option
from benchmarks.common.reports import write_json
from benchmarks.reliability.random_text import random_questions
from benchmarks.reliability.random_tree import RandomTree
from benchmarks.reliability.ranked_answers import (
    COMPARE,
    ask,
    comparison_config,
    describe_differences,
    fresh_answers,
)
from rootle import App, open_app

_QUESTIONS: Final = 18  # number of questions at the end of a sequence
_MAX_ROUNDS: Final = 8  # a sequence has fewer updates than this
_MAX_EDITS: Final = 12  # fewer edits than this precede an update
_MAX_UPDATE_S: Final = 0.4  # longest time from the start of an update until its process is killed
_MAX_SHOWN: Final = 10  # differences that are printed per sequence


@dataclass(frozen=True, slots=True)
class SequenceOptions:
    """The options that all sequences of a run share."""

    seed: int
    comparison: str = "answers"
    kills: int = 0  # per sequence


@dataclass(frozen=True, slots=True)
class SequenceResult:
    """The outcome of one sequence."""

    number: int
    edits: tuple[str, ...]
    questions: int
    kills: int  # processes that were killed while they updated the index
    differences: tuple[str, ...]  # one line for each answer that differs


def main() -> None:
    parser = command_parser(
        __doc__,
        option("--sequences", type=int, default=200, help="default: %(default)s"),
        RANDOM_SEED,
        FIRST,
        option("--kills", type=int, default=0, help="number of kills in all sequences"),
        COMPARE,
        JOBS,
        JSON,
    )
    args = parser.parse_args()
    seed = SystemRandom().randrange(1 << 32) if args.seed is None else args.seed
    print(f"seed {seed}", flush=True)
    # Rounded up, so that at least the requested number of processes is killed.
    options = SequenceOptions(seed, args.compare, -(-args.kills // args.sequences))
    numbers = range(args.first, args.first + args.sequences)
    results = list(_report_each(run_sequences(numbers, options, args.jobs), options))
    print(summarize(results))
    write_json(args.json, {"options": asdict(options), "sequences": [*map(asdict, results)]})
    if any(result.differences for result in results):
        sys.exit(1)


def run_sequences(
    numbers: Sequence[int], options: SequenceOptions, jobs: int = 1
) -> Iterator[SequenceResult]:
    """Yield the result of each sequence, in the order of their numbers."""
    if jobs <= 1:
        yield from map(run_sequence, numbers, repeat(options))
        return
    # A forked copy of a process with threads could deadlock.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context) as pool:
        yield from pool.map(run_sequence, numbers, repeat(options))


def run_sequence(number: int, options: SequenceOptions) -> SequenceResult:
    """Run one sequence in a temporary folder."""
    rng = Random(f"{options.seed}/{number}")
    edits: list[str] = []
    with tempfile.TemporaryDirectory(prefix="rootle-sequence-") as folder:
        tree = RandomTree(Path(folder, "tree"), rng, files=rng.choice((3, 20, 40, 40)))
        index_dir = Path(folder, "index")
        with open_app(tree.root, index_dir=index_dir, config=comparison_config()) as app:
            app.index()
            for _ in range(rng.randrange(1, _MAX_ROUNDS)):
                edits += tree.edit(rng.randrange(1, _MAX_EDITS))
                _update(app, rng)
            edits += _edit_and_kill(tree, index_dir, options.kills, rng)
            questions = random_questions(rng, _QUESTIONS)
            found = ask(app, questions)
        expected = fresh_answers(tree.root, Path(folder, "new-index"), questions)
    differences = describe_differences(found, expected, options.comparison)
    return SequenceResult(number, tuple(edits), len(questions), options.kills, differences)


def summarize(results: Sequence[SequenceResult]) -> str:
    """Return the share of sequences and of answers that equal those of a new index."""
    answers = sum(result.questions for result in results)
    different = sum(len(result.differences) for result in results)
    equal = sum(not result.differences for result in results)
    return (
        f"{equal} of {len(results)} sequences ({equal / len(results):.1%}) and "
        f"{answers - different} of {answers} answers equal those of a new index, after "
        f"{sum(len(result.edits) for result in results)} edits and "
        f"{sum(result.kills for result in results)} kills"
    )


def _report_each(
    results: Iterator[SequenceResult], options: SequenceOptions
) -> Iterator[SequenceResult]:
    """Print the differences of a sequence, if there are any, as soon as it has ended."""
    for result in results:
        if result.differences:
            repeated = f"--seed {options.seed} --first {result.number} --sequences 1"
            print(f"sequence {result.number} differs (repeat it with {repeated}):")
            for line in result.differences[:_MAX_SHOWN]:
                print(f"  {line}", flush=True)
        yield result


def _update(app: App, rng: Random) -> None:
    """Update the index with `App.index` or with a search, often after a restart."""
    if rng.random() < 0.5:
        app.close()  # the app reopens its files
    if rng.random() < 0.5:
        app.index()
    else:
        ask(app, random_questions(rng, 1))


def _edit_and_kill(tree: RandomTree, index_dir: Path, kills: int, rng: Random) -> list[str]:
    """Edit a tree and kill the process that updates its index, several times; return the edits."""
    edits: list[str] = []
    killed = 0
    while killed < kills:
        edits += tree.edit(rng.randrange(1, _MAX_EDITS))
        killed += kill_update(tree.root, index_dir, rng.uniform(0, _MAX_UPDATE_S))
    return edits


def kill_update(root: Path, index_dir: Path, delay_s: float) -> bool:
    """Kill a process while it updates an index; return False if it finishes before the delay."""
    # One server, which has imported rootle, forks all processes.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_update_once, args=(root, index_dir, sender))
    process.start()
    sender.close()
    receiver.recv()  # the update begins
    is_finished = receiver.poll(delay_s)
    process.kill()
    process.join()
    return not is_finished


def _update_once(root: Path, index_dir: Path, sender: Connection) -> None:
    """Update an index; report the beginning and the end."""
    with open_app(root, index_dir=index_dir, config=comparison_config()) as app:
        sender.send("begin")
        app.index()
        sender.send("end")


if __name__ == "__main__":
    main()
