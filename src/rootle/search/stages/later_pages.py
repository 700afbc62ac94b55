"""Answer stage: append the retrieved files with lower ranks once a page reaches them."""

from __future__ import annotations

from dataclasses import replace

from rootle.search.query.phrase_and_regex_filter import chunks_with_matches
from rootle.search.query.scope import MAX_CANDIDATE_FILES, ScopedQuery
from rootle.search.request import SearchRequest
from rootle.search.stages.ranked_answer import FindAnswer, RankedAnswer


def append_later_pages(
    find: FindAnswer, request: SearchRequest, scoped: ScopedQuery
) -> RankedAnswer:
    """Return an answer that is known to contain, or not to contain, a file after the page.

    Only a limited number of files are ranked together. The others that were retrieved are ranked
    in the same way, one group after the other, so that earlier pages do not change.
    """
    groups = [find(request, scoped)]
    while not groups[-1].reaches(request.offset + request.limit - _count(groups[:-1])):
        last = groups[-1]
        found = find(request, _scope_rest(request, scoped, last))
        groups.append(replace(found, max_score=min(last.max_score, last.lowest_score)))
    answer = groups.pop()
    while groups:
        answer = replace(groups.pop(), rest=answer)
    return answer


def _count(groups: list[RankedAnswer]) -> int:
    return sum(len(group.order) for group in groups)


def _scope_rest(request: SearchRequest, scoped: ScopedQuery, answer: RankedAnswer) -> ScopedQuery:
    """Return a scope with only the files that were retrieved, but not ranked."""
    files = set(answer.candidates.unranked_files)
    if scoped.matches is None:
        return replace(scoped, files=files)
    places = scoped.matches.places
    matches = replace(scoped.matches, places={at: places[at] for at in places if at in files})
    chunk_ids = chunks_with_matches(matches, request.session.index, MAX_CANDIDATE_FILES)
    return replace(scoped, files=files, matches=matches, chunk_ids=chunk_ids)
