"""Answer questions such as "who changed NAME last" and "which commit added NAME"."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rootle.history.commit_results import single_result
from rootle.history.commit_view import CommitView
from rootle.index.reader import FileState
from rootle.text.hunk_range import extend_range
from rootle.text.terms import word_terms
from rootle.text.whole_names import name_pattern
from rootle.types import (
    CHANGED_NAMES_SEPARATOR,
    COMMIT_URI,
    UNNAMED_CHANGES,
    DocumentSection,
    SearchResult,
)

# If a name has more definitions than this, it is unclear which of them a question is about.
MAX_DEFINITIONS: Final = 3
# For a changed method, the index of commits contains the name of the method, not of the class.
CONTAINERS: Final = frozenset("class interface trait module namespace object protocol".split())
_MAX_CHARS: Final = 200
_MAX_COMMITS: Final = 3_000  # commits that are read because their texts contain the name
_MAX_TEXTS: Final = 300  # changes whose lines are searched for the name
_MAX_HASHES: Final = 3
_SHOWN_LINES: Final = 8
# Limits for git, which reads the contents of all commits to find changes in how often a name
# occurs.
_MAX_COUNTED: Final = 1_000
_COUNTING_S: Final = 4.0
_KIND: Final = (
    "function|method|class|struct|enum|trait|interface|type|macro|field|constant|variable"
    "|definition of|definition"
)
_NAME: Final = (
    rf"(?:the )?(?:(?P<kind>{_KIND}) )?(?P<open>`?)(?P<name>[A-Za-z_$][\w$]{{0,99}}"
    r"(?:(?:\.|::|#)[A-Za-z_$~][\w$]{0,99}){0,5})(?P<call>\(\))?`?"
    rf"(?P<kind_after> (?:{_KIND}))?"
)
_CHANGED: Final = "changed|modified|touched|edited|updated|rewrote|refactored|fixed"
_ADDED: Final = "added|introduced|created|implemented|wrote|invented"
_COMMIT: Final = r"(?:commit|change|pull request|pr|merge)s?"
_LAST: Final = "last|latest|newest|most recent|recent"
_OFTEN: Final = r"(?:last |latest |lately |recently |most recently )?"
_NEWEST: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"who {_OFTEN}(?:{_CHANGED}) {_NAME}(?: last| recently| lately| most recently)?",
        rf"(?:(?:which|what) (?:is |was |were |are )?)?(?:the )?(?:(?:{_LAST}|all) )?{_COMMIT}"
        rf"(?: that| which)? {_OFTEN}(?:{_CHANGED}) {_NAME}(?: last| recently| lately)?",
        rf"(?:what (?:is |was |were |are )?)?(?:the )?(?:{_LAST}) {_COMMIT} (?:to|of|in|for|on) "
        rf"{_NAME}",
        rf"(?:the )?(?:git |commit |change )?history (?:of|for) {_NAME}",
        rf"git (?:log|blame) (?:for |of |on )?{_NAME}",
        rf"what (?:has |was |have )?changed in {_NAME}(?: last| recently| lately)?",
        rf"when (?:was|were) {_NAME} {_OFTEN}(?:{_CHANGED})(?: last)?",
        rf"when did {_NAME} (?:last )?change",
    )
)
_OLDEST: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"who (?:first |originally )?(?:{_ADDED}) {_NAME}(?: first)?",
        rf"(?:(?:which|what) (?:is |was )?)?(?:the )?(?:first )?{_COMMIT}(?: that| which)? "
        rf"(?:first |originally )?(?:{_ADDED}) {_NAME}",
        r"when did (?:we|they|you) (?:first )?"
        rf"(?:add|introduce|create|implement|write) {_NAME}",
        rf"when (?:was|were) {_NAME} (?:first |originally )?(?:{_ADDED}|written)(?: first)?",
    )
)
_WORDS: Final = re.compile(r"[\w$]+")
_DISTINCT: Final = re.compile(r"[_\d$.:#]|[a-z][A-Z]|^[A-Z]")

# As `CommitUpdates.find_by_count`.
FindByCount = Callable[[str, int, float], Sequence[str]]


@dataclass(frozen=True, slots=True)
class NameHistoryQuestion:
    """A question about the commits that changed a definition."""

    name: str
    oldest_first: bool


@dataclass(frozen=True, slots=True)
class NameChanges:
    """The commits that changed a definition, each with the file that contained it."""

    commits: Sequence[tuple[FileState, DocumentSection]]  # in the order of the question
    notes: tuple[str, ...]


def parse_name_history(text: str) -> NameHistoryQuestion | None:
    """Return the name whose history a question asks for; None for other questions.

    A plain word in lower case is not a name, unless the question marks it as a name.
    """
    stripped = " ".join(text.split()).rstrip("?.!")
    if len(stripped) > _MAX_CHARS:
        return None
    for patterns in (_NEWEST, _OLDEST):
        matches = (pattern.fullmatch(stripped) for pattern in patterns)
        found = next((match for match in matches if match), None)
        if found is not None:
            return _read_question(found, oldest_first=patterns is _OLDEST)
    return None


def _read_question(found: re.Match[str], *, oldest_first: bool) -> NameHistoryQuestion | None:
    is_marked = bool(found["kind"] or found["kind_after"] or found["open"] or found["call"])
    if not is_marked and not _DISTINCT.search(found["name"]):
        return None
    return NameHistoryQuestion(found["name"], oldest_first)


def find_name_changes(
    view: CommitView, question: NameHistoryQuestion, find_by_count: FindByCount
) -> NameChanges:
    """Return the commits that changed a definition with the name.

    For a large commit, the index lists only some of the changed definitions. If the oldest commit
    that was found did not add the name, git searches for an older commit.
    """
    name = _last_word(question.name)
    sparse = view.index.sparse
    ids = sparse.files_with(sparse.stems(" ".join(word_terms(name))), [], _MAX_COMMITS, view.ids)
    indexed = view.index.files(ids).values()
    states = view.newest_first(state for state in indexed if state.skip is None)
    if question.oldest_first:
        states.reverse()
    found, possible = list[tuple[FileState, DocumentSection]](), list[_Possible]()
    for state in states:
        sections = view.sections_of(state)
        named = next((one for one in sections if name in _changed_names(one)), None)
        if named is not None:
            found.append((state, named))
        else:
            possible += [_Possible(state, one) for one in sections if _is_unnamed(one)]
    paths = {section.label for _, section in found}
    others = list(_with_name(view, (one for one in possible if one.section.label in paths), name))
    notes = tuple(_describe(question, found, others, len(ids)))
    if not question.oldest_first or not found or _adds_name(view, *found[0], name):
        return NameChanges(found, notes)
    older = _find_older(view, found[0][0], find_by_count(name, _MAX_COUNTED, _COUNTING_S))
    if older is None:
        note = f"{question.name} may be older than the first of them; no older commit was found"
        return NameChanges(found, (*notes, note))
    sections = view.sections_of(older)
    section = next((one for one in sections if one.label in paths), sections[0])
    note = "the first commit is the oldest one that added or removed this name in any text"
    return NameChanges([(older, section), *found], (*notes, note))


def _adds_name(view: CommitView, state: FileState, section: DocumentSection, name: str) -> bool:
    """Return whether the indexed lines of a change add a name that the old lines do not contain."""
    word = name_pattern(name)
    text = view.index.text(state.id).split("\n")
    lines = text[section.start_line : section.end_line]
    if text[section.start_line - 1].startswith("added "):
        return True
    found = [line[:1] for line in lines if word.search(line)]
    return "+" in found and not {" ", "-", "@"}.intersection(found)


def _find_older(view: CommitView, first: FileState, hashes: Sequence[str]) -> FileState | None:
    """Return the oldest of the commits if it is indexed and older than `first`."""
    found = view.commit_at(f"{COMMIT_URI}{hashes[-1]}") if hashes else None
    if found is None or found.id == first.id:
        return None
    return found if view.newest_first((found, first))[1] is found else None


def result_of_change(
    view: CommitView, state: FileState, section: DocumentSection, name: str
) -> SearchResult:
    """Return the result for a commit, with the lines that changed a definition."""
    lines = view.index.text(state.id).split("\n")[section.start_line - 1 : section.end_line]
    word = name_pattern(_last_word(name))
    at = next((at for at, line in enumerate(lines) if at and word.search(line)), 0)
    first, last = extend_range(lines, at, min(at + _SHOWN_LINES, len(lines)) - 1)
    snippet = "\n".join(lines[first : last + 1])
    if view.folder:
        snippet = snippet.replace(f"{view.folder}{section.label}", section.label, 1)
    return replace(
        single_result(view, state),
        start_line=section.start_line + first,
        end_line=section.start_line + last,
        snippet=snippet,
        place=section.label,
    )


@dataclass(frozen=True, slots=True)
class _Possible:
    """A change of a file in which not all changed definitions are known."""

    state: FileState
    section: DocumentSection


def _changed_names(section: DocumentSection) -> Iterator[str]:
    return map(_last_word, section.title.split(CHANGED_NAMES_SEPARATOR))


def _is_unnamed(section: DocumentSection) -> bool:
    return section.title.endswith(UNNAMED_CHANGES)


def _with_name(view: CommitView, changes: Iterable[_Possible], name: str) -> Iterator[FileState]:
    """Yield the commits that changed lines with the name in a file."""
    word = name_pattern(name)
    for number, change in enumerate(changes):
        if number == _MAX_TEXTS:
            return
        lines = view.index.text(change.state.id).split("\n")
        section = change.section
        if any(word.search(line) for line in lines[section.start_line : section.end_line]):
            yield change.state


def _describe(
    question: NameHistoryQuestion,
    found: Sequence[tuple[FileState, DocumentSection]],
    others: Sequence[FileState],
    candidates: int,
) -> Iterator[str]:
    """Yield notes: the number of commits that were found, and why commits may be missing."""
    order = "oldest first" if question.oldest_first else "newest first"
    count = "1 commit" if len(found) == 1 else f"{len(found):,} commits"
    yield (
        f"{count} with changes in {question.name}, {order}; commits that changed more than 30 "
        "files, or more than 12 definitions of a file, may be missing"
    )
    if others:
        hashes = ", ".join(state.path.partition(":")[2][:12] for state in others[:_MAX_HASHES])
        more = f" and {len(others) - _MAX_HASHES} more" if len(others) > _MAX_HASHES else ""
        yield f"these changed lines with this name, perhaps in {question.name}: {hashes}{more}"
    if candidates >= _MAX_COMMITS:
        yield f"only {_MAX_COMMITS:,} of the commits with this name were read"


def _last_word(text: str) -> str:
    return "".join(_WORDS.findall(text)[-1:])
