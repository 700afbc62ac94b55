"""A git working tree that is edited at random, the same way for the same seed."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Final

from benchmarks.reliability.random_text import (
    draw_noun,
    random_line,
    random_suffix,
    random_text,
)

_FOLDERS: Final = ("src", "src/core", "src/net", "docs", "tests", "lib/old")
_BRANCHES: Final = ("main", "feature", "release")
# The same author for all commits, whatever the user's configuration is.
_GIT_ENVIRONMENT: Final = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "t",
    "GIT_AUTHOR_EMAIL": "t@example.com",
    "GIT_COMMITTER_NAME": "t",
    "GIT_COMMITTER_EMAIL": "t@example.com",
}
# Each commit would otherwise start a maintenance process.
_GIT_SETTINGS: Final = ("-c", "gc.auto=0", "-c", "maintenance.auto=false")
_FIRST_COMMIT_S: Final = 1_700_000_000
_DAY_S: Final = 86_400


class RandomTree:
    """A working tree with random files, which can be edited at random."""

    def __init__(self, root: Path, rng: Random, *, files: int = 40) -> None:
        self.root = root
        self._rng = rng
        self._commits = 0
        self._branches = [_BRANCHES[0]]
        root.mkdir(parents=True)
        self._git("init", "-q", "-b", _BRANCHES[0])
        for _ in range(files):
            self._add_file()
        self._commit()

    def edit(self, times: int = 1) -> tuple[str, ...]:
        """Apply random edits; return their names."""
        chosen = self._rng.choices([edit for edit, _ in self._edits()], self._weights(), k=times)
        for edit in chosen:
            edit()
        return tuple(edit.__name__.strip("_") for edit in chosen)

    def _edits(self) -> Sequence[tuple[Callable[[], object], int]]:
        """Return the edits, each with its relative frequency."""
        return (
            (self._replace_lines, 8),
            (self._append_lines, 4),
            (self._insert_line_on_top, 4),
            (self._add_file, 6),
            (self._delete_file, 4),
            (self._rename_file, 4),
            (self._copy_file, 2),
            (self._rename_folder, 1),
            (self._delete_folder, 1),
            (self._replace_word_with_same_size_and_time, 3),
            (self._set_time_back, 1),
            (self._set_time_ahead, 1),
            (self._empty_file, 1),
            (self._damage_bytes, 1),
            (self._replace_by_link, 1),
            (self._ignore_pattern, 1),
            (self._commit, 3),
            (self._switch_branch, 3),
            (self._reset_commit, 1),
        )

    def _weights(self) -> list[int]:
        return [weight for _, weight in self._edits()]

    def _replace_lines(self) -> None:
        file, lines = self._draw_lines()
        for _ in range(self._rng.randrange(1, 4)):
            lines[self._rng.randrange(len(lines))] = random_line(self._rng, file.suffix)
        _write(file, "".join(lines))

    def _append_lines(self) -> None:
        file, lines = self._draw_lines()
        _write(file, "".join(lines) + random_line(self._rng, file.suffix))

    def _insert_line_on_top(self) -> None:
        file, lines = self._draw_lines()
        _write(file, random_line(self._rng, file.suffix) + "".join(lines))

    def _add_file(self) -> None:
        suffix = random_suffix(self._rng)
        _write(self._draw_path(suffix), random_text(self._rng, suffix))

    def _delete_file(self) -> None:
        self._draw_file().unlink()

    def _rename_file(self) -> None:
        file = self._draw_file()
        os.replace(file, self._draw_path(file.suffix))

    def _copy_file(self) -> None:
        file = self._draw_file()
        target = self._draw_path(file.suffix)
        if target != file:
            shutil.copyfile(file, target)

    def _rename_folder(self) -> None:
        folder, target = (self.root / self._rng.choice(_FOLDERS) for _ in range(2))
        if folder.is_dir() and not target.exists() and folder not in target.parents:
            target.parent.mkdir(parents=True, exist_ok=True)
            os.replace(folder, target)

    def _delete_folder(self) -> None:
        shutil.rmtree(self.root / self._rng.choice(_FOLDERS), ignore_errors=True)

    def _replace_word_with_same_size_and_time(self) -> None:
        file = self._draw_file()
        content, state = file.read_bytes(), file.stat()
        word, other = (draw_noun(self._rng).encode() for _ in range(2))
        if len(word) == len(other):
            file.write_bytes(content.replace(word, other))
        else:
            file.write_bytes(content.swapcase())
        os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns))

    def _set_time_back(self) -> None:
        self._shift_time(-self._rng.randrange(1, 3_000) * _DAY_S)

    def _set_time_ahead(self) -> None:
        self._shift_time(self._rng.randrange(1, 3_000) * _DAY_S)

    def _shift_time(self, seconds: int) -> None:
        file = self._draw_file()
        moved_s = max(0, file.stat().st_mtime + seconds)
        os.utime(file, (moved_s, moved_s))

    def _empty_file(self) -> None:
        _write(self._draw_file(), "")

    def _damage_bytes(self) -> None:
        file = self._draw_file()
        content = bytearray(file.read_bytes() or b"\n")
        for _ in range(self._rng.randrange(1, 6)):
            content[self._rng.randrange(len(content))] = self._rng.randrange(256)
        file.write_bytes(content)

    def _replace_by_link(self) -> None:
        file, target = self._draw_file(), self._draw_file()
        if file != target:
            file.unlink()
            file.symlink_to(os.path.relpath(target, file.parent))

    def _ignore_pattern(self) -> None:
        noun = draw_noun(self._rng)
        lines = self._rng.choice(("", f"*{noun}*\n", f"{noun}/\n!*{noun}*.py\n", "*.yaml\n"))
        _write(self.root / ".gitignore", lines)

    def _commit(self) -> None:
        self._commits += 1
        self._git("add", "-A")
        self._git("commit", "-q", "--allow-empty", "-m", f"commit {self._commits}")

    def _switch_branch(self) -> None:
        self._commit()
        name = self._rng.choice(_BRANCHES)
        if name in self._branches:
            self._git("checkout", "-q", "-f", name)
        else:
            self._branches.append(name)
            self._git("checkout", "-q", "-b", name)

    def _reset_commit(self) -> None:
        if self._git("rev-list", "--count", "--max-count=2", "HEAD").strip() == "2":
            self._git("reset", "-q", "--hard", "HEAD^")

    def _draw_file(self) -> Path:
        """Return a regular file of the tree. Add one if there is none."""
        found = sorted(
            path
            for folder in _FOLDERS
            for path in (self.root / folder).glob("*.*")
            if path.is_file() and not path.is_symlink()
        )
        if not found:
            self._add_file()
            return self._draw_file()
        return self._rng.choice(found)

    def _draw_lines(self) -> tuple[Path, list[str]]:
        """Return a file and its lines; one empty line for an empty file."""
        file = self._draw_file()
        with open(file, encoding="utf-8", errors="replace", newline="") as stream:
            return file, stream.readlines() or ["\n"]

    def _draw_path(self, suffix: str) -> Path:
        """Return a path for a new file. If a file exists there, delete it."""
        folder = self.root / self._rng.choice(_FOLDERS)
        folder.mkdir(parents=True, exist_ok=True)
        number = self._rng.randrange(30)
        path = folder / f"{draw_noun(self._rng)}_{number}{suffix}"
        path.unlink(missing_ok=True)  # it may be a link to another file
        return path

    def _git(self, *arguments: str) -> str:
        when = f"{_FIRST_COMMIT_S + self._commits * _DAY_S} +0000"
        dates = {"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when}
        return subprocess.run(
            ["git", "-C", self.root, *_GIT_SETTINGS, *arguments],
            env={**os.environ, **_GIT_ENVIRONMENT, **dates},
            check=True, capture_output=True, text=True, errors="replace",
        ).stdout  # fmt: skip


def _write(file: Path, text: str) -> None:
    """Write a file the way editors do: some replace it, some overwrite it."""
    data = text.encode("utf-8", errors="replace")
    if len(data) % 2:
        scratch = file.with_name(f".{file.name}.tmp~")
        scratch.write_bytes(data)
        os.replace(scratch, file)
    else:
        file.write_bytes(data)
