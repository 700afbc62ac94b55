"""Recognize questions about one change, such as "when did we drop python 2"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from rootle.history.changes.change_words import (
    Action,
    find_actions,
    index_stems,
    stems_in_order,
)
from rootle.text.terms import STOP_WORDS

_MAX_CHARS: Final = 200
_ASKING: Final = re.compile(
    r"(?:in )?(?:when|why|who|which|what|since when|how come|find|show"
    r"|(?:(?:the|a|git|breaking) ){0,2}(?:commit|change|pull request|pr)"
    r"|(?:was|were|has|have)\b(?=.*\bever))\b",
    re.I,
)
# Words that say what kind of thing was changed. They may be missing in the message of the commit.
_KINDS: Final = frozenset(
    """api app argument arguments behavior behaviour build class classes code command commands
    config dependency feature features field file files flag function functions helper interface
    library lib method methods mode module modules option options package packages parameter
    parameters plugin project property rule script scripts setting settings signature
    struct subcommand support supporting supported syntax tool type using variable version way
    repository repo""".split()
)
_ASKED: Final = frozenset(
    """actually anymore away became become been breaking change commit commits deprecated ever first
    finally got gotten history last latest no longer now obsolete old originally pr recently
    request rid since someone stop stopped was were why who when which time version release they we
    he she it our their start started unused""".split()
)
_WORD: Final = re.compile(r"[\w$][\w$.:#/+-]*[\w$+]|[\w$]")
_NUMBER: Final = re.compile(r"v?\d+(?:\.\d+)*")
_NAMED: Final = re.compile(r"[\d_.:/-]|[a-z][A-Z]|[A-Z]{2}")
_TO: Final = re.compile(r"\b(?:to|by|with|into|for|as)\b", re.IGNORECASE)
_FROM: Final = re.compile(r"\b(?:from|instead of)\b", re.IGNORECASE)
_PULL_REQUEST: Final = re.compile(r"pull requests?\b", re.IGNORECASE)
_PROBE_CHARS: Final = 3  # a longer stem may not be part of the word: library, librari
# In a question, these words ask for the addition. In messages, they are often about something that
# appears on a screen, so they are not in `VERBS`.
_APPEARED: Final = re.compile(r"\b(?:first )?(?:appear(?:ed)?|show(?:ed)? up|arrived?)$", re.I)
_DID: Final = re.compile(r"\b(?:did|do|does)\b", re.IGNORECASE)
_SPLIT: Final = frozenset((Action.REPLACEMENT, Action.RENAME))
_REVERTED: Final = ("reverted", "undid", "backed out")


@dataclass(frozen=True, slots=True)
class Subject:
    """A word or name of a question, perhaps with a version number."""

    written: str  # "python 2"
    stems: str  # "python 2", the stems with spaces between them
    joined: str  # the stem of the word without its separators: "let-env" -> letenv
    is_named: bool  # a name or a version, which has no synonyms
    is_kind: bool  # says only what kind of thing is meant, such as "command"
    is_new: bool = False  # the thing that replaced another one
    is_context: bool = False  # where the change was made, as "restic" in "when did restic drop X"
    # The stems of the word with its neighbors: "soft" in "soft wrap" -> softwrap
    compounds: frozenset[str] = frozenset()

    @property
    def parts(self) -> list[str]:
        """The stems, as in the word index, which splits "3.5" into two numbers."""
        return index_stems(self.stems).replace(".", " ").split()

    @property
    def all_stems(self) -> frozenset[str]:
        """The stems that a name for the subject can consist of."""
        return self.compounds.union(self.stems.split(), (self.joined,))

    @property
    def probe(self) -> str:
        """A text that every line with the subject contains, in lower case."""
        longest = max(index_stems(self.stems).split(), key=len)
        return longest[:-1] if len(longest) > _PROBE_CHARS else longest

    def is_in(self, line: str) -> bool:
        """Return whether a text contains the subject. `line` is a result of `stem_line`."""
        # "python 2" may be written "python 2.7", but not the other way round.
        ends = (" ", ".") if self.stems[-1].isdigit() else (" ",)
        forms = {self.stems, self.joined, *self.compounds}
        return any(f" {form}{end}" in line for form in forms for end in ends)


@dataclass(frozen=True, slots=True)
class ChangeQuestion:
    """A question about the commit that did something to a thing."""

    action: Action
    subjects: tuple[Subject, ...]


def parse_change_question(text: str) -> ChangeQuestion | None:
    """Return the change that a question asks about; None for other questions."""
    stripped = " ".join(text.split()).rstrip("?.!")
    if len(stripped) > _MAX_CHARS or not _ASKING.match(stripped):
        return None
    actions = find_actions(stripped) or find_actions(stripped, Action.UPGRADE)
    if not actions and (found := _APPEARED.search(stripped)):
        actions = [(Action.ADDITION, found.start(), found.end())]
    if not actions:
        return None
    # In "who replaced the deprecated name", only the first word says what was done. But "why was
    # the removal of the name reverted" asks about the reversion.
    reverted = (one for one in actions if stripped[one[1] : one[2]].lower() in _REVERTED)
    action, start, end = next(reverted, actions[0])
    subjects = tuple(_find_subjects(stripped, action, start, end))
    if all(one.is_kind for one in subjects):
        return None
    return ChangeQuestion(action, subjects)


def _find_subjects(text: str, action: Action, start: int, end: int) -> Iterator[Subject]:
    """Yield the subjects of a question; its word for the change is from `start` to `end`."""
    new = _find_new(text, end) if action in _SPLIT else (len(text), len(text))
    found: dict[str, Subject] = {}
    at: dict[str, int] = {}
    before: Subject | None = None
    for word in _WORD.finditer(text):
        is_request = word[0].lower() == "pull" and _PULL_REQUEST.match(text, word.start())
        if start <= word.start() < end or is_request or _is_left_out(word[0]):
            before = None
            continue
        written = word[0]
        if before is not None and _NUMBER.fullmatch(written):
            found.pop(before.stems, None)  # a part of "python 2"
            written = f"{before.written} {written}"
        stems = " ".join(stems_in_order(written))
        joined = "".join(stems_in_order(re.sub(r"[\W_]", "", written).lower()))
        is_named = _NAMED.search(written) is not None
        is_new = new[0] <= word.start() < new[1]
        before = Subject(written, stems, joined, is_named, written.lower() in _KINDS, is_new)
        if stems:
            found.setdefault(stems, before)
            at.setdefault(stems, word.start())
    if _DID.search(text, 0, start) and any(at[one.stems] > start for one in found.values()):
        found = {stems: replace(one, is_context=at[stems] < start) for stems, one in found.items()}
    yield from _add_compounds(text, tuple(found.values()))


def _add_compounds(text: str, subjects: Sequence[Subject]) -> Iterator[Subject]:
    """Yield the subjects; those that follow each other may be written as one word."""
    compounds: dict[str, set[str]] = {one.stems: set() for one in subjects}
    for first, second in pairwise(subjects):
        if f"{first.written} {second.written}" in text and not (first.is_named or second.is_named):
            stem = "".join(stems_in_order(f"{first.written}{second.written}".lower()))
            compounds[first.stems].add(stem)
            compounds[second.stems].add(stem)
    for one in subjects:
        yield replace(one, compounds=frozenset(compounds[one.stems]))


def _find_new(text: str, end: int) -> tuple[int, int]:
    """Return the range of a question that names the new thing, after "to", "by" or "with"."""
    found = _TO.search(text, end)
    if found is None:
        return len(text), len(text)
    old = _FROM.search(text, found.end())
    return found.end(), old.start() if old else len(text)


def _is_left_out(word: str) -> bool:
    lowered = word.lower()
    return lowered in STOP_WORDS or lowered in _ASKED
