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

    def with_settings(self, **settings: Any) -> Option:
        """Return a variant of this option, such as one with another default value."""
        return Option(self.name, {**self.settings, **settings})


def option(name: str, **settings: Any) -> Option:
    """Return an option with the keyword arguments of `ArgumentParser.add_argument`."""
    return Option(name, settings)


def command_parser(doc: str | None, *options: Option) -> argparse.ArgumentParser:
    """Return a parser with these options; the first line of `doc` is its description."""
    parser = argparse.ArgumentParser(description=(doc or "").split("\n", 1)[0])
    add_options(parser, *options)
    return parser


def add_options(parser: argparse.ArgumentParser, *options: Option) -> None:
    """Add options to a parser."""
    for one in options:
        parser.add_argument(one.name, **one.settings)


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
CHECKOUTS: Final = option(
    "checkouts", type=Path, metavar="CHECKOUTS", help="folder with one work tree per repository"
)
REPOSITORIES: Final = option(
    "repositories", type=Path, nargs="+", metavar="REPOSITORY", help="git work trees"
)
LABEL_FILE: Final = option(
    "labels", type=Path, metavar="LABELS", help="file with one labeled question per line"
)
RESULT_FILES: Final = option(
    "files", type=Path, nargs="*", metavar="FILE",
    help="recorded results (default: the committed ones)",
)  # fmt: skip
TREES: Final = option("trees", type=Path, nargs="+", metavar="TREE", help="source trees")
PACKAGES: Final = option(
    "packages", type=Path, nargs="+", metavar="PACKAGES",
    help="folder with one unpacked package per subfolder",
)  # fmt: skip
PUBLIC_BENCH: Final = option(
    "--bench", type=Path, nargs=2, metavar=("BENCH", "REPOS"),
    help="folder of the public benchmark, and its checkouts",
)  # fmt: skip
HISTORIES: Final = option(
    "--histories", type=Path, metavar="DIR", help="folder with one full clone per project"
)
CLONE_FOLDER: Final = option("--clones", type=Path, metavar="DIR", help="folder with clones")
RENAMED: Final = option(
    "--renamed", type=Path, metavar="DIR", help="search the copies in DIR made by renamed_copies"
)
OUT: Final = option("--out", type=Path, required=True, metavar="DIR", help="output folder")
KEEP: Final = option("--keep", type=Path, metavar="DIR", help="new folder for all files of the run")
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
HALF: Final = option(
    "--half", choices=["tune", "test"], help="half of the questions (default: both)"
)
LARGE: Final = option("--large", action="store_true", help="use the labels/large folder")
SYSTEMS: Final = option(
    "--systems", type=name_list, metavar="NAMES", help="comma-separated systems (default: all)"
)
TASKS: Final = option(
    "--tasks", type=name_set, default=frozenset(), metavar="NAMES",
    help="comma-separated tasks (default: all)",
)  # fmt: skip
LIMIT: Final = option(
    "--limit", type=int, default=15, help="questions per repository (default: %(default)s)"
)
RUNS: Final = option(
    "--runs", type=int, help="repetitions of each short command (default: %(default)s)"
)
ROUNDS: Final = option("--rounds", type=int, help="rounds (default: %(default)s)")
SEED: Final = option(
    "--seed", type=int, default=1, help="seed of the random numbers (default: %(default)s)"
)
RANDOM_SEED: Final = SEED.with_settings(
    default=None, help="seed of the random numbers (default: a random seed)"
)
FIRST: Final = option(
    "--first", type=int, default=0, help="number of the first case (default: %(default)s)"
)
COUNT: Final = option("--count", type=int, metavar="N")
JOBS: Final = option("--jobs", type=int, default=2, help="parallel jobs (default: %(default)s)")
COMMITS: Final = option(
    "--commits", type=int, help="number of newest commits (default: %(default)s)"
)
LINES: Final = option(
    "--lines", type=int, default=3, help="lines of an answer (default: %(default)s)"
)
SHOW: Final = option("--show", action="store_true", help="print what is missed")
LIST: Final = option("--list", action="store_true", help="print every question")
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
