"""Ask one checkout of rootle the questions about a tree, using its command line."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Final

from benchmarks.regression.normalization import Json, Normalizer

# Input fields that were renamed, with the current name first. The first name that the checkout
# accepts is used.
EXCLUDE_FIELDS: Final = ("exclude", "seen")
OPTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "filePaths": ("--path",),
    "languages": ("--lang",),
    "minRecencyDays": ("--changed-within", "--days"),
    "limit": ("--limit",),
    "context": ("--context",),
    "budget": ("--budget",),
    "exclude": ("--exclude", "--seen"),
}

# Fields that control how a question is asked; all others are fields of the query.
_QUESTION_FIELDS: Final = frozenset({"tree", "kind", "text", "since", "pages", "flags"})
_ATTEMPTS: Final = 3  # per question: on a busy machine, part of a search may time out
_ERROR: Final = 2  # exit code of a failed search


class Checkout:
    """The command line of one checkout, applied to one tree and its index."""

    def __init__(self, python: str, root: Path, index_dir: Path, home: Path) -> None:
        self.root = root
        # The path is not resolved: Python finds a virtual environment by the path of its link.
        self._command = [os.path.abspath(python), "-P", "-m", "rootle"]
        self._places = ["--root", str(root), "--index-dir", str(index_dir)]
        self._index_dir = index_dir
        self._environment = _make_environment(home)

    def build_index(self) -> None:
        """Build or update the index; exit if that fails."""
        run = self._run("index", str(self.root), "--index-dir", str(self._index_dir))
        if run.returncode == _ERROR:
            raise SystemExit(f"cannot index {self.root}: {run.stderr}")

    def search_help(self) -> str:
        return self._run("search", "--help").stdout

    def search(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self._run("search", *self._places, *arguments)

    def start_batch(self, *arguments: str, errors: IO[bytes]) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*self._command, "search", *self._places, "--batch", *arguments],
            cwd=self.root,
            env=self._environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            encoding="utf-8",
        )

    def _run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*self._command, *arguments],
            cwd=self.root,
            env=self._environment,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )


def _make_environment(home: Path) -> dict[str, str]:
    """Return an environment without the user's configuration, caches and memories."""
    folders = {
        f"XDG_{name}_HOME": str(home / name) for name in ("CACHE", "CONFIG", "DATA", "STATE")
    }
    basics = {"HOME": str(home), "LANG": "C.UTF-8", "TZ": "UTC"}
    return {"PATH": os.environ.get("PATH", ""), **basics, **folders}


class Batch:
    """A running `rootle search --batch`, which answers one question after another."""

    def __init__(self, root: Path, process: subprocess.Popen[str], errors: IO[bytes]) -> None:
        self._root = root
        self._process = process
        self._errors = errors
        self._exclude_field = next(filter(self._accepts, EXCLUDE_FIELDS), "")
        if not self._exclude_field:
            raise SystemExit(f"none of these query fields is accepted: {', '.join(EXCLUDE_FIELDS)}")

    def pages(self, question: Json) -> list[Json]:
        """Return the normalized result pages of a question, following the cursor of each page."""
        query = make_query(question)
        normalizer = Normalizer(self._root, query.get("minRecencyDays"))
        if "exclude" in query:
            query[self._exclude_field] = query.pop("exclude")
        pages: list[Json] = []
        while len(pages) < question.get("pages", 1):
            answer = self._complete_answer(query)
            pages.append(normalizer.answer(answer))
            if not answer.get("nextCursor"):
                break
            query["cursor"] = answer["nextCursor"]
        return pages

    def _complete_answer(self, query: Json) -> Json:
        for _ in range(_ATTEMPTS):
            answer = self._ask(query)
            if not answer.get("degraded"):
                break
        return answer

    def _ask(self, query: Json) -> Json:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(query) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            self._errors.seek(0)
            raise SystemExit(f"rootle exited at {query}: {self._errors.read().decode()}")
        return json.loads(line)

    def _accepts(self, field: str) -> bool:
        return "error" not in self._ask({"textQuery": "probe", "limit": 1, field: []})


@contextmanager
def open_batch(checkout: Checkout, *arguments: str) -> Iterator[Batch]:
    with (
        tempfile.TemporaryFile() as errors,
        checkout.start_batch(*arguments, errors=errors) as process,
    ):
        yield Batch(checkout.root, process, errors)


def make_query(question: Json, now_s: float | None = None) -> dict[str, Json]:
    """Return the query of a question. A date becomes the number of days since then."""
    query = {name: value for name, value in question.items() if name not in _QUESTION_FIELDS}
    if "since" in question:
        since = datetime.fromisoformat(question["since"]).replace(tzinfo=UTC).timestamp()
        seconds = (time.time() if now_s is None else now_s) - since
        query["minRecencyDays"] = round(seconds / 86_400, 4)
    return {"textQuery": question["text"], **query}


def terminal_output(checkout: Checkout, question: Json, help_text: str) -> Json:
    """Return the normalized output of `rootle search` for a question."""
    query, flags = make_query(question), question["flags"]
    normalizer = Normalizer(checkout.root, query.get("minRecencyDays"))
    arguments = [*_options(query, help_text), *flags, "--", question["text"]]
    for _ in range(_ATTEMPTS):
        run = checkout.search(*arguments)
        is_json = "--json" in flags and run.returncode != _ERROR
        answer = json.loads(run.stdout) if is_json else {}
        if not answer.get("degraded") and "degraded" not in run.stderr:
            break
    return {
        "exitCode": run.returncode,
        "output": normalizer.answer(answer) if is_json else list(normalizer.lines(run.stdout)),
        "messages": [normalizer.values(line) for line in run.stderr.splitlines()],
    }


def _options(query: Json, help_text: str) -> Iterator[str]:
    for field, names in OPTIONS.items():
        value = query.get(field)
        name = next((name for name in names if f"{name} " in help_text), names[0])
        if value is True:
            yield name
        elif value is not None:
            for item in value if isinstance(value, list) else [value]:
                yield from (name, str(item))


def record(checkout: Checkout, questions: Sequence[Json]) -> Iterator[Json]:
    """Yield the answers to each question: plain, explained, cached and, if requested, as text."""
    checkout.build_index()
    help_text = checkout.search_help()
    with open_batch(checkout) as plain, open_batch(checkout, "--explain") as explained:
        for question in questions:
            answers = {"plain": plain.pages(question), "explained": explained.pages(question)}
            answers["cached"] = plain.pages(question)
            if "flags" in question:
                answers["terminal"] = terminal_output(checkout, question, help_text)
            yield {"question": question, **answers}
