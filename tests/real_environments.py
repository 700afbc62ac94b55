"""Real package environments for tests, installed once into a cache from PyPI and npm."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path

from program_cache import install_once, need_command, run_installer


def python_project(root: Path, requirements: Sequence[str]) -> Path:
    """Create a project with pinned packages in a virtual environment; return its folder."""

    def install(place: Path) -> None:
        run_installer([sys.executable, "-m", "venv", place])
        pip: list[str | Path] = [place / "bin" / "python", "-m", "pip"]
        run_installer([*pip, "install", "--quiet", "--no-deps", *requirements])
        run_installer([*pip, "uninstall", "--quiet", "--yes", "setuptools", "pip"])

    root.mkdir(parents=True)
    cached = install_once(f"python-packages-{_digest(requirements)}", install, in_place=True)
    shutil.copytree(cached, root / ".venv", symlinks=True)
    (root / "requirements.txt").write_text("".join(f"{one}\n" for one in requirements))
    return root


def node_project(root: Path, requirements: Sequence[str]) -> Path:
    """Create a project with npm packages; return its folder."""
    need_command("npm", "install Node.js")

    def install(place: Path) -> None:
        place.mkdir()
        (place / "package.json").write_text('{"name": "shop", "version": "1.0.0"}')
        flags = ("--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--save-exact")
        run_installer(["npm", "install", *flags, *requirements], place)

    cached = install_once(f"node-packages-{_digest(requirements)}", install)
    shutil.copytree(cached, root, symlinks=True)
    return root


def _digest(requirements: Sequence[str]) -> str:
    return blake2b(" ".join(requirements).encode(), digest_size=6).hexdigest()
