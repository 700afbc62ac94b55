"""Baselines for questions about the past: BM25 over commit messages, and git's own searches."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from benchmarks.common.bm25 import length_norms, split_words, term_scores
from benchmarks.common.git import run_git
from benchmarks.common.labels import content_words
from benchmarks.common.metrics import TOP_K

MAX_MESSAGES: Final = 20_000
RARE_WORDS: Final = 2  # number of words of a question that `git log --grep` looks for


@dataclass(frozen=True)
class Message:
    """A commit's hash and its whole message."""

    commit: str
    text: str


class MessageIndex:
    """BM25 over commit messages; each message is one document."""

    def __init__(self, messages: list[Message]) -> None:
        self._commits = [one.commit for one in messages]
        counts = [Counter(split_words(one.text)) for one in messages]
        self._norms = length_norms(np.array([sum(one.values()) for one in counts], np.float64))
        self._postings: dict[str, tuple[list[int], list[int]]] = {}
        for number, words in enumerate(counts):
            for word, times in words.items():
                rows, occurrences = self._postings.setdefault(word, ([], []))
                rows.append(number)
                occurrences.append(times)

    def search(self, query: str, k: int = TOP_K) -> list[str]:
        """Return the hashes of the best k commits; ties stay in the order of the messages."""
        scores = np.zeros(len(self._commits))
        for word, times in Counter(split_words(query)).items():
            if word in self._postings:
                rows, counts = map(np.array, self._postings[word])
                scores[rows] += times * term_scores(counts, self._norms[rows], len(scores))
        best = np.argsort(-scores, kind="stable")[:k]
        return [self._commits[number] for number in best if scores[number] > 0]

    def rare_words(self, query: str, count: int = RARE_WORDS) -> list[str]:
        """Return those content words of a query that occur in the fewest messages, rarest first."""
        known = [word for word in content_words(query) if word in self._postings]
        return sorted(known, key=lambda word: len(self._postings[word][0]))[:count]


def read_messages(root: Path) -> list[Message]:
    """Return the messages of the newest commits without merges, newest first."""
    arguments = ("--no-merges", f"--max-count={MAX_MESSAGES}", "--encoding=UTF-8")
    entries = run_git(root, "log", "-z", *arguments, "--format=%H%n%B").split("\0")
    parts = (entry.partition("\n") for entry in entries if entry)
    return [Message(commit, text) for commit, _, text in parts]


def grep_log(root: Path, words: list[str], k: int = TOP_K) -> list[str]:
    """Return the newest k commits whose message has all words or, if none has, the first word."""
    for chosen in (words, words[:1]):
        patterns = [f"--grep={word}" for word in chosen]
        limits = ("--no-merges", f"--max-count={k}", "--format=%H")
        matches = ("--regexp-ignore-case", "--fixed-strings", "--all-match")
        if patterns and (found := run_git(root, "log", *limits, *matches, *patterns).split()):
            return found
    return []


def blame(root: Path, place: str) -> list[str]:
    """Return the commit that last touched a line, given as `path:line`."""
    path, _, line = place.rpartition(":")
    output = run_git(root, "blame", "--porcelain", "-L", f"{line},{line}", "HEAD", "--", path)
    return output.split(maxsplit=1)[:1]


def log_pickaxe(root: Path, name: str, path: str, k: int = TOP_K) -> list[str]:
    """Return the newest k commits that changed how often a name occurs in one file.

    Only this file is read: in a partial clone, git would fail at a file whose content is missing.
    """
    arguments = ("--no-merges", f"--max-count={k}", "--format=%H", "-S", name)
    return run_git(root, "log", *arguments, "--", path).split()
