"""The locally stored state of a replica, for retries and for `rootle status`."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from rootle.index.local.manifest import Manifest
from rootle.index.remote.protocol import Leg

LEGS: Final[tuple[Leg, ...]] = ("dense", "sparse")
STORE: Final = "store"  # unique id of this database
_SLUG_CHARS: Final = 24


@dataclass(frozen=True, slots=True)
class ReplicaState:
    """The last known generation of a replica, and the failures since then."""

    server: str  # the state of another server is ignored
    name: str
    generation: int
    failures: int = 0  # consecutive
    since_s: float = 0.0  # Unix time of the first of these failures
    retry_at_s: float = 0.0
    reason: str = ""


def state_key(leg: Leg) -> str:
    """Return the key of the state in the manifest."""
    return f"feed_{leg}"


def parse_state(value: str | None) -> ReplicaState | None:
    """Parse a state from JSON. Return None if `value` is None or empty."""
    return ReplicaState(**json.loads(value)) if value else None


def dump_state(state: ReplicaState) -> str:
    """Return the state as JSON."""
    return json.dumps(asdict(state))


def oldest_generation(manifest: Manifest, generation: int) -> int:
    """Return the oldest generation of any replica. Removals since then must stay recorded."""
    states = [parse_state(manifest.value(state_key(leg))) for leg in LEGS]
    return min([generation, *(state.generation for state in states if state is not None)])


def index_name(root: str, store: str, fingerprint: str, leg: Leg) -> str:
    """Return the name of a replica. It is different for each database, model and chunking.

    The name consists of lower-case letters, digits and "-", which every server accepts.
    """
    name = "".join(c if c.isascii() and c.isalnum() else "-" for c in Path(root).name.lower())
    digest = hashlib.blake2b(f"{store}/{fingerprint}".encode(), digest_size=8).hexdigest()
    return f"rootle-{name[:_SLUG_CHARS].strip('-') or 'root'}-{digest}-{leg}"
