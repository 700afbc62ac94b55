"""When a batch is due, and what is in it: all with a clock that the tests move."""

from __future__ import annotations

from rootle.indexing.watch.debounce import CONFIRM_S, MANY, Debouncer, EventBatch
from rootle.indexing.watch.file_events import FileChanges


def files(*names: str) -> FileChanges:
    return FileChanges(paths=frozenset(names))


def test_a_batch_is_due_when_it_has_been_quiet_for_the_debounce_time() -> None:
    gathering = Debouncer(0.5)
    gathering.add(files("a"), 10.0)
    gathering.add(files("b"), 10.4)
    assert gathering.due_at(git_is_busy=False) == 10.9
    assert gathering.take(10.9) == EventBatch(frozenset("ab"), False, 2, 10.0)
    assert gathering.waiting == 0


def test_a_file_that_is_written_all_the_time_does_not_hold_up_the_others() -> None:
    gathering = Debouncer(0.5)
    for tenth in range(200):
        gathering.add(files("log"), tenth / 10)
    assert gathering.due_at(git_is_busy=False) == 10.0


def test_nothing_is_due_while_git_is_at_work_but_not_for_ever() -> None:
    gathering = Debouncer(0.5)
    gathering.add(files("a"), 10.0)
    assert gathering.due_at(git_is_busy=True) == 70.0


def test_nothing_heard_nothing_due() -> None:
    gathering = Debouncer(0.5)
    assert gathering.due_at(git_is_busy=False) is None
    gathering.add(FileChanges(notes=frozenset({"question-1-0"})), 10.0)
    assert gathering.due_at(git_is_busy=False) is None


def test_many_files_are_a_look_at_everything() -> None:
    gathering = Debouncer(0.5)
    gathering.add(files(*map(str, range(MANY + 1))), 10.0)
    assert gathering.take(11.0).is_whole


def test_a_fruitless_look_at_everything_is_not_repeated_soon_but_files_are_not_held_up() -> None:
    gathering = Debouncer(0.5)
    gathering.looked(10.0, 1.0, found_nothing=True)
    gathering.add(FileChanges(is_git=True), 11.0)
    assert gathering.due_at(git_is_busy=False) == 30.0
    gathering.add(files("a"), 12.0)
    assert gathering.due_at(git_is_busy=False) == 12.5
    assert gathering.take(12.5) == EventBatch(frozenset("a"), False, 1, 11.0)
    assert gathering.due_at(git_is_busy=False) == 30.0
    assert gathering.take(30.0).is_whole


def test_who_asks_gets_everything_at_once() -> None:
    gathering = Debouncer(0.5)
    gathering.looked(10.0, 1.0, found_nothing=True)
    gathering.add(FileChanges(is_git=True), 11.0)
    gathering.add(files("a"), 11.0)
    assert gathering.take(11.0, all_of_it=True) == EventBatch(frozenset("a"), True, 1, 11.0)
    assert gathering.is_empty


def test_what_could_not_be_indexed_waits_for_the_next_time() -> None:
    gathering = Debouncer(0.5)
    gathering.add(files("a"), 10.0)
    batch = gathering.take(10.5)
    gathering.add(files("b"), 11.0)
    gathering.put_back(batch)
    assert (gathering.waiting, gathering.since) == (2, 10.0)
    assert gathering.take(20.0).paths == frozenset("ab")


def test_when_it_has_been_quiet_for_long_everything_is_looked_at_once_more() -> None:
    gathering = Debouncer(0.5)
    gathering.add(files("a"), 10.0)
    gathering.take(10.5)
    assert gathering.due_at(git_is_busy=False) == 10.0 + CONFIRM_S
    assert gathering.take(10.0 + CONFIRM_S) == EventBatch(frozenset(), True, 0, 10.5)
    assert gathering.due_at(git_is_busy=False) is None
