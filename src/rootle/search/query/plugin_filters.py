"""Files that filters of other people keep out of every answer."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial

from rootle.concurrency.deadline import DeadlineExecutor
from rootle.index.reader import FileState
from rootle.plugins.registry import FileFacts, Found, call_plugin, make_component

Keep = Callable[[FileFacts], bool]


class PluginFilters:
    """Asks each filter about each file once a generation, within a deadline."""

    def __init__(self, found: Mapping[str, Found], timeout_ms: int) -> None:
        self._found = [
            (item, DeadlineExecutor(f"filter {name}", timeout_ms)) for name, item in found.items()
        ]
        self._generation = -1
        self._kept: frozenset[int] | None = None
        self._late: tuple[str, ...] = ()

    def kept(
        self, generation: int, files: Callable[[], Sequence[FileState]]
    ) -> tuple[frozenset[int] | None, tuple[str, ...]]:
        """Ids of the files that all filters keep (None: all), and names of those left out."""
        if not self._found:
            return None, ()
        if generation != self._generation or self._late:
            self._ask(files())
            self._generation = generation
        return self._kept, self._late

    def close(self) -> None:
        for _, leg in self._found:
            leg.close()

    def _ask(self, files: Sequence[FileState]) -> None:
        asked = [(item, leg.start(partial(_judged, item, files))) for item, leg in self._found]
        answers = [(item, question.result()) for item, question in asked]
        self._late = tuple(
            f"filter {item.plugin.name}" for item, answer in answers if answer is None
        )
        known = [answer for _, answer in answers if answer is not None]
        self._kept = frozenset.intersection(*known) if known else None


def _judged(found: Found, files: Sequence[FileState]) -> frozenset[int]:
    keep: Keep = make_component(found)
    return frozenset(
        call_plugin(found, lambda: [state.id for state in files if keep(_facts(state))])
    )


def _facts(state: FileState) -> FileFacts:
    return FileFacts(state.path, state.language, state.size, state.last_modified_s)


def within(allowed: Collection[int] | None, kept: frozenset[int] | None) -> Collection[int] | None:
    """The files that pass both; None restricts nothing."""
    if kept is None or allowed is None:
        return kept if allowed is None else allowed
    return kept.intersection(allowed)
