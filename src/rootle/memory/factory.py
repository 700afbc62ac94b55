"""Opens the memory store that the configuration names."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from rootle.config.fields import EMBEDDED, MEM0, MEM0_SERVICE, Config
from rootle.errors import ConfigError
from rootle.protocols import Embedder, MemoryStore

_STORES: Final = (EMBEDDED, MEM0, MEM0_SERVICE)


def open_store(config: Config, open_embedder: Callable[[], Embedder]) -> MemoryStore:
    """Return the store that `memoryStore` names. It opens nothing before its first use.

    Raise ConfigError if the name is unknown or empty.
    """
    if config.memory_store == EMBEDDED:
        from rootle.memory.sqlite_store import EmbeddedMemory

        return EmbeddedMemory(_default_path(), open_embedder)
    if config.memory_store == MEM0:
        from rootle.memory.mem0.library import Mem0Store

        return Mem0Store(_mem0_path(), open_embedder)
    if config.memory_store == MEM0_SERVICE:
        from rootle.memory.mem0.service import Mem0Service

        return Mem0Service(lambda: _read_service_key(config), endpoint=config.memory_endpoint)
    if not config.memory_store:
        raise ConfigError('memory is disabled: memoryStore is ""; set it to "embedded"')
    raise ConfigError(
        f'memoryStore is "{config.memory_store}", expected one of {", ".join(_STORES)}, or "" '
        "to disable memory"
    )


def existence_check(config: Config) -> Callable[[], bool]:
    """Return a function that checks whether the store may contain memories, without opening it."""
    paths = {EMBEDDED: _default_path, MEM0: _mem0_path}
    if config.memory_store not in paths:
        return lambda: True
    return partial(os.path.exists, paths[config.memory_store]())


def _default_path() -> Path:
    return _data_dir() / "memories.db"


def _mem0_path() -> Path:
    return _data_dir() / "mem0"


def _data_dir() -> Path:
    """Return the user's data folder. A cache folder is unsuitable: memories cannot be rebuilt."""
    from platformdirs import user_data_path

    return user_data_path("rootle", appauthor=False)


def _read_service_key(config: Config) -> str:
    from rootle.config.api_key import read_key

    return read_key(config.memory_api_key, config.memory_api_key_command, "memoryApiKeyCommand")
