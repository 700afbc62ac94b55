"""Format the answers of `App.why` as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Final

from rootle.serialization.memories import NOTICE, memory_as_text
from rootle.serialization.path_text import (
    cut_line,
    cut_lines,
    escape_path,
    join_ranges,
    short_date,
    short_hash,
)
from rootle.types import PassageCommit, WhyAnswer

_MAX_PASSAGE_LINES: Final = 40
_MAX_LINE_CHARS: Final = 160
_MAX_REPLACED: Final = 10
# The maximum length of a commit message after its subject, in characters. It is longer for the
# first _DETAILED commits, because they explain the most.
_BODY_CHARS: Final = 900
_LATER_BODY_CHARS: Final = 240
_DETAILED: Final = 3
_BODY_INDENT: Final = 5
_MIN_WIDTH: Final = 20  # the minimum width of a wrapped message
_COMMITS_TITLE: Final = (
    "Commits that changed the meaning of these lines, the best explanation first:"
)
_FILE_TITLE: Final = (
    "The newest commits that changed this file; whether they changed these lines is not known:"
)
_BRIEF_REPLACED: Final = 3  # the maximum number of replaced lines in a brief answer


@dataclass(frozen=True, slots=True)
class WhyDetail:
    """The numbers of lines and commits that a brief answer shows."""

    passage_lines: int  # the maximum number of lines of the passage
    commits: int  # the number of commits that are shown with their messages
    body_lines: int  # the maximum number of lines of a message after its subject


# The levels of detail, from most to least.
WHY_DETAILS: Final = (
    WhyDetail(13, 3, 6),
    WhyDetail(11, 2, 6),
    WhyDetail(9, 2, 4),
    WhyDetail(7, 2, 2),
    WhyDetail(5, 1, 2),
    WhyDetail(3, 1, 0),
)


def reason_lines(answer: WhyAnswer) -> Iterator[str]:
    """Yield the passage, then its commits with their messages, documents and memories.

    The lines may contain unprintable characters of the repository.
    """
    yield from _passage_lines(answer, _MAX_PASSAGE_LINES)
    yield from _uncommitted_lines(answer, _MAX_REPLACED)
    if answer.commits:
        yield _FILE_TITLE if answer.are_of_file else _COMMITS_TITLE
    for number, commit in enumerate(answer.commits, start=1):
        limit = _BODY_CHARS if number <= _DETAILED else _LATER_BODY_CHARS
        body = _shorten(_strip_subject(commit), limit)
        yield from _commit_lines(number, commit, answer, body.split("\n") if body else ())
    yield from _mention_lines(answer)


def brief_reason_lines(answer: WhyAnswer, detail: WhyDetail, columns: int) -> Iterator[str]:
    """Yield the lines of `reason_lines`, limited by `detail`; further commits take one line each.

    Messages are wrapped to `columns`. Other lines may be longer.
    """
    yield from _passage_lines(answer, detail.passage_lines)
    yield from _uncommitted_lines(answer, _BRIEF_REPLACED)
    if answer.commits:
        yield _FILE_TITLE if answer.are_of_file else _COMMITS_TITLE
    for number, commit in enumerate(answer.commits, start=1):
        if number > detail.commits:
            day = short_date(commit.date)
            yield f"{number}. {short_hash(commit.hash)}  {day}  {commit.subject}"
        else:
            body = _cut_body(_strip_subject(commit), columns, detail.body_lines)
            yield from _commit_lines(number, commit, answer, body)
    yield from _mention_lines(answer)


def _mention_lines(answer: WhyAnswer) -> Iterator[str]:
    if answer.documents:
        yield "Documents that mention this place:"
    for mention in answer.documents:
        yield f"  {escape_path(mention.path)}:{mention.line} ({mention.name})  {mention.text}"
    if answer.memories:
        yield f"Memories about this place ({NOTICE}):"
    for memory in answer.memories:
        yield f"  {memory_as_text(memory)}"


def _uncommitted_lines(answer: WhyAnswer, maximum: int) -> Iterator[str]:
    if not answer.uncommitted:
        return
    yield f"Not committed yet: {join_ranges(answer.uncommitted)}."
    shown = cut_lines(answer.replaced, maximum)
    if shown:
        yield "The last commit has instead:"
    yield from (f"  {cut_line(line, _MAX_LINE_CHARS)}" for line in shown)
    if left := len(answer.replaced) - len(shown):
        yield f"  … ({left} more lines)"


def _passage_lines(answer: WhyAnswer, maximum: int) -> Iterator[str]:
    passage = answer.passage
    start, end = passage.start_line, passage.start_line + len(passage.lines) - 1
    name = f" in {answer.name}" if answer.name else ""
    yield f"{answer.place}{name} ({escape_path(passage.source)}:{start}-{end})"
    asked = _asked_lines(answer.place)
    first = max(start, min(asked[0] - maximum // 2, end - maximum + 1))
    width = len(str(end))
    last = min(end, first + maximum - 1)
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


def _commit_lines(
    number: int, commit: PassageCommit, answer: WhyAnswer, body: Sequence[str]
) -> Iterator[str]:
    """Yield a commit with the lines of its message after the subject."""
    yield f"{number}. {short_hash(commit.hash)}  {short_date(commit.date)}  {commit.author}"
    yield f"   {cut_line(commit.subject, _MAX_LINE_CHARS)}"
    yield from (f"     {line.rstrip()}".rstrip() for line in body)
    noun = "line" if len(commit.lines) == 1 else "lines"
    about = [f"{noun} {join_ranges(commit.lines)}"] if commit.lines else []
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


def _strip_subject(commit: PassageCommit) -> str:
    """Return the message of a commit after its subject."""
    return commit.message.partition("\n")[2].strip()


def _cut_body(body: str, columns: int, maximum: int) -> list[str]:
    """Return at most `maximum` lines of a message, wrapped; "…" marks that there are more."""
    width = max(columns - _BODY_INDENT, _MIN_WIDTH)
    lines = [part for line in body.split("\n") if line.strip() for part in wrap(line, width)]
    if len(lines) <= maximum:
        return lines
    return [*lines[: maximum - 1], f"{lines[maximum - 1][: width - 2]} …"] if maximum else []


def _shorten(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit].rstrip()} …"
