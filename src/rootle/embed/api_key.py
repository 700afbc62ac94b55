"""The key of the server that embeds."""

from __future__ import annotations

from rootle.config.api_key import read_key
from rootle.config.fields import Config


def has_key(config: Config) -> bool:
    """Whether there is one, told without running anything."""
    return bool(config.embedding_api_key or config.embedding_api_key_command)


def embedding_key(config: Config) -> str:
    """The key; empty where there is none. Raises UnavailableError where its command fails."""
    return read_key(
        config.embedding_api_key, config.embedding_api_key_command, "embeddingApiKeyCommand"
    )
