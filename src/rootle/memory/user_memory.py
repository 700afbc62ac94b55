"""What is remembered of one user: told, recalled, put before a turn, shown beside code."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rootle.concurrency.deadline import DeadlineExecutor
from rootle.config.fields import Config
from rootle.errors import ConfigError, MemoryRefusedError, QueryError
from rootle.index.reader import IndexReader
from rootle.memory.duplicates import alike
from rootle.memory.factory import open_store
from rootle.memory.jsonl import MAX_FACT_CHARS, read_memories
from rootle.memory.queries import Event
from rootle.memory.references import ReferencedProject, mentioned, named, possibly_stale, remap_root
from rootle.memory.secrets import masked
from rootle.memory.symbol_lookup import SymbolLookup
from rootle.protocols import Embedder, MemoryStore
from rootle.serialization.markdown import memory_as_text
from rootle.text.terms import CHARS_PER_TOKEN, encodable
from rootle.types import Memory, MemoryReference

if TYPE_CHECKING:
    from rootle.memory.embedded import EmbeddedMemory

TOP_K: Final = 7
PREFETCH_TOKENS: Final = 400
_MAX_TOPIC_CHARS: Final = 8_000
_BESIDE: Final = 3
# What nobody asked for has to fit well. Of questions about other people's conversations nine in
# ten find nothing above it, of those about one's own nineteen in twenty do (docs/how-to/memory.md).
_FITS_WELL: Final = 0.4

_OPEN: Final = (
    '<rootle-memory note="kept from earlier sessions, not said by the user now; of two that '
    'contradict each other the newer one holds; not to be remembered again">'
)
_CLOSE: Final = "</rootle-memory>"
_SLICE: Final = re.compile(r"<rootle-memory\b.*?(?:</rootle-memory\s*>|\Z)", re.DOTALL)
_TAG: Final = re.compile(r"</?rootle-memory\b[^>]*>?")
# How a memory begins where it is shown, should a model hand it back.
_SHOWN: Final = re.compile(r"^(?:\d+\.|-)?\s*\[\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\]\s+")


@dataclass(frozen=True, slots=True)
class Remembered:
    """What became of a fact."""

    memory: Memory | None  # None where the store tells later
    masked: tuple[str, ...] = ()  # kinds of secrets that were blotted out of it


def open_memory(
    root: Path,
    config: Config,
    open_embedder: Callable[[], Embedder],
    snapshots: Callable[[], IndexReader],
) -> UserMemory:
    """The memories that the configuration names, as they are seen from a folder.

    Raises ConfigError where it names none.
    """
    names = SymbolLookup(snapshots)
    return UserMemory(
        open_store(config, open_embedder),
        config.memory_user_id,
        ReferencedProject(root, names.files_named, names.definers),
        top_k=config.memory_top_k,
        timeout_ms=config.memory_timeout_ms,
    )


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of lines of JSON."""

    new: int
    known: int
    refused: tuple[str, ...]  # the line and the reason


@dataclass(frozen=True, slots=True)
class Audit:
    """What happened to the memories of a user, and which of them deserve a look; by their ids."""

    events: tuple[Event, ...]  # the newest first
    with_secrets: tuple[str, ...]
    stale: tuple[str, ...]
    alike: tuple[tuple[str, ...], ...]  # groups that differ in punctuation or order alone


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
    ) -> None:
        """`timeout_ms` is the deadline of `prefetch`."""
        self.store = store
        self.user_id = encodable(user_id)
        self._project = project
        self._top_k = top_k
        self._leg = DeadlineExecutor("memory", timeout_ms)

    def remember(self, fact: str, about: Iterable[str] = ()) -> Remembered:
        """Keep a fact, tied to the files and names of the project that it mentions.

        `about` names further ones, as "path", "path#name" or "name". Secrets are masked. Raises
        MemoryRefusedError for a fact that is not kept, and what the store raises.
        """
        clean = masked(_own_words(fact))
        if clean.says_nothing:
            raise MemoryRefusedError(
                f"there is nothing in it but a secret ({', '.join(clean.kinds)}), and secrets are "
                "not kept"
            )
        ties = [*named(about, self._project), *mentioned(clean.text, self._project)]
        memory = self.store.add(clean.text, self.user_id, tuple(dict.fromkeys(ties)))
        return Remembered(memory, clean.kinds)

    def recall(self, topic: str) -> list[Memory]:
        """At most `top_k` memories that fit a topic, best first.

        Raises QueryError for an empty topic, and what the store raises.
        """
        topic = _topic_of(topic)
        if not topic:
            raise QueryError("topic is empty")
        in_play = mentioned(topic, self._project)
        return self._judged(self.store.search(topic, self.user_id, self._top_k, in_play))

    def prefetch(self, user_message: str, budget: int = PREFETCH_TOKENS) -> str:
        """What is to be put before a turn: the memories that fit well, within `budget` tokens.

        Empty where none does, and where the store does not answer in time. The text is marked, and
        `remember` takes nothing out of it.
        """
        message = _topic_of(user_message)
        if not message:
            return ""
        memories = self._leg.start(partial(self.fitting_well, message, (), self._top_k)).result()
        return _slice(memories or (), budget * CHARS_PER_TOKEN)

    def fitting_well(
        self, text: str, paths: Sequence[str] = (), top_k: int = _BESIDE
    ) -> list[Memory]:
        """Memories that are worth showing though nobody asked for them.

        `paths` names files that are in play. What is about another project is left out.
        """
        text, root = _topic_of(text), self._project.name
        in_play = (
            *mentioned(text, self._project),
            *(MemoryReference(path, root=root) for path in paths),
        )
        places = {about.place for about in in_play}
        found = self.store.search(text, self.user_id, top_k, in_play)
        return self._judged(
            memory
            for memory in found
            if (memory.score >= _FITS_WELL or _is_about(memory, places))
            and (not memory.about or any(about.root == root for about in memory.about))
        )

    def all(self) -> list[Memory]:
        """Every memory, the newest first. As what follows, of the embedded store alone."""
        return self._judged(self._embedded.all(self.user_id))

    def forget(self, ids: Iterable[str]) -> list[str]:
        """Wipe memories out; returns the ids of those that there were."""
        return self._embedded.forget(ids, self.user_id)

    def put(self, memories: Iterable[Memory]) -> int:
        """Keep memories of another store with their times; says how many were not known."""
        return self._embedded.put(memories, self.user_id)

    def import_lines(self, lines: Iterable[str]) -> Imported:
        """Keep what `rootle memory export` wrote, a JSON object a line; secrets are masked."""
        memories, refused = read_memories(lines)
        new = self.put(remap_root(memory, self._project) for memory in memories)
        return Imported(new, len(memories) - new, tuple(refused))

    def audit(self) -> Audit:
        """What was told and forgotten when, and what a person may want to look at."""
        memories = self.all()
        return Audit(
            tuple(self._embedded.events(self.user_id)),
            tuple(memory.id for memory in memories if masked(memory.text).kinds),
            tuple(memory.id for memory in memories if memory.possibly_stale),
            tuple(alike(memories)),
        )

    @property
    def _embedded(self) -> EmbeddedMemory:
        from rootle.memory.embedded import EmbeddedMemory

        if isinstance(self.store, EmbeddedMemory):
            return self.store
        raise ConfigError(
            'memoryStore is not "embedded": only memories that rootle keeps itself can be listed, '
            "forgotten, exported, imported and audited; use the programs of the other store"
        )

    def close(self) -> None:
        """Let go of the store's file or folder; it can be used again."""
        self._leg.close()
        close = getattr(self.store, "close", None)
        if close is not None:
            close()

    def _judged(self, memories: Iterable[Memory]) -> list[Memory]:
        return [
            replace(
                memory,
                possibly_stale=memory.possibly_stale or possibly_stale(memory, self._project),
            )
            for memory in memories
        ]


def _topic_of(text: str) -> str:
    """What is asked for, without what memory itself had said before."""
    return _SLICE.sub(" ", encodable(text)).strip()[:_MAX_TOPIC_CHARS]


def _own_words(fact: str) -> str:
    """The fact without what memory itself had said; raises MemoryRefusedError for an empty one."""
    if not fact.strip():
        raise MemoryRefusedError("fact is empty")
    own = _SHOWN.sub("", _TAG.sub("", _SLICE.sub(" ", encodable(fact))).strip())
    if not own:
        raise MemoryRefusedError("it came from memory itself, where it is kept already")
    if len(own) > MAX_FACT_CHARS:
        raise MemoryRefusedError(
            f"it has {len(own)} characters, at most {MAX_FACT_CHARS} are kept; tell it in "
            "several facts, or in fewer words"
        )
    return own


def _is_about(memory: Memory, places: set[tuple[str, str, str]]) -> bool:
    return any(
        about.place in places or (about.root, about.path, "") in places for about in memory.about
    )


def _slice(memories: Iterable[Memory], max_chars: int) -> str:
    """As many memories as fit, in the order in which they were told; the newest last."""
    left = max_chars - len(_OPEN) - len(_CLOSE) - 2
    chosen: list[tuple[str, str]] = []
    for memory in memories:
        line = f"- {memory_as_text(replace(memory, text=_TAG.sub('', memory.text)))}"
        if len(line) < left:
            chosen.append((memory.created_at, line))
            left -= len(line) + 1
    if not chosen:
        return ""
    return "\n".join([_OPEN, *(line for _, line in sorted(chosen)), _CLOSE])
