"""Add, list, refresh and remove sources of outside knowledge."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rootle.config.fields import Config
from rootle.errors import ConfigError, IndexStorageError, IngestError, RootleError, SourceError
from rootle.index.local.index_dir import make_cache_folder
from rootle.serialization.outside_text import describe_failed_read
from rootle.sources.external.child_process import ReadNote, delete_unpacked, read_local_source
from rootle.sources.external.kinds import LOCAL_KINDS, WEB
from rootle.sources.external.records import ExternalDocument, ExternalSourceError
from rootle.sources.external.store import ExternalStore, SourceRecord
from rootle.types import AddedSource, ExternalStatus, ProgressCallback, ignore_progress

if TYPE_CHECKING:
    from rootle.indexing.external_index import ExternalIndex
    from rootle.web.site.allowed_pages import Downloads

_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_WEB_ADDRESS: Final = re.compile(r"https?://", re.IGNORECASE)
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,59}")
_MAX_WEIGHT: Final = 10.0
_MAX_SKIPS_NAMED: Final = 3
_GENERIC_NAMES: Final = frozenset(
    {"html", "doc", "docs", "documentation", "build", "public", "site"}
)


@dataclass
class _Reading:
    """The progress of reading one source."""

    kind: str
    # why some documents were not read; if set, documents that were stored earlier are kept
    failure: str = ""
    has_failed: bool = False  # whether the reason is an error, and not a limit
    left_out: str = ""
    skipped: list[str] = field(default_factory=list)
    cut: list[str] = field(default_factory=list)  # documents that were read only in part
    count: int = 0

    def describe(self) -> str:
        parts = [part for part in (self.failure, self.left_out) if part]
        if self.skipped:
            parts.append(f"{len(self.skipped)} not read: {_name_some(self.skipped)}")
        if self.cut:
            what = f"{len(self.cut)} read only in part, because of a limit or damage"
            parts.append(f"{what}: {_name_some(self.cut)}")
        return "; ".join(parts)[:500]


class ExternalSources:
    """The sources that the user added to one project."""

    def __init__(
        self,
        store: ExternalStore,
        config: Config,
        open_index: Callable[[], ExternalIndex],
        downloads: Downloads | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """`downloads` replaces the default page reader, which accepts only public addresses."""
        self._store = store
        self._config = config
        self._open_index = open_index
        self._downloads = downloads
        self._sleep = sleep

    def add(
        self,
        address: str | os.PathLike[str],
        *,
        name: str | None = None,
        kind: str | None = None,
        weight: float = 1.0,
        depth: int = 3,
        max_pages: int = 200,
        on_progress: Callable[[int], None] | None = None,
    ) -> AddedSource:
        """Read a web site, folder or file, and index its documents for `in:web`.

        `address` is a URL or a path. `name` is shown in results; the default is derived from the
        address. If `kind` is None, it is detected. `weight` multiplies the scores of the source.
        `depth` is the maximum number of links to follow from the first web page, and `max_pages`
        the maximum number of web pages. `on_progress` receives the number of documents read so far.
        An address that was added before is read again with the new options.

        Raises SourceError for an invalid name, path or option, IngestError if nothing can be read,
        WebPageError or UnavailableError if the first web page cannot be read, and ConfigError if
        `enableIndexing` is false.
        """
        self._check_may_write()
        place = _normalize_address(address)
        _check_options(place, kind, weight, depth, max_pages)
        known = {record.name: record for record in self._store.sources()}
        name = _check_name(name) if name else self._find_name(place, known)
        if name in known and known[name].address != place:
            raise SourceError(
                f'there is a source "{name}" already, at {known[name].address}; pass another name'
            )
        record = SourceRecord(
            name,
            place,
            WEB if _WEB_ADDRESS.match(place) else kind or "",
            {"depth": depth, "max_pages": max_pages},
            weight,
            time.time(),
            0.0,
            "",
        )
        return self._read_and_index(record, on_progress, is_new=name not in known)

    def list(self) -> tuple[AddedSource, ...]:
        """Return the added sources, sorted by name."""
        sizes = self._store.measure()
        now = time.time()
        return tuple(
            AddedSource(
                record.name,
                record.address,
                record.kind,
                *sizes.get(record.name, (0, 0)),
                round(max(0.0, now - record.read_s), 1),
                record.weight,
                record.note,
            )
            for record in self._store.sources()
        )

    def refresh(
        self, name: str | None = None, *, on_progress: Callable[[int], None] | None = None
    ) -> tuple[AddedSource, ...]:
        """Read one source or all sources again; return these sources.

        A source that cannot be read keeps its documents, and its `failure` contains the reason. If
        `name` is given, raises IngestError instead. Raises SourceError if there is no such source.
        """
        self._check_may_write()
        failures = {
            record.name: self._read_again(record, on_progress) for record in self._select(name)
        }
        self._open_index().update()
        sources = tuple(
            replace(source, failure=failures[source.name])
            for source in self.list()
            if source.name in failures
        )
        if name is not None and any(failures.values()):
            raise IngestError(describe_failed_read(sources[0]))
        return sources

    def _read_again(self, record: SourceRecord, on_progress: Callable[[int], None] | None) -> str:
        """Store the documents of a source; return the reason if it cannot be read, or else ""."""
        try:
            return self._read(record, on_progress)
        except RootleError as error:
            reason = str(error)[:500]
            self._store.save_source(replace(record, note=reason))
            return reason

    def remove(self, name: str, on_progress: ProgressCallback = ignore_progress) -> None:
        """Remove a source and its documents. Raises SourceError if there is no such source."""
        self._check_may_write()
        self._select(name)
        self._store.remove_source(name)
        if self._store.sources():
            self._open_index().update(on_progress)
        else:  # no source is left, so `in:web` must find nothing
            self.clear()

    def status(self) -> ExternalStatus | None:
        """Return the status of the sources and of their index; None if there are no sources."""
        sources = self.list()
        if not sources:
            return None
        store_bytes = self._store.path.stat().st_size
        folder = str(self._store.folder)
        return ExternalStatus(folder, self._open_index().measure() + store_bytes, sources)

    def measure(self) -> int:
        """Return the size of the sources and their index on disk, in bytes."""
        from rootle.indexing.status import measure_folder

        return measure_folder(self._store.folder)

    def clear(self, *, keep: bool = False) -> bool:
        """Delete all sources and their index; return False if there were none.

        With `keep`, the list of sources and their text stay, and the next search creates the index
        again.
        """
        if not self._store.folder.is_dir():
            return False
        had_index = self._open_index().clear()
        delete_unpacked(os.fspath(self._store.folder))
        if keep and self._may_have_sources():
            return had_index
        had_store = self._store.delete()
        from rootle.index.local.index_dir import delete_cache_markers

        delete_cache_markers(self._store.folder)
        try:
            self._store.folder.rmdir()
        except OSError:
            return had_index or had_store  # the folder contains other files
        return had_index or had_store

    def _may_have_sources(self) -> bool:
        try:
            return bool(self._store.sources())
        except IndexStorageError:  # a damaged list may be repaired
            return True

    def _read_and_index(
        self, record: SourceRecord, on_progress: Callable[[int], None] | None, *, is_new: bool
    ) -> AddedSource:
        try:
            failure = self._read(record, on_progress)
            if is_new:
                self._check_has_documents(record)
        except BaseException:  # also on Ctrl-C, so that no partly read source remains
            if is_new and self._store.exists():
                self._store.remove_source(record.name)
            raise
        self._open_index().update()
        source = next(source for source in self.list() if source.name == record.name)
        return replace(source, failure=failure)

    def _check_has_documents(self, record: SourceRecord) -> None:
        if not self._store.measure().get(record.name):
            note = next(one.note for one in self._store.sources() if one.name == record.name)
            raise IngestError(f"{record.address} was not added: {note or 'it contains no text'}")

    def _read(self, record: SourceRecord, on_progress: Callable[[int], None] | None) -> str:
        """Store the documents of a source and its new state.

        Return "", or the reason why the rest of the source could not be read. If nothing could be
        read, keep the time of the last read, because the stored documents are from that read.
        """
        make_cache_folder(self._store.folder)
        reading = _Reading(record.kind)
        documents = self._documents(record, reading, on_progress)
        try:
            self._store.replace_documents(
                record.name,
                documents,
                self._config.secret_exceptions,
                keeps_missing=lambda: bool(reading.failure),
            )
        except ExternalSourceError as error:
            raise IngestError(f"{record.address} cannot be read: {error}") from error
        is_unread = reading.has_failed and not reading.count
        read_s = record.read_s if is_unread else time.time()
        done = replace(record, kind=reading.kind, read_s=read_s, note=reading.describe())
        self._store.save_source(done)
        return reading.failure if reading.has_failed else ""

    def _documents(
        self, record: SourceRecord, reading: _Reading, on_progress: Callable[[int], None] | None
    ) -> Iterator[ExternalDocument]:
        read = self._read_site(record, on_progress) if record.is_site else self._read_local(record)
        for item in read:
            if isinstance(item, ExternalDocument):
                reading.count += 1
                if on_progress is not None:
                    on_progress(reading.count)
                yield item
            elif item.cut:
                reading.cut.append(item.cut)
            elif item.skipped:
                reading.skipped.append(f"{item.skipped} ({item.reason})")
            else:
                reading.kind = item.kind or reading.kind
                reading.failure = item.failure or reading.failure
                reading.has_failed |= bool(item.failure) and not item.is_limit
                reading.left_out = item.left_out or reading.left_out

    def _read_local(self, record: SourceRecord) -> Iterator[ExternalDocument | ReadNote]:
        return read_local_source(
            record.address,
            record.kind,
            self._config.external_max_documents,
            os.fspath(self._store.folder),
        )

    def _read_site(
        self, record: SourceRecord, on_progress: Callable[[int], None] | None
    ) -> Iterator[ExternalDocument | ReadNote]:
        from rootle.app.external_sites import SiteReader

        reader = SiteReader(
            self._downloads or self._open_downloads(),
            self._sleep,
            self._config.external_max_documents,
            os.fspath(self._store.folder),
            on_progress or (lambda _: None),
        )
        return reader.read(record)

    def _open_downloads(self) -> Downloads:
        from rootle.web.page_download import PageDownloader

        return PageDownloader(timeout_s=self._config.web_timeout_ms / 1000)

    def _select(self, name: str | None) -> Sequence[SourceRecord]:
        records = self._store.sources()
        found = [record for record in records if name is None or record.name == name]
        if not found:
            names = ", ".join(record.name for record in records) or "none"
            wanted = "no source was added" if name is None else f'there is no source "{name}"'
            raise SourceError(f"{wanted}; added sources: {names}")
        return found

    def _find_name(self, place: str, known: Mapping[str, SourceRecord]) -> str:
        """Return the name of the source with this address, or a new name if there is none."""
        for record in known.values():
            if record.address == place:
                return record.name
        base = _name_from(place)
        names = (base, *(f"{base}-{number}" for number in range(2, len(known) + 3)))
        return next(name for name in names if name not in known)

    def _check_may_write(self) -> None:
        if not self._config.enable_indexing:
            raise ConfigError("enableIndexing is false, so sources cannot be changed")


def _name_some(names: Sequence[str]) -> str:
    more = ", …" if len(names) > _MAX_SKIPS_NAMED else ""
    return f"{', '.join(names[:_MAX_SKIPS_NAMED])}{more}"


def _normalize_address(address: str | os.PathLike[str]) -> str:
    """Return a URL or an absolute path.

    Raise WebPageError for an invalid URL and SourceError for an invalid path.
    """
    text = os.fspath(address).strip()
    if _WEB_ADDRESS.match(text):
        from rootle.web.url import parse_page_url

        return str(parse_page_url(text.partition("#")[0]))
    if not text or "\0" in text:
        raise SourceError("the address is empty or invalid; give a URL or a path")
    path = Path(os.path.abspath(os.path.expanduser(text)))
    if not path.exists():
        if _SCHEME.match(text):
            raise SourceError(f"{text} is not a website; give a URL that starts with https://")
        raise SourceError(f"{path} does not exist; give a URL that starts with https://, or a path")
    return str(path)


def _check_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise SourceError(
            f'"{name}" is not a valid name; use up to 60 letters, digits, ".", "_" and "-"'
        )
    return name


def _check_options(place: str, kind: str | None, weight: float, depth: int, max_pages: int) -> None:
    kinds = (WEB,) if _WEB_ADDRESS.match(place) else LOCAL_KINDS
    if kind is not None and kind not in kinds:
        raise SourceError(f'unknown kind "{kind}" for {place}; use one of {", ".join(kinds)}')
    if not 0 < weight <= _MAX_WEIGHT:
        raise SourceError(
            f"weight is {weight:g}, expected more than 0 and at most 10", parameter="weight"
        )
    if not 0 <= depth <= 20:
        raise SourceError(f"depth is {depth}, expected 0 to 20", parameter="depth")
    if not 1 <= max_pages <= 10_000:
        raise SourceError(f"max_pages is {max_pages}, expected 1 to 10,000", parameter="max_pages")


def _name_from(place: str) -> str:
    """Return a name for an address: the host of a URL, or the last part of a path."""
    if _WEB_ADDRESS.match(place):
        base = place.partition("://")[2].partition("/")[0].removeprefix("www.")
    else:
        base = os.path.basename(place)
        if base.lower() in ("objects.inv", "posts.xml", "index.json", "llms.txt", "llms-full.txt"):
            base = os.path.basename(os.path.dirname(place))
        for ending in (".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".tar", ".zip", ".docset"):
            base = base.removesuffix(ending)
        if os.path.basename(place).lower() in _GENERIC_NAMES:
            base = os.path.basename(os.path.dirname(place))
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", base).strip("-._")[:50]
    return name or "source"
