"""Handle the errors and invalid results of sources that the calling program provides."""

from __future__ import annotations

import logging
import pickle
import pickletools
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar, get_args

from rootle.errors import ConfigError
from rootle.sources.files.skip_rules import READER_FAILED, SOURCE_FAILED
from rootle.sources.source import Document, DocumentReader, Scan, Source, Trust
from rootle.sources.source_validation import check_scan, find_fault, show_value
from rootle.types import FILES, WarningCallback

_LOG = logging.getLogger(__name__)
_Result = TypeVar("_Result")
_METHODS: Final = ("scan", "look_up", "is_readable", "reader")


@dataclass(frozen=True)
class GuardedReader:
    """Reads the documents of a source. A document whose reader fails is skipped.

    Pickling raises PicklingError if other processes cannot import the class of the reader.
    """

    source: str
    reader: DocumentReader | None  # None if the source returned none

    def read(self, uri: str) -> Document | str:
        """Return a valid document, or the reason why it is not indexed."""
        if self.reader is None:
            return SOURCE_FAILED
        try:
            found = self.reader.read(uri)
        except (Exception, SystemExit) as error:
            _LOG.warning(
                'the source "%s" cannot read %s: %s; it is skipped',
                self.source,
                uri,
                _describe(error),
            )
            return SOURCE_FAILED
        fault = find_fault(found)
        if fault:
            _LOG.warning(
                'the source "%s" returned an invalid document for %s: %s; it is skipped',
                self.source,
                uri,
                fault,
            )
            return READER_FAILED
        if isinstance(found, str):
            return found
        return replace(found, uri=uri, sections=tuple(found.sections))

    def __reduce__(self) -> tuple[Any, ...]:  # Any: as in the base class
        data = pickle.dumps(self.reader)
        # A worker process has a different `__main__` module.
        if any(argument == "__main__" for _, argument, _ in pickletools.genops(data)):
            raise pickle.PicklingError(f'the reader of the source "{self.source}" is in __main__')
        return _restore_reader, (self.source, data)


def _restore_reader(source: str, data: bytes) -> GuardedReader:
    try:
        return GuardedReader(source, pickle.loads(data))
    except Exception as error:  # unpickling runs code of the program
        _LOG.warning(
            'a worker process cannot import the reader of the source "%s": %s',
            source,
            _describe(error),
        )
        return GuardedReader(source, None)


class GuardedSource:
    """Wraps a source, so that its failures do not prevent a search. Thread-safe if the source is.

    If the source cannot list its documents, the index keeps them unchanged.
    """

    def __init__(self, source: Source, on_warning: WarningCallback) -> None:
        self.name = source.name
        self.trust: Trust = source.trust
        self._source = source
        self._on_warning = on_warning
        self._warned: set[str] = set()
        self.failure = ""  # why the source has failed since its last successful scan, or ""

    def scan(self, token: str = "") -> Scan:
        """Return the valid result of a scan, or an empty one that removes nothing."""
        found = self._call(lambda: check_scan(self._source.scan(token)))
        if found is None:
            return Scan((), is_complete=False)
        scan, repeated = found
        if repeated:
            self._warn(
                f'the source "{self.name}" lists {repeated} more than once; URIs must be unique, '
                "so only its first entry is used"
            )
        return scan

    def look_up(self, uris: Collection[str]) -> Scan | None:
        """Return the scan results of some documents; None if the source fails."""
        return self._call(lambda: self._look_up(uris), keep_failure=True)

    def _look_up(self, uris: Collection[str]) -> Scan | None:
        found = self._source.look_up(uris)
        return None if found is None else check_scan(found)[0]

    def is_readable(self, uri: str) -> bool:
        """Return whether a document can be read now; False if the source fails."""
        return not self.failure and bool(
            self._call(lambda: self._source.is_readable(uri), keep_failure=True)
        )

    def reader(self) -> GuardedReader:
        """Return a reader that skips the documents that it cannot read."""
        return GuardedReader(self.name, self._call(self._source.reader, keep_failure=True))

    def _call(
        self, function: Callable[[], _Result], *, keep_failure: bool = False
    ) -> _Result | None:
        """Return the result of a call, or None after a failure."""
        try:
            result = function()
        except (Exception, SystemExit) as error:
            self.failure = _describe(error)
            self._warn(
                f'the source "{self.name}" failed: {self.failure}; its documents are searched as '
                "they were last indexed"
            )
            return None
        if not keep_failure and self.failure:
            self.failure = ""
            self._warned.clear()
        return result

    def _warn(self, message: str) -> None:
        """Report a message once, until the source works again."""
        if message not in self._warned:
            self._warned.add(message)
            self._on_warning(message)


def guard_sources(
    sources: Sequence[Source], on_warning: WarningCallback
) -> tuple[GuardedSource, ...]:
    """Return guarded sources. Raise ConfigError for an invalid source or a repeated name."""
    if not isinstance(sources, Iterable):
        raise ConfigError(f"sources is {show_value(sources)}, expected a list of sources")
    found: dict[str, GuardedSource] = {}
    for source in sources:
        name, trust = getattr(source, "name", None), getattr(source, "trust", None)
        missing = [one for one in _METHODS if not callable(getattr(source, one, None))]
        if missing:
            raise ConfigError(
                f"sources contains {show_value(source)}, which is not a source: it has no method "
                f"{missing[0]}"
            )
        if not (isinstance(name, str) and name) or name == FILES:
            raise ConfigError(
                f'the name of a source is {name!r}, expected a string other than "" and "{FILES}"'
            )
        if trust not in get_args(Trust):
            expected = ", ".join(f'"{one}"' for one in get_args(Trust))
            raise ConfigError(f'trust of the source "{name}" is {trust!r}, expected {expected}')
        if name in found:
            raise ConfigError(f'two sources have the name "{name}"; give each its own name')
        found[name] = GuardedSource(source, on_warning)
    return tuple(found.values())


def _describe(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"
