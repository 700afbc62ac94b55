"""Where indexes, answers and logs lie: in the folders that each system has for those of a user."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path


def default_index_dir(root: Path) -> Path:
    """Where the index of a folder lies: in the user's cache folder, one for each real path."""
    from platformdirs import user_cache_path

    real = os.path.realpath(root)
    digest = hashlib.blake2b(os.fsencode(real), digest_size=6).hexdigest()
    name = "".join(c if c.isascii() and c.isalnum() else "_" for c in os.path.basename(real))
    return user_cache_path("rootle", appauthor=False) / f"{name[:40] or 'root'}-{digest}"


def stored_answers_path(index_dir: Path) -> Path:
    """Where answers are kept for the next process, in a folder for each index."""
    from platformdirs import user_state_path

    digest = hashlib.blake2b(os.fsencode(os.path.realpath(index_dir)), digest_size=8).hexdigest()
    return user_state_path("rootle", appauthor=False) / "answers" / digest


def search_log_path() -> Path:
    """Where searches are logged: in the user's state folder, for all folders together."""
    from platformdirs import user_state_path

    return user_state_path("rootle", appauthor=False) / "search-log.jsonl"
