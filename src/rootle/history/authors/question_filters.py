"""Convert the words of a question about the commits of an author to filters: dates and paths."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from rootle.history.authors.author_questions import ABOUT
from rootle.history.question_dates import read_dates
from rootle.text.languages import UNKNOWN, file_language
from rootle.text.terms import STOP_WORDS, WORD

_PATH: Final = re.compile(
    r"(?:\b(?:in|to|on|of|under|inside|within|from|touching|touched|below|for) )?(?:the )?"
    r"(?:(?:file|folder|directory|path|module|package) )?"
    r"`?(?<![\w./@$+-])(?P<path>(?=[\w@$+-]*[/.][\w./@$+-]*\w)[\w./@$+-]*\w/?)`?"
    r"(?: (?:file|folder|directory))?(?!\S)"
)
_FOLDER: Final = re.compile(
    r"\b(?:in|under|inside|within|below|to) (?:the )?(?:(?:folder|directory) )?"
    r"`?(?P<path>[\w.-]+)`?(?: (?:folder|directory))?(?=\s*$)"
)
# The words before the subject. All words after "about" belong to the subject.
_LEADING: Final = re.compile(
    r"\A(?:(?:touching|touched|that|which|and|to|on|for|with|in|changed?)\s+)*"
    rf"(?:(?:{ABOUT})\s+)?",
    re.IGNORECASE,
)
# Words that say nothing about the subject of a commit.
_FILLERS: Final = frozenset(
    "about regarding concerning related touching mentioning last latest recent recently lately ever"
    " commit commits change changes anything something files file code thing things ago also"
    " there project repo repository who history everything ordered newest first list"
    " work so far but only added made pushed committed".split()
)


@dataclass(frozen=True, slots=True)
class CommitFilters:
    """The subject, dates and paths of the commits that a question asks for."""

    words: str  # the subject, which is searched; "" if there is none
    operators: str  # such as "path:src since:30d"; "" if there are none


def read_filters(
    text: str,
    now_s: float,
    find_date: Callable[[str], float | None],
    is_folder: Callable[[str], bool],
) -> CommitFilters:
    """Return the dates and paths in a text as operators, and the other words.

    `find_date` returns the Unix time of a revision, or None if there is no such revision.
    `is_folder` returns whether a commit changed files below a folder.
    """
    text, operators = read_dates(f"{text} ", datetime.fromtimestamp(now_s, UTC), find_date)
    for found in _PATH.finditer(text):
        path = found["path"].removeprefix("./")
        if "/" in path or file_language(path) != UNKNOWN:
            operators.append(f"path:{path}")
            text = text.replace(found[0], " ", 1)
    if (folder := _FOLDER.search(text)) is not None and is_folder(folder["path"]):
        operators.append(f"path:{folder['path']}/")
        text = text.replace(folder[0], " ", 1)
    text = _LEADING.sub("", text.strip())
    words = [word.lower() for word in WORD.findall(text)]
    is_empty = all(word in STOP_WORDS or word in _FILLERS for word in words)
    return CommitFilters("" if is_empty else " ".join(text.split()), " ".join(operators))
