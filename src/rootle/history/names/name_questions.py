"""Recognize questions such as "who changed NAME last" and "which commit added NAME"."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, Literal

from rootle.text.patterns.lazy_pattern import LazyPattern, lazy_pattern, words_in

# A question about a name asks for all commits that changed it, for the one that added, removed,
# renamed or deprecated it, or for the author of most of them.
RequestedCommits = Literal["changes", "addition", "removal", "rename", "deprecation", "authors"]
_MAX_CHARS: Final = 200
# A word that can only be a revision: a version, a hash, or a form such as "HEAD~2".
REVISION: Final = (
    r"(?:v?\d+(?:\.\d+)+(?:-[\w.]+)?|(?=[a-f]*\d)[0-9a-f]{7,64}|HEAD|[\w./-]+(?:[~^]\d*)+)"
)
# A character in the name of a revision. Tags of packages contain "@": "@org/pool@2.1.0".
REVISION_CHAR: Final = r"[\w./@#+^~-]"
# Matches before a word that may be the name of a tag or branch, but is not a number or a date.
NAME_START: Final = r"(?=[A-Za-z_@]|\d[\d.-]*[A-Za-z@#])"
REVISION_NAME: Final = rf"(?:{REVISION}|{NAME_START}{REVISION_CHAR}{{1,100}})"
_VERSION_KIND: Final = "(?:(?:the )?(?:version|release|tag|branch|commit) )?"
# A question about the changes after a revision, or between two; the place may follow.
_PERIOD: Final = lazy_pattern(
    rf"(?P<rest>.+?),? (?:(?:since|after) {_VERSION_KIND}(?P<start>{REVISION_NAME})"
    rf"|(?:between|from) {_VERSION_KIND}(?P<older>{REVISION_NAME}) (?:and|to) {_VERSION_KIND}"
    rf"(?P<newer>{REVISION_NAME}))(?P<place>,? in \S.*)?",
    "since|after|between|from",
)
# A question about the changes in a version, compared with the version before it.
_IN_VERSION: Final = lazy_pattern(
    rf"(?P<rest>.+?),? (?:in|with) (?P<kind>(?:the )?(?:version|release|tag) )?"
    rf"(?P<version>(?={REVISION_CHAR}*\d){REVISION_CHAR}{{1,100}}?)",
    "in|with",
)
_DOTTED_VERSION: Final = re.compile(r"v?\d+(?:\.\d+)+(?:-?[\w.]+)?", re.IGNORECASE | re.ASCII)
# The name of a tag with other text before its version: "release-2.1.12-stable", "pool@2.1.0".
_TAG: Final = re.compile(r"[a-z@][\w/-]{0,60}[-_@/]v?\d+(?:[._]\d+)+(?:[-_]\w+)?", re.IGNORECASE)
_REVISION: Final = re.compile(REVISION, re.IGNORECASE)
_KIND: Final = (
    "function|method|class|struct|enum|trait|interface|type|macro|field|constant|variable|module"
    "|namespace|object|protocol|record|union|property|constructor|file|folder|directory"
    "|definition of|definition"
)
# The name of a definition, with its class or module, the path of a file, or an option.
_NAME: Final = (
    rf"(?:the )?(?:(?:option|flag) (?=`?--))?(?:(?P<kind>{_KIND}) )?(?P<open>`?)"
    r"(?P<name>(?:--)?[\w$~@.][\w$~@./#:+!?-]{0,150}?)(?P<call>\(\))?`?"
    rf"(?P<kind_after> (?:{_KIND}))?(?P<option> (?:option|flag))?"
)
_CHANGED: Final = "changed|modified|touched|edited|updated|rewrote|refactored|fixed"
_CHANGE: Final = "change|modify|touch|edit|update|refactor|fix"
_SOMEONE: Final = "someone|anyone|somebody|we|they|you"
_ADDED: Final = "added|introduced|created|implemented|wrote|invented"
_REMOVED: Final = "removed|deleted|dropped|killed|purged|eliminated|got rid of"
# These verbs as they also follow the word "commit": "commit removing retry_backoff".
_CHANGING: Final = f"{_CHANGED}|changing|modifying|touching|updating|fixing"
_ADDING: Final = f"{_ADDED}|adding|introducing|creating|implementing"
_REMOVING: Final = f"{_REMOVED}|removing|deleting|dropping"
_ADD: Final = "add|introduce|create|implement|write"
_REMOVE: Final = "remove|delete|drop|kill|get rid of"
_DISAPPEAR: Final = (
    "disappear|vanish|go away|(?:get|become) (?:removed|deleted|dropped)|go(?! to\\b)|stop existing"
)
_RENAMED: Final = "renamed|moved"
_RENAMING: Final = f"{_RENAMED}|renaming|moving"
_MAIN: Final = "main|top|biggest|primary|principal|most active|original"
_PEOPLE: Final = (
    "author|authors|contributor|contributors|committer|committers|maintainer|maintainers"
    "|developer|developers"
)
_COMMIT: Final = r"(?:commit|change|pull request|pr|merge)s?"
_COMMITS: Final = "commit|commits|change|changes|pull|pr|prs|merge|merges"  # words of `_COMMIT`
_LAST: Final = "last|latest|newest|most recent|recent"
_OFTEN: Final = r"(?:last |latest |lately |recently |most recently )?"
_LATELY: Final = r"(?: last| recently| lately| most recently)?"


def _commit_that(position: str) -> str:
    """Return the pattern of "which commit that", optionally with a word for its position."""
    return (
        rf"(?:(?:which|what) (?:is |was |were |are )?)?(?:the )?(?:(?:{position}) )?{_COMMIT}"
        "(?: that| which)? "
    )


_NEWEST: Final = (
    lazy_pattern(rf"who {_OFTEN}(?:{_CHANGED}) {_NAME}{_LATELY}", "who", _CHANGED),
    lazy_pattern(
        rf"{_commit_that(f'{_LAST}|all')}{_OFTEN}(?:{_CHANGING}) {_NAME}{_LATELY}",
        _COMMITS,
        _CHANGING,
    ),
    lazy_pattern(
        rf"(?:what (?:is |was |were |are )?)?(?:the )?(?:{_LAST}) {_COMMIT} (?:to|of|in|for|on) "
        rf"{_NAME}",
        _LAST,
        _COMMITS,
    ),
    lazy_pattern(
        rf"(?:show (?:me )?)?(?:the )?(?:git |commit |change )?history (?:of|for) {_NAME}",
        "history",
    ),
    lazy_pattern(rf"git (?:log|blame) (?:for |of |on )?{_NAME}", "git", "log|blame"),
    lazy_pattern(
        rf"what (?:has |was |have )?(?:recently )?changed in {_NAME}{_LATELY}", "what", "changed"
    ),
    lazy_pattern(
        rf"what (?:has |was |have )?(?:recently )?changed (?:recently|lately|last) in {_NAME}",
        "what",
        "changed",
        "recently|lately|last",
    ),
    lazy_pattern(
        rf"when (?:was|were) {_NAME} {_OFTEN}(?:{_CHANGED}){_LATELY}", "when", "was|were", _CHANGED
    ),
    lazy_pattern(rf"when did {_NAME} (?:last )?change(?: last)?", "when", "did", "change"),
    lazy_pattern(
        rf"(?:when was the )?last time (?:that )?(?:{_SOMEONE}) (?:{_CHANGED}) {_NAME}",
        "time",
        _SOMEONE,
        _CHANGED,
    ),
    lazy_pattern(
        rf"when did (?:{_SOMEONE}) last (?:{_CHANGE}) {_NAME}", "when", "did", _SOMEONE, _CHANGE
    ),
)
_OLDEST: Final = (
    lazy_pattern(
        rf"who (?:first |originally )?(?:{_ADDED}) {_NAME}(?: first)?",
        "who",
        _ADDED,
    ),
    lazy_pattern(
        rf"{_commit_that('first')}(?:first |originally )?(?:{_ADDING}) {_NAME}", _COMMITS, _ADDING
    ),
    lazy_pattern(rf"when did (?:we|they|you) (?:first )?(?:{_ADD}) {_NAME}", "when", "did", _ADD),
    lazy_pattern(
        rf"when (?:was|were) {_NAME} (?:first |originally )?(?:{_ADDED}|written)(?: first)?",
        "when",
        "was|were",
        f"{_ADDED}|written",
    ),
)
_REMOVALS: Final = (
    lazy_pattern(rf"who {_OFTEN}(?:{_REMOVED}) {_NAME}{_LATELY}", "who", _REMOVED),
    lazy_pattern(rf"{_commit_that(_LAST)}(?:{_REMOVING}) {_NAME}", _COMMITS, _REMOVING),
    lazy_pattern(
        rf"when (?:was|were|got|has|have) {_NAME} (?:been )?(?:last )?(?:{_REMOVED})",
        "when",
        "was|were|got|has|have",
        _REMOVED,
    ),
    lazy_pattern(
        rf"(?:was|were|has|have) {_NAME} ever (?:been )?(?:{_REMOVED})",
        "was|were|has|have",
        "ever",
        _REMOVED,
    ),
    lazy_pattern(
        rf"when did {_NAME} (?:{_DISAPPEAR})",
        "when",
        "did",
        "disappear|vanish|go|get|become|stop",
    ),
    lazy_pattern(rf"when did (?:we|they|you) (?:{_REMOVE}) {_NAME}", "when", "did", _REMOVE),
    lazy_pattern(rf"(?:what happened to|where did) {_NAME}(?: go)?", "what|where", "happened|did"),
)
# Only for options. The lines of commits rarely show that something else was deprecated.
_DEPRECATIONS: Final = (
    lazy_pattern(rf"who {_OFTEN}deprecated {_NAME}", "who", "deprecated"),
    lazy_pattern(
        rf"{_commit_that('first')}deprecat(?:ed|ing) {_NAME}",
        _COMMITS,
        "deprecated|deprecating",
    ),
    lazy_pattern(
        rf"when (?:was|were|got|has) {_NAME} (?:been )?(?:first )?deprecated",
        "when",
        "was|were|got|has",
        "deprecated",
    ),
    lazy_pattern(rf"when did (?:we|they|you) deprecate {_NAME}", "when", "did", "deprecate"),
    lazy_pattern(
        rf"when did {_NAME} (?:get|become) deprecated", "when", "did", "get|become", "deprecated"
    ),
)
_NEW_NAME: Final = r"(?: (?:to|into) (?P<new>[\w$~@.`][\w$~@./#:+!?`()-]{0,150}))?"
_RENAMES: Final = (
    lazy_pattern(
        rf"when (?:was|were|got) {_NAME} (?:last )?(?:{_RENAMED}){_NEW_NAME}",
        "when",
        "was|were|got",
        _RENAMED,
    ),
    lazy_pattern(rf"who {_OFTEN}(?:{_RENAMED}) {_NAME}{_NEW_NAME}", "who", _RENAMED),
    lazy_pattern(rf"{_commit_that(_LAST)}(?:{_RENAMING}) {_NAME}{_NEW_NAME}", _COMMITS, _RENAMING),
)
_AUTHORS: Final = (
    lazy_pattern(
        r"who (?:has )?(?:wrote|written|authored|changed|changes|made|contributed|did) (?:the )?"
        r"(?:most|majority)(?: of)?(?: the)?(?: code| lines| commits| changes)?"
        rf"(?: of| in| to| on)? {_NAME}",
        "who",
        "most|majority",
    ),
    lazy_pattern(
        rf"(?:who (?:is|are|was|were) )(?:the )?(?:(?:{_MAIN}) )?(?:{_PEOPLE}) "
        rf"(?:of|to|for|on|in) {_NAME}",
        "who",
        _PEOPLE,
    ),
    lazy_pattern(
        rf"(?:the )?(?:{_MAIN}) (?:{_PEOPLE}) (?:of|to|for|on|in) {_NAME}", _MAIN, _PEOPLE
    ),
    lazy_pattern(
        rf"who (?:knows|understands) (?:the )?(?:(?:most|best) )?(?:about )?{_NAME}"
        r"(?: (?:the )?(?:best|most))?",
        "who",
        "knows|understands",
    ),
    lazy_pattern(rf"who (?:maintains|should review|can review) {_NAME}", "who", "maintains|review"),
    lazy_pattern(
        r"who (?:has )?(?:works|worked|contributed)(?: the)?(?: most)? (?:on|to|in) "
        rf"{_NAME}(?: (?:the )?most)?",
        "who",
        "works|worked|contributed",
    ),
)
_PATTERNS: Final[tuple[tuple[tuple[LazyPattern, ...], RequestedCommits], ...]] = (
    (_AUTHORS, "authors"),
    (_NEWEST, "changes"),
    (_OLDEST, "addition"),
    (_REMOVALS, "removal"),
    (_RENAMES, "rename"),
    (_DEPRECATIONS, "deprecation"),
)
_FOLDER_KINDS: Final = ("folder", "directory")
_DISTINCT: Final = re.compile(r"^--|[_\d$.:#/]|[a-z][A-Z]|^[A-Z]")
_END: Final = re.compile(r"[.,;:]$")


@dataclass(frozen=True, slots=True)
class NameHistoryQuestion:
    """A question about the commits that changed a definition or a file."""

    # The name of a definition, perhaps with its class or module, a command-line option that begins
    # with "--", or a path. A path that the question calls a folder ends in "/".
    name: str
    asked: RequestedCommits
    since: str = ""  # a revision; commits in its history are left out
    until: str = ""  # a revision; only commits in its history are listed
    new_in: str = ""  # a version; only commits are listed that the version before it lacks
    new_name: str = ""  # the name after a rename, if the question gives it
    # Whether the name is a plain word, which counts only if a folder at the root, or at most three
    # files, have this name: "changelog" means CHANGELOG.md.
    is_word: bool = False
    # Whether the name is a plain word after a word such as "file". "The file explorer" is the name
    # of a thing, not a file, unless there is something with the name "explorer".
    may_be_phrase: bool = False

    @property
    def is_option(self) -> bool:
        """Whether the name is a command-line option, which is found in the lines of commits.

        Only a question about its addition, removal or deprecation has such a name.
        """
        return self.name.startswith("--")

    @property
    def asks_for_removal(self) -> bool:
        """Whether the question asks how something disappeared: it was removed or renamed."""
        return self.asked in ("removal", "rename")

    @property
    def oldest_first(self) -> bool:
        """Whether the oldest commit comes first."""
        return self.asked in ("addition", "deprecation")


def version_spellings(name: str) -> tuple[str, str]:
    """Return the name of a version as given, and its other spelling, with or without "v"."""
    return name, name[1:] if name.startswith("v") else f"v{name}"


def looks_like_revision(name: str) -> bool:
    """Return whether a word can only be a revision, such as "v2.1", a hash or "HEAD~2"."""
    return _REVISION.fullmatch(name) is not None


def is_version(name: str, is_revision: Callable[[str], bool]) -> bool:
    """Return whether a name has the form of a version, or is a tag that contains one."""
    if _DOTTED_VERSION.fullmatch(name):
        return True
    return _TAG.fullmatch(name) is not None and is_revision(name)


def parse_name_history(
    text: str,
    is_revision: Callable[[str], bool] = looks_like_revision,
    *,
    is_filtered: bool = False,
) -> NameHistoryQuestion | None:
    """Return the name whose history a question asks for; None for other questions.

    A plain word in lower case is not a name, unless the question marks it as a name. `is_revision`
    returns whether a word after "since" or "between" is a commit, tag or branch. In a question with
    such a word, a version, or filters (`is_filtered`), a plain word can be the name of a folder or
    file: "what changed in docs since v2.1".
    """
    stripped = " ".join(text.split()).rstrip("?.!")
    if len(stripped) > _MAX_CHARS:
        return None
    words = words_in(stripped)
    period = _PERIOD.compiled.fullmatch(stripped) if _PERIOD.may_match(words) else None
    if period is not None:
        since, until = period["start"] or period["older"], period["newer"] or ""
        if all(map(is_revision, filter(None, (since, until)))):
            text = f"{period['rest']}{(period['place'] or '').removeprefix(',')}"
            question = _parse_question(text, allows_words=True)
            return None if question is None else replace(question, since=since, until=until)
    released = _IN_VERSION.compiled.fullmatch(stripped) if _IN_VERSION.may_match(words) else None
    if released and (released["kind"] or is_version(released["version"], is_revision)):
        question = _parse_question(released["rest"], allows_words=True)
        if question is not None and question.asked == "changes":
            return replace(question, new_in=released["version"])
    return _parse_question(stripped, allows_words=is_filtered)


def _parse_question(text: str, *, allows_words: bool = False) -> NameHistoryQuestion | None:
    """Return the question about a name in a text that contains no revision.

    With `allows_words`, a plain word is accepted as the name of a folder or a file.
    """
    words = words_in(text)
    for patterns, asked in _PATTERNS:
        possible = (pattern for pattern in patterns if pattern.may_match(words))
        matches = (pattern.compiled.fullmatch(text) for pattern in possible)
        found = next((match for match in matches if match), None)
        if found is not None:
            return _read_question(found, asked, allows_words=allows_words)
    return None


def _read_question(
    found: re.Match[str], asked: RequestedCommits, *, allows_words: bool
) -> NameHistoryQuestion | None:
    name = found["name"]
    is_marked = bool(found["kind"] or found["kind_after"] or found["open"] or found["call"])
    if _END.search(name):
        return None
    is_plain = not _DISTINCT.search(name)
    is_certain = bool(found["kind_after"] or found["open"] or found["call"])
    may_be_phrase = is_plain and not is_certain and asked in ("addition", "removal")
    is_option = name.startswith("--")
    if is_option and asked not in ("addition", "removal", "deprecation"):
        return None
    if not is_option and (found["option"] or asked == "deprecation"):
        return None
    kind = (found["kind"] or (found["kind_after"] or "").strip()).lower()
    if is_plain and (not is_marked or (kind == "file" and asked == "changes")):
        is_path = (allows_words or bool(kind)) and asked == "changes"
        return NameHistoryQuestion(f"{name}/", asked, is_word=True) if is_path else None
    if kind in _FOLDER_KINDS:
        name = f"{name.rstrip('/')}/"
    new_name = (found.groupdict().get("new") or "").strip("`").removesuffix("()")
    return NameHistoryQuestion(name, asked, new_name=new_name, may_be_phrase=may_be_phrase)
