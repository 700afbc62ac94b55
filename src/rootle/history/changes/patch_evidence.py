"""Score how well the changed lines of a commit show the change that a question asks about."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final, Literal

from rootle.history.changes.change_question import Subject
from rootle.history.changes.change_words import Action, stem_line
from rootle.history.changes.subject_weights import WeightedSubject, find_core, find_rarest
from rootle.search.symbols.place_kinds import PlaceKind, kind_of_place
from rootle.text.file_kinds import is_in_vendor_folder
from rootle.text.languages import CONFIG_EXTENSIONS, file_language
from rootle.types import COMMIT_MESSAGE, DocumentSection

_CERTAIN_LINES: Final = 4  # changed lines that are enough to be sure
_CERTAIN_MARKS: Final = 2  # lines that mark something as deprecated
_DEPRECATED: Final = "deprec"  # a stem
# An upper bound, as in "toml; python<3.8", which is about versions before this one.
_UPPER_BOUND: Final = re.compile(r"<(?!=)\s?[\"']?\d[\d.]*")

# A line is evidence for a change if it removes the (old) thing, adds it, marks it as deprecated, or
# adds the new thing. A line that is next to a changed line and still contains the thing is evidence
# against a removal.
_Sign = Literal["removed", "added", "kept", "new", "deprecated"]
_STATUS: Final[Mapping[str, _Sign]] = {"deleted": "removed", "added": "added"}
_SIGNS: Final[Mapping[str, _Sign]] = {"-": "removed", "+": "added", " ": "kept"}
# The evidence that counts for an action.
_DECISIVE: Final[Mapping[Action, _Sign]] = {
    Action.REMOVAL: "removed",
    Action.DEPRECATION: "deprecated",
    Action.REPLACEMENT: "removed",
    Action.RENAME: "removed",
    Action.ADDITION: "added",
}


@dataclass(frozen=True, slots=True)
class PatchEvidence:
    """The evidence in the changed lines of a commit."""

    fit: float = 0.0  # from 0 to 1
    line: int = 1  # the first line of the text that is evidence, from 1
    extent: int = 0  # the number of lines that are evidence
    addition: float = 0.0  # how well the lines show that the thing was added, from 0 to 1
    is_program: bool = False  # some of these lines are in a program, not in a data file


def score_patch(
    action: Action,
    subjects: Sequence[WeightedSubject],
    lines: Sequence[str],
    sections: Sequence[DocumentSection],
) -> PatchEvidence:
    """Return how well the changes of code in a commit fit an action.

    `lines` is the indexed text of the commit. Documents, tests and copies are left out. A path
    only has to contain the rarest subject: "tracing/jaeger.go" and "logs/jaeger.go" in a commit
    about tracing. The lines of a revert or an upgrade do not show that it is one.
    """
    if action not in _DECISIVE:
        return PatchEvidence()
    core, rarest = find_core(subjects), find_rarest(subjects)
    code = [
        section
        for section in sections
        if section.label != COMMIT_MESSAGE
        and kind_of_place(section.label) is PlaceKind.CODE
        and not is_in_vendor_folder(section.label)
    ]
    found = [
        (number, sign)
        for section in code
        for number, sign in _find_signs(core, rarest, lines, section)
    ]
    counts = Counter(sign for _, sign in found)
    fit = _judge(action, counts, has_new=any(one.is_new for one in core))
    if action is Action.REMOVAL and _deletes_file(subjects, lines, code):
        fit = 1.0
    decisive = _DECISIVE[action]
    lines_found = [number for number, sign in found if sign == decisive]
    is_program = any(
        section.start_line <= number <= section.end_line
        for section in code
        if file_language(section.label) not in CONFIG_EXTENSIONS
        for number in lines_found
    )
    first = next(iter(lines_found), 1)
    return PatchEvidence(fit, first, len(lines_found), _judge_addition(counts), is_program)


def _deletes_file(
    subjects: Sequence[WeightedSubject], lines: Sequence[str], sections: Sequence[DocumentSection]
) -> bool:
    """Return whether a commit deleted the file that has the subjects as its name.

    The result is False if it also added a path with the subjects, because it may have moved the
    file.
    """
    things = [one.subject for one in subjects if not one.subject.is_kind]
    stems = {stem for one in things for stem in one.all_stems}
    is_deleted = False
    for section in sections:
        status = lines[section.start_line - 1].partition(" ")[0]
        if status == "added" and _has_all(things, stem_line(section.label)):
            return False
        name = stem_line(PurePosixPath(section.label).stem)
        named = _has_all(things, name) and stems.issuperset(name.split())
        is_deleted = is_deleted or (status == "deleted" and named)
    return is_deleted


def _find_signs(
    core: Sequence[Subject], rarest: Subject, lines: Sequence[str], section: DocumentSection
) -> Iterator[tuple[int, _Sign]]:
    """Yield the number and the kind of each line of a file that is evidence."""
    old = [one for one in core if not one.is_new]
    new = [one for one in core if one.is_new]
    probes = (*(one.probe for one in core), _DEPRECATED)
    heading = lines[section.start_line - 1]
    is_about = _has_all(core, stem_line(heading))
    is_named = is_about or rarest.is_in(stem_line(section.label))
    status = _STATUS.get(heading.partition(" ")[0]) if is_named else None
    if status is not None:  # the path of a file counts like several lines
        yield from [(section.start_line, status)] * _CERTAIN_LINES
    for number in range(section.start_line + 1, section.end_line + 1):
        line = lines[number - 1]
        lowered = line.lower()
        # Look for the probes first, because finding stems takes longer.
        if line[:1] not in _SIGNS or not any(probe in lowered for probe in probes):
            continue
        stems, is_added = stem_line(_UPPER_BOUND.sub(" ", line)), line[0] == "+"
        has_old = _has_all(old, stems)
        if has_old:
            yield number, _SIGNS[line[0]]
        if is_added and _has_all(new, stems):
            yield number, "new"
        if is_added and f" {_DEPRECATED} " in stems and (has_old or is_about):
            yield number, "deprecated"


def _has_all(subjects: Sequence[Subject], stems: str) -> bool:
    return bool(subjects) and all(one.is_in(stems) for one in subjects)


def _judge(action: Action, counts: Counter[_Sign], *, has_new: bool) -> float:
    """Return how well the numbers of changed lines fit an action, from 0 to 1."""
    if action is Action.DEPRECATION:
        return min(1.0, counts["deprecated"] / _CERTAIN_MARKS)
    if action is Action.ADDITION:
        return _judge_addition(counts)
    removed, added = counts["removed"], counts["added"]
    left = (removed - added) / (removed + added + counts["kept"]) if removed > added else 0.0
    gone = left * min(1.0, removed / _CERTAIN_LINES)
    if action is Action.REMOVAL or not has_new:
        return gone
    # In "when did we switch to X", the old thing is unknown, so only the new one counts.
    arrived = min(1.0, counts["new"] / _CERTAIN_LINES)
    return min(gone, arrived) if removed + added else arrived


def _judge_addition(counts: Counter[_Sign]) -> float:
    removed, added = counts["removed"], counts["added"]
    if added <= removed:
        return 0.0
    return (added - removed) / (added + removed) * min(1.0, added / _CERTAIN_LINES)
