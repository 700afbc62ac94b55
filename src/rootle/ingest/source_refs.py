"""From the name of a place to its lines: of a file, a section, a definition, a commit."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from rootle.errors import SourceError
from rootle.sources.files.discovery import WalkRules
from rootle.sources.files.read_file import read_one
from rootle.sources.git.commit_text import SHA, show_commit
from rootle.text.languages import language_of
from rootle.text.terms import encodable
from rootle.types import Passage

_MAX_SOURCE_CHARS: Final = 1_000
_LINES: Final = re.compile(r"(.+):(\d{1,9})(?:-(\d{1,9}))?", re.DOTALL)
# Around a line that was asked for alone: what an editor shows, or a function that is no longer.
_AROUND: Final = 30
_MAX_DEFINITION: Final = 150
_NAMED: Final = 10

Paths = Callable[[], Collection[str]]


def read_source(root: Path, source: str, rules: WalkRules, known: Paths) -> Passage:
    """The lines that "path", "path:120", "path:120-180", "path#name" or a commit's hash names.

    `known` gives the paths of the index, for hints. Raises SourceError with what to ask instead.
    """
    _check(source)
    failure: SourceError | None = None
    for path, lines, section in _readings(source):
        try:
            whole = _whole(root, path, rules, known)
        except SourceError as error:
            failure = failure or error
        else:
            return _part(whole, lines, section)
    raise failure or SourceError("source is empty")


def _check(source: str) -> None:
    if not source.strip():
        raise SourceError("source is empty")
    if len(source) > _MAX_SOURCE_CHARS:
        raise SourceError(f"source has {len(source)} characters; give a path, not a text")
    if "\0" in source or source != _as_file_name(source):
        raise SourceError("source has characters that no path has")


def _as_file_name(source: str) -> str:
    try:
        return os.fsdecode(os.fsencode(source))
    except UnicodeEncodeError:
        return ""


_Reading = tuple[str, tuple[int, int | None] | None, str]


def _readings(source: str) -> Iterator[_Reading]:
    """What a source may mean, likeliest first: a file may have any of the signs in its name."""
    source = source.strip()
    place = _LINES.fullmatch(source)
    if place is not None:
        yield place[1], (int(place[2]), int(place[3]) if place[3] else None), ""
    path, sign, section = source.partition("#")
    if path and sign and place is None:
        yield path, None, section
    yield source, None, ""


def _whole(root: Path, path: str, rules: WalkRules, known: Paths) -> Passage:
    sha = path.removeprefix("commit").lstrip(": ") if path.startswith("commit") else path
    if SHA.fullmatch(sha):
        commit = show_commit(root, sha.lower(), rules)
        if commit is not None:
            return _passage(commit[0][: max(12, len(sha))], "diff", commit[1])
    relative = _relative(root, path)
    found = read_one(root, relative, rules)
    if found is None:
        raise SourceError(_unknown(relative, sha, known()))
    if isinstance(found, str):
        raise SourceError(f"{relative} is left out of the index ({found}) and cannot be read")
    return _passage(relative, language_of(relative), found.text)


def _passage(source: str, language: str, text: str) -> Passage:
    lines = tuple(line.removesuffix("\r") for line in text.removesuffix("\n").split("\n"))
    return Passage(source, language, 1, lines, len(lines))


def _relative(root: Path, path: str) -> str:
    """A path as the index names it; raises SourceError where it leads out of the folder."""
    for folder in (os.fspath(root), os.path.realpath(root)):
        if path.startswith(folder + os.sep):
            path = path[len(folder) + 1 :]
    relative = posixpath.normpath(path)
    if os.path.isabs(path) or ".." in path.split("/"):
        raise SourceError(f"{path} leads out of the folder; give a path relative to it, without ..")
    return relative


def _unknown(path: str, sha: str, known: Collection[str]) -> str:
    if SHA.fullmatch(sha):
        return f"there is no commit {sha} here, nor a file of that name; take a hash from git log"
    inside = sorted(other for other in known if path == "." or other.startswith(f"{path}/"))
    if inside:
        return f"{path} is a folder; name one of its files: {_listed(inside)}"
    name = posixpath.basename(path).casefold()
    alike = sorted(other for other in known if posixpath.basename(other).casefold() == name)
    hint = f"did you mean {_listed(alike)}?" if alike else "take a path from vectordb_search"
    return f"{path} does not exist here or is ignored; {hint}"


def _listed(names: Sequence[str]) -> str:
    more = f", and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def _part(whole: Passage, lines: tuple[int, int | None] | None, section: str) -> Passage:
    if section:
        return _of_section(whole, section)
    if lines is None:
        return whole
    first, last = lines
    count = whole.total_lines
    if first < 1 or first > count or (last is not None and last < first):
        asked = f"{first}-{last}" if last is not None else str(first)
        raise SourceError(f"{whole.source} has lines 1-{count}, not {asked}; ask for some of these")
    if last is None:
        first, last = _around(whole, first)
    return _cut(whole, first, min(last, count))


def _around(whole: Passage, line: int) -> tuple[int, int]:
    """The definition or section with a line in it where that is no long one, else its vicinity."""
    from rootle.ingest.sections import section_around, sections_of

    found = section_around(sections_of("\n".join(whole.lines), whole.language), line)
    if found is not None and found.last_line - found.first_line < _MAX_DEFINITION:
        return found.first_line, found.last_line
    return max(1, line - _AROUND), line + _AROUND


def _of_section(whole: Passage, wanted: str) -> Passage:
    from rootle.ingest.sections import find_section, sections_of

    sections = sections_of("\n".join(whole.lines), whole.language)
    found = find_section(sections, wanted)
    if found is not None:
        return _cut(whole, found.first_line, found.last_line)
    if not sections:
        raise SourceError(f"{whole.source} has no headings or definitions; ask for lines of it")
    names = _listed([section.names[-1] for section in sections])
    raise SourceError(f'{whole.source} has no "{encodable(wanted)}"; it has: {names}')


def _cut(whole: Passage, first: int, last: int) -> Passage:
    return replace(whole, start_line=first, lines=whole.lines[first - 1 : last])
