"""Write search results as text for a language model.

Most of the text consists of lines from the places that together match the question best. These
places can be in any of the first files. A file without such a place takes one line, with the names
of its best definitions. If the question contains a phrase or a regex, each result also shows lines
that match it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from rootle.app import App
from rootle.errors import SourceError
from rootle.serialization.citation import cite, result_spans
from rootle.serialization.outside_text import describe_outside
from rootle.serialization.path_text import group_lines, join_ranges
from rootle.text.agent_orders.detector import describe_orders
from rootle.text.languages import PROSE
from rootle.tools.excerpts.answer_places import AnswerFile, ChosenPlaces, choose_places
from rootle.tools.excerpts.file_places import Place
from rootle.tools.excerpts.place_names import (
    cite_place,
    name_places,
    strip_scope,
    write_one_line,
)
from rootle.tools.excerpts.shown_lines import FileExcerpts, LineNumbers, limit_characters
from rootle.tools.history.commit_text import join_lines, write_commit
from rootle.tools.sent_passages import AnswerPassages, SentPassages
from rootle.types import (
    FileOutline,
    SearchResponse,
    SearchResult,
    Span,
)

# If the score of a file is below this share of the best score, no places are chosen for it. After
# the first _MIN_RESULTS results, such a file is left out unless it matches a phrase or a regex.
_FAR: Final = 0.1
_MIN_RESULTS: Final = 3
# The maximum number of files whose places are ranked together. It is small, because opening a file
# takes time.
_MAX_OPENED: Final = 5
# Maximum number of characters for the other lines of a result that match a phrase or a regex.
_MATCH_ROOM: Final = 240
_MAX_MATCH_NUMBERS: Final = 10
_MAX_MENTIONS: Final = 4
# The label before the variables that the lines above it use.
_USED: Final = "also used:"
_MENTION: Final = re.compile(r"`([A-Za-z_][\w.:]*)(?:\(\))?`|\b([A-Za-z_]\w*(?=\())")


@dataclass(frozen=True, slots=True)
class AnswerText:
    """The text of the results, and the same results as data."""

    text: str
    results: Sequence[Mapping[str, Any]]  # Any: JSON
    passages: AnswerPassages | None = None  # the passages that the text contains
    paths: frozenset[str] = frozenset()  # the files that the text lists


def write_answer(
    app: App, question: str, response: SearchResponse, shown: SentPassages | None
) -> AnswerText:
    """Return the text for the results of a response; it is empty if there are none."""
    writer = _Writer(app, question, shown, _defining_lines(response))
    results = _drop_far(response, writer.has_match)
    rooms = limit_characters(response.confident is False, [result.score for result in results])
    chosen = writer.choose_places(results, rooms)
    blocks, data = [], []
    for number, (result, room, places) in enumerate(
        zip(results, rooms, chosen, strict=True), start=1
    ):
        header, lines = writer.write(result, room, places)
        lines = _mark_outside(result, lines)
        score = f" ({result.score:.2f})"
        blocks.append(f"{number}. {header}{score}" + "".join(f"\n{line}" for line in lines))
        source = cite(result.file_path, result_spans(result)[:1])
        data.append(
            {
                "source": join_lines(source),
                "score": result.score,
                "text": "\n".join(lines),
                "about": join_lines(f"{result.metadata.language} {result.scope}".strip()),
                **_outside_data(result),
            }
        )
    paths = frozenset(result.file_path for result in results)
    return AnswerText(_join(blocks), data, writer.passages, paths)


def _defining_lines(response: SearchResponse) -> Mapping[str, Collection[int]]:
    """Return, by path, the lines of the definitions that the question asks for."""
    lines: defaultdict[str, set[int]] = defaultdict(set)
    if response.symbols is not None and response.symbols.aspect == "definitions":
        for symbol in response.symbols.definitions:
            lines[symbol.path].add(symbol.line)
    return lines


def _mark_outside(result: SearchResult, lines: Sequence[str]) -> list[str]:
    """Prepend the origin of the lines, and a warning if they give orders to a model.

    The lines may differ from those that were checked when the result was found, so they are checked
    again.
    """
    if result.trust is None:
        return list(lines)
    warning = describe_orders("\n".join(lines)) or result.warning
    return [*describe_outside(replace(result, warning=warning)), *lines]


def _outside_data(result: SearchResult) -> Mapping[str, str]:
    values = {"origin": result.origin, "trust": result.trust, "warning": result.warning}
    return {key: join_lines(value) for key, value in values.items() if value is not None}


def _drop_far(
    response: SearchResponse, has_match: Callable[[SearchResult], bool]
) -> Sequence[SearchResult]:
    """Return the results whose scores are not too far below the first score, and exact matches."""
    results = response.results
    if response.confident is False:
        return results[:_MIN_RESULTS]
    limit = _FAR * results[0].score if results else 0.0
    return [
        result
        for at, result in enumerate(results)
        if at < _MIN_RESULTS or result.score >= limit or has_match(result)
    ]


def _join(blocks: Sequence[str]) -> str:
    """Join blocks with blank lines between them, except between two blocks of one line each."""
    text = ""
    for at, block in enumerate(blocks):
        is_compact = at and "\n" not in block and "\n" not in blocks[at - 1]
        text += ("" if not at else "\n" if is_compact else "\n\n") + block
    return text


class _Writer:
    def __init__(
        self,
        app: App,
        question: str,
        shown: SentPassages | None,
        defining_lines: Mapping[str, Collection[int]],
    ) -> None:
        self._app = app
        self._question = question
        self._shown = shown
        self._defining_lines = defining_lines
        self._room = 0  # characters for the lines of all files
        self._opened: dict[tuple[str, tuple[Span, ...]], FileExcerpts] = {}
        self.passages = AnswerPassages()  # the passages that this answer contains
        self._find_matches = app.line_finder(question)

    def has_match(self, result: SearchResult) -> bool:
        """Return whether a result contains the phrases and the regex of the question."""
        if not self._may_match(result):
            return False
        if result.commit is None:
            return bool(self._open(result).matches)
        find = self._find_matches
        return find is not None and bool(find(result.snippet.split("\n")))

    def _may_match(self, result: SearchResult) -> bool:
        return self._find_matches is not None or result.matching_lines is not None

    def choose_places(
        self, results: Sequence[SearchResult], rooms: Sequence[int]
    ) -> list[ChosenPlaces | None]:
        """Return, for each result, the places that the answer shows.

        `rooms` contains the maximum number of characters for the lines of each result; the files
        share the total. The value is None for a result whose places are not chosen: a commit, a
        file with a score far below the best one, or a file after the first `_MAX_OPENED` files.
        """
        scores = [result.score for result in results if result.commit is None]
        limit = _FAR * max(scores, default=0.0)
        numbers = [
            at
            for at, result in enumerate(results)
            if result.commit is None and result.score >= limit
        ][:_MAX_OPENED]
        self._room = sum(rooms[at] for at in numbers)
        files = [
            AnswerFile(self._open(result), result_spans(result), result.score)
            for result in (results[at] for at in numbers)
        ]
        chosen: list[ChosenPlaces | None] = [None] * len(results)
        for at, places in zip(
            numbers, choose_places(self._question, files, self._room), strict=True
        ):
            chosen[at] = places
        return chosen

    def write(
        self, result: SearchResult, room: int, places: ChosenPlaces | None
    ) -> tuple[str, list[str]]:
        """Return the header of a result and its lines."""
        if result.commit is not None:
            return write_commit(result, result.commit, room)
        if places is None or not places.shown:
            header = write_one_line(result, result_spans(result), places)
            return header, [*_matches(self._open(result), ())] if self._may_match(result) else []
        excerpts = self._open(result)
        header, lines, seen = "", list[str](), set[int]()
        for at, (place, numbers) in enumerate(places.shown):
            seen.update(numbers)
            context = places.shown[0][0].name if at else ""
            title, body = self._print(result, excerpts, place, numbers, context)
            if place.is_variable:
                lines += [_USED] if body and _USED not in lines else []
            elif at:
                lines.append(f"also {title}")
            else:
                header = cite_place(result, place, title)
            lines += body
        lines += _matches(excerpts, seen)
        lines += name_places(places.named, context=places.shown[0][0].name)
        if result.mentions:
            lines += _format_mentions(result.mentions)
        elif result.metadata.language in PROSE and result.trust is None:
            lines += self._mentions(lines)
        return header, lines

    def _open(self, result: SearchResult) -> FileExcerpts:
        """Return the file of a result, or just its spans if the file has changed since indexing."""
        key = result.file_path, tuple(result_spans(result))
        if key not in self._opened:
            self._opened[key] = self._read(result, key[1])
        return self._opened[key]

    def _read(self, result: SearchResult, spans: Sequence[Span]) -> FileExcerpts:
        try:
            excerpts = self._excerpts(result, self._app.outline(result.file_path))
        except SourceError:
            excerpts = None
        if excerpts is not None and all(excerpts.contains(span) for span in spans):
            return excerpts
        lines = [""] * max(span.end_line for span in spans)
        for span in spans:
            lines[span.start_line - 1 : span.end_line] = span.snippet.split("\n")
        return self._excerpts(result, FileOutline(result.file_path, tuple(lines), ()))

    def _excerpts(self, result: SearchResult, outline: FileOutline) -> FileExcerpts:
        found: Mapping[int, int] = {}
        if result.matching_lines is not None:
            found = dict.fromkeys(sorted(result.matching_lines), 0)
        elif self._find_matches is not None:
            found = self._find_matches(outline.lines)
        excluded = self._app.excluded_lines(self._question, outline.lines)
        asked = self._defining_lines.get(outline.path, ())
        return FileExcerpts(outline, self._question, found, excluded, asked)

    def _print(
        self,
        result: SearchResult,
        excerpts: FileExcerpts,
        place: Place,
        numbers: LineNumbers,
        context: str,
    ) -> tuple[str, list[str]]:
        """Return a title with the range and the name of a place, and its lines with numbers.

        The name does not repeat the scopes that it shares with `context`. If the client has already
        received these lines, return further lines of the place.
        """
        lines = place.label or f"{numbers[0]}-{numbers[-1]}"
        title = f"{lines} {join_lines(strip_scope(place.name, context))}".rstrip()
        path = result.file_path
        sent = set[int]()
        while numbers and self._was_sent(path, texts := _read_lines(excerpts, numbers)):
            sent.update(numbers)
            numbers = excerpts.choose(place, self._room, sent)
        if sent:
            title += (
                ", shown above" if not numbers else f", {join_ranges(sorted(sent))} shown above"
            )
        if not numbers:
            return title, []
        if self._shown is not None:
            self.passages.add(path, texts)
        return title, list(_number_lines(place, sorted({*numbers, *sent}), texts))

    def _was_sent(self, path: str, texts: Mapping[int, str]) -> bool:
        """Return whether these lines are in an earlier answer, or already in this one."""
        if self._shown is None:
            return False
        return self._shown.contains(path, texts) or self.passages.contains(path, texts)

    def _mentions(self, lines: Sequence[str]) -> list[str]:
        """Return a line with the places where names of code in `lines` are defined, if any."""
        found = [a or b for a, b in _MENTION.findall("\n".join(lines))]
        names = list(dict.fromkeys(re.split(r"[.:]+", name)[-1] for name in found))
        places = self._app.definition_places([name for name in names if name])
        return _format_mentions(places)


def _format_mentions(places: Mapping[str, str]) -> list[str]:
    shown = [f"{name} {place}" for name, place in places.items()][:_MAX_MENTIONS]
    return [f"defined in: {join_lines(', '.join(shown))}"] if shown else []


def _read_lines(excerpts: FileExcerpts, numbers: LineNumbers) -> dict[int, str]:
    return {number: excerpts.line(number) for number in numbers}


def _number_lines(place: Place, numbers: Sequence[int], texts: Mapping[int, str]) -> Iterator[str]:
    """Yield the lines in `texts` with their numbers, and the ranges of lines that are left out.

    The lines in `numbers` without a text were sent before. If the end of a definition is left out,
    the range is marked as the rest.
    """
    width = len(str(numbers[-1]))
    end = 0
    for first, last in group_lines(numbers):
        if end:
            yield f"{'…':>{width}}  {end + 1}-{first - 1} left out"
        for number in range(first, last + 1):
            if number in texts:
                yield f"{number:>{width}}  {texts[number]}".rstrip()
        end = last
    if end < place.last_line:
        rest = " (the rest)" if place.name and not place.is_comment else ""
        yield f"{'…':>{width}}  {end + 1}-{place.last_line} left out{rest}"


def _matches(excerpts: FileExcerpts, seen: Collection[int]) -> Iterator[str]:
    """Yield the lines of a file that match a phrase or a regex and are not shown yet.

    If there is not enough room for the last lines, yield their numbers.
    """
    left = [number for number in excerpts.matches if number not in seen]
    if left and seen:
        yield "also matching:"
    width = len(str(left[-1])) if left else 0
    room = _MATCH_ROOM
    for at, number in enumerate(left):
        room -= excerpts.size((number,))
        if at and room < 0:
            more = ", …" if len(left) - at > _MAX_MATCH_NUMBERS else ""
            numbers = ", ".join(map(str, left[at:][:_MAX_MATCH_NUMBERS]))
            yield f"{'…':>{width}}  more matching lines: {numbers}{more}"
            return
        yield f"{number:>{width}}  {excerpts.line(number)}".rstrip()
