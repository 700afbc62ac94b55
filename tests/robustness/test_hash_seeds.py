"""Answers do not depend on the hash seed, which Python draws at random for each process.

The iteration order of a set of strings depends on the seed.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
from sample import FILES, make_repository

pytestmark = pytest.mark.slow

_SEEDS = ("0", "1", "2")
_WORDS = "account order invoice session packet window buffer kernel".split()
_VERBS = ("split", "load", "store")
_QUESTIONS = tuple(
    f"{verb} the {one} before the {other}"
    for verb in _VERBS
    for one, other in zip(_WORDS, (*_WORDS[3:], *_WORDS[:3]), strict=True)
)
_ASK = """
import sys
from rootle import Config, SearchQuery, open_app
from rootle.tools import search_folder
root, index_dir, *questions = sys.argv[1:]
config = Config(enable_cache=False, search_log=False, memory_store="")
with open_app(root, index_dir=index_dir, config=config) as app:
    app.index()
    for question in questions:
        print(app.search(SearchQuery(question, limit=50)).results)
        print(search_folder(app)(question))
"""


def _random_text(rng: Random) -> str:
    """Return lines with few different words, so that many lines match a question equally well."""
    lines = (
        f"{rng.choice(_VERBS)} the {rng.choice(_WORDS)} "
        f"before the {rng.choice(_WORDS)} {rng.choice(_VERBS)}s\n"
        for _ in range(150)
    )
    return "".join(lines)


def _ask(root: Path, index_dir: Path, seed: str) -> str:
    """Build an index and return its answers, in a process with this hash seed."""
    return subprocess.run(
        [sys.executable, "-P", "-c", _ASK, str(root), str(index_dir), *_QUESTIONS],
        env={**os.environ, "PYTHONHASHSEED": seed},
        check=True,
        capture_output=True,
        encoding="utf-8",
    ).stdout


def test_processes_with_different_hash_seeds_give_the_same_answers(tmp_path: Path) -> None:
    rng = Random(1)
    texts = {f"docs/notes_{number}.txt": _random_text(rng) for number in range(4)}
    root = make_repository(tmp_path / "tree", {**FILES, **texts})
    first, *others = (_ask(root, tmp_path / f"index-{seed}", seed) for seed in _SEEDS)
    assert "docs/notes_" in first
    for other in others:
        assert other == first
