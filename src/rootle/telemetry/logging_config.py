"""Log levels from the environment: ROOTLE_LOG for everything, ROOTLE_LOG_… for one subsystem."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
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
# The suffix of each variable, and the loggers whose level the variable sets.
SUBSYSTEMS: Final[Mapping[str, tuple[str, ...]]] = {
    "EMBED": ("rootle.embed",),
    "ENGINES": ("rootle.web",),
    "INDEX": ("rootle.index", "rootle.indexing"),
    "INGEST": ("rootle.ingest", "rootle.sources"),
    "MEMORY": ("rootle.memory",),
    "RANK": ("rootle.rank", "rootle.rerank"),
    "SEARCH": ("rootle.search",),
    "SERVER": ("rootle.server",),
    "TOOLS": ("rootle.tools",),
}


class _MessageHandler(logging.Handler):
    """Passes each line of a message to a function."""

    def __init__(self, show: Callable[[str], None]) -> None:
        super().__init__()
        self._show = show

    def emit(self, record: logging.LogRecord) -> None:
        try:
            for line in self.format(record).split("\n"):
                self._show(line)
        except Exception:  # as in the handlers of the standard library
            self.handleError(record)


def configure_logging(environment: Mapping[str, str], show: Callable[[str], None]) -> None:
    """Pass messages to `show`, at the levels that the environment variables set.

    Only entry points call this, because a program that embeds rootle configures its own logging.
    Raises ConfigError if a level is unknown.
    """
    levels = {"rootle": _level(environment, VARIABLE) or logging.WARNING}
    for name, loggers in SUBSYSTEMS.items():
        levels.update(dict.fromkeys(loggers, _level(environment, f"{VARIABLE}_{name}")))
    logging.basicConfig(format="%(message)s", handlers=[_MessageHandler(show)])
    for logger, level in levels.items():
        logging.getLogger(logger).setLevel(level)


def _level(environment: Mapping[str, str], variable: str) -> int:
    """Return the level that a variable sets, or NOTSET if it is not set."""
    text = environment.get(variable, "").strip().lower()
    if text and text not in LEVELS:
        raise ConfigError(f'{variable} is "{text}", expected one of {", ".join(LEVELS)}')
    return LEVELS.get(text, logging.NOTSET)
