"""Recognize questions that are answered from commits."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from rootle.history.names.name_questions import (
    REVISION_CHAR,
    REVISION_NAME,
    NameHistoryQuestion,
    is_version,
    looks_like_revision,
    parse_name_history,
)
from rootle.text.declared_names import find_declared_names
from rootle.text.patterns.lazy_pattern import LazyPattern, lazy_pattern, words_in
from rootle.types import RevisionRange

HISTORY: Final = "history"  # a value of `in:`
_HASH: Final = re.compile(r"(?:git:|commit[ :]+)?([0-9a-f]{7,64})", re.IGNORECASE | re.ASCII)
# The hash of a commit in a sentence. It contains digits and letters, and is not a part of a path, a
# UUID or a color.
_HASH_WORD: Final = re.compile(
    r"(?<![\w./#@+-])(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,64}(?![\w/+-]|\.\w)",
    re.IGNORECASE | re.ASCII,
)
_MAX_HASHES: Final = 5
# A request for all commits after a commit or between two commits.
_ALL: Final = r"(?:what (?:has |have |was )?changed|(?:the |all )?(?:commits|changes))"
_KIND: Final = "(?:(?:the )?(?:version|release|tag|branch|commit) )?"
_ALL_CHANGES: Final = LazyPattern(
    rf"(?:{_ALL}|what(?:['’]s| is| was) new|what happened|(?:the )?diff(?:erences?)?) "
    rf"(?:(?:since|after) {_KIND}(?P<start>{REVISION_NAME})"
    rf"|(?:between|from) {_KIND}(?P<older>{REVISION_NAME}) (?:and|to) {_KIND}"
    rf"(?P<newer>{REVISION_NAME}))",
    (frozenset("changed commits changes new happened diff difference differences".split()),),
    re.IGNORECASE | re.ASCII,
)
# A request for the commits that only one of two branches contains.
_ONLY_IN: Final = LazyPattern(
    r"(?:(?:which|what|list|show|find|all|the|commits?|changes|fix(?:es)?|features|patches|is|are"
    rf"|that|exist|was|were|landed|merged|only) ){{1,7}}(?:in|on) {_KIND}(?P<newer>{REVISION_NAME})"
    r",?(?: and| but)?(?: that)?(?: (?:is|are|was|were))?"
    r" (?:not(?: yet)? (?:in|on|merged (?:in)?to|part of)|missing (?:from|in|on)|absent from) "
    rf"{_KIND}(?P<older>{REVISION_NAME})",
    (frozenset(("not", "missing", "absent")),),
    re.IGNORECASE | re.ASCII,
)
# Questions about the release of a version. The version has a number, because other things are
# released too, such as a lock.
_VERSION: Final = (
    r"(?:the )?(?:(?:version|release|tag) )?"
    rf"(?P<version>(?={REVISION_CHAR}*\d){REVISION_CHAR}{{1,100}}?)"
    r"(?: release| version| tag)?"
)
_RELEASES: Final = (
    lazy_pattern(
        rf"when (?:was|were|has) {_VERSION} (?:been |first )?"
        r"(?:released|tagged|published|shipped)",
        "when",
        "released|tagged|published|shipped",
    ),
    lazy_pattern(
        rf"when did (?:we|they|you) (?:release|tag|publish|ship) {_VERSION}",
        "when",
        "release|tag|publish|ship",
    ),
    lazy_pattern(
        rf"when did {_VERSION} (?:come out|ship|get (?:released|tagged))", "when", "come|ship|get"
    ),
    lazy_pattern(
        rf"(?:who|(?:which|what) commit (?:is|was)) (?:released|tagged|published)(?: as)? "
        rf"{_VERSION}",
        "who|commit",
        "released|tagged|published",
    ),
)
# A request for the commits that are new in a version.
_IN_RELEASE: Final = LazyPattern(
    rf"{_ALL} (?:were made )?(?:in|of|with) (?P<kind>(?:the )?(?:version|release|tag) )?"
    rf"(?P<version>(?={REVISION_CHAR}*\d){REVISION_CHAR}{{1,100}}?)",
    (frozenset(("changed", "commits", "changes")),),
    re.IGNORECASE | re.ASCII,
)
_ONLY_ALL: Final = re.compile(rf"\s*{_ALL}[\s?!.]*", re.IGNORECASE)
# A request for the commits that changed a place. It counts only with a period, as in "changes to
# the parser in March 2024", because "changes to the parser" may also describe code.
_CHANGES_OF: Final = re.compile(
    r"(?:(?:show|list|find|give) )?(?:me )?(?:what are )?(?:the |all )*(?:commits|changes)"
    r"(?: made)? (?:in|to|of|for|on|under) (?=\S)",
    re.IGNORECASE,
)
_RANGE: Final = re.compile(rf"({REVISION_CHAR}*[\w@^~])(\.\.\.?)({REVISION_CHAR}+)", re.ASCII)
# A range with one end, such as "v2.0..". Three dots do not form such a range, because they may be
# an ellipsis in a sentence.
_OPEN_RANGE: Final = re.compile(
    rf"({REVISION_CHAR}*[\w@^~])\.\.|\.\.([\w@]{REVISION_CHAR}*)", re.ASCII
)
_CHECKED_OUT: Final = "HEAD"
# The end of a query for a later page of a range: the number of its first commit.
_FROM: Final = re.compile(r"(?:^|\s+)from:(\d{1,6})$", re.ASCII)
# Verbs for changes of code in the past. In contrast, "when is the cache cleared" asks about the
# present code.
_DONE: Final = (
    "added|introduced|removed|deleted|dropped|changed|replaced|renamed|moved|rewritten|reverted"
    "|deprecated|fixed|broken|disabled|enabled|merged|released|switched|stopped|started|split"
    "|got rid|extracted|bumped|raised|lowered|updated|upgraded|refactored|migrated|rewrote"
)
_DO: Final = (
    "add|introduce|remove|delete|drop|change|replace|rename|move|rewrite|revert|deprecate|fix"
    "|break|disable|enable|switch|stop|start|split|appear|disappear|go away|gone|become|used? to"
    "|no longer|get rid|bump|raise|lower|upgrade|refactor|migrate"
)
# The same verbs as they follow the word "commit" in a request: "commit removing the lock".
_DOING: Final = (
    "adding|introducing|removing|deleting|dropping|changing|replacing|renaming|moving|rewriting"
    "|reverting|deprecating|fixing|breaking|disabling|enabling|switching|splitting|extracting"
    "|bumping|raising|lowering|updating|upgrading|refactoring|migrating|transitioning|porting"
    "|implementing|restoring|making"
)
_COMMIT: Final = "(?:commit|pull request|pr|merge request)"
_COMMITS: Final = "commit|commits|pull|pr|prs|merge"  # words of `_COMMIT`
# Verbs after "who" in questions about code that runs, such as "who called the handler".
_RUNNING: Final = (
    "called|used|needed|named|owned|allowed|logged|signed|subscribed|connected|requested|invited"
    "|based|supposed|permitted|authorized|authenticated|expected|interested|involved|need|feed"
    "|embed|exceed|proceed|succeed"
)
_PAST: Final = re.compile(
    "|".join(
        (
            rf"\b(?:which|what|the) (?:last |latest |first )?(?:{_COMMIT}|merge)s?\b",
            rf"(?:^|[.,;:?!] |\band |find out |see |know )who (?:first |last )?(?:{_DONE}"
            r"|wrote|did|made|broke|touched|implemented|created)\b",
            r"\b(?:when|why|how come\b.*?) (?:was|were|did|has|have|had)\b.*"
            rf"\b(?:{_DONE}|{_DO})\b",
            r"\bwhat (?:has |was |have )?changed\b",
            r"\bchanges? (?:in|to|of|made|since|between)\b.*\b(?:since|between|last)\b",
            r"(?<!since )\b(?:last|latest|recent(?:ly)?|first) (?:change[ds]?|commits?|touched"
            r"|modified)\b",
            r"\bhistory of\b|\bgit (?:log|blame|show)\b",
            r"\b(?:do|does|did) (?:we|it|this|they|the)\b.*\b(?:no longer|any ?more)\b",
            r"^(?:why|since when) (?:do|does|is|are|can)\b.*\b(?:no longer|any ?more)\b",
            r"^(?:when|why) (?:was|were) .*\bmade (?!(?:by|for|from|if|in|of|to|when|with)\b)\w",
            r"\bcommits? (?:that|which|where|in which)\b",
            r"\bcommit messages? (?:that|which|about|for|of|with|says?|mentions?)\b",
            r"\bsince (?:version |release |commit )?v?\d+\.\d+|\bsince last (?:week|month|year)\b",
            r"\bregression (?:in|from|since)\b",
        )
    ),
    re.IGNORECASE | re.DOTALL,
)
# Further forms, which are compiled only if a question contains one of their words.
_ALSO_PAST: Final = (
    lazy_pattern(
        rf"\b{_COMMIT}s? (?:(?:{_DOING})|(?:that|which) (?:{_DONE}|made))\b",
        _COMMITS,
        f"{_DOING}|that|which",
    ),
    lazy_pattern(
        rf"\bwhich change (?:{_DONE}|made|lets?|makes?)\b"
        rf"|^(?:(?:find|show|the|a|breaking) ){{0,3}}change (?:that|which) (?:{_DONE}|made)\b",
        "change",
        "which|that",
    ),
    lazy_pattern(
        r"^(?:the )?(?:commit|git) history\b|\b(?:bug ?)?fix commits?\b", "commit|commits|git"
    ),
    lazy_pattern(rf"^who (?:first |last )?(?!(?:{_RUNNING})\b)\w{{2,30}}ed\b", "who"),
    lazy_pattern(r"^(?:since )?when did\b", "when", "did"),
    lazy_pattern(r"\blast time (?:that )?(?:someone|anyone|somebody|we|they)\b", "last", "time"),
    lazy_pattern(
        rf"^(?:was|were|has|have) \S.* ever (?:been )?(?:{_DONE})$", "was|were|has|have", "ever"
    ),
)
# An error message, such as "E37: No write since last change", does not ask about the past.
_ERROR: Final = re.compile(
    r"[A-Z]{1,9}-?\d{1,6}\s?:|\w{0,60}(?:Error|Exception|Warning):"
    r"|(?i:(?:error|fatal|warning|panic):)"
)
# A question about the location of code.
_PLACE: Final = re.compile(r"where (?:can|could|do|does|is|are|should)\b", re.IGNORECASE)
_MAX_CHARS: Final = 400


@dataclass(frozen=True, slots=True)
class PastQuestion:
    """A question about the past, and how commits answer it."""

    asks_first: bool  # commits come before files
    excludes_files: bool = False  # `in:history`
    commit: str = ""  # a hash or its beginning
    named: tuple[str, ...] = ()  # hashes, or their beginnings, in a sentence
    revisions: RevisionRange | None = None
    is_worded: bool = False  # the range is in words, which are searched if it does not exist
    offset: int = 0  # the number of commits in the range before the requested page
    lists_all: bool = False  # `in:history` with filters, but without words
    oldest_first: bool = False  # the order of this list
    release: str = ""  # the version whose release is asked for
    new_in: str = ""  # the version whose new commits are asked for
    name_history: NameHistoryQuestion | None = None  # set if changes of a name are asked for

    @property
    def selects_range(self) -> bool:
        """Whether all commits of a range are asked for, or those of them that changed a name."""
        named = self.name_history
        return self.revisions is not None or (
            named is not None and bool(named.since or named.new_in)
        )


def parse_past_question(
    text: str,
    kinds: tuple[str, ...],
    is_revision: Callable[[str], bool] = looks_like_revision,
) -> PastQuestion | None:
    """Return how to answer a question from commits; None if it asks only about files.

    `text` is the question without its operators, and `kinds` are the values of `in:`. `is_revision`
    returns whether a word is a commit, tag or branch.
    """
    if kinds and HISTORY not in kinds:
        return None
    only = kinds == (HISTORY,)
    stripped = text.strip().rstrip("?.!")
    page = _FROM.search(stripped) if len(stripped) <= _MAX_CHARS else None
    range_text = stripped[: page.start()] if page else text.strip()
    offset = max(0, int(page[1]) - 1) if page else 0
    if only and not range_text:
        return PastQuestion(True, excludes_files=True, offset=offset, lists_all=True)
    # "583c314.." is a range, although it could also be a hash at the end of a sentence.
    if (revisions := _parse_range(range_text)) is not None:
        return PastQuestion(True, revisions=revisions, offset=offset)
    if (found := _HASH.fullmatch(stripped)) and not stripped.isalpha():
        return PastQuestion(True, commit=found[1].lower())
    if (revisions := _parse_worded_range(range_text, is_revision)) is not None:
        return PastQuestion(True, only, revisions=revisions, offset=offset, is_worded=True)
    if version := _find_new_version(stripped, is_revision):
        return PastQuestion(True, only, new_in=version, offset=offset)
    named = find_hashes(text)
    if only:
        release = _find_release(stripped[:_MAX_CHARS])
        return PastQuestion(True, excludes_files=True, named=named, release=release)
    asks_first, release = _read_topic(stripped[:_MAX_CHARS])
    return PastQuestion(asks_first, named=named, release=release) if asks_first or kinds else None


@lru_cache(maxsize=64)  # each query is parsed twice: with its dates, and with filters instead
def _read_topic(text: str) -> tuple[bool, str]:
    """Return whether commits come before files, and the version whose release is asked for."""
    if _ERROR.match(text) or _PLACE.match(text) or _describes_code(text):
        return False, ""
    release = _find_release(text)
    is_past = bool(release) or _PAST.search(text) is not None or _is_also_past(text)
    return is_past or _asks_for_name(text), release


def _is_also_past(text: str, *, is_start: bool = False) -> bool:
    """Return whether a text contains, or begins with (`is_start`), one of the further forms."""
    words = words_in(text)
    possible = (pattern.compiled for pattern in _ALSO_PAST if pattern.may_match(words))
    return any(one.match(text) if is_start else one.search(text) for one in possible)


def _find_release(text: str) -> str:
    """Return the version in "when was v2.1 released"; "" in other questions."""
    words = words_in(text)
    possible = (pattern for pattern in _RELEASES if pattern.may_match(words))
    matches = (pattern.compiled.fullmatch(text) for pattern in possible)
    return next((match["version"] for match in matches if match), "")


def _find_new_version(text: str, is_revision: Callable[[str], bool]) -> str:
    """Return the version in "what changed in v2.1"; "" in other questions.

    Without a word such as "release", only a name with the form of a version counts.
    """
    if len(text) > _MAX_CHARS or not _IN_RELEASE.may_match(words_in(text)):
        return ""
    found = _IN_RELEASE.compiled.fullmatch(text)
    if found is None or not (found["kind"] or is_version(found["version"], is_revision)):
        return ""
    return found["version"]


def _describes_code(text: str) -> bool:
    """Return whether a query describes code and declares its name, as a language model writes it.

    Words about commits in such a query may describe code that reads commits. A query that begins
    with a question about the past does not count.
    """
    if _PAST.match(text) is not None or _is_also_past(text, is_start=True):
        return False
    return bool(find_declared_names(text))


def _asks_for_name(text: str) -> bool:
    """Return whether a question such as "what happened to NAME" asks for a removal or an author."""
    question = parse_name_history(text)
    return question is not None and question.asked in ("removal", "authors")


def find_hashes(text: str) -> tuple[str, ...]:
    """Return the words of a question that look like hashes of commits, in lower case.

    Return none for long texts and error messages, which may contain other hexadecimal numbers.
    """
    if len(text) > _MAX_CHARS or _ERROR.match(text):
        return ()
    found = dict.fromkeys(word[0].lower() for word in _HASH_WORD.finditer(text))
    return tuple(found)[:_MAX_HASHES]


def remove_hashes(text: str) -> str:
    """Return a question without the words that look like hashes of commits."""
    return _HASH_WORD.sub("", text)


def _parse_range(text: str) -> RevisionRange | None:
    """Return the range in "a..b", "a...b", "a.." or "..b"; None for any other text."""
    if len(text) > _MAX_CHARS:
        return None
    found = _RANGE.fullmatch(text.rstrip("?.!"))
    if found and ".." not in found[1] and ".." not in found[3]:
        return RevisionRange(found[1], found[3], is_symmetric=found[2] == "...")
    found = _OPEN_RANGE.fullmatch(text)
    if found is None or any(".." in end for end in found.groups("")):
        return None
    return RevisionRange(found[1] or _CHECKED_OUT, found[2] or _CHECKED_OUT)


def asks_for_all(text: str) -> bool:
    """Return whether a question, without its dates, asks for all commits: "what changed"."""
    return _ONLY_ALL.fullmatch(text) is not None


def may_list_changes(text: str) -> bool:
    """Return whether a question asks for the commits that changed a place, perhaps in a period."""
    return _CHANGES_OF.match(text) is not None


def rewrite_changes(text: str) -> str:
    """Return "what changed in NAME" for a question such as "changes to NAME"; else ""."""
    return f"what changed in {text[found.end() :]}" if (found := _CHANGES_OF.match(text)) else ""


def _parse_worded_range(text: str, is_revision: Callable[[str], bool]) -> RevisionRange | None:
    """Return the range in a question without a place; None if the question has none.

    Examples are "what changed since A", "what changed between A and B" and "what is in B but not in
    A".
    """
    if len(text) > _MAX_CHARS:
        return None
    words = words_in(text)
    for pattern in (_ALL_CHANGES, _ONLY_IN):
        possible = pattern.may_match(words)
        found = pattern.compiled.fullmatch(text.rstrip("?.!")) if possible else None
        if found is not None and all(map(is_revision, filter(None, found.groups()))):
            ends = found.groupdict()
            older, newer = ends.get("start") or ends["older"], ends["newer"] or _CHECKED_OUT
            return RevisionRange(older, newer, is_without_copies=pattern is _ONLY_IN)
    return None
