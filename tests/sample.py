"""Small, deterministic repositories to index, created with git."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from random import Random
from typing import NamedTuple

from commit_writer import init_repository, write_commit

from rootle import App, open_app
from rootle.storage.change_time import CHANGE_TICK_NS

MakeApp = Callable[..., App]  # the type of the fixture `make_app`

# A file with such an old modification time counts as unchanged without being read.
OLD_S = 1_700_000_000

FILES: Mapping[str, str] = {
    "src/net/retry.py": '''\
"""Waiting between attempts."""


def retry_backoff(attempt: int, base: float = 0.5) -> float:
    """How long to wait before the next attempt, doubled each time."""
    return base * 2**attempt


class RetryPolicy:
    """Says which failures are worth another attempt."""

    def should_retry(self, status: int) -> bool:
        return status in (429, 502, 503)
''',
    "src/net/client.go": """\
package net

// Fetch downloads a page and follows redirects.
func Fetch(url string, maxRedirects int) (string, error) {
\treturn download(url, maxRedirects)
}
""",
    "src/auth/token.ts": """\
export interface AccessToken { subject: string; expiresAt: number }

export function validateToken(token: AccessToken, now: number): boolean {
  return token.expiresAt > now;
}
""",
    "src/auth/password.rs": """\
/// Hashes a password with a random salt.
pub fn hash_password(plain: &str, salt: &[u8]) -> Vec<u8> {
    argon(plain.as_bytes(), salt)
}
""",
    "src/store/cache.py": '''\
class LruCache:
    """Forgets the entry that was not used for the longest time."""

    def evict_oldest(self) -> None:
        self.entries.popitem(last=False)
''',
    "tests/test_retry.py": """\
from net.retry import retry_backoff


def test_backoff_doubles() -> None:
    assert retry_backoff(3) == 4.0
""",
    "docs/guide.md": """\
# Guide

## Configuring the retry policy

Set `maxAttempts` in the configuration file to limit the number of attempts.

## Logging in

Access tokens expire after an hour.
""",
    "config/service.yaml": "maxAttempts: 5\nlogLevel: debug\n",
    "README.md": "# Sample\n\nA service that fetches pages and stores them.\n",
}

QUESTIONS = (
    "how long to wait before the next attempt",
    "validateToken",
    "where are passwords hashed",
    "which cache entry is evicted",
    "follow redirects when fetching a page",
)


# Files of which a repository was made. It is faster to write the first one without git, and to copy
# a packed folder for the others.
_committed: set[tuple[tuple[str, str], ...]] = set()


def git(folder: Path, *arguments: str | Path, when_s: int = OLD_S) -> str:
    """Run git with commit times set to `when_s`; return its output."""
    who = {
        f"GIT_{role}_{what}": value
        for role in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", "t"), ("EMAIL", "t@example.com"), ("DATE", f"{when_s} +0000"))
    }
    return subprocess.run(
        ["git", "-C", folder, *arguments],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, **who},
    ).stdout


def write(root: Path, path: str, content: str | bytes, *, when_s: float | None = OLD_S) -> Path:
    """Write a file with the modification time `when_s`, or with the current time if None."""
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    if when_s is not None:
        os.utime(file, (when_s, when_s))
    return file


def write_tree(root: Path, files: Mapping[str, str | bytes]) -> Path:
    root.mkdir(parents=True, exist_ok=True)
    for path, content in files.items():
        write(root, path, content)
    # The next run reads a file again if it was indexed in the timer tick in which it was written.
    time.sleep(CHANGE_TICK_NS / 1e9)
    return root


def make_repository(root: Path, files: Mapping[str, str] = FILES) -> Path:
    """Create a git working tree with these files in one commit."""
    key = tuple(files.items())
    is_first = key not in _committed and not root.exists()
    write_tree(root, files)
    if is_first:
        _committed.add(key)
        init_repository(root)
        if write_commit(root, "first", "t <t@example.com>", OLD_S) is not None:
            return root
        shutil.rmtree(root / ".git")
    shutil.copytree(_git_folder(key), root / ".git")
    return root


class IndexedRepository(NamedTuple):
    """A repository and its index with default settings."""

    root: Path
    index_dir: Path


def indexed_repository(files: Mapping[str, str] = FILES) -> IndexedRepository:
    """Return a repository with these files, and its index; other tests use both too.

    A test must change neither the repository nor the index. To write to the index, copy it.
    """
    return _indexed_repository(tuple(files.items()))


@cache
def _indexed_repository(files: tuple[tuple[str, str], ...]) -> IndexedRepository:
    folder = temporary_folder()
    found = IndexedRepository(folder / "repository", folder / "index")
    make_repository(found.root, dict(files))
    with open_app(found.root, index_dir=found.index_dir) as app:
        app.index()
    return found


@cache
def _git_folder(files: tuple[tuple[str, str], ...]) -> Path:
    """Return a `.git` folder of these files for tests to copy, which is faster than running git."""
    root = write_tree(temporary_folder(), dict(files))
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A")
    git(root, "commit", "-q", "--allow-empty", "-m", "first")
    git(root, "repack", "-adq")  # one file instead of one per object
    git(root, "prune-packed")
    return root / ".git"


def temporary_folder() -> Path:
    """Return a folder that is deleted when this process exits."""
    folder = tempfile.mkdtemp(prefix="rootle-tests-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


_NOUNS = """account order invoice session packet window buffer kernel thread socket parser lexer
router schema column index cursor ledger vector matrix tensor socket widget canvas camera sensor
engine planner solver broker worker mailer folder archive snapshot journal replica quorum leader
shard bucket segment token cipher digest signature ticket coupon basket shipment carrier""".split()
_VERBS = """load store parse merge split encode decode rotate verify cancel resume flush compact
publish consume schedule retry throttle validate normalize compress expand resolve dispatch
allocate release inspect report archive restore""".split()


def many_files(count: int, seed: int = 7, functions: int = 12) -> dict[str, str]:
    """Return Python files, by default of 2 to 3 KB; no two functions are the same."""
    rng = Random(seed)
    files = {}
    for number in range(count):
        parts = []
        for place in range(functions):
            verb, noun, other = rng.choice(_VERBS), rng.choice(_NOUNS), rng.choice(_NOUNS)
            parts.append(
                f"def {verb}_{noun}_{number}_{place}({other}: int) -> int:\n"
                f'    """{verb.title()} the {noun} that a {other} {rng.choice(_NOUNS)} has."""\n'
                f"    {noun} = {other} * {rng.randrange(1000)}\n"
                f"    return {noun} + {rng.randrange(1000)}\n"
            )
        files[f"pkg_{number % 7}/{rng.choice(_NOUNS)}_{number}.py"] = "\n\n".join(parts)
    return files
