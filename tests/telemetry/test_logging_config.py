"""Log levels from the environment, for all of rootle or for one subsystem."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from command import rootle

import rootle as package
from rootle.errors import ConfigError
from rootle.telemetry.logging_config import SUBSYSTEMS, configure_logging

LOGGERS = ("rootle", *(logger for loggers in SUBSYSTEMS.values() for logger in loggers))


@pytest.fixture(autouse=True)
def _restore_levels() -> Iterator[None]:
    before = {name: logging.getLogger(name).level for name in LOGGERS}
    yield
    for name, level in before.items():
        logging.getLogger(name).setLevel(level)


def level_of(name: str) -> int:
    return logging.getLogger(name).getEffectiveLevel()


def test_warnings_are_logged_by_default() -> None:
    configure_logging({}, print)
    assert level_of("rootle.web.fallback") == logging.WARNING


def test_one_variable_sets_the_level_of_all_loggers() -> None:
    configure_logging({"ROOTLE_LOG": "info"}, print)
    assert level_of("rootle.web.fallback") == logging.INFO
    assert level_of("rootle.index.remote.replication") == logging.INFO


def test_the_variable_of_a_subsystem_takes_precedence() -> None:
    configure_logging({"ROOTLE_LOG": "error", "ROOTLE_LOG_ENGINES": "DEBUG"}, print)
    assert level_of("rootle.web.fallback") == logging.DEBUG
    assert level_of("rootle.index.remote.replication") == logging.ERROR


def test_every_logger_of_a_subsystem_gets_its_level() -> None:
    configure_logging({"ROOTLE_LOG_INGEST": "debug"}, print)
    assert level_of("rootle.ingest.pipeline") == logging.DEBUG
    assert level_of("rootle.sources.git.command") == logging.DEBUG
    assert level_of("rootle.indexing.indexer") == logging.WARNING


def test_the_subsystems_are_packages_of_rootle() -> None:
    folder = Path(package.__file__).parent
    names = [name.partition(".")[2] for name in LOGGERS if "." in name]
    assert len(names) > len(SUBSYSTEMS)
    assert [name for name in names if not (folder / name).is_dir()] == []


def test_the_levels_of_other_libraries_do_not_change() -> None:
    before = level_of("another.library")
    configure_logging({"ROOTLE_LOG": "debug"}, print)
    assert level_of("another.library") == before


def test_an_unknown_level_is_an_error() -> None:
    with pytest.raises(ConfigError, match='ROOTLE_LOG_ENGINES is "loud", expected one of debug'):
        configure_logging({"ROOTLE_LOG_ENGINES": "loud"}, print)


@pytest.mark.slow
def test_a_command_reports_an_unknown_level(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROOTLE_LOG", "loud")
    answer = rootle("status")
    assert answer.code == 2
    assert 'ROOTLE_LOG is "loud"' in answer.err


def test_each_line_of_a_message_is_shown_like_other_messages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown: list[str] = []
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    configure_logging({}, shown.append)
    logging.getLogger("rootle.sources").warning("the file %s is not read", "a\nb")
    assert shown == ["the file a", "b is not read"]


@pytest.mark.slow
def test_a_warning_about_a_file_has_no_control_characters(tmp_path: Path) -> None:
    folder = tmp_path / "\x1b[31mred"
    (folder / ".rootleignore").mkdir(parents=True)
    (folder / "a.py").write_text("x = 1\n")
    answer = rootle("index", tmp_path)
    assert "\\x1b[31mred/.rootleignore is not applied" in answer.err
    assert "\x1b" not in answer.err
