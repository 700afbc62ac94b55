"""Torture test: edits, kills and faults while several processes search.

    python -m benchmarks.reliability.torture [--minutes 5 | --rounds N] [--seed N]
        [--compare answers|ranked|paths] [--faults none,disk-full,…] [--keep DIR]

In each round, a git working tree is edited. Meanwhile, a long-lived app, an MCP server, a watcher
and commands search and index it and store memories. Each process has a random umask. Processes are
killed with SIGKILL at random moments, and one kind of fault is injected. After the round, all
answers must equal those of a new index of the tree, all acknowledged memories must be found, no
file may be readable by other users, and no process may have crashed or hung.

A seed repeats the edits, the faults and the choice of processes, but not their timing. A full disk
is simulated by a small file system in memory if one can be mounted; otherwise it is injected like
the other faults, by a library that is compiled with gcc and preloaded.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from random import SystemRandom

from benchmarks.common.arguments import KEEP, RANDOM_SEED, ROUNDS, command_parser, name_list, option
from benchmarks.reliability.fault_injection import FaultInjectionError
from benchmarks.reliability.random_faults import RandomFaults
from benchmarks.reliability.ranked_answers import COMPARE
from benchmarks.reliability.torture_rounds import (
    RoundResult,
    Torture,
    TortureOptions,
    summarize,
)


def main() -> None:
    args = parse_arguments()
    seed = SystemRandom().randrange(1 << 32) if args.seed is None else args.seed
    options = TortureOptions(seed, args.compare, tuple(args.faults))
    if args.keep is not None:
        args.keep.mkdir(parents=True)
        sys.exit(run(args.keep, options, args.minutes, args.rounds))
    with tempfile.TemporaryDirectory(prefix="rootle-torture-") as folder:
        code = run(Path(folder), options, args.minutes, args.rounds)
    sys.exit(code)


def parse_arguments() -> argparse.Namespace:
    parser = command_parser(
        __doc__,
        option("--minutes", type=float, default=5.0, help="default: %(default)s"),
        ROUNDS.with_settings(help="number of rounds instead of a duration"),
        RANDOM_SEED,
        COMPARE,
        option(
            "--faults", type=name_list, default=list(RandomFaults.KINDS), metavar="NAMES",
            help=f"comma-separated kinds of faults (default: {','.join(RandomFaults.KINDS)})",
        ),
        KEEP,
    )  # fmt: skip
    args = parser.parse_args()
    if unknown := set(args.faults) - set(RandomFaults.KINDS):
        parser.error(f"unknown faults: {', '.join(sorted(unknown))}")
    return args


def run(folder: Path, options: TortureOptions, minutes: float, rounds: int | None) -> int:
    """Run rounds until the time or their number is reached; return the exit code.

    It is 1 if there were problems, and 2 if faults cannot be injected on this machine.
    """
    print(f"seed {options.seed}", flush=True)
    try:
        torture = Torture(folder, options)
    except FaultInjectionError as error:
        print(f"torture: {error}", file=sys.stderr)
        return 2
    with torture:
        print(torture.describe_disk(), flush=True)
        results = run_rounds(torture.run_round, minutes, rounds)
    print(summarize(results))
    return int(any(result.problems for result in results))


def run_rounds(
    run_round: Callable[[], RoundResult],
    minutes: float,
    rounds: int | None,
    clock: Callable[[], float] = time.monotonic,
) -> list[RoundResult]:
    """Run a number of rounds, or start rounds until the minutes are over; print each result."""
    deadline = clock() + 60 * minutes
    results: list[RoundResult] = []
    while len(results) < rounds if rounds is not None else clock() <= deadline:
        results.append(run_round())
        print(results[-1].describe(), flush=True)
    return results


if __name__ == "__main__":
    main()
