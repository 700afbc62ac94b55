"""How much rootle logs: ROOTLE_LOG for all of it, ROOTLE_LOG_… for one part."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Final

from rootle.errors import ConfigError

VARIABLE: Final = "ROOTLE_LOG"
LEVELS: Final[Mapping[str, int]] = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warn": logging.WARNING,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}
# What stands behind ROOTLE_LOG_ in a variable, and whose loggers it is for.
SUBSYSTEMS: Final[Mapping[str, str]] = {
    "EMBED": "rootle.embed",
    "ENGINES": "rootle.web",
    "INDEX": "rootle.index",
    "INGEST": "rootle.ingest",
    "MEMORY": "rootle.memory",
    "RANK": "rootle.rank",
    "SEARCH": "rootle.search",
    "SERVER": "rootle.server",
    "TOOLS": "rootle.tools",
}


def configure_logging(environment: Mapping[str, str]) -> None:
    """Send the log to standard error, from the levels on that the variables name.

    For a door to call; a program that uses rootle has a log of its own. Raises ConfigError for a
    level that does not exist.
    """
    levels = {"rootle": _level(environment, VARIABLE) or logging.WARNING}
    for name, logger in SUBSYSTEMS.items():
        levels[logger] = _level(environment, f"{VARIABLE}_{name}")
    logging.basicConfig(format="rootle: %(message)s")
    for logger, level in levels.items():
        logging.getLogger(logger).setLevel(level)


def _level(environment: Mapping[str, str], variable: str) -> int:
    """The level that a variable names; NOTSET where it names none."""
    text = environment.get(variable, "").strip().lower()
    if text and text not in LEVELS:
        raise ConfigError(f'{variable} is "{text}", expected one of {", ".join(LEVELS)}')
    return LEVELS.get(text, logging.NOTSET)
