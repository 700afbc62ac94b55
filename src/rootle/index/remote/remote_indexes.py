"""The replicas of a folder's index on search servers: queries, replication and deletion."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from rootle.config.fields import EMBEDDED, Config
from rootle.errors import UnavailableError
from rootle.index.local.snapshot import Snapshot
from rootle.index.local.snapshot_source import is_read_only
from rootle.index.local.writer_lock import writer_lock
from rootle.index.remote.backends import (
    Backend,
    check_backend,
    open_backend,
)
from rootle.index.remote.background_replication import Replicator
from rootle.index.remote.protocol import Leg, RemoteIndex
from rootle.index.remote.remote_leg import ExpectedIndex, RemoteDenseLeg, RemoteLeg, RemoteSparseLeg
from rootle.index.remote.replica_state import (
    LEGS,
    STORE,
    ReplicaState,
    index_name,
    parse_state,
    state_key,
)
from rootle.index.remote.replication import ReplicaTarget, Replication, lock_name
from rootle.plugins.registry import find_plugins
from rootle.protocols import DenseIndex, SparseIndex
from rootle.serialization.timestamps import format_timestamp
from rootle.types import BackendStatus

# How long `rootle index` waits for another process that replicates to the same server.
_REPLICATE_TIMEOUT_S: Final = 60.0
_DROP_TIMEOUT_S: Final = 5.0  # how long the deletion of a replica waits


@dataclass(frozen=True, slots=True)
class _Replica:
    """The replica of one leg, dense or sparse."""

    backend: Backend
    server: str  # name for messages and the stored state
    replicator: Replicator
    open_index: Callable[[str], RemoteIndex]


class RemoteIndexes:
    """The replicas for dense and sparse retrieval. Nothing is sent before the first use."""

    def __init__(
        self, root: Path, index_dir: Path, config: Config, snapshot: Callable[[], Snapshot]
    ) -> None:
        """Raises ConfigError if a configured backend cannot be used."""
        self._root = root
        self._index_dir = index_dir
        self._snapshot = snapshot
        self._may_write = config.enable_indexing
        self.dense: DenseIndex | None = None
        self.sparse: SparseIndex | None = None
        self._replicas: dict[Leg, _Replica] = {}
        self._plugins = find_plugins(config.plugins)
        for backend in configured_backends(config):
            check_backend(backend, self._plugins)
            if backend.kind != EMBEDDED:
                self._add(backend)

    def _add(self, backend: Backend) -> None:
        server, open_index = open_backend(backend, self._plugins)
        leg = RemoteLeg(
            server,
            backend.timeout_s,
            partial(self._expected_index, backend.leg),
            partial(self.wake, backend.leg),
            partial(self._wait, backend.leg),
        )
        if backend.leg == "dense":
            self.dense = RemoteDenseLeg(leg, open_index)
        else:
            self.sparse = RemoteSparseLeg(leg, open_index)
        replication = Replication(
            ReplicaTarget(self._index_dir, str(self._root), backend.leg, server, open_index)
        )
        self._replicas[backend.leg] = _Replica(backend, server, Replicator(replication), open_index)

    def wake(self, leg: Leg | None = None) -> None:
        """Start replication of all legs, or of one leg, in the background."""
        if self._may_write and not is_read_only(self._index_dir):
            for one in LEGS if leg is None else (leg,):
                if one in self._replicas:
                    self._replicas[one].replicator.wake()

    def wake_outdated(self, snapshot: Snapshot) -> None:
        """Start replication of the replicas that are known to be outdated, respecting backoff."""
        for leg in self._replicas:
            state = parse_state(snapshot.value(state_key(leg)))
            if state is None or state.generation < snapshot.generation:
                self.wake(leg)

    def replicate_now(self) -> Iterator[str]:
        """Update all replicas, and yield a message for each failure."""
        for leg, replica in self._replicas.items():
            state = replica.replicator.run_now(_REPLICATE_TIMEOUT_S)
            if state is None:
                yield f"another rootle process is filling the {leg} index at {replica.server}"
            elif state.failures:
                yield (
                    f"the {leg} index is not up to date, and replication will be retried: "
                    f"{state.reason}"
                )

    def drop(self, snapshot: Snapshot) -> Iterator[str]:
        """Delete the replicas of a snapshot, and yield a message for each failure."""
        values = {name: snapshot.value(name) for name in (STORE, "fingerprint")}
        for leg, replica in self._replicas.items():
            name = self._name(leg, values)
            if not values[STORE]:
                continue  # nothing was ever written
            try:
                # Replication that is running would recreate the replica.
                with writer_lock(self._index_dir, _DROP_TIMEOUT_S, _say_nothing, lock_name(leg)):
                    replica.open_index(name).drop()
            except UnavailableError as error:
                yield f'the {leg} index "{name}" was not deleted: {error}'

    def status(self, snapshot: Snapshot) -> tuple[BackendStatus, ...]:
        """Return the last known state of every replica."""
        found = []
        for leg, replica in self._replicas.items():
            state = parse_state(snapshot.value(state_key(leg)))
            if state is not None and state.server != replica.server:
                state = None
            found.append(_status(replica, state, snapshot))
        return tuple(found)

    def close(self) -> None:
        for replica in self._replicas.values():
            replica.replicator.close()

    def _wait(self, leg: Leg, timeout_s: float) -> None:
        self._replicas[leg].replicator.wait(timeout_s)

    def _expected_index(self, leg: Leg) -> ExpectedIndex:
        snapshot = self._snapshot()
        values = {name: snapshot.value(name) for name in (STORE, "fingerprint")}
        if not values[STORE]:
            self.wake(leg)
            raise UnavailableError(
                f"{self._replicas[leg].server} has no index of this folder yet; "
                "run `rootle index` to create it"
            )
        return ExpectedIndex(self._name(leg, values), snapshot.generation)

    def _name(self, leg: Leg, values: Mapping[str, str]) -> str:
        return index_name(str(self._root), values[STORE], values["fingerprint"], leg)


def configured_backends(config: Config) -> tuple[Backend, ...]:
    """Return the configured backend of each leg."""
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


def _status(replica: _Replica, state: ReplicaState | None, snapshot: Snapshot) -> BackendStatus:
    generation = state.generation if state else -1
    failing = state if state is not None and state.failures else None
    return BackendStatus(
        leg=replica.backend.leg,
        backend=replica.backend.kind,
        server=replica.server,
        index=state.name if state else "",
        generation=generation,
        waiting_files=snapshot.files_changed_since(generation),
        failing_since=format_timestamp(failing.since_s) if failing else None,
        next_try=format_timestamp(failing.retry_at_s) if failing else None,
        reason=failing.reason if failing else "",
    )


def _say_nothing() -> None:
    pass
