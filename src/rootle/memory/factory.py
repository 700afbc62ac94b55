"""Which name means which store of memories."""

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
    """The store that `memoryStore` names; nothing is opened before its first use.

    Raises ConfigError where it names none.
    """
    if config.memory_store == EMBEDDED:
        from rootle.memory.embedded import EmbeddedMemory

        return EmbeddedMemory(_embedded_path(), open_embedder)
    if config.memory_store == MEM0:
        from rootle.memory.mem0.library import Mem0Store

        return Mem0Store(_mem0_path(), open_embedder)
    if config.memory_store == MEM0_SERVICE:
        from rootle.memory.mem0.service import Mem0Service

        return Mem0Service(lambda: _key(config), endpoint=config.memory_endpoint)
    if not config.memory_store:
        raise ConfigError('nothing is remembered: memoryStore is ""; set it to "embedded"')
    raise ConfigError(
        f'memoryStore is "{config.memory_store}", expected one of {", ".join(_STORES)}, or "" '
        "for none"
    )


def existence(config: Config) -> Callable[[], bool]:
    """Tells whether a store may hold anything: of one on this machine, without opening it."""
    paths = {EMBEDDED: _embedded_path, MEM0: _mem0_path}
    if config.memory_store not in paths:
        return lambda: True
    return partial(os.path.exists, paths[config.memory_store]())


def _embedded_path() -> Path:
    return data_folder() / "memories.db"


def _mem0_path() -> Path:
    return data_folder() / "mem0"


def data_folder() -> Path:
    """Where memories lie: with what a user would miss, not with what can be made again."""
    from platformdirs import user_data_path

    return user_data_path("rootle", appauthor=False)


def _key(config: Config) -> str:
    from rootle.config.api_key import read_key

    return read_key(config.memory_api_key, config.memory_api_key_command, "memoryApiKeyCommand")
