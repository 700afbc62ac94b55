"""Answer which release first had a change: "which release dropped python 2".

The question is searched as "which commit dropped python 2". A note then names the first tag that
contains the commit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from rootle.history.commit_search import CommitSearch
from rootle.history.past_question import parse_past_question
from rootle.search.query.operators import parse_query
from rootle.serialization.path_text import short_date, short_hash
from rootle.serialization.timestamps import format_commit_time
from rootle.text.patterns.lazy_pattern import lazy_pattern, words_in
from rootle.types import PARTIAL_HISTORY, SearchQuery, SearchResponse

_MAX_CHARS: Final = 300
_VERSION: Final = "version|release|tag|versions|releases|tags"
_ASKED: Final = rf"(?:which|what) (?:(?:is|was) the )?(?:first )?(?:{_VERSION})"
_DONE: Final = (
    "added|introduced|removed|deleted|dropped|changed|replaced|renamed|moved|reverted|deprecated"
    "|fixed|broke|disabled|enabled|switched|stopped|started|restored|bumped|raised|got rid of"
)
_HASH: Final = r"(?:commit )?(?P<hash>(?=[a-f]*\d)[0-9a-f]{7,40})"
_BY_TIME: Final = lazy_pattern(
    rf"(?:in|since|from|with|as of|starting with) {_ASKED} "
    r"(?P<rest>(?:was|were|did|has|have) \S.*)",
    "which|what",
    _VERSION,
)
_BY_CHANGE: Final = lazy_pattern(
    rf"{_ASKED} (?:that |which )?(?:first |originally )?(?P<rest>(?:{_DONE}) \S.*)",
    "which|what",
    _VERSION,
    _DONE,
)
_BY_GAIN: Final = lazy_pattern(
    rf"{_ASKED} (?:that |which )?(?:first |originally )?(?:had|has|got|gained|supported|shipped) "
    r"(?P<rest>\S.*)",
    "which|what",
    _VERSION,
    "had|has|got|gained|supported|shipped",
)
_REWRITTEN: Final = (
    (_BY_TIME, "when"),
    (_BY_CHANGE, "which commit"),
    (_BY_GAIN, "which commit added"),
)
_BY_HASH: Final = (
    lazy_pattern(
        rf"{_ASKED} (?:first )?(?:contains?|has|have|had|includes?|included|contained|got) {_HASH}",
        "which|what",
        _VERSION,
    ),
    lazy_pattern(
        rf"(?:when|has|is|was|(?:in|since) {_ASKED}) (?:(?:is|was|has) )?{_HASH} "
        r"(?:been |first |already )*(?:released|shipped|tagged|contained|included|in)(?: yet)?",
        "released|shipped|tagged|contained|included|in",
    ),
)


def rewrite_release_question(text: str) -> str:
    """Return the question about a commit in a question about a release; "" for other questions."""
    stripped = " ".join(text.split()).rstrip("?.!")
    if len(stripped) > _MAX_CHARS:
        return ""
    words = words_in(stripped)
    for pattern in _BY_HASH:
        if pattern.may_match(words) and (found := pattern.compiled.fullmatch(stripped)):
            return found["hash"]
    for pattern, start in _REWRITTEN:
        if pattern.may_match(words) and (found := pattern.compiled.fullmatch(stripped)):
            asked = f"{start} {found['rest']}"
            past = parse_past_question(parse_query(asked).text, ())
            return asked if past is not None and past.asks_first else ""
    return ""


def answer_with_release(
    query: SearchQuery,
    search: Callable[[SearchQuery], SearchResponse],
    open_commits: Callable[[], CommitSearch | None],
) -> SearchResponse:
    """Return the answer of `search`, with a note about the release if the question asks for one.

    The note is about the first commit in the answer. If the answer has no commit, or git fails,
    there is no note.
    """
    text = rewrite_release_question(query.text_query)
    if not text:
        return search(query)
    response = search(replace(query, text_query=text))
    commit = next((one.commit for one in response.results if one.commit), None)
    commits = open_commits() if commit else None
    note = _describe(commit.hash, commits) if commit and commits else ""
    if not note:
        return response
    at = 1 if PARTIAL_HISTORY in response.degraded else 0
    notes = response.suggestions
    return replace(response, suggestions=(*notes[:at], note, *notes[at:]))


def _describe(sha: str, commits: CommitSearch) -> str:
    """Return a note about the first tags that contain a commit; "" if git fails."""
    tags = commits.updates.list_first_tags(sha)
    if tags is None:
        return ""
    if not tags:
        return f"no tag contains the first commit, {short_hash(sha)}"
    shown = [f"{name} of {short_date(format_commit_time(seconds))}" for name, seconds in tags]
    later = f"; the first release is {shown[1]}" if len(shown) > 1 else ""
    return f"the first tag that contains the first commit, {short_hash(sha)}, is {shown[0]}{later}"
