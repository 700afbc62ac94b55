"""The key of a server: from the configuration or a command, never from the environment."""

from __future__ import annotations

import os
import shlex
import subprocess
from typing import Final

from rootle.errors import ConfigError, UnavailableError

# A password manager may ask a person first.
_TIMEOUT_S: Final = 30.0


def read_key(key: str, command: str, name: str) -> str:
    """The key, or the first line that a command prints; empty where there is neither.

    Raises UnavailableError where the command, which is called `name` in the configuration, fails.
    What it printed stands in no error: it may be the key.
    """
    if key or not command:
        return key
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ConfigError(f"{name} is no command: {error}") from error
    program = words[0] if words else ""
    try:
        done = subprocess.run(
            words,
            # Not in the searched folder: it may be somebody else's, with a program of that name.
            cwd=os.path.abspath(os.sep),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        why = f"took longer than {_TIMEOUT_S:g} s"
    except OSError as error:
        why = error.strerror or type(error).__name__
    else:
        printed = done.stdout.decode("utf-8", "replace").partition("\n")[0].strip()
        if done.returncode == 0 and printed:
            return printed
        why = "printed nothing" if done.returncode == 0 else f"failed with {done.returncode}"
    # Outside the handlers: what was printed must not hang on the error as its cause.
    raise UnavailableError(f"{name} ({program}) {why}; check it by hand")
