"""What is remembered of a server's index between runs, also for those who cannot reach it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from rootle.index.local.manifest import Manifest
from rootle.index.remote.protocol import Leg

LEGS: Final[tuple[Leg, ...]] = ("dense", "sparse")
STORE: Final = "store"  # names this database among all others
_SLUG_CHARS: Final = 24


@dataclass(frozen=True, slots=True)
class ReplicaState:
    """How far one leg's index was when it was last heard of, and what went wrong since."""

    server: str  # what is known of another one does not count
    name: str
    generation: int
    failures: int = 0  # one after the other
    since_s: float = 0.0  # the first of these, Unix time
    retry_at_s: float = 0.0
    reason: str = ""


def key_of_record(leg: Leg) -> str:
    """Where it stands among the values of the manifest."""
    return f"feed_{leg}"


def read_record(value: str | None) -> ReplicaState | None:
    return ReplicaState(**json.loads(value)) if value else None


def write_record(record: ReplicaState) -> str:
    return json.dumps(asdict(record))


def oldest_held(manifest: Manifest, generation: int) -> int:
    """The oldest state that any index has: which files were removed since must not be forgotten."""
    records = [read_record(manifest.value(key_of_record(leg))) for leg in LEGS]
    return min([generation, *(record.generation for record in records if record is not None)])


def index_name(root: str, store: str, fingerprint: str, leg: Leg) -> str:
    """The name of a leg's index: another one for every database, model and way of cutting.

    Lower-case letters, digits and "-": what every server takes.
    """
    name = "".join(c if c.isascii() and c.isalnum() else "-" for c in Path(root).name.lower())
    digest = hashlib.blake2b(f"{store}/{fingerprint}".encode(), digest_size=8).hexdigest()
    return f"rootle-{name[:_SLUG_CHARS].strip('-') or 'root'}-{digest}-{leg}"
