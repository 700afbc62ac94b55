"""Compare the sources with their index to plan the next run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Final, NamedTuple

from rootle.index.local.manifest import Manifest
from rootle.index.reader import FileState
from rootle.sources.files.skip_rules import SOURCE_FAILED, UNREADABLE
from rootle.sources.source import DocumentEntry, Scan, SkippedDocument, Source
from rootle.types import IndexUpdated, PartialFile

TOKEN_PREFIX: Final = "token:"


class PlannedRead(NamedTuple):
    """A document to read."""

    source: str
    entry: DocumentEntry
    state: FileState | None  # the indexed state; None for a new document


class PlannedSkip(NamedTuple):
    """A document to skip from now on."""

    source: str
    skip: SkippedDocument
    state: FileState | None  # the indexed state; None for a new document


@dataclass(frozen=True, slots=True)
class Plan:
    """The changes that bring an index up to date."""

    read: tuple[PlannedRead, ...]
    skip: tuple[PlannedSkip, ...]
    remove: tuple[FileState, ...]  # no longer listed by their sources
    unchanged: int
    tokens: Mapping[str, str] = field(default_factory=dict)  # keyed by source, for its next scan
    partial: tuple[PartialFile, ...] = ()  # documents in `read` that will be indexed only in part

    @property
    def is_empty(self) -> bool:
        return not (self.read or self.skip or self.remove)

    @property
    def known_states(self) -> list[FileState]:
        """The indexed states of the documents to read or skip."""
        states = [planned.state for planned in self.read]
        states += [planned.state for planned in self.skip]
        return [state for state in states if state is not None]

    @property
    def only_adds(self) -> bool:
        """Whether the plan leaves all indexed documents unchanged."""
        return not (self.remove or self.known_states)

    @property
    def bytes_to_read(self) -> int:
        return sum(planned.entry.size for planned in self.read)


def plan_sources(
    sources: Sequence[Source], known: Iterable[FileState], value: Callable[[str], str | None]
) -> Plan:
    """Scan all sources and compare them with the index.

    `known` are the states of all documents in the index. The documents of other sources stay in the
    index: another program, which has these sources, keeps them current. However, such a document is
    removed if one of `sources` also lists it, because then its source was renamed. `value` looks up
    a value in the manifest.
    """
    states = _group_by_source(known)
    plans, listed = [], set[str]()
    for source in sources:
        scan = source.scan(value(token_key(source.name)) or "")
        plans.append(make_plan(source, scan, states.pop(source.name, ())))
        listed.update(entry.uri for entry in scan.documents if states)
    renamed = tuple(state for group in states.values() for state in group if state.path in listed)
    return _merge([*plans, Plan((), (), renamed, 0)])


def plan_documents(
    source: Source, uris: Collection[str], known: Iterable[FileState]
) -> Plan | None:
    """Compare some documents of a source with the index; return None if this needs a full scan.

    `known` are the states of these documents.
    """
    scan = source.look_up(uris)
    own = [state for state in known if state.source == source.name]
    return None if scan is None else make_plan(source, scan, own)


def make_plan(source: Source, scan: Scan, known: Iterable[FileState]) -> Plan:
    """Compare the sizes and times of scanned documents with the indexed ones."""
    states = {state.path: state for state in known}
    read = []
    unchanged = 0
    for entry in scan.documents:
        state = states.pop(entry.uri, None)
        if state is not None and _is_unchanged(entry, state, source):
            unchanged += 1
        else:
            read.append(PlannedRead(source.name, entry, state))
    skip = []
    for skipped in scan.skips:
        state = states.pop(skipped.uri, None)
        if state is None or state.skip != skipped.reason:
            skip.append(PlannedSkip(source.name, skipped, state))
    if scan.is_complete:
        gone = tuple(states.values())
    else:
        gone = tuple(states.pop(uri) for uri in scan.removed if uri in states)
        read += _list_readable(source, states.values())
    tokens = {source.name: scan.token} if scan.token else {}
    return Plan(tuple(read), tuple(skip), gone, unchanged, tokens)


def _is_unchanged(entry: DocumentEntry, state: FileState, source: Source) -> bool:
    # A document without a digest was skipped without being read, and must be read now.
    indexed = (state.size, state.mtime_ns, state.ctime_ns)
    if (entry.size, entry.mtime_ns, entry.ctime_ns) != indexed or state.digest is None:
        return False
    if state.skip in (UNREADABLE, SOURCE_FAILED) and source.is_readable(entry.uri):
        return False
    return state.is_settled


def _list_readable(source: Source, states: Iterable[FileState]) -> list[PlannedRead]:
    """Return documents that failed earlier and can be read now; a scan of changes omits them."""
    return [
        PlannedRead(source.name, DocumentEntry(s.path, s.size, s.mtime_ns, s.ctime_ns), s)
        for s in states
        if s.skip == SOURCE_FAILED and source.is_readable(s.path)
    ]


def _group_by_source(states: Iterable[FileState]) -> dict[str, list[FileState]]:
    groups: dict[str, list[FileState]] = {}
    for state in states:
        groups.setdefault(state.source, []).append(state)
    return groups


def _merge(plans: Sequence[Plan]) -> Plan:
    return Plan(
        tuple(chain.from_iterable(plan.read for plan in plans)),
        tuple(chain.from_iterable(plan.skip for plan in plans)),
        tuple(chain.from_iterable(plan.remove for plan in plans)),
        sum(plan.unchanged for plan in plans),
        {name: token for plan in plans for name, token in plan.tokens.items()},
    )


def token_key(source: str) -> str:
    """Return the manifest key under which the token of a source is stored."""
    return f"{TOKEN_PREFIX}{source}"


def update_since(before: int, plan: Plan, manifest: Manifest) -> IndexUpdated | None:
    """Return the changes since generation `before` that affect searches.

    Return None if the generation is still the same.
    """
    generation = manifest.generation()
    if generation == before:
        return None
    states, _ = manifest.list_changes_since(before)
    known = (*plan.known_states, *plan.remove)
    indexed_before = {state.path for state in known if state.skip is None}
    changed = {state.path for state in states if state.skip is None}
    skipped = {state.path for state in states if state.skip is not None}
    removed = {*skipped, *(state.path for state in plan.remove)} & indexed_before
    return IndexUpdated(generation, tuple(sorted(changed)), tuple(sorted(removed)))
