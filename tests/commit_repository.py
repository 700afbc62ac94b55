"""Repositories whose commits are indexed, and questions about them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from commit_writer import init_repository, write_commit
from sample import OLD_S, git, write

from rootle import App
from rootle.types import SearchQuery, SearchResponse, SearchResult

DAY_S = 86_400


def make_history(root: Path, subjects: Sequence[str]) -> Path:
    """Create a repository with one commit per subject; each commit changes `<first word>.py`."""
    init_repository(root)
    for day, subject in enumerate(subjects):
        add_commit(root, subject, day=day)
    return root


def add_commit(root: Path, subject: str, *, day: int, author: str = "Ada <ada@x.org>") -> str:
    """Change the file `<first word of the subject>.py`, commit it, and return the commit hash."""
    name = subject.split()[0].lower()
    write(root, f"{name}.py", f"def {name}_{day}():\n    return '{subject}'\n")
    return commit_all(root, subject, day=day, author=author)


def commit_all(root: Path, message: str, *, day: int, author: str = "Ada <ada@x.org>") -> str:
    """Commit all changes and return the hash of the commit."""
    return commit_files(root, message, when_s=OLD_S + day * DAY_S, author=author)


def commit_files(
    root: Path, message: str, *, when_s: int = OLD_S, author: str = "t <t@example.com>"
) -> str:
    """Commit all changes at a time, and return the hash of the commit."""
    if (sha := write_commit(root, message, author, when_s)) is not None:
        return sha
    git(root, "add", "-A")
    options = ("-q", "--allow-empty", f"--author={author}", "-m", message)
    git(root, "commit", *options, when_s=when_s)
    return git(root, "rev-parse", "HEAD").strip()


def find_commits(app: App, question: str, limit: int = 20) -> list[SearchResult]:
    """Return the commits among the results of a question."""
    found = app.search(SearchQuery(question, limit=limit)).results
    return [result for result in found if result.commit is not None]


def subjects_of(app: App, question: str = "in:history change", limit: int = 20) -> set[str]:
    """Return the subjects of the commits that a question finds."""
    return {it.commit.subject for it in find_commits(app, question, limit) if it.commit}


def read_pages(app: App, question: str, limit: int) -> list[SearchResponse]:
    """Return all pages of the answer to a question."""
    pages = [app.search(SearchQuery(question, limit=limit))]
    while pages[-1].next_cursor:
        assert len(pages) < 50
        pages.append(app.search(SearchQuery(question, limit=limit, cursor=pages[-1].next_cursor)))
    return pages
