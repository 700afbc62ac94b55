"""Questions from real histories: a commit's message, answered by the files it changed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from benchmarks.common.languages import SUFFIXES
from benchmarks.history.commit_log import Commit, changed_files, read_commits, regular_files
from benchmarks.history.commit_messages import content_words, is_about_code, question_text

MAX_FILES = 8  # a commit that changes more is not about one place
MAX_CHANGED_LINES = 400
MIN_CONTENT_WORDS = 4
RECENT_S = 4 * 365.25 * 86_400  # "recent" is up to four years before the newest suitable commit
# If there are fewer recent commits than this per question, older commits are used as well.
COMMITS_PER_QUESTION = 12

MORE_SOURCES = (
    ".exs .eex .heex .erl .hrl .lhs .hsc .tl .rockspec .m .mm .ipp .inl .tcc .fs .vb .gradle "
    ".proto .y .l .s .pl .ps1 .bat .cmd .fish .zsh .mts .cts .vue .svelte .css .scss .sass .less "
    ".liquid .erb .haml .rake .gemspec .cabal .nix .vim .cmake .am .ac .in .twig .phtml .cshtml "
    ".pyi .pyx"
)
DOCUMENTS = (
    ".md .mdx .markdown .rst .txt .adoc .textile .html .htm .xhtml .tex .1 .3 .5 .7 .8 .docc"
)
TARGET_SUFFIXES = frozenset(" ".join([*SUFFIXES.values(), MORE_SOURCES, DOCUMENTS]).split())
TARGET_NAMES = frozenset("Makefile GNUmakefile Rakefile Dockerfile configure".split())
# Files that commits change in passing.
INCIDENTAL = re.compile(
    r"""(^|/)(change_?log|changes|news|history|release[-_]?notes|releases|upgrading|authors
        |contributors|thanks|version|_version|__version__|requirements[^/]*)(\.[^/]*)?$
    | (^|/)[^/]*([-_.]lock(\.[^/]*)?|version\.(rb|py|go|h))$
    | (^|/)(changelogs?|changes|release[-_]notes|news|__snapshots__|snapshots|vendor|third_party
        |node_modules|dist|requirements)/
    | \.(snap|min\.js|min\.css|stderr|golden)$""",
    re.I | re.X,
)

TEST = re.compile(
    r"(^|/)(tests?|specs?|regress|t|__tests__|\w*[._-]tests?|\w+Tests|[\w-]+-tests?)/"
    r"|(^|/)(test_[^/]*|[^/]*([-_.](test|spec)|Tests?|Spec)\.[^/]*)$"
)


@dataclass(frozen=True, slots=True)
class CommitQuestion:
    """A commit's message, and the files that it changed, under their paths in the parent commit."""

    commit: str
    parent: str
    text: str
    files: tuple[str, ...]


def select_questions(clone: Path, revision: str, limit: int = 15) -> list[CommitQuestion]:
    """Return up to `limit` questions from the recent commits up to a revision, oldest first.

    The suitable commits are cut into `limit` periods. Each period gives one question: its first
    commit, in hash order, that changes suitable files. This choice is random but reproducible. If a
    period has no such commit, another period gives an additional question. Raise GitError if the
    history cannot be read.
    """
    commits = recent_commits(list(suitable_commits(read_commits(clone, revision))), limit)
    bounds = [len(commits) * number // limit for number in range(limit + 1)]
    periods = [
        sorted(commits[start:end], key=lambda commit: commit.sha) for start, end in pairwise(bounds)
    ]
    chosen: dict[str, tuple[int, CommitQuestion]] = {}
    for picks in (1, COMMITS_PER_QUESTION):  # the second pass fills gaps
        for period in periods:
            for _ in range(picks):
                question = pop_question(clone, period) if len(chosen) < limit else None
                if question is None:
                    break
                chosen.setdefault(question[1].text, question)
    by_time = sorted(chosen.values(), key=lambda one: (one[0], one[1].commit))
    return [question for _, question in by_time]


def pop_question(clone: Path, period: list[Commit]) -> tuple[int, CommitQuestion] | None:
    """Remove commits until one has suitable files; return its time and question."""
    while period:
        commit = period.pop(0)
        files = target_files(clone, commit)
        if files:
            text = question_text(commit.subject, commit.body)
            return commit.time_s, CommitQuestion(commit.sha, commit.parents[0], text, files)
    return None


def recent_commits(commits: Sequence[Commit], limit: int) -> list[Commit]:
    """Return the commits of the four years up to the newest one, or more if `limit` needs them."""
    if not commits:
        return []
    newest = max(commit.time_s for commit in commits)
    recent = [commit for commit in commits if newest - commit.time_s <= RECENT_S]
    return list(commits[: max(len(recent), COMMITS_PER_QUESTION * limit)])


def suitable_commits(commits: Sequence[Commit]) -> Iterator[Commit]:
    """Yield the commits whose message can be a question; their files are not checked."""
    for commit in commits:
        if len(commit.parents) != 1 or commit.is_automatic or not is_about_code(commit.subject):
            continue
        if len(content_words(question_text(commit.subject, commit.body))) >= MIN_CONTENT_WORDS:
            yield commit


def target_files(clone: Path, commit: Commit) -> tuple[str, ...]:
    """Return the changed sources and documents that exist in the parent; none for bulk changes."""
    parent = commit.parents[0]
    existing = regular_files(clone, parent)
    lines = {
        path: count for path, count in changed_files(clone, parent, commit.sha) if path in existing
    }
    if len(lines) > MAX_FILES or sum(lines.values()) >= MAX_CHANGED_LINES:
        return ()
    return tuple(sorted(filter(is_target, lines)))


def is_target(path: str) -> bool:
    """Return whether a file is a source or a document that a question may be about."""
    name = path.rpartition("/")[2]
    is_known = Path(name).suffix.lower() in TARGET_SUFFIXES or name in TARGET_NAMES
    return is_known and not path.startswith(".") and not INCIDENTAL.search(path)


def is_test(path: str) -> bool:
    """Return whether a file is a test, by its path."""
    return TEST.search(path) is not None


def names_target(question: CommitQuestion) -> bool:
    """Return whether the text contains the path or the file name of a target."""
    words = set(re.findall(r"[\w./+-]*\w", question.text.lower()))
    paths = [path.lower() for path in question.files]
    return any(path in words or path.rpartition("/")[2] in words for path in paths)
