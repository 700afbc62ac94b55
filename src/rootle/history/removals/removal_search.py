"""Find code that no longer exists, and the commits that removed it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from rootle.history.commit_request import (
    OpenCommits,
    check_limit,
    elapsed_ms,
    prepare_commits,
)
from rootle.history.commit_results import describe_commit
from rootle.history.commit_search import NOTED_SHARE, CommitSearch
from rootle.history.commit_view import CommitView
from rootle.history.removals.latest_removals import RemovalCandidate, list_latest, overlap
from rootle.history.removals.present_code import PresentCode, describe_present
from rootle.history.removals.removal_scores import (
    RemovalQuestion,
    is_named,
    parse_question,
    score_removal,
)
from rootle.history.removals.removed_definitions import RemovedDefinitions
from rootle.index.reader import FileState, IndexReader
from rootle.protocols import WeightedTerm
from rootle.search.query.file_filters import filter_files
from rootle.search.query.operators import parse_query
from rootle.search.revision_periods import select_by_history
from rootle.text.file_kinds import is_vendored
from rootle.text.languages import file_language
from rootle.types import COMMIT_URI, HIDDEN_SECRET, Removal, RemovalAnswer, SearchQuery, Symbol

DEFAULT_LIMIT: Final = 5
MAX_LIMIT: Final = 100

# Numbers of commits whose patches are read: the best commits of the search, the commits that
# contain the words most densely, and the commits that contain a name. Reading a patch takes a few
# milliseconds.
_SEARCHED_COMMITS: Final = 25
_DENSE_COMMITS: Final = 20
_COMMITS_WITH_NAME: Final = 30
# Limits for `git log -S`, which searches for commits that change how often a text occurs. It reads
# about 2,000 commits per second, newest first.
_COUNTED_COMMITS: Final = 10
_COUNTED_TEXTS: Final = 2
_COUNTING_S: Final = 2.0  # time limit for all texts together
# How many candidates per result are checked. Checking whether the code still exists takes about as
# long as reading a patch.
_CHECKS_PER_RESULT: Final = 12
_MAX_MOVED: Final = 3  # moved definitions that a note lists
_MIN_MOVED_SCORE: Final = 0.3
_ADVICE: Final = "; search removed code in the root of a repository"


def find_removals(
    query: SearchQuery,
    limit: int | None,
    open_commits: OpenCommits,
    open_definitions: Callable[[], RemovedDefinitions | None],
    open_files: Callable[[], IndexReader],
    find_definitions: Callable[[str], Sequence[Symbol]],
) -> RemovalAnswer:
    """Return removed code that matches words, a name or quoted text, best first.

    `find_definitions` returns the present definitions with a name. The files and commits must pass
    the filters of the query. Raise QueryError if the query contains no words, the limit is invalid,
    or no commits can be searched.
    """
    started_s = time.perf_counter()
    count = check_limit(limit, DEFAULT_LIMIT, MAX_LIMIT)
    question = parse_question(query.text_query)
    keeps = _make_filter(query)
    definitions = open_definitions()
    commits = prepare_commits(open_commits, _ADVICE, definitions)
    removals: tuple[Removal, ...] = ()
    notes = commits.suggestions
    if commits.view is not None:
        present = PresentCode(open_files())
        search = _RemovalSearch(question, keeps, commits.search, commits.view, definitions, present)
        removals = search.run(count)
        present_note = _note_present(question, find_definitions, has_removals=bool(removals))
        missing = _note_missing_name(question, removals, is_complete=search.is_complete)
        hidden = search.count_hidden() if missing or not removals else 0
        unread = search.describe_unread() if missing or not removals else ()
        moved = () if present_note else search.describe_moved(removals)
        notes = (*notes, *present_note, *moved, *missing, *unread, *_note_hidden(hidden))
    return RemovalAnswer(
        query.text_query,
        removals,
        commits.degraded,
        notes,
        elapsed_ms(started_s),
        0 if commits.view is None else commits.view.count,
    )


def _note_present(
    question: RemovalQuestion,
    find_definitions: Callable[[str], Sequence[Symbol]],
    *,
    has_removals: bool,
) -> tuple[str, ...]:
    """Return a note if the question is the name of definitions that still exist."""
    present = describe_present(question.whole_name, find_definitions)
    others = "; the results are other code, which was removed" if has_removals else ""
    return (f"{present}{others}",) if present else ()


def _note_missing_name(
    question: RemovalQuestion, removals: Sequence[Removal], *, is_complete: bool
) -> tuple[str, ...]:
    """Return a note if no result is the definition that the question names."""
    name = question.name
    if not name or any(is_named(question, one) for one in removals):
        return ()
    if not is_complete:
        return (
            f'a removed definition with the name "{name}" may exist: large commits are indexed in '
            "part, and git did not search all commits in time",
        )
    if not removals:
        return ()
    if any(question.is_in(one) for one in removals):
        return (
            f'found no removed definition with the name "{name}"; the results are removed lines '
            "that contain it, newest first: it may have been renamed",
        )
    return (f'found no removed code with the name "{name}"; the results contain similar words',)


def _note_hidden(count: int) -> tuple[str, ...]:
    """Return a note that `count` changes of files were left out; none if `count` is 0."""
    if not count:
        return ()
    changes = "1 change of a file is" if count == 1 else f"{count} changes of files are"
    return (
        f"in the commits that were searched, {changes} hidden, because the files may contain "
        "secrets; code that these changes removed is not found",
    )


def _make_filter(query: SearchQuery) -> Callable[[RemovalCandidate, CommitView], bool]:
    """Return a function that tests whether removed code passes the filters of a query."""
    parsed, now_s = parse_query(query.text_query), time.time()
    filter_files(query, parsed, (), now_s)  # raises QueryError for invalid filters

    def passes(candidate: RemovalCandidate, view: CommitView) -> bool:
        path = candidate.code.path
        commits = select_by_history(parsed, [candidate.state], view.list_period)
        states = [one._replace(path=path, language=file_language(path)) for one in commits]
        passed = filter_files(query, parsed, states, now_s)
        return bool(states) and (passed is None or bool(passed))

    return passes


class _RemovalSearch:
    """Searches removed code for one question."""

    def __init__(
        self,
        question: RemovalQuestion,
        keeps: Callable[[RemovalCandidate, CommitView], bool],
        commits: CommitSearch,
        view: CommitView,
        definitions: RemovedDefinitions | None,
        present: PresentCode,
    ) -> None:
        self._question = question
        self._keeps = keeps
        self._commits = commits
        self._view = view
        self._index = view.index
        self._definitions = definitions
        self._present = present
        self._weights = question.weigh_terms(view.index.sparse)
        self._searched: set[int] = set()  # commits whose removed code was read
        self._moved: dict[
            tuple[str, str], tuple[RemovalCandidate, str]
        ] = {}  # with the present paths
        self.is_complete = True  # False: git did not search all commits for a name or a quotation

    def run(self, limit: int) -> tuple[Removal, ...]:
        ranks = self._rank_commits()
        found = self._select([*self._find_definitions(ranks), *self._read(ranks)], limit)
        names = self._question.names
        if (names or self._question.phrases) and not any(one.code.name in names for one in found):
            # Only the beginning of a long patch is indexed, but git searches whole patches.
            missing = self._count_commits(set(ranks))
            if missing:
                found = self._select([*found, *self._read(missing)], limit)
        return tuple(self._describe(one) for one in found)

    def describe_moved(self, removals: Sequence[Removal]) -> tuple[str, ...]:
        """Return a note about definitions that were moved and fit at least as well as `removals`.

        They are not among the results, because they still exist.
        """
        least = max((one.score for one in removals), default=_MIN_MOVED_SCORE)
        found = [
            f"{one.code.name}, from {one.code.path} to {place}"
            for one, place in self._moved.values()
            if round(one.score, 4) >= least
        ]
        more = f", and {len(found) - _MAX_MOVED} more" if len(found) > _MAX_MOVED else ""
        shown = "; ".join(found[:_MAX_MOVED])
        return (f"not gone, because it was moved: {shown}{more}",) if found else ()

    def describe_unread(self) -> tuple[str, ...]:
        """Return notes about commits that may have removed code that was not searched."""
        definitions = None if self._definitions is None else self._definitions.view()
        return self._commits.describe_unread(self._view, definitions, min_share=NOTED_SHARE)

    def count_hidden(self) -> int:
        """Return how many changes of files in the searched commits may contain secrets.

        A file is counted once for each commit that changed it.
        """
        texts = {commit: self._index.text(commit).split("\n") for commit in self._searched}
        headings = (
            texts[state.id][section.start_line - 1]
            for state in self._view.select(self._index.files(self._searched).values())
            for section in self._view.read_sections(state)
        )
        return sum(heading.rstrip().endswith(f" ({HIDDEN_SECRET})") for heading in headings)

    def _find_definitions(self, ranks: Mapping[int, int]) -> Iterator[RemovalCandidate]:
        """Yield the removed definitions that are most similar to the question."""
        if self._definitions is None:
            return
        for code in self._definitions.find(self._question.text, list(self._weights)):
            state = self._view.commit_at(code.uri)
            if state is None:
                continue
            message, rank = self._read_message(state), ranks.get(state.id, math.inf)
            score = score_removal(
                self._question, self._weights, code, message, rank, code.similarity
            )
            if score > 0:
                yield RemovalCandidate(code, state, score)

    def _rank_commits(self) -> dict[int, int]:
        """Return the commits that may have removed the code, with their ranks from 0."""
        sparse, ids = self._index.sparse, self._view.ids
        query = SearchQuery(self._question.text, limit=_SEARCHED_COMMITS, expand=False)
        hits = self._commits.search(query, explain=False).results
        states = [self._view.commit_at(hit.file_path) for hit in hits]
        lists = [[state.id for state in states if state is not None]]
        terms = [WeightedTerm(term, weight) for term, weight in self._weights.items()]
        chunks = sparse.query(terms, _DENSE_COMMITS, ids).ids.tolist() if terms else []
        rows = self._index.chunks(chunks)
        lists.append([rows[at].file_id for at in chunks if at in rows])
        names = [sparse.stems(name) for name in sorted(self._question.keys)]
        names += [[term] for term in self._question.joined_terms(sparse)]
        lists += [
            list(sparse.files_with(stems, [], _COMMITS_WITH_NAME, ids)) for stems in names if stems
        ]
        ranks: dict[int, int] = {}
        for found in lists:
            for rank, commit in enumerate(dict.fromkeys(found)):
                ranks[commit] = min(rank, ranks.get(commit, rank))
        return ranks

    def _count_commits(self, known: set[int]) -> dict[int, int]:
        texts = [*self._question.names, *self._question.phrases][:_COUNTED_TEXTS]
        ranks: dict[int, int] = {}
        for text in texts:
            counted = self._commits.updates.find_by_count(
                text, _COUNTED_COMMITS, _COUNTING_S / len(texts)
            )
            self.is_complete &= counted.is_complete or len(counted.hashes) >= _COUNTED_COMMITS
            for rank, sha in enumerate(counted.hashes):
                state = self._view.commit_at(f"{COMMIT_URI}{sha}")
                if state is not None and state.id not in known:
                    ranks.setdefault(state.id, rank)
        return ranks

    def _read(self, ranks: dict[int, int]) -> Iterator[RemovalCandidate]:
        """Yield the removed code of commits that matches the question."""
        states = self._index.files(ranks)
        self._searched.update(ranks)
        for commit, rank in ranks.items():
            state = states[commit]
            removed = self._commits.updates.read_removed(state.path.removeprefix(COMMIT_URI))
            message = self._read_message(state) if removed else ""
            for code in removed:
                score = score_removal(self._question, self._weights, code, message, rank)
                if score > 0:
                    yield RemovalCandidate(code, state, score)

    def _read_message(self, state: FileState) -> str:
        end = self._view.count_message_lines(state)
        return "\n".join(self._index.text(state.id).split("\n", end)[:end])

    def _select(self, candidates: Sequence[RemovalCandidate], limit: int) -> list[RemovalCandidate]:
        """Return the best candidates that no longer exist, without repetitions."""
        states = {one.state.id: one.state for one in candidates}
        newest = [state.id for state in self._view.newest_first(states.values())]
        latest = list_latest(candidates, {commit: at for at, commit in enumerate(newest)})
        checked = self._passing(latest)[: _CHECKS_PER_RESULT * (limit + 2)]
        chosen: list[RemovalCandidate] = []
        for candidate in self._check(checked):
            if not any(overlap(candidate, other) for other in chosen):
                chosen.append(candidate)
            if len(chosen) == limit:
                break
        return chosen

    def _check(self, candidates: Sequence[RemovalCandidate]) -> Iterator[RemovalCandidate]:
        """Yield the candidates that may be shown and no longer exist."""
        visible = self._commits.updates.visible_paths({one.code.path for one in candidates})
        for candidate in candidates:
            code = candidate.code
            if code.path not in visible:
                continue
            place = self._present.find(code)
            if place is None:
                yield candidate
            elif code.name and place != code.path:
                self._moved.setdefault((code.path, code.name), (candidate, place))

    def _passing(self, candidates: Sequence[RemovalCandidate]) -> list[RemovalCandidate]:
        """Return the candidates that pass the filters of the query."""
        return [one for one in candidates if self._keeps(one, self._view)]

    def _describe(self, candidate: RemovalCandidate) -> Removal:
        code = candidate.code
        renamed = self._view.old_paths(candidate.state).items()
        return Removal(
            code.path,
            code.name,
            code.scope,
            code.start_line,
            code.lines,
            describe_commit(self._view, candidate.state),
            round(candidate.score, 4),
            next((new for new, old in renamed if old == code.path and is_vendored(new)), None),
        )
