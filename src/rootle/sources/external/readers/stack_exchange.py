"""The dump of a Stack Exchange site: `Posts.xml`."""

from __future__ import annotations

import math
import os
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from typing import Final
from xml.parsers import expat

from rootle.sources.documents.places import join_places
from rootle.sources.external.readers.html_to_markdown import to_markdown
from rootle.sources.external.readers.tree import FolderTree
from rootle.sources.external.records import CutFile, ExternalDocument, ExternalSourceError
from rootle.storage.open_without_links import open_below

POSTS: Final = "Posts.xml"
_BLOCK_BYTES: Final = 1 << 18
# Before version 2.6, expat reads an unfinished element again from its start for each block. A post
# of a real dump has at most a few hundred kilobytes.
_MAX_ELEMENT_BYTES: Final = 1 << 23
_QUESTION, _ANSWER = "1", "2"
_SITE: Final = re.compile(r"[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?:com|net|org)")
_TAG: Final = re.compile(r"[^<>|\s]+")
_MAX_ANSWERS: Final = 30
# The ranking factor of a question is 1, plus up to _SCORE_GAIN for the best score among the
# question and its answers, plus _ACCEPTED_GAIN if an answer is accepted. The full _SCORE_GAIN is
# added at _FULL_SCORE. A negative score lowers the factor.
_SCORE_GAIN: Final = 0.15
_ACCEPTED_GAIN: Final = 0.1
_FULL_SCORE: Final = 100

_SCHEMA: Final = """
CREATE TABLE posts (id INTEGER PRIMARY KEY, parent INTEGER, accepted INTEGER, score INTEGER,
                    created TEXT, title TEXT, tags TEXT, body TEXT);
"""


def read_stack_exchange(
    tree: FolderTree, max_documents: int
) -> Iterator[ExternalDocument | CutFile]:
    """Yield each question with its answers, the accepted one first, then by score.

    If the dump is damaged, its posts before the damage are read, and it is reported as cut.
    """
    name = os.path.basename(tree.root.rstrip(os.sep))
    site = f"https://{name}" if _SITE.fullmatch(name) else ""
    with closing(sqlite3.connect("")) as posts:  # a temporary file
        posts.executescript(_SCHEMA)
        if not _load_posts(tree, posts):
            yield CutFile(POSTS)
        posts.execute("CREATE INDEX by_parent ON posts (parent, score)")
        questions = posts.execute(
            "SELECT id, accepted, score, created, title, tags, body FROM posts "
            "WHERE parent IS NULL ORDER BY score DESC, id LIMIT ?",
            (max_documents + 1,),  # the additional one shows the caller that there are more
        )
        for question in questions:
            answers = posts.execute(
                "SELECT id, score, body FROM posts WHERE parent = ? "
                "ORDER BY id = ? DESC, score DESC, id LIMIT ?",
                (question[0], question[1] or 0, _MAX_ANSWERS + 1),
            ).fetchall()
            document = _make_document(question, answers[:_MAX_ANSWERS], site)
            yield document
            if len(answers) > _MAX_ANSWERS:
                yield CutFile(document.path)


def _load_posts(tree: FolderTree, posts: sqlite3.Connection) -> bool:
    """Store the posts; return whether the dump was read to its end."""

    def add(name: str, values: dict[str, str]) -> None:
        kind = values.get("PostTypeId")
        if name != "row" or kind not in (_QUESTION, _ANSWER):
            return
        number = _integer(values.get("Id"))
        parent = _integer(values.get("ParentId")) if kind == _ANSWER else None
        if number is None or (kind == _ANSWER and parent is None):
            return
        posts.execute(
            "INSERT OR IGNORE INTO posts VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                number,
                parent,
                _integer(values.get("AcceptedAnswerId")),
                _integer(values.get("Score")) or 0,
                values.get("CreationDate", ""),
                values.get("Title", ""),
                values.get("Tags", ""),
                values.get("Body", ""),
            ),
        )

    error = _parse(tree, add)
    if error and posts.execute("SELECT 1 FROM posts LIMIT 1").fetchone() is None:
        raise ExternalSourceError(f"{POSTS} is damaged: {error}")
    return not error


def _parse(tree: FolderTree, add: Callable[[str, dict[str, str]], None]) -> str:
    """Call a function for each element up to the end or an error; return the error, or ""."""

    def refuse(*_: object) -> None:
        raise ExternalSourceError(f"{POSTS} declares entities, which no dump does")

    parser = expat.ParserCreate()
    parser.StartElementHandler = add
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    try:
        descriptor = open_below(tree.root, POSTS)
    except OSError as error:
        raise ExternalSourceError(f"{POSTS} cannot be read") from error
    with os.fdopen(descriptor, "rb") as file:
        try:
            while block := file.read(_BLOCK_BYTES):
                parser.Parse(block, False)
                if file.tell() - parser.CurrentByteIndex > _MAX_ELEMENT_BYTES:
                    return "an element is too long"
            parser.Parse(b"", True)
        except expat.ExpatError as error:
            return str(error)
    return ""


def _make_document(
    question: tuple[int, int | None, int, str, str, str, str],
    answers: list[tuple[int, int, str]],
    site: str,
) -> ExternalDocument:
    number, accepted, score, created, title, tags, body = question
    names = ", ".join(_TAG.findall(tags))
    head = f"# {title}\n\nTags: {names}\nVotes: {score}\n\n{to_markdown(body)}"
    # The places have no titles, because the text has headings, and a result would show both.
    places = [("question", "", head)]
    for answer, points, text in answers:
        name = "Accepted solution" if answer == accepted else "Solution"
        # With "answer" or "score" in the heading, the detector of orders to agents flags ordinary
        # answers that consist of a short command.
        heading = f"{name} ({points} vote{'' if points == 1 else 's'})"
        places.append((f"answer-{answer}", "", f"## {heading}\n\n{to_markdown(text)}"))
    text, sections = join_places(places)
    best = max([score, *(points for _, points, _ in answers)])
    is_answered = any(answer == accepted for answer, _, _ in answers)
    return ExternalDocument(
        f"questions/{number}",
        text,
        title,
        address=f"{site}/questions/{number}" if site else "",
        date_s=_parse_date(created),
        factor=rate_posts(best, is_answered=is_answered),
        sections=sections,
    )


def rate_posts(score: int, *, is_answered: bool) -> float:
    """Return the ranking factor for the best score among a question and its answers."""
    size = min(1.0, math.log1p(abs(score)) / math.log1p(_FULL_SCORE))
    return 1.0 + math.copysign(size, score) * _SCORE_GAIN + is_answered * _ACCEPTED_GAIN


def _integer(text: str | None) -> int | None:
    if text is None or len(text) > 18:
        return None
    try:
        return int(text)
    except ValueError:
        return None


def _parse_date(text: str) -> float | None:
    try:
        return datetime.fromisoformat(text[:19]).replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None
