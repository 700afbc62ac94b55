"""Pairs out of git histories: what a commit says, and the lines that it changed."""

from __future__ import annotations

import random
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from rootle.ingest.chunking.grammars import GRAMMARS
from rootle.text.languages import PROSE, language_of
from rootle.text.terms import path_words
from training.corpus.reserved_repos import Reserved
from training.corpus.text_cleaning import clean_subject, is_prose
from training.pairs.training_pair import Pair

COMMITS: Final = 5_000
HUNKS: Final = 4  # of a commit; one that changes everything says little of each place
MAX_FILES: Final = 12
MIN_CHANGED: Final = 3
MAX_CHARS: Final = 2_048

_COMMIT: Final = "\x01"
_BODY_END: Final = "\x02"
_TRAILER: Final = re.compile(r"^[\w-]+:.*$|^Merge .*$|^\* .*$", re.MULTILINE)
_BOT: Final = re.compile(
    r"^(?:merge|revert|bump|release|version|update change|wip|typo|lint|format|upgrade|v?\d)", re.I
)
_FILE: Final = re.compile(r"^diff --git a/.* b/(.*)$", re.MULTILINE)
_HUNK: Final = re.compile(r"^@@[^@\n]*@@(.*)$", re.MULTILINE)


def history_pairs(git_dir: Path, reserved: Reserved, rng: random.Random) -> Iterator[Pair]:
    """The pairs of a clone's last commits; places are numbered downwards from -1."""
    number = 0
    for subject, body, patch in _commits(git_dir):
        said = clean_subject(subject)
        if not is_prose(said) or _BOT.match(said):
            continue
        number -= 1
        more = " ".join(_TRAILER.sub("", body).split())
        if is_prose(more[:300]) and len(more) >= 60:
            yield Pair(said, more, "body", number)
        hunks = list(_hunks(patch, reserved))
        for text in rng.sample(hunks, min(HUNKS, len(hunks))):
            number -= 1
            yield Pair(said, text, "commit", number)
            if is_prose(more[:300]) and rng.random() < 0.3:
                yield Pair(more[:300], text, "commit", number)


def _commits(git_dir: Path) -> Iterator[tuple[str, str, str]]:
    command = [
        "git", f"--git-dir={git_dir}", "log", "--no-merges", f"-n{COMMITS}", "-p", "-U5",
        "--no-color", "--no-ext-diff", "--diff-filter=AM", f"--format={_COMMIT}%s%n%b{_BODY_END}",
    ]  # fmt: skip
    # A snapshot may lack a large blob: git stops there, and what came before it is good.
    environment = {"GIT_NO_LAZY_FETCH": "1", "PATH": "/usr/bin:/bin:/usr/local/bin"}
    said = subprocess.run(command, capture_output=True, check=False, env=environment).stdout
    for entry in said.decode("utf-8", "replace").split(_COMMIT)[1:]:
        message, _, patch = entry.partition(_BODY_END)
        subject, _, body = message.partition("\n")
        if len(patch) < 400_000:
            yield subject, body, patch


def _hunks(patch: str, reserved: Reserved) -> Iterator[str]:
    files = _FILE.split(patch)[1:]
    if len(files) > 2 * MAX_FILES:
        return
    for path, diff in zip(files[::2], files[1::2], strict=True):
        language = language_of(path)
        if (language not in GRAMMARS and language not in PROSE) or reserved.has_name(path):
            continue
        pieces = _HUNK.split(diff)[1:]
        for where, hunk in zip(pieces[::2], pieces[1::2], strict=True):
            rows = hunk.split("\n")
            changed = sum(row.startswith("+") and len(row) > 4 for row in rows)
            if changed < MIN_CHANGED:
                continue
            lines = "\n".join(row[1:] for row in rows if not row.startswith("-"))
            if reserved.has_text(lines):
                continue
            yield f"{path_words(path)}\n{where}\n{lines[:MAX_CHARS]}"
