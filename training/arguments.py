"""Command-line options that several training commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from benchmarks.common.arguments import Option, option


def make_required(one: Option) -> Option:
    """Return a required variant of an option."""
    return Option(one.name, {**one.settings, "required": True})


PACKAGES: Final = option(
    "packages", type=Path, nargs="+", metavar="PACKAGES",
    help="folder with one unpacked package per subfolder",
)  # fmt: skip
CHECKOUTS: Final = option(
    "checkouts", type=Path, metavar="CHECKOUTS", help="checkouts of the labeled repositories"
)
HISTORIES: Final = option(
    "--histories", type=Path, metavar="DIR", help="folder with one full clone per project"
)
RESERVED: Final = option(
    "--reserved", type=Path, nargs="+", default=[], metavar="DIR",
    help="repositories that must not be trained on",
)  # fmt: skip
OUT: Final = option("--out", type=Path, required=True, metavar="DIR", help="output folder")
JOBS: Final = option("--jobs", type=int, default=2, help="parallel jobs (default: %(default)s)")
PUBLIC_BENCH: Final = option(
    "--bench", type=Path, nargs=2, metavar=("BENCH", "REPOS"),
    help="folder of the public benchmark, and its checkouts",
)  # fmt: skip
LABEL_CHECKOUTS: Final = option(
    "--labels", type=Path, metavar="CHECKOUTS", help="checkouts of the labeled repositories"
)
RENAMED: Final = option(
    "--renamed", type=Path, metavar="DIR", help="also use these copies made by renamed_copies"
)
LARGE: Final = option(
    "--large", type=Path, metavar="CHECKOUTS",
    help="also use these checkouts of the repositories in labels/large",
)  # fmt: skip
SYNTHETIC: Final = option(
    "--synthetic", type=Path, required=True, metavar="DIR",
    help="repositories made by generate_questions",
)  # fmt: skip
WORK_DIR: Final = option(
    "--work", type=Path, required=True, metavar="DIR", help="folder for indexes and examples"
)
CACHE: Final = option(
    "--cache", type=Path, required=True, metavar="DIR", help="folder for reusable results"
)
