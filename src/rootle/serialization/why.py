"""Format the answers of `App.why` as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rootle.serialization.memories import NOTICE, memory_as_text
from rootle.serialization.path_text import cut_line, cut_lines, escape_path, short_hash
from rootle.types import PassageCommit, WhyAnswer

_MAX_PASSAGE_LINES: Final = 40
_MAX_LINE_CHARS: Final = 160
_MAX_REPLACED: Final = 10
# The maximum length of a commit message after its subject, in characters. It is longer for the
# first _DETAILED commits, because they explain the most.
_BODY_CHARS: Final = 900
_LATER_BODY_CHARS: Final = 240
_DETAILED: Final = 3


def reason_lines(answer: WhyAnswer) -> Iterator[str]:
    """Yield the passage, then its commits with their messages, documents and memories.

    The lines may contain unprintable characters of the repository.
    """
    yield from _passage_lines(answer)
    if answer.uncommitted:
        yield f"Not committed yet: {_ranges(answer.uncommitted)}."
        shown = cut_lines(answer.replaced, _MAX_REPLACED)
        if shown:
            yield "The last commit has instead:"
        yield from (f"  {cut_line(line, _MAX_LINE_CHARS)}" for line in shown)
        if left := len(answer.replaced) - len(shown):
            yield f"  … ({left} more lines)"
    if answer.commits:
        yield "Commits that changed the meaning of these lines, the best explanation first:"
    for number, commit in enumerate(answer.commits, start=1):
        yield from _commit_lines(number, commit, answer)
    if answer.documents:
        yield "Documents that mention this place:"
    for mention in answer.documents:
        yield f"  {escape_path(mention.path)}:{mention.line} ({mention.name})  {mention.text}"
    if answer.memories:
        yield f"Memories about this place ({NOTICE}):"
    for memory in answer.memories:
        yield f"  {memory_as_text(memory)}"


def _passage_lines(answer: WhyAnswer) -> Iterator[str]:
    passage = answer.passage
    start, end = passage.start_line, passage.start_line + len(passage.lines) - 1
    name = f" in {answer.name}" if answer.name else ""
    yield f"{answer.place}{name} ({escape_path(passage.source)}:{start}-{end})"
    asked = _asked_lines(answer.place)
    first = max(start, min(asked[0] - _MAX_PASSAGE_LINES // 2, end - _MAX_PASSAGE_LINES + 1))
    width = len(str(end))
    last = min(end, first + _MAX_PASSAGE_LINES - 1)
    if first > start:
        yield f"  {'…':>{width}}  {_range(start, first - 1)} left out"
    for number in range(first, last + 1):
        mark = ">" if asked[0] <= number <= asked[1] and asked != (start, end) else " "
        line = cut_line(passage.lines[number - start], _MAX_LINE_CHARS)
        yield f"{mark} {number:>{width}}  {line}".rstrip()
    if last < end:
        yield f"  {'…':>{width}}  {_range(last + 1, end)} left out"


def _range(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"


def _asked_lines(place: str) -> tuple[int, int]:
    first, _, last = place.rpartition(":")[2].partition("-")
    return int(first), int(last or first)


def _commit_lines(number: int, commit: PassageCommit, answer: WhyAnswer) -> Iterator[str]:
    yield f"{number}. {short_hash(commit.hash)}  {commit.date[:10]}  {commit.author}"
    yield f"   {cut_line(commit.subject, _MAX_LINE_CHARS)}"
    limit = _BODY_CHARS if number <= _DETAILED else _LATER_BODY_CHARS
    body = commit.message.partition("\n")[2].strip()
    for line in _shorten(body, limit).split("\n") if body else ():
        yield f"     {line.rstrip()}".rstrip()
    about = [f"lines {_ranges(commit.lines)}"] if commit.lines else []
    if commit.path != answer.passage.source:
        about.append(f"then in {escape_path(commit.path)}")
    if commit.numbers:
        about.append("names " + ", ".join(f"#{value}" for value in commit.numbers))
    if about:
        yield f"   ({'; '.join(about)})"
    if commit.reverts:
        yield f"   reverts {short_hash(commit.reverts)}  {commit.reverted_subject}"
    if commit.merge:
        yield f"   merged by {short_hash(commit.merge)}  {commit.merge_subject}"


def _shorten(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit].rstrip()} …"


def _ranges(lines: Sequence[int]) -> str:
    """Return sorted numbers as "3, 5-7"."""
    parts: list[list[int]] = []
    for line in lines:
        if parts and line == parts[-1][-1] + 1:
            parts[-1] = [parts[-1][0], line]
        else:
            parts.append([line])
    return ", ".join("-".join(map(str, part)) for part in parts)
