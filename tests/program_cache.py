"""A cache of programs for tests, installed with the ordinary clients of package registries.

The cache is `$XDG_CACHE_HOME/rootle-tests`; it can be deleted at any time.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from filelock import FileLock

# The environment of the user, for installers: they need the network and the home folder of the
# user, which tests do not have.
ENVIRONMENT = dict(os.environ)
_CACHE = Path(ENVIRONMENT.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rootle-tests"


def install_once(name: str, install: Callable[[Path], None], *, in_place: bool = False) -> Path:
    """Return the folder of a program in the cache; install the program first if it is missing."""
    _CACHE.mkdir(parents=True, exist_ok=True)
    place, mark = _CACHE / name, _CACHE / f"{name}.made"
    with FileLock(_CACHE / f"{name}.lock"):
        if not (mark.exists() and place.exists()):
            shutil.rmtree(place, ignore_errors=True)
            scratch = place if in_place else _CACHE / f"{name}.part"
            shutil.rmtree(scratch, ignore_errors=True)
            install(scratch)
            if not in_place:
                scratch.rename(place)
            mark.touch()
    return place


def run_installer(command: Sequence[str | Path], folder: Path | None = None) -> None:
    done = subprocess.run(command, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True)
    if done.returncode:
        shown = " ".join(map(str, command))
        pytest.fail(f"`{shown}` failed:\n{done.stdout[-2_000:]}{done.stderr[-2_000:]}")


def need_command(tool: str, cure: str) -> None:
    if shutil.which(tool, path=ENVIRONMENT.get("PATH")) is None:
        pytest.fail(f"this test needs `{tool}`: {cure}")


def install_debian_package(tool: str, package: str) -> None:
    """Install a program with apt-get if it is missing and this process may do so.

    If it cannot be installed, fail and show the command to run.
    """
    if shutil.which(tool, path=ENVIRONMENT.get("PATH")) is not None:
        return
    install = ["apt-get", "install", "-y", "-q", "--no-install-recommends", package]
    if os.geteuid() or shutil.which("apt-get") is None:
        pytest.fail(f"this test needs `{tool}`: apt-get install {package}")
    _CACHE.mkdir(parents=True, exist_ok=True)
    with FileLock(_CACHE / "apt.lock"):
        if subprocess.run(install, env=ENVIRONMENT, capture_output=True).returncode:
            run_installer(["apt-get", "update", "-q"])
            run_installer(install)
