"""Write a commit that a search has found as text for a language model."""

from __future__ import annotations

from typing import Final

from rootle.serialization.citation import describe_commit_briefly, describe_path
from rootle.serialization.path_text import clean_line, replace_unprintable, short_hash
from rootle.text.terms import encodable
from rootle.tools.history.commit_lines import cut_message, cut_patch
from rootle.types import COMMIT_MESSAGE, CommitFacts, SearchResult

_MAX_FILES: Final = 4  # changed files listed per commit
_MAX_FUNCTIONS: Final = 3  # changed functions listed per file


def write_commit(result: SearchResult, commit: CommitFacts, room: int) -> tuple[str, list[str]]:
    """Return the header of a commit and, if there is room, its best lines and changed files."""
    header = f"{short_hash(commit.hash)} {describe_commit_briefly(commit)}"
    if not room:
        return join_lines(header), []
    texts = [clean_line(line.rstrip()) for line in result.snippet.split("\n")]
    if result.place in (None, COMMIT_MESSAGE):
        lines = cut_message(texts, room, is_start=result.start_line == 1)
    else:
        lines = cut_patch(texts, room)
    files = [
        f"{describe_path(file)} ({', '.join(file.functions[:_MAX_FUNCTIONS])})"
        if file.functions
        else describe_path(file)
        for file in commit.files
    ]
    left = len(files) - _MAX_FILES
    if commit.may_lack_files:
        more = ", and more" if left > 0 else ", and possibly more"
    else:
        more = f", and {left} more" if left > 0 else ""
    if files:  # most merges have none
        lines.append(join_lines(f"changed: {', '.join(files[:_MAX_FILES])}{more}"))
    return join_lines(f"{header} #{result.place or 'message'}"), lines


def join_lines(text: str) -> str:
    """Return a text on one line, without characters that cannot be printed or encoded."""
    return encodable(replace_unprintable(text))
