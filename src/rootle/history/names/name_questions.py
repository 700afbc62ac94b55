"""Recognize questions such as "who changed NAME last" and "which commit added NAME"."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, Literal

# A question about a name asks for all commits that changed it, for the one that added, removed or
# renamed it, or for the author of most of them.
Asked = Literal["changes", "addition", "removal", "rename", "authors"]
_MAX_CHARS: Final = 200
# A word that can only be a commit: a version, a hash, or a commit before another one.
REVISION: Final = (
    r"(?:v?\d+(?:\.\d+)+(?:-[\w.]+)?|(?=[a-f]*\d)[0-9a-f]{7,64}|HEAD|[\w./-]+(?:[~^]\d*)+)"
)
# A word that may be the name of a tag or branch.
REVISION_NAME: Final = rf"(?:{REVISION}|[A-Za-z_][\w./^~+-]{{0,99}})"
_SINCE: Final = re.compile(
    rf"(?P<rest>.+?),? (?:since|after) (?:(?:version|release|tag|branch|commit) )?"
    rf"(?P<start>{REVISION_NAME})",
    re.IGNORECASE,
)
_REVISION: Final = re.compile(REVISION, re.IGNORECASE)
_KIND: Final = (
    "function|method|class|struct|enum|trait|interface|type|macro|field|constant|variable|module"
    "|namespace|object|protocol|record|union|property|constructor|file|folder|directory"
    "|definition of|definition"
)
# The name of a definition, with its class or module, or the path of a file.
_NAME: Final = (
    rf"(?:the )?(?:(?P<kind>{_KIND}) )?(?P<open>`?)"
    r"(?P<name>[\w$~@.][\w$~@./#:+!?-]{0,150}?)(?P<call>\(\))?`?"
    rf"(?P<kind_after> (?:{_KIND}))?"
)
_CHANGED: Final = "changed|modified|touched|edited|updated|rewrote|refactored|fixed"
_ADDED: Final = "added|introduced|created|implemented|wrote|invented"
_REMOVED: Final = "removed|deleted|dropped|killed|purged|eliminated|got rid of"
_REMOVE: Final = (
    "disappear|vanish|go away|(?:get|become) (?:removed|deleted|dropped)|go(?! to\\b)|stop existing"
)
_RENAMED: Final = "renamed|moved"
_MAIN: Final = "main|top|biggest|primary|principal|most active|original"
_PEOPLE: Final = "(?:author|contributor|committer|maintainer|developer)s?"
_COMMIT: Final = r"(?:commit|change|pull request|pr|merge)s?"
_LAST: Final = "last|latest|newest|most recent|recent"
_OFTEN: Final = r"(?:last |latest |lately |recently |most recently )?"
_LATELY: Final = r"(?: last| recently| lately| most recently)?"


def _patterns(*texts: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(text, re.IGNORECASE) for text in texts)


def _commit_that(position: str) -> str:
    """Return the pattern of "which commit that", perhaps with one of the words for its position."""
    return (
        rf"(?:(?:which|what) (?:is |was |were |are )?)?(?:the )?(?:(?:{position}) )?{_COMMIT}"
        "(?: that| which)? "
    )


_NEWEST: Final = _patterns(
    rf"who {_OFTEN}(?:{_CHANGED}) {_NAME}{_LATELY}",
    rf"{_commit_that(f'{_LAST}|all')}{_OFTEN}(?:{_CHANGED}) {_NAME}{_LATELY}",
    rf"(?:what (?:is |was |were |are )?)?(?:the )?(?:{_LAST}) {_COMMIT} (?:to|of|in|for|on) "
    rf"{_NAME}",
    rf"(?:show (?:me )?)?(?:the )?(?:git |commit |change )?history (?:of|for) {_NAME}",
    rf"git (?:log|blame) (?:for |of |on )?{_NAME}",
    rf"what (?:has |was |have )?(?:recently )?changed in {_NAME}{_LATELY}",
    rf"what (?:has |was |have )?(?:recently )?changed (?:recently|lately|last) in {_NAME}",
    rf"when (?:was|were) {_NAME} {_OFTEN}(?:{_CHANGED}){_LATELY}",
    rf"when did {_NAME} (?:last )?change(?: last)?",
)
_OLDEST: Final = _patterns(
    rf"who (?:first |originally )?(?:{_ADDED}) {_NAME}(?: first)?",
    rf"{_commit_that('first')}(?:first |originally )?(?:{_ADDED}) {_NAME}",
    r"when did (?:we|they|you) (?:first )?"
    rf"(?:add|introduce|create|implement|write) {_NAME}",
    rf"when (?:was|were) {_NAME} (?:first |originally )?(?:{_ADDED}|written)(?: first)?",
)
_REMOVALS: Final = _patterns(
    rf"who {_OFTEN}(?:{_REMOVED}) {_NAME}{_LATELY}",
    rf"{_commit_that(_LAST)}(?:{_REMOVED}) {_NAME}",
    rf"when (?:was|were|got|has|have) {_NAME} (?:been )?(?:last )?(?:{_REMOVED})",
    rf"when did {_NAME} (?:{_REMOVE})",
    r"when did (?:we|they|you) (?:remove|delete|drop|kill|get rid of) "
    rf"{_NAME}",
    rf"(?:what happened to|where did) {_NAME}(?: go)?",
)
_RENAMES: Final = _patterns(
    rf"when (?:was|were|got) {_NAME} (?:last )?(?:{_RENAMED})(?: (?:to|into) \S+)?",
    rf"who {_OFTEN}(?:{_RENAMED}) {_NAME}(?: (?:to|into) \S+)?",
    rf"{_commit_that(_LAST)}(?:{_RENAMED}) {_NAME}(?: (?:to|into) \S+)?",
)
_AUTHORS: Final = _patterns(
    r"who (?:has )?(?:wrote|written|authored|changed|changes|made|contributed|did) (?:the )?"
    r"(?:most|majority)(?: of)?(?: the)?(?: code| lines| commits| changes)?"
    rf"(?: of| in| to| on)? {_NAME}",
    rf"(?:who (?:is|are|was|were) )(?:the )?(?:(?:{_MAIN}) )?{_PEOPLE} "
    rf"(?:of|to|for|on|in) {_NAME}",
    rf"(?:the )?(?:{_MAIN}) {_PEOPLE} (?:of|to|for|on|in) {_NAME}",
    r"who (?:has )?(?:works|worked|contributed)(?: the)?(?: most)? (?:on|to|in) "
    rf"{_NAME}(?: (?:the )?most)?",
)
_PATTERNS: Final[tuple[tuple[tuple[re.Pattern[str], ...], Asked], ...]] = (
    (_AUTHORS, "authors"),
    (_NEWEST, "changes"),
    (_OLDEST, "addition"),
    (_REMOVALS, "removal"),
    (_RENAMES, "rename"),
)
_FOLDER_KINDS: Final = ("folder", "directory")
_DISTINCT: Final = re.compile(r"[_\d$.:#/]|[a-z][A-Z]|^[A-Z]")
_END: Final = re.compile(r"[.,;:]$")


@dataclass(frozen=True, slots=True)
class NameHistoryQuestion:
    """A question about the commits that changed a definition or a file."""

    # The name of a definition, perhaps with its class or module, or a path. If the question calls
    # it a folder, it ends in "/".
    name: str
    asked: Asked
    since: str = ""  # a revision; commits in its history are left out

    @property
    def asks_for_removal(self) -> bool:
        """Whether the question asks how something disappeared: it was removed or renamed."""
        return self.asked in ("removal", "rename")

    @property
    def oldest_first(self) -> bool:
        """Whether the oldest commit comes first."""
        return self.asked == "addition"


def looks_like_revision(name: str) -> bool:
    """Return whether a word can only be a commit: a version, a hash, or a commit before another."""
    return _REVISION.fullmatch(name) is not None


def parse_name_history(
    text: str, is_revision: Callable[[str], bool] = looks_like_revision
) -> NameHistoryQuestion | None:
    """Return the name whose history a question asks for; None for other questions.

    A plain word in lower case is not a name, unless the question marks it as a name. `is_revision`
    returns whether a word after "since" is a commit, tag or branch.
    """
    stripped = " ".join(text.split()).rstrip("?.!")
    if len(stripped) > _MAX_CHARS:
        return None
    if (since := _SINCE.fullmatch(stripped)) and is_revision(since["start"]):
        question = parse_name_history(since["rest"])
        return None if question is None else replace(question, since=since["start"])
    for patterns, asked in _PATTERNS:
        matches = (pattern.fullmatch(stripped) for pattern in patterns)
        found = next((match for match in matches if match), None)
        if found is not None:
            return _read_question(found, asked)
    return None


def _read_question(found: re.Match[str], asked: Asked) -> NameHistoryQuestion | None:
    name = found["name"]
    is_marked = bool(found["kind"] or found["kind_after"] or found["open"] or found["call"])
    if _END.search(name) or not (is_marked or _DISTINCT.search(name)):
        return None
    if (found["kind"] or (found["kind_after"] or "").strip()).lower() in _FOLDER_KINDS:
        name = f"{name.rstrip('/')}/"
    return NameHistoryQuestion(name, asked)
