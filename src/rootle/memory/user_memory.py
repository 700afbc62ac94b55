"""The memories of one user: store and recall them, and add them to prompts and search results."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rootle.concurrency.deadline import DeadlineExecutor
from rootle.config.fields import Config
from rootle.errors import ConfigError, MemoryRefusedError, QueryError
from rootle.index.reader import IndexReader
from rootle.memory.audit import Audit, audit_memories
from rootle.memory.factory import open_store
from rootle.memory.jsonl import read_memories
from rootle.memory.prompt_block import clean_fact, clean_topic, write_block
from rootle.memory.references import (
    REFERENCE_WEIGHT,
    ReferencedProject,
    assign_to_project,
    find_missing_projects,
    find_references,
    is_possibly_stale,
    resolve_references,
)
from rootle.memory.symbol_lookup import SymbolLookup
from rootle.memory.visibility import choose_origin, is_same_project, make_filter
from rootle.protocols import Embedder, MemoryStore
from rootle.serialization.json import (
    abbreviate,
    check_flag,
    check_integer,
    check_text,
    check_texts,
)
from rootle.storage.paths import contains_home
from rootle.text.secret_masking import MaskedText, mask_secrets
from rootle.text.terms import CHARS_PER_TOKEN, encodable
from rootle.types import Memory, MemoryReference

if TYPE_CHECKING:
    from rootle.memory.sqlite_store import EmbeddedMemory
    from rootle.text.secret_detection import Exceptions

TOP_K: Final = 7
PREFETCH_TOKENS: Final = 400
_SEARCH_RESULT_TOP_K: Final = 3
# Memories of other projects may fill the first results of a store. Until enough memories of this
# project are found, the number of fetched memories is multiplied by _FETCH_GROWTH. There is no
# further attempt after _MAX_FETCHED memories have been fetched.
_MAX_FETCHED: Final = 4_000
_FETCH_GROWTH: Final = 8
# The minimum score of memories that are shown automatically, without a call of `recall`. The rows
# about `prefetch` in docs/how-to/memory.md show how often they are the right ones.
_MIN_RELEVANCE: Final = 0.4


@dataclass(frozen=True, slots=True)
class RememberedFact:
    """The stored form of a fact."""

    memory: Memory | None  # None if the store processes it later
    masked: tuple[str, ...] = ()  # the kinds of the masked secrets


def open_memory(
    root: Path,
    config: Config,
    open_embedder: Callable[[], Embedder],
    open_index: Callable[[], IndexReader],
) -> UserMemory:
    """Return the configured user's memories, with references to the files of a folder.

    Raise ConfigError if `memoryStore` is unknown or empty.
    """
    lookup = SymbolLookup(open_index)
    return UserMemory(
        open_store(config, open_embedder),
        config.memory_user_id,
        ReferencedProject(root, lookup.find_files, lookup.find_definers),
        top_k=config.memory_top_k,
        timeout_ms=config.memory_timeout_ms,
        secret_exceptions=config.secret_exceptions,
    )


@dataclass(frozen=True, slots=True)
class ImportReport:
    """The outcome of an import."""

    new: int
    known: int
    rejected: tuple[str, ...]  # line number and reason
    missing_projects: tuple[str, ...] = ()  # folders that do not exist on this machine


class UserMemory:
    """The memories of one user in a store. Safe to use from several threads."""

    def __init__(
        self,
        store: MemoryStore,
        user_id: str,
        project: ReferencedProject,
        *,
        top_k: int = TOP_K,
        timeout_ms: int = 1_000,
        secret_exceptions: Exceptions = (),
    ) -> None:
        """Create the memories of a user in a store. `timeout_ms` limits only `prefetch`."""
        self.store = store
        self.user_id = encodable(user_id)
        self._project = project
        self._top_k = top_k
        self._secret_exceptions = secret_exceptions
        self._executor = DeadlineExecutor("memory", timeout_ms)

    def remember(
        self, fact: str, about: Iterable[str] = (), *, is_personal: bool | None = None
    ) -> RememberedFact:
        """Store a fact with references to the files and names of the project that it mentions.

        `about` adds references, as "path", "path#name" or "name". A personal fact is shown in every
        project, and any other fact only in this project. If `is_personal` is None, the text and its
        references determine whether the fact is personal. Secrets are masked. Raise
        MemoryRefusedError if the fact cannot be stored, and QueryError if an argument has the wrong
        type. Errors of the store are not caught.
        """
        check_text("fact", fact)
        check_flag("is_personal", is_personal)
        about = check_texts("about", about)
        clean = self._mask(clean_fact(fact))
        if clean.is_only_secrets:
            raise MemoryRefusedError(
                f"it contains only a secret ({', '.join(clean.kinds)}), and secrets are not stored"
            )
        references = (
            *resolve_references(about, self._project),
            *find_references(clean.text, self._project),
        )
        unique = tuple(dict.fromkeys(references))
        origin = choose_origin(self._project.name, clean.text, unique, is_personal)
        memory = self.store.add(clean.text, self.user_id, unique, origin)
        return RememberedFact(memory, clean.kinds)

    def recall(self, topic: str, is_wanted: Callable[[Memory], bool] | None = None) -> list[Memory]:
        """Return at most `top_k` memories that match a topic, best first.

        Memories of other projects, and those for which `is_wanted` is false, are left out. Raise
        QueryError if the topic is empty. Errors of the store are not caught.
        """
        check_text("topic", topic)
        topic = clean_topic(topic)
        if not topic:
            raise QueryError("topic is empty")
        references = find_references(topic, self._project)
        return self._mark_stale(self._search(topic, self._top_k, references, is_wanted))

    def prefetch(self, user_message: str, budget: int = PREFETCH_TOKENS) -> str:
        """Return relevant memories as a text of at most `budget` tokens, to put before a message.

        The text is empty if no memory is relevant, or if the store does not answer in time. Its
        tags let `remember` recognize and remove it. Raise QueryError if the budget is negative.
        """
        check_text("user_message", user_message)
        check_integer("budget", budget)
        if budget < 0:
            raise QueryError(f"budget is {budget}; give a number of tokens, at least 0")
        message = clean_topic(user_message)
        if not message:
            return ""
        find = partial(self.find_relevant, message, (), self._top_k)
        memories = self._executor.start(find).result()
        return write_block(memories or (), budget * CHARS_PER_TOKEN)

    def find_relevant(
        self, text: str, paths: Sequence[str] = (), top_k: int = _SEARCH_RESULT_TOP_K
    ) -> list[Memory]:
        """Return the memories that are relevant enough to be shown automatically.

        Memories that refer to a file in `paths`, or to a file or name in the text, are relevant
        enough. `shown_for` lists the files in `paths` without which a memory would not be relevant
        enough. Memories of other projects are left out.
        """
        text = clean_topic(text)
        root = self._project.name
        named = find_references(text, self._project)
        references = (*named, *(MemoryReference(path, root=root) for path in paths))
        found = (
            self._note_reason(memory, named, paths)
            for memory in self._search(text, top_k, references)
        )
        return self._mark_stale(memory for memory in found if memory is not None)

    def find_about(self, paths: Sequence[str], names: Collection[str]) -> tuple[Memory, ...]:
        """Return the memories that refer to one of the files, or whose text contains a name."""
        found = self.find_relevant(" ".join((*paths, *names)), paths)
        return tuple(
            memory
            for memory in found
            if any(name in memory.text for name in names)
            or any(about.path in paths and not about.symbol for about in memory.about)
        )

    def _note_reason(
        self, memory: Memory, named: Iterable[MemoryReference], paths: Sequence[str]
    ) -> Memory | None:
        """Return a memory with the paths that make it relevant; None if it is irrelevant."""
        root = self._project.name
        if _refers_to(memory, root, {(about.path, about.symbol) for about in named}):
            return memory
        linked = tuple(path for path in paths if _refers_to(memory, root, {(path, "")}))
        own_score = memory.score - (REFERENCE_WEIGHT if linked else 0.0)
        if own_score >= _MIN_RELEVANCE:
            return memory
        return replace(memory, shown_for=linked) if linked else None

    def _search(
        self,
        topic: str,
        top_k: int,
        references: Sequence[MemoryReference],
        is_wanted: Callable[[Memory], bool] | None = None,
    ) -> list[Memory]:
        """Return at most `top_k` memories that match, are visible in this project and are wanted.

        Stores other than the embedded one cannot filter by project, so more memories are fetched
        from them until enough are visible. Another program may have stored secrets in such a store,
        so secrets are masked again.
        """
        from rootle.memory.sqlite_store import EmbeddedMemory

        topic = self._mask(topic).text  # a store can be on another machine
        belongs_here = make_filter(self._project.name)

        def is_visible(memory: Memory) -> bool:
            return belongs_here(memory) and (is_wanted is None or is_wanted(memory))

        if isinstance(self.store, EmbeddedMemory):
            return self.store.search(topic, self.user_id, top_k, references, is_visible=is_visible)
        wanted = top_k
        while True:
            found = self.store.search(topic, self.user_id, wanted, references)
            visible = list(filter(is_visible, found))
            if len(visible) >= top_k or len(found) < wanted or wanted >= _MAX_FETCHED:
                return [replace(one, text=self._mask(one.text).text) for one in visible[:top_k]]
            wanted *= _FETCH_GROWTH

    def list_memories(self) -> list[Memory]:
        """Return every memory, newest first.

        This method, `forget`, `audit` and the import methods require the embedded store, and raise
        ConfigError for any other store.
        """
        return self._mark_stale(self._embedded.list_memories(self.user_id))

    def forget(self, ids: Iterable[str]) -> list[str]:
        """Delete memories and erase their texts; return the ids of those that existed.

        Raise QueryError if `ids` is a string, because each of its digits would be used as an id.
        """
        return self._embedded.forget(check_texts("ids", ids), self.user_id)

    def import_memories(self, memories: Iterable[Memory]) -> int:
        """Store memories from another store with their times; return how many were new.

        Raise QueryError for anything but memories; `import_lines` reads an export.
        """
        memories = list(memories) if isinstance(memories, Iterable) else [memories]
        for one in memories:
            if not isinstance(one, Memory):
                raise QueryError(f"memories contain {abbreviate(one)}, expected Memory records")
        return self._embedded.import_memories(memories, self.user_id)

    def import_lines(self, lines: Iterable[str], *, assign: bool = False) -> ImportReport:
        """Import the output of `rootle memory export`: one JSON object per line.

        With `assign`, memories whose project folder does not exist on this machine are assigned to
        this project; raise MemoryRefusedError if the folder is not a project.
        """
        if assign and contains_home(self._project.name):
            raise MemoryRefusedError(
                f"no memory can be assigned to {self._project.root}, which contains your home "
                "folder; pass the folder of a project"
            )
        memories, rejected = read_memories(lines, self._secret_exceptions)
        if assign:
            memories = [assign_to_project(memory, self._project) for memory in memories]
        new = self.import_memories(memories)
        missing = () if assign else self._find_missing_projects(memories)
        return ImportReport(new, len(memories) - new, tuple(rejected), tuple(missing))

    def audit(self) -> Audit:
        """Return the history of the memories, and the memories to review."""
        events = self._embedded.list_events(self.user_id)
        return audit_memories(self.list_memories(), events, self._secret_exceptions)

    def _mask(self, text: str) -> MaskedText:
        return mask_secrets(text, self._secret_exceptions)

    @property
    def _embedded(self) -> EmbeddedMemory:
        from rootle.memory.sqlite_store import EmbeddedMemory

        if isinstance(self.store, EmbeddedMemory):
            return self.store
        raise ConfigError(
            'memoryStore is not "embedded": memories in another store cannot be listed, deleted, '
            "exported, imported or audited here; use the tools of that store"
        )

    def close(self) -> None:
        """Close the store. The next use opens it again."""
        self._executor.close()
        close = getattr(self.store, "close", None)
        if close is not None:
            close()

    def _find_missing_projects(self, memories: Iterable[Memory]) -> list[str]:
        """Return the missing project folders of memories, except old folders of this project.

        Personal memories are skipped, because they are shown in every project.
        """
        name = self._project.name
        missing = (find_missing_projects(one) for one in memories if not one.is_personal)
        folders = dict.fromkeys(chain.from_iterable(missing))
        return [folder for folder in folders if not is_same_project(folder, name)]

    def _mark_stale(self, memories: Iterable[Memory]) -> list[Memory]:
        return [
            replace(
                memory,
                possibly_stale=memory.possibly_stale or is_possibly_stale(memory, self._project),
            )
            for memory in memories
        ]


def _refers_to(memory: Memory, root: str, places: set[tuple[str, str]]) -> bool:
    """Return whether a memory refers to one of the paths and symbols of a project."""
    return any(
        ((about.path, about.symbol) in places or (about.path, "") in places)
        and is_same_project(about.root, root)
        for about in memory.about
    )
