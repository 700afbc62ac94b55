"""The servers that serve legs of one folder's index: asked, fed, and told to forget."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from rootle.config.fields import EMBEDDED, Config
from rootle.errors import UnavailableError
from rootle.index.local.snapshot import Snapshot, is_read_only
from rootle.index.local.writer_lock import writer_lock
from rootle.index.remote.backends import (
    Backend,
    check_backend,
    opener_of,
)
from rootle.index.remote.protocol import Leg, RemoteIndex
from rootle.index.remote.remote_leg import ExpectedIndex, RemoteDenseLeg, RemoteLeg, RemoteSparseLeg
from rootle.index.remote.replica_state import (
    LEGS,
    STORE,
    ReplicaState,
    index_name,
    key_of_record,
    read_record,
)
from rootle.index.remote.replication import ReplicaTarget, Replication, lock_name
from rootle.index.remote.replicator import Replicator
from rootle.plugins.registry import find_plugins
from rootle.protocols import DenseIndex, SparseIndex
from rootle.serialization.timestamps import format_timestamp
from rootle.types import BackendStatus

# Another process that feeds the same server is waited for so long by a command that fills it.
_PATIENCE_S: Final = 60.0
_SHORT_PATIENCE_S: Final = 5.0  # and by one that deletes it


@dataclass(frozen=True, slots=True)
class _Served:
    """One leg with everything that belongs to it."""

    backend: Backend
    server: str  # its name, for messages and the record
    feeder: Replicator
    open_index: Callable[[str], RemoteIndex]


class RemoteIndexes:
    """For one leg or both. Nothing is sent before it is asked to do something."""

    def __init__(
        self, root: Path, index_dir: Path, config: Config, snapshot: Callable[[], Snapshot]
    ) -> None:
        """Raises ConfigError for a backend that is unknown or has no address."""
        self._root = root
        self._index_dir = index_dir
        self._snapshot = snapshot
        self._writes = config.enable_indexing
        self.dense: DenseIndex | None = None
        self.sparse: SparseIndex | None = None
        self._served: dict[Leg, _Served] = {}
        self._plugins = find_plugins(config.plugins)
        for backend in backends_of(config):
            check_backend(backend, self._plugins)
            if backend.kind != EMBEDDED:
                self._serve(backend)

    def _serve(self, backend: Backend) -> None:
        server, open_index = opener_of(backend, self._plugins)
        leg = RemoteLeg(
            server,
            backend.timeout_s,
            partial(self._wanted, backend.leg),
            partial(self.wake, backend.leg),
            partial(self._settle, backend.leg),
        )
        if backend.leg == "dense":
            self.dense = RemoteDenseLeg(leg, open_index)
        else:
            self.sparse = RemoteSparseLeg(leg, open_index)
        feed = Replication(
            ReplicaTarget(self._index_dir, str(self._root), backend.leg, server, open_index)
        )
        self._served[backend.leg] = _Served(backend, server, Replicator(feed), open_index)

    def wake(self, leg: Leg | None = None) -> None:
        """Have them brought up to date in the background."""
        if self._writes and not is_read_only(self._index_dir):
            for one in LEGS if leg is None else (leg,):
                if one in self._served:
                    self._served[one].feeder.wake()

    def wake_those_behind(self, snapshot: Snapshot) -> None:
        """The same for those that are known to lack something; their pauses are kept."""
        for leg in self._served:
            record = read_record(snapshot.value(key_of_record(leg)))
            if record is None or record.generation < snapshot.generation:
                self.wake(leg)

    def feed_now(self) -> Iterator[str]:
        """Bring them up to date before this returns; a sentence for each one that failed."""
        for leg, served in self._served.items():
            record = served.feeder.run_now(_PATIENCE_S)
            if record is None:
                yield f"another rootle process fills the {leg} index at {served.server}"
            elif record.failures:
                yield (
                    f"the {leg} index is not up to date, and will be tried again: {record.reason}"
                )

    def drop(self) -> Iterator[str]:
        """Delete what they hold of this index; a sentence for each one that could not."""
        values = {name: self._snapshot().value(name) for name in (STORE, "fingerprint")}
        for leg, served in self._served.items():
            name = self._name(leg, values)
            if not values[STORE]:
                continue  # nothing was ever written
            try:
                # Whoever fills it would make it again.
                with writer_lock(self._index_dir, _SHORT_PATIENCE_S, _say_nothing, lock_name(leg)):
                    served.open_index(name).drop()
            except UnavailableError as error:
                yield f'the {leg} index "{name}" stays where it is: {error}'

    def status(self, snapshot: Snapshot) -> tuple[BackendStatus, ...]:
        """How far they are, as it was when they were last heard of."""
        found = []
        for leg, served in self._served.items():
            record = read_record(snapshot.value(key_of_record(leg)))
            if record is not None and record.server != served.server:
                record = None
            found.append(_status(served, record, snapshot))
        return tuple(found)

    def close(self) -> None:
        for served in self._served.values():
            served.feeder.close()

    def _settle(self, leg: Leg, timeout_s: float) -> None:
        self._served[leg].feeder.wait(timeout_s)

    def _wanted(self, leg: Leg) -> ExpectedIndex:
        snapshot = self._snapshot()
        values = {name: snapshot.value(name) for name in (STORE, "fingerprint")}
        if not values[STORE]:
            self.wake(leg)
            raise UnavailableError(
                f"{self._served[leg].server} holds nothing of this folder yet; `rootle index` "
                "fills it now"
            )
        return ExpectedIndex(self._name(leg, values), snapshot.generation)

    def _name(self, leg: Leg, values: Mapping[str, str]) -> str:
        return index_name(str(self._root), values[STORE], values["fingerprint"], leg)


def backends_of(config: Config) -> tuple[Backend, ...]:
    """What is configured for each leg."""
    return (
        Backend(
            "dense",
            config.dense_backend,
            config.dense_endpoint,
            config.dense_api_key,
            config.dense_api_key_command,
            config.dense_timeout_ms / 1000,
        ),
        Backend(
            "sparse",
            config.sparse_backend,
            config.sparse_endpoint,
            config.sparse_api_key,
            config.sparse_api_key_command,
            config.sparse_timeout_ms / 1000,
        ),
    )


def _status(served: _Served, record: ReplicaState | None, snapshot: Snapshot) -> BackendStatus:
    generation = record.generation if record else -1
    failing = record if record is not None and record.failures else None
    return BackendStatus(
        leg=served.backend.leg,
        backend=served.backend.kind,
        server=served.server,
        index=record.name if record else "",
        generation=generation,
        waiting_files=snapshot.files_changed_since(generation),
        failing_since=format_timestamp(failing.since_s) if failing else None,
        next_try=format_timestamp(failing.retry_at_s) if failing else None,
        reason=failing.reason if failing else "",
    )


def _say_nothing() -> None:
    pass
