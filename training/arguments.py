"""Command-line options that several training commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from benchmarks.common import arguments
from benchmarks.common.arguments import option

RESERVED: Final = option(
    "--reserved", type=Path, nargs="+", default=[], metavar="DIR",
    help="repositories that must not be trained on",
)  # fmt: skip
LABEL_CHECKOUTS: Final = option(
    "--labels", type=Path, metavar="CHECKOUTS", help="checkouts of the labeled repositories"
)
RENAMED: Final = arguments.RENAMED.with_settings(
    help="also use these copies made by renamed_copies"
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
