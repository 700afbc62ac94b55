"""Pipeline stage: rank first the commit that made the change that a question asks about.

The words of "when did we drop python 2" are in many commits that did something else, such as
dropping another thing or writing about python 2. The deciding commit says in its message that it
made this change, or its changed lines show it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from rootle.history.changes.change_evidence import Evidence, score_commit
from rootle.history.changes.change_question import (
    ChangeQuestion,
    Subject,
    parse_change_question,
)
from rootle.history.changes.change_words import Action, index_stems
from rootle.history.changes.message_evidence import score_line
from rootle.history.changes.subject_weights import (
    find_core,
    find_missing,
    find_rarest,
    weigh_subjects,
)
from rootle.index.reader import FileState, IndexReader
from rootle.protocols import Ids
from rootle.search.query.scope import ScopedQuery
from rootle.search.request import SearchRequest
from rootle.search.stages.ranked_answer import FindAnswer, RankedAnswer, reorder
from rootle.serialization.path_text import short_hash
from rootle.types import COMMIT_URI

_MAX_SUBJECT_LINES: Final = 3_000  # subject lines to read, of commits with the rare words
_MIN_FIT: Final = 0.3  # of a subject line
_MAX_FITTING: Final = 20
_MAX_TEXTS: Final = 60  # commits with the rare words whose whole texts are read
# Commits with enough evidence are ranked even if the search did not find them.
_MAX_ADDED: Final = 10
_MIN_EVIDENCE: Final = 0.4
# Commits whose changed lines show the removal or addition, and whose evidence is at least this
# share of the best, are ordered by time.
_SIMILAR_EVIDENCE: Final = 0.7
_MIN_PATCH: Final = 0.5  # the fit of these changed lines; one line alone is not enough
_MIN_STATED: Final = 0.05  # the fit of a message that mentions the added thing
_WHOLE_STATED: Final = 0.85  # the fit of a message that says that the whole thing was added
_MAX_PARTS: Final = 3
# A message that says that a thing got another name: "Rename the browser => the explorer".
_RENAMED: Final = re.compile(
    r"\brenam\w{0,10}\s(?:the )?(.{1,60}?)\s(?:to|into|as|[=-]>|→)\s", re.IGNORECASE
)
_SEARCH_WEIGHT: Final = 0.1  # for the search probability, which orders similar commits


def rank_by_change(find: FindAnswer, request: SearchRequest, scoped: ScopedQuery) -> RankedAnswer:
    """Return the answer, beginning with the commits that made the change in the question.

    The answer is not confident if the first commit lacks a name or a version of the question.
    """
    parsed = scoped.question.parsed
    asked = None if parsed.is_exact or scoped.lines else parse_change_question(parsed.text)
    if asked is None:
        return find(request, scoped)
    search = _ChangeSearch(asked, request.session.index, scoped)
    evidence = search.find()
    chunk_ids = np.concatenate([scoped.chunk_ids, search.list_chunks(evidence)])
    return search.rank(find(request, replace(scoped, chunk_ids=chunk_ids)), evidence)


class _ChangeSearch:
    """Searches for the commits that made one change."""

    def __init__(self, asked: ChangeQuestion, index: IndexReader, scoped: ScopedQuery) -> None:
        self._action = asked.action
        self._index = index
        self._files = scoped.files
        parts = sorted({part for one in asked.subjects for part in one.parts})
        total, counts = index.sparse.file_frequencies(parts)
        self._subjects = weigh_subjects(asked, total, dict(zip(parts, counts, strict=True)))
        self._core = find_core(self._subjects)
        self._rarest = find_rarest(self._subjects)

    def find(self) -> dict[int, Evidence]:
        """Return the evidence for each commit that may have made the change, keyed by its id."""
        found = dict.fromkeys((*self._find_messages(), *self._find_texts()))
        return {commit: self._score(commit) for commit in found}

    def list_chunks(self, evidence: Mapping[int, Evidence]) -> Ids:
        """Return the chunks with the evidence of the best commits."""
        best = sorted(evidence, key=lambda commit: (-evidence[commit].score, commit))[:_MAX_ADDED]
        chunks = [
            row.id
            for commit in best
            if evidence[commit].score >= _MIN_EVIDENCE
            for row in self._index.list_chunks(commit)
            if row.start_line <= evidence[commit].line <= row.end_line
        ]
        return np.array(chunks, dtype=np.int64)

    def rank(self, answer: RankedAnswer, evidence: Mapping[int, Evidence]) -> RankedAnswer:
        """Return the answer in the order of the evidence. The score of each rank stays the same."""
        if not answer.order:
            return answer
        ids = answer.candidates.inputs.files.ids.tolist()
        known = {at: evidence.get(ids[at]) or self._score(ids[at]) for at in answer.order}
        scores = {
            at: known[at].score + _SEARCH_WEIGHT * float(answer.scores[at]) for at in answer.order
        }
        answer = reorder(answer, sorted(answer.order, key=lambda at: -scores[at]))
        if self._action is Action.REMOVAL:
            by_id = dict(evidence) | {ids[at]: one for at, one in known.items()}
            answer = self._put_last_removal_first(answer, known, by_id)
            first = answer.order[0]
            if known[first].patch >= _MIN_PATCH:
                restored = self._describe_restoration(ids[first], by_id)
                answer = replace(answer, notes=(*answer.notes, *restored))
        if self._action is Action.ADDITION:
            answer = self._put_first_addition_first(answer, known)
            renamed = _describe_rename(self._index.files([ids[answer.order[0]]]).values())
            answer = replace(answer, notes=(*answer.notes, *renamed))
        if self._action is Action.UPGRADE:
            answer = self._put_newest_first(answer, known)
        missing = find_missing(self._subjects, self._index.text(ids[answer.order[0]]))
        names = " and ".join(f'"{one.written}"' for one in missing)
        return replace(answer, undefined=f"the first commit lacks {names}") if missing else answer

    def _put_last_removal_first(
        self,
        answer: RankedAnswer,
        evidence: Mapping[int, Evidence],
        by_id: Mapping[int, Evidence],
    ) -> RankedAnswer:
        """If several commits removed the same thing, put the last of them first in the answer.

        A note names the earlier ones. Each of them removed the thing from only one of several
        places, or the thing was added again afterwards. Another note names commits with less
        evidence that removed more of it later. `by_id` has all known evidence.
        """
        similar, states = self._find_similar(answer, evidence)
        notes = answer.notes
        first = similar[0] if similar else answer.order[0]
        commit = answer.candidates.inputs.files.ids.tolist()[first]
        later = self._list_later(commit, by_id, lambda one: one.patch)
        if len(similar) > 1:
            answer = reorder(answer, [first, *(at for at in answer.order if at != first)])
            notes = (*notes, _describe_parts(states[1:], is_last=not later))
        if later:
            name = self._rarest.written
            found = f'commits after the first one removed more lines or files with "{name}"'
            notes = (*notes, f"{found}: {_list_hashes(later)}")
        return replace(answer, notes=notes)

    def _describe_restoration(
        self, removal: int, evidence: Mapping[int, Evidence]
    ) -> tuple[str, ...]:
        """Return a note if commits after the removal added lines or files about the thing."""
        later = self._list_later(removal, evidence, lambda one: one.addition)
        if not later:
            return ()
        names = " and ".join(f'"{one.written}"' for one in self._core)
        found = f"commits after the first one added lines or files about {names}"
        return (f"{found}: {_list_hashes(later)}",)

    def _list_later(
        self, removal: int, evidence: Mapping[int, Evidence], read: Callable[[Evidence], float]
    ) -> list[FileState]:
        """Return the commits after the removal whose lines are evidence, newest first.

        `read` returns how well the lines of a commit fit.
        """
        states = self._index.files(evidence)
        at = states[removal].committed_s or 0
        later = [
            states[commit]
            for commit, one in evidence.items()
            if read(one) >= _MIN_PATCH and (states[commit].committed_s or 0) > at
        ]
        return sorted(later, key=lambda state: (-(state.committed_s or 0), state.id))

    def _put_first_addition_first(
        self, answer: RankedAnswer, evidence: Mapping[int, Evidence]
    ) -> RankedAnswer:
        """If several commits added the same thing, put the oldest of them first in the answer.

        Later ones extended or replaced it. They keep their order. A commit whose message says that
        it added the whole thing is preceded only by others that say so.
        """
        similar, _ = self._find_similar(answer, evidence)
        if not similar:
            return answer
        return reorder(answer, [similar[-1], *(at for at in answer.order if at != similar[-1])])

    def _put_newest_first(
        self, answer: RankedAnswer, evidence: Mapping[int, Evidence]
    ) -> RankedAnswer:
        """Put the commits whose messages fit about as well as the first one in order of time."""
        best = evidence[answer.order[0]].stated
        similar = [at for at in answer.order if evidence[at].stated >= best * _WHOLE_STATED > 0]
        ids = answer.candidates.inputs.files.ids.tolist()
        states = self._index.files(ids[at] for at in similar)
        similar.sort(key=lambda at: -(states[ids[at]].committed_s or 0))
        return reorder(answer, list(dict.fromkeys((*similar, *answer.order))))

    def _find_similar(
        self, answer: RankedAnswer, evidence: Mapping[int, Evidence]
    ) -> tuple[list[int], list[FileState]]:
        """Return the commits whose lines show the change about as well as those of the first one.

        The result consists of the positions of the candidates and the states of the commits, both
        newest first. Both lists are empty if the lines of the first commit do not show the change.
        """
        best, min_stated = evidence[answer.order[0]], -1.0
        if self._action is Action.ADDITION:
            is_whole = best.stated >= _WHOLE_STATED and best.is_program
            min_stated = _WHOLE_STATED if is_whole else _MIN_STATED
        elif best.patch < _MIN_PATCH:
            return [], []
        elif best.stated >= _WHOLE_STATED:
            # A later commit that says something else removed only what was left.
            min_stated = _WHOLE_STATED
        ids = answer.candidates.inputs.files.ids.tolist()
        similar = [
            at
            for at in answer.order
            if evidence[at].patch >= _MIN_PATCH
            and evidence[at].score >= best.score * _SIMILAR_EVIDENCE
            and evidence[at].stated >= min_stated
        ]
        if self._action is Action.ADDITION:
            # Themes and settings are often added for a thing that a program has already.
            similar = [at for at in similar if evidence[at].is_program] or similar
        states = self._index.files(ids[at] for at in similar)
        # A merge that was squashed into one commit has the changes of both branches.
        own = [at for at in similar if not states[ids[at]].title.startswith("Merge ")]
        similar = own or similar

        def age(at: int) -> tuple[float, int]:
            # Among commits with the same time, newer ones have lower ids.
            return -(states[ids[at]].committed_s or 0), ids[at]

        similar.sort(key=age)
        return similar, [states[ids[at]] for at in similar]

    def _find_messages(self) -> list[int]:
        """Return those commits with the rare words whose subject lines fit best."""
        new = [one for one in self._core if one.is_new]
        old = [one for one in self._core if not one.is_new]
        found = {
            commit
            for group in (self._core, old, new)
            for commit in self._commits_with(group, _MAX_SUBJECT_LINES)
        }
        states = self._index.files(found)
        fits = {
            state.id: score_line(self._action, self._subjects, state.title)
            for state in states.values()
        }
        fitting = [commit for commit in fits if fits[commit] >= _MIN_FIT]
        if self._action is Action.UPGRADE:  # there are often many, and the newest ones are wanted
            whole = [commit for commit in fitting if fits[commit] >= _WHOLE_STATED]
            newest = sorted(whole, key=lambda commit: -(states[commit].committed_s or 0))
            return newest[:_MAX_FITTING]
        return sorted(fitting, key=lambda commit: (-fits[commit], commit))[:_MAX_FITTING]

    def _find_texts(self) -> list[int]:
        """Return the commits whose texts contain the rare words most densely."""
        found = self._commits_with(self._core, _MAX_TEXTS)
        if self._action is Action.DEPRECATION:
            found += self._commits_with(self._core, _MAX_TEXTS, "deprec")
        return found

    def _commits_with(self, subjects: Sequence[Subject], limit: int, *more: str) -> list[int]:
        """Return the commits with all of the subjects, of which two may form one word."""
        if not subjects:
            return []
        found: dict[int, None] = {}
        for compound in sorted({"", *(stem for one in subjects for stem in one.compounds)}):
            apart = [one for one in subjects if not compound or compound not in one.compounds]
            stems = [part for one in apart for part in one.parts]
            stems += [index_stems(compound)] if compound else []
            files = self._index.sparse.files_with([*stems, *more], [], limit, self._files)
            found |= dict.fromkeys(files)
        return list(found)

    def _score(self, commit: int) -> Evidence:
        lines = self._index.text(commit).split("\n")
        return score_commit(self._action, self._subjects, lines, self._index.read_sections(commit))


def _describe_parts(earlier: Sequence[FileState], *, is_last: bool) -> str:
    """Return a note about the earlier ones of several commits that removed the same thing.

    Set `is_last` if no known commit removed more of it after the first one in the answer.
    """
    claim = "the first commit is the last one that removed this; " if is_last else ""
    return (
        f"{claim}earlier commits removed a part of it, or it was added again after them: "
        f"{_list_hashes(earlier)}"
    )


def _describe_rename(states: Iterable[FileState]) -> tuple[str, ...]:
    """Return a note for each commit that did not add a thing, but gave it another name."""
    return tuple(
        f"the first commit renamed {found[1]}; ask who added that"
        for state in states
        if (found := _RENAMED.search(state.title))
    )


def _list_hashes(states: Sequence[FileState]) -> str:
    shown = ", ".join(
        short_hash(state.path.removeprefix(COMMIT_URI)) for state in states[:_MAX_PARTS]
    )
    more = f" and {len(states) - _MAX_PARTS} more" if len(states) > _MAX_PARTS else ""
    return f"{shown}{more}"
