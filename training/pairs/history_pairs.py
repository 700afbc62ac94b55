"""Training pairs from git histories: commit messages and the lines that the commits change."""

from __future__ import annotations

import random
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from rootle.syntax.grammars import GRAMMARS
from rootle.text.languages import PROSE, file_language
from rootle.text.terms import path_words
from training.corpus.reserved_repos import ReservedRepositories
from training.corpus.text_cleaning import clean_subject, is_prose
from training.pairs.text_pair import TextPair

MAX_COMMITS: Final = 5_000
MAX_HUNKS: Final = 4  # per commit; the message of a large change is not about one place
MAX_FILES: Final = 12
MIN_CHANGED_LINES: Final = 3
MAX_HUNK_CHARS: Final = 2_048
MAX_PATCH_CHARS: Final = 400_000
MIN_BODY_CHARS: Final = 60
MAX_BODY_CHARS: Final = 300  # a longer body is cut when it is used as a query
BODY_AS_QUERY: Final = 0.3  # probability that a body is used as a query

_COMMIT_START: Final = "\x01"
_MESSAGE_END: Final = "\x02"
_TRAILER: Final = re.compile(r"^[\w-]+:.*$|^Merge .*$|^\* .*$", re.MULTILINE)
_ROUTINE: Final = re.compile(
    r"^(?:merge|revert|bump|release|version|update change|wip|typo|lint|format|upgrade|v?\d)", re.I
)
_FILE: Final = re.compile(r"^diff --git a/.* b/(.*)$", re.MULTILINE)
_HUNK: Final = re.compile(r"^@@[^@\n]*@@(.*)$", re.MULTILINE)


def history_pairs(
    git_dir: Path, reserved: ReservedRepositories, rng: random.Random
) -> Iterator[TextPair]:
    """Yield the pairs from a clone's last commits; answer ids count down from -1."""
    number = 0
    for subject, message_body, patch in _read_commits(git_dir):
        query = clean_subject(subject)
        if not is_prose(query) or _ROUTINE.match(query):
            continue
        number -= 1
        body = " ".join(_TRAILER.sub("", message_body).split())
        body_query = body[:MAX_BODY_CHARS]
        if is_prose(body_query) and len(body) >= MIN_BODY_CHARS:
            yield TextPair(query, body, "body", number)
        hunks = list(_read_hunks(patch, reserved))
        for hunk in rng.sample(hunks, min(MAX_HUNKS, len(hunks))):
            number -= 1
            yield TextPair(query, hunk, "commit", number)
            if is_prose(body_query) and rng.random() < BODY_AS_QUERY:
                yield TextPair(body_query, hunk, "commit", number)


def _read_commits(git_dir: Path) -> Iterator[tuple[str, str, str]]:
    """Yield subject, body and patch of each commit."""
    form = f"--format={_COMMIT_START}%s%n%b{_MESSAGE_END}"
    command = [
        "git", f"--git-dir={git_dir}", "log", "--no-merges", f"-n{MAX_COMMITS}", "-p", "-U5",
        "--no-color", "--no-ext-diff", "--diff-filter=AM", form,
    ]  # fmt: skip
    # git stops at a blob that a snapshot lacks; the output up to this blob is still used.
    environment = {"GIT_NO_LAZY_FETCH": "1", "PATH": "/usr/bin:/bin:/usr/local/bin"}
    output = subprocess.run(command, capture_output=True, check=False, env=environment).stdout
    for entry in output.decode("utf-8", "replace").split(_COMMIT_START)[1:]:
        message, _, patch = entry.partition(_MESSAGE_END)
        subject, _, body = message.partition("\n")
        if len(patch) < MAX_PATCH_CHARS:
            yield subject, body, patch


def _read_hunks(patch: str, reserved: ReservedRepositories) -> Iterator[str]:
    """Yield the path's words, the scope and the resulting lines of each hunk of code or prose."""
    files = _FILE.split(patch)[1:]
    if len(files) > 2 * MAX_FILES:
        return
    for path, diff in zip(files[::2], files[1::2], strict=True):
        language = file_language(path)
        if (language not in GRAMMARS and language not in PROSE) or reserved.has_name(path):
            continue
        parts = _HUNK.split(diff)[1:]
        for scope, hunk in zip(parts[::2], parts[1::2], strict=True):
            rows = hunk.split("\n")
            changed = sum(row.startswith("+") and len(row) > 4 for row in rows)
            if changed < MIN_CHANGED_LINES:
                continue
            lines = "\n".join(row[1:] for row in rows if not row.startswith("-"))
            if not reserved.has_text(lines):
                yield f"{path_words(path)}\n{scope}\n{lines[:MAX_HUNK_CHARS]}"
