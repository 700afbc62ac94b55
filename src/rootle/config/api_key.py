"""Read API keys from the configuration or from a command, never from the environment."""

from __future__ import annotations

import os
import shlex
import subprocess
from typing import Final

from rootle.errors import ConfigError, UnavailableError

# The time limit of the command. A password manager may prompt the user first.
_TIMEOUT_S: Final = 30.0


def read_key(key: str, command: str, name: str) -> str:
    """Return the key, or the first line that the command prints; "" if neither is set.

    Raise ConfigError if the command cannot be parsed, and UnavailableError if it fails. The message
    contains `name`, the configuration key of the command, but never its output, which may be the
    API key.
    """
    if key or not command:
        return key
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ConfigError(f"{name} is not a valid command: {error}") from error
    if not words or "\0" in command:
        raise ConfigError(f"{name} is {command!r}, which is not a command")
    program = words[0]
    try:
        done = subprocess.run(
            words,
            # The searched folder is not trusted: it may contain a program of the same name.
            cwd=os.path.abspath(os.sep),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        problem = f"took longer than {_TIMEOUT_S:g} s"
    except OSError as error:
        problem = error.strerror or type(error).__name__
    else:
        printed = done.stdout.decode("utf-8", "replace").partition("\n")[0].strip()
        if done.returncode == 0 and printed:
            return printed
        problem = "printed nothing" if done.returncode == 0 else f"failed with {done.returncode}"
    # Raised outside the handlers: the exception chain of a timeout would contain the output.
    raise UnavailableError(f"{name} ({program}) {problem}; run it in a terminal to check it")
