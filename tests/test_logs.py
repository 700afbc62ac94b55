"""The variables say how much is logged, of everything or of one part."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
from command import rootle

from rootle.errors import ConfigError
from rootle.telemetry.logging_config import SUBSYSTEMS, configure_logging


@pytest.fixture(autouse=True)
def _levels_as_they_were() -> Iterator[None]:
    names = ("rootle", *SUBSYSTEMS.values())
    before = {name: logging.getLogger(name).level for name in names}
    yield
    for name, level in before.items():
        logging.getLogger(name).setLevel(level)


def level_of(name: str) -> int:
    return logging.getLogger(name).getEffectiveLevel()


def test_warnings_are_logged_where_nothing_is_said() -> None:
    configure_logging({})
    assert level_of("rootle.web.fallback") == logging.WARNING


def test_one_variable_is_for_everything() -> None:
    configure_logging({"ROOTLE_LOG": "info"})
    assert (
        level_of("rootle.web.fallback")
        == level_of("rootle.index.remote.replication")
        == logging.INFO
    )


def test_a_part_has_a_variable_of_its_own_that_goes_before() -> None:
    configure_logging({"ROOTLE_LOG": "error", "ROOTLE_LOG_ENGINES": "DEBUG"})
    assert level_of("rootle.web.fallback") == logging.DEBUG
    assert level_of("rootle.index.remote.replication") == logging.ERROR


def test_other_libraries_stay_as_quiet_as_they_are() -> None:
    before = level_of("somebody.else")
    configure_logging({"ROOTLE_LOG": "debug"})
    assert level_of("somebody.else") == before


def test_a_level_that_does_not_exist_is_said() -> None:
    with pytest.raises(ConfigError, match='ROOTLE_LOG_ENGINES is "loud", expected one of debug'):
        configure_logging({"ROOTLE_LOG_ENGINES": "loud"})


def test_a_command_says_so_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROOTLE_LOG", "loud")
    answer = rootle("status")
    assert answer.code == 2
    assert 'ROOTLE_LOG is "loud"' in answer.err
