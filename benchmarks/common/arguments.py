"""Command-line options that several commands share."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final


@dataclass(frozen=True)
class Option:
    """One argument of a command: its name and the keyword arguments for `add_argument`."""

    name: str
    settings: Mapping[str, Any]


def option(name: str, **settings: Any) -> Option:
    """Return an option with the keyword arguments of `ArgumentParser.add_argument`."""
    return Option(name, settings)


def command_parser(doc: str | None, *options: Option) -> argparse.ArgumentParser:
    """Return a parser with these options; the first line of `doc` is its description."""
    parser = argparse.ArgumentParser(description=(doc or "").split("\n", 1)[0])
    for one in options:
        parser.add_argument(one.name, **one.settings)
    return parser


def name_set(text: str) -> frozenset[str]:
    """Return the names in a comma-separated list."""
    return frozenset(filter(None, text.split(",")))


def name_list(text: str) -> list[str]:
    """Return the names in a comma-separated list, in the given order."""
    return list(filter(None, text.split(",")))


BENCH: Final = option(
    "bench", type=Path, metavar="BENCH",
    help="folder of the public benchmark, with repos.json and annotations/",
)  # fmt: skip
REPOS: Final = option(
    "repos", type=Path, metavar="REPOS", help="folder with one checkout per repository"
)
CLONES: Final = option(
    "clones", type=Path, metavar="CLONES", help="folder with one full clone per repository"
)
WORK: Final = option(
    "work", type=Path, metavar="WORK", help="folder for one work tree and index per repository"
)
ROOT: Final = option("root", type=Path, metavar="ROOT", help="folder to search")
ONLY: Final = option(
    "--only", type=name_set, default=frozenset(), metavar="NAMES",
    help="comma-separated names of repositories (default: all)",
)  # fmt: skip
SPLIT: Final = option(
    "--split", choices=["tune", "test"], help="half of the labels (default: both)"
)
HISTORY_SPLIT: Final = option(
    "--split", choices=["train", "held-out"], help="half of the repositories (default: both)"
)
LIMIT: Final = option(
    "--limit", type=int, default=15, help="questions per repository (default: %(default)s)"
)
RUNS: Final = option(
    "--runs", type=int, help="repetitions of each short command (default: %(default)s)"
)
INDEXES: Final = option(
    "--indexes", type=Path, metavar="DIR", help="keep the indexes in DIR for the next run"
)
INDEX_DIR: Final = option(
    "--index-dir", type=Path, metavar="DIR", help="index folder (default: the user's cache)"
)
CONFIG: Final = option(
    "--config", type=Path, metavar="FILE", help="configuration file to use (default: none)"
)
ADAPTER: Final = option(
    "--adapter", action="append", default=[], metavar="NAME=COMMAND",
    help="another system to score on the same questions; {root} is the folder to index",
)  # fmt: skip
SCALE: Final = option(
    "--scale", type=float, default=1.0, help="factor for all sizes (default: %(default)s)"
)
JSON: Final = option("--json", type=Path, metavar="FILE", help="write the figures to FILE")
