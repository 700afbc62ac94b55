"""The due time and the content of a batch, with a clock that the tests set."""

from __future__ import annotations

from rootle.indexing.watch.debounce import (
    MAX_PATHS,
    PERIODIC_RESCAN_S,
    ChangeBatch,
    Debouncer,
)
from rootle.indexing.watch.event_interpretation import FileChanges


def changes_of(*paths: str) -> FileChanges:
    return FileChanges(paths=frozenset(paths))


def test_a_batch_is_due_after_the_debounce_time_without_changes() -> None:
    debouncer = Debouncer(0.5)
    debouncer.add(changes_of("a"), 10.0)
    debouncer.add(changes_of("b"), 10.4)
    assert debouncer.due_at(git_is_busy=False) == 10.9
    assert debouncer.take(10.9) == ChangeBatch(frozenset("ab"), False, 2, 10.0)
    assert debouncer.waiting == 0


def test_a_file_that_is_written_constantly_delays_the_others_by_at_most_ten_seconds() -> None:
    debouncer = Debouncer(0.5)
    for tenth in range(200):
        debouncer.add(changes_of("log"), tenth / 10)
    assert debouncer.due_at(git_is_busy=False) == 10.0


def test_a_batch_waits_for_git_for_at_most_a_minute() -> None:
    debouncer = Debouncer(0.5)
    debouncer.add(changes_of("a"), 10.0)
    assert debouncer.due_at(git_is_busy=True) == 70.0


def test_nothing_is_due_without_changes() -> None:
    debouncer = Debouncer(0.5)
    assert debouncer.due_at(git_is_busy=False) is None
    debouncer.add(FileChanges(inbox_names=frozenset({"1-0.request"})), 10.0)
    assert debouncer.due_at(git_is_busy=False) is None


def test_many_files_become_a_rescan() -> None:
    debouncer = Debouncer(0.5)
    debouncer.add(changes_of(*map(str, range(MAX_PATHS))), 10.0)
    assert not debouncer.take(11.0).is_rescan
    debouncer.add(changes_of(*map(str, range(MAX_PATHS + 1))), 12.0)
    assert debouncer.take(13.0).is_rescan


def test_a_rescan_after_an_unnecessary_rescan_is_delayed_and_changed_files_are_not() -> None:
    debouncer = Debouncer(0.5)
    debouncer.record_rescan(10.0, 1.0, found_changes=False)
    debouncer.add(FileChanges(touches_git=True), 11.0)
    assert debouncer.due_at(git_is_busy=False) == 30.0
    debouncer.add(changes_of("a"), 12.0)
    assert debouncer.due_at(git_is_busy=False) == 12.5
    assert debouncer.take(12.5) == ChangeBatch(frozenset("a"), False, 1, 11.0)
    assert debouncer.due_at(git_is_busy=False) == 30.0
    assert debouncer.take(30.0).is_rescan


def test_a_rescan_after_a_rescan_that_found_changes_is_not_delayed() -> None:
    debouncer = Debouncer(0.5)
    debouncer.record_rescan(10.0, 1.0, found_changes=False)
    debouncer.record_rescan(11.0, 1.0, found_changes=True)
    debouncer.add(FileChanges(touches_git=True), 12.0)
    assert debouncer.due_at(git_is_busy=False) == 12.5


def test_a_requested_rescan_is_not_delayed() -> None:
    debouncer = Debouncer(0.5)
    debouncer.record_rescan(10.0, 1.0, found_changes=False)
    debouncer.request_rescan(11.0)
    assert debouncer.due_at(git_is_busy=False) == 11.5
    assert debouncer.waiting == 1


def test_all_changes_are_returned_at_once_on_request() -> None:
    debouncer = Debouncer(0.5)
    debouncer.record_rescan(10.0, 1.0, found_changes=False)
    debouncer.add(FileChanges(touches_git=True), 11.0)
    debouncer.add(changes_of("a"), 11.0)
    assert debouncer.take(11.0, take_all=True) == ChangeBatch(frozenset("a"), True, 1, 11.0)
    assert debouncer.is_empty


def test_a_batch_that_failed_joins_the_next_one() -> None:
    debouncer = Debouncer(0.5)
    debouncer.add(changes_of("a"), 10.0)
    batch = debouncer.take(10.5)
    debouncer.add(changes_of("b"), 11.0)
    debouncer.put_back(batch)
    assert (debouncer.waiting, debouncer.since) == (2, 10.0)
    assert debouncer.take(20.0).paths == frozenset("ab")


def test_a_rescan_follows_five_minutes_after_the_last_one_even_between_changes() -> None:
    debouncer = Debouncer(0.5)
    debouncer.record_rescan(10.0, 1.0, found_changes=False)
    assert debouncer.due_at(git_is_busy=False) == 10.0 + PERIODIC_RESCAN_S
    debouncer.add(changes_of("a"), 300.0)
    assert not debouncer.take(300.5).is_rescan
    debouncer.add(changes_of("b"), 320.0)
    assert debouncer.take(320.5) == ChangeBatch(frozenset("b"), True, 1, 320.0)
    debouncer.record_rescan(321.0, 1.0, found_changes=True)
    assert debouncer.due_at(git_is_busy=False) == 321.0 + PERIODIC_RESCAN_S
    assert debouncer.take(621.0) == ChangeBatch(frozenset(), True, 0, 320.5)


def test_long_rescans_are_repeated_less_often() -> None:
    debouncer = Debouncer(0.5)
    debouncer.record_rescan(10.0, 3.0, found_changes=False)
    assert debouncer.due_at(git_is_busy=False) == 610.0
