"""Put commits before the merges that brought them into the branch."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Final

from rootle.types import SearchResponse, SearchResult

# A merge often repeats the subject line of a commit. Because it has no changed lines, its text is
# shorter and gets a higher score. A commit with less than this share of the score says something
# else, as one of many commits of a long branch.
_SIMILAR_SCORE: Final = 0.5
_MAX_MERGES: Final = 3  # on a page; git is run once for each of them
_MERGE: Final = "merge"  # the first word of the subject line, as in "Merged pull request #7"


def put_commits_first(
    response: SearchResponse, list_merged: Callable[[str], Collection[str]]
) -> SearchResponse:
    """Return a page of commits on which each merge follows the commit that it merged.

    If the page contains several of the merged commits, the first one is meant. It takes the place
    of the merge if its score is similar. Each place keeps its score. The results have the facts
    about their commits. `list_merged` returns the hashes of the commits that a merge brought into
    its branch; they may include the merge.
    """
    order = list(response.results)
    merges = [one for one in order[:-1] if _is_merge(one)]
    for merge in merges[:_MAX_MERGES]:
        at = order.index(merge)
        similar = [
            one
            for one in order[at + 1 :]
            if not _is_merge(one) and one.score >= merge.score * _SIMILAR_SCORE
        ]
        merged = list_merged(_read_hash(merge)) if similar else ()
        first = next((one for one in similar if _read_hash(one) in merged), None)
        if first is not None:
            order.remove(first)
            order.insert(at, first)
    scores = (one.score for one in response.results)
    placed = (replace(one, score=score) for one, score in zip(order, scores, strict=True))
    return replace(response, results=tuple(placed))


def _is_merge(result: SearchResult) -> bool:
    commit = result.commit
    return commit is not None and commit.subject.lower().startswith(_MERGE)


def _read_hash(result: SearchResult) -> str:
    return "" if result.commit is None else result.commit.hash
