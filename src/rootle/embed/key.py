"""The key of an embedding server: from the configuration or a command, never the environment."""

from __future__ import annotations

import shlex
import subprocess
from typing import Final

from rootle.config import Config
from rootle.errors import ConfigError, UnavailableError

# A password manager may ask a person first.
_TIMEOUT_S: Final = 30.0


def has_key(config: Config) -> bool:
    """Whether there is one, told without running anything."""
    return bool(config.embedding_api_key or config.embedding_api_key_command)


def embedding_key(config: Config) -> str:
    """The key, or the first line that the key command prints; empty where there is neither.

    Raises UnavailableError where the command fails. What it printed stands in no error: it may be
    the key.
    """
    if config.embedding_api_key or not config.embedding_api_key_command:
        return config.embedding_api_key
    try:
        words = shlex.split(config.embedding_api_key_command)
    except ValueError as error:
        raise ConfigError(f"embeddingApiKeyCommand is no command: {error}") from error
    program = words[0] if words else ""
    try:
        done = subprocess.run(
            words, stdin=subprocess.DEVNULL, capture_output=True, timeout=_TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired:
        why = f"took longer than {_TIMEOUT_S:g} s"
    except OSError as error:
        why = error.strerror or type(error).__name__
    else:
        key = done.stdout.decode("utf-8", "replace").partition("\n")[0].strip()
        if done.returncode == 0 and key:
            return key
        why = "printed nothing" if done.returncode == 0 else f"failed with {done.returncode}"
    # Outside the handlers: what was printed must not hang on the error as its cause.
    raise UnavailableError(f"embeddingApiKeyCommand ({program}) {why}; check it by hand")
