"""Pipeline stages: collapse duplicates and translations into one result that lists the other paths.

Two files are duplicates if their bytes are equal, or if the chunks that are likely to be shown from
them differ only in a few words, as in generated code. Such chunks have nearly the same vector, so
only pairs with similar vectors are compared. Nothing is stored at index time. Translations are
recognized by their paths.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final
from weakref import WeakKeyDictionary

from rootle.index.reader import IndexReader
from rootle.search.query.scope import MAX_CANDIDATE_FILES, ScopedQuery
from rootle.search.request import SearchRequest
from rootle.search.results.shown_spans import ExcerptReader
from rootle.search.results.working_tree import WorkingTree
from rootle.search.retrieval.merged_candidates import Candidates
from rootle.search.session import Session
from rootle.search.stages.ranked_answer import FindAnswer, RankedAnswer
from rootle.text.terms import WORD, split_identifier
from rootle.text.translated_paths import parse_translation

_ORIGINAL: Final = "en"
# The minimum cosine similarity of chunks whose words are compared. Measured on four repositories:
# of the pairs of chunks that share 90% of their words, 90% have at least this cosine similarity; of
# the pairs with this similarity, more than half share 90% of their words.
_MIN_SIMILARITY: Final = 0.94
_MIN_SHARED_WORDS: Final = 0.9
# The minimum ratio of the lengths of two chunks. Chunks with the same words have about the same
# length; their indentation may differ.
_MIN_SIZE_RATIO: Final = 0.6
# The minimum number of words in a chunk. Shorter chunks are headings or closing braces, which many
# files share.
_MIN_WORDS: Final = 20
# The first _FIRST_FILES files are compared. If at least _MANY_AMONG_FIRST of them are duplicates,
# all files are compared.
_FIRST_FILES: Final = 20
_MANY_AMONG_FIRST: Final = 5
# If there are this many duplicates, few candidates are left, so more files are searched.
_MANY_DUPLICATES: Final = 30
_MAX_PAIRS: Final = 200
_MAX_CACHED_PAIRS: Final = 20_000


class Deduplication:
    """Collapses duplicate files."""

    def __init__(self, tree: WorkingTree | None) -> None:
        """Read chunks from the files of `tree`; if it is None, read them from the index."""
        self._tree = tree
        self._differences: WeakKeyDictionary[Session, _Differences] = WeakKeyDictionary()

    def __call__(
        self, find: FindAnswer, request: SearchRequest, scoped: ScopedQuery
    ) -> RankedAnswer:
        """Return the answer without duplicates."""
        # Files that are only similar may differ in the lines that match a phrase.
        is_exact = scoped.question.parsed.is_exact
        answer, hidden = self._collapse(request, find(request, scoped), is_exact=is_exact)
        if len(hidden) < _MANY_DUPLICATES:
            return answer
        # The duplicates displaced other files: search again without them.
        files = scoped.files or {state.id for state in request.session.index.all_files()}
        others = find(request, replace(scoped, files=set(files) - hidden))
        others, _ = self._collapse(request, others, is_exact=is_exact)
        return replace(others, duplicates={**answer.duplicates, **others.duplicates})

    def _collapse(
        self, request: SearchRequest, answer: RankedAnswer, *, is_exact: bool
    ) -> tuple[RankedAnswer, frozenset[int]]:
        """Return the answer without duplicates, and the ids of the files that it hides."""
        index = request.session.index
        same_content = _find_same_content(answer)
        original_of = dict(same_content)  # position of a duplicate -> position of an earlier file
        rest = [at for at in answer.order if at not in original_of]
        if len(rest) > 1 and not is_exact:
            reader = ExcerptReader(self._tree, index, answer.candidates.states)
            differences = self._get_differences(request.session)
            comparison = _ChunkComparison(index, reader, differences, answer.candidates)
            original_of.update(comparison.find_similar(rest))
        if not original_of:
            return answer, frozenset()
        duplicates = _group_duplicates(answer, original_of)
        may_be_more = len(answer.candidates.inputs.files.ids) >= MAX_CANDIDATE_FILES
        if len(same_content) >= _MANY_AMONG_FIRST and may_be_more:
            _add_other_files(duplicates, index, answer)
        collapsed = replace(
            answer,
            order=tuple(at for at in answer.order if at not in original_of),
            duplicates={at: tuple(sorted(found.values())) for at, found in duplicates.items()},
        )
        return collapsed, frozenset(at for found in duplicates.values() for at in found)

    def _get_differences(self, session: Session) -> _Differences:
        differences = self._differences.get(session)
        if differences is None:
            differences = self._differences.setdefault(session, {})
        return differences


# Maps the ids of two chunks to the word parts that only one of them contains; None if they are not
# similar.
_Differences = dict[tuple[int, int], frozenset[str] | None]


def _find_same_content(answer: RankedAnswer) -> dict[int, int]:
    """Map the position of each duplicate to that of an earlier file with the same bytes."""
    ids, states = answer.candidates.inputs.files.ids.tolist(), answer.candidates.states
    digests = [states[file_id].digest for file_id in ids]
    if len(set(digests)) == len(digests):
        return {}
    seen: dict[object, int] = {}
    found = {}
    for at in answer.order:
        first = seen.setdefault(digests[at] or at, at)
        if first != at:
            found[at] = first
    return found


def _group_duplicates(
    answer: RankedAnswer, original_of: Mapping[int, int]
) -> dict[int, dict[int, str]]:
    """Map the id of each shown file to the ids and paths of its duplicates."""
    ids, paths = answer.candidates.inputs.files.ids.tolist(), answer.candidates.inputs.files.paths
    duplicates: dict[int, dict[int, str]] = {}
    for at in original_of:
        shown = at
        while shown in original_of:
            shown = original_of[shown]
        duplicates.setdefault(ids[shown], {})[ids[at]] = paths[at]
    return duplicates


def _add_other_files(
    duplicates: Mapping[int, dict[int, str]], index: IndexReader, answer: RankedAnswer
) -> None:
    """Add the files that have the same bytes but are not candidates."""
    candidates, allowed = answer.candidates, answer.candidates.scoped.files
    shown_of = {candidates.states[file_id].digest: file_id for file_id in duplicates}
    digests = [digest for digest in shown_of if digest is not None]
    for state in index.files_with_digests(digests):
        shown = shown_of[state.digest]
        if state.id != shown and (allowed is None or state.id in allowed):
            duplicates[shown][state.id] = state.path


@dataclass(frozen=True, slots=True)
class _ChunkComparison:
    """Compares the chunks that are likely to be shown from the candidate files."""

    index: IndexReader
    reader: ExcerptReader
    differences: _Differences
    candidates: Candidates

    def find_similar(self, order: Sequence[int]) -> dict[int, int]:
        """Map the position of each duplicate to that of an earlier file with nearly equal words."""
        is_known = (self.candidates.likely_chunks >= 0).tolist()
        order = [at for at in order if is_known[at]]
        if len(order) < 2 or not self.index.dense.count:
            return {}
        found = self._compare(order[:_FIRST_FILES])
        return self._compare(order) if len(found) >= _MANY_AMONG_FIRST else found

    def _compare(self, order: Sequence[int]) -> dict[int, int]:
        similarities = self.index.dense.similarities(self.candidates.likely_chunks[order])
        ones, others = (similarities >= _MIN_SIMILARITY).nonzero()
        pairs = [(i, j) for i, j in zip(ones.tolist(), others.tolist(), strict=True) if i < j]
        if not pairs:
            return {}
        # Chunks that differ in a word of the question are different answers.
        terms = tuple(term.text for term in self.candidates.inputs.question.content_terms)
        places = [(order[one], order[other]) for one, other in pairs[:_MAX_PAIRS]]
        differences = self._read_differences([self._pair_chunks(*pair) for pair in places])
        found: dict[int, int] = {}
        for (earlier, later), words in zip(places, differences, strict=True):
            # Skip a known duplicate: other files are compared with its original.
            is_new = earlier not in found and later not in found
            if is_new and words is not None and not any(one.startswith(terms) for one in words):
                found[later] = earlier
        return found

    def _pair_chunks(self, one: int, other: int) -> tuple[int, int]:
        """Return the chunks of two files, in the order in which their difference is cached."""
        chunks = self.candidates.likely_chunks
        first, last = int(chunks[one]), int(chunks[other])
        return min(first, last), max(first, last)

    def _read_differences(
        self, pairs: Sequence[tuple[int, int]]
    ) -> Sequence[frozenset[str] | None]:
        """Return the difference of each pair of chunks. Read all chunks that are needed at once."""
        known = {pair: self.differences[pair] for pair in pairs if pair in self.differences}
        new = [pair for pair in pairs if pair not in known]
        if new:
            texts = self.reader.read_chunks(dict.fromkeys(at for pair in new for at in pair))
            read = {pair: _find_difference(texts[pair[0]], texts[pair[1]]) for pair in new}
            if len(self.differences) >= _MAX_CACHED_PAIRS:
                self.differences.clear()
            self.differences.update(read)
            known.update(read)
        return [known[pair] for pair in pairs]


def _find_difference(one: str, other: str) -> frozenset[str] | None:
    """Return the word parts that only one of two chunks contains; None if they are not similar."""
    if min(len(one), len(other)) < _MIN_SIZE_RATIO * max(len(one), len(other)):
        return None
    words = [WORD.findall(text) for text in (one, other)]
    fewest, most = sorted(map(len, words))
    if most < _MIN_WORDS or fewest < _MIN_SHARED_WORDS * most:
        return None
    left, right = map(Counter, words)
    only_left, only_right = left - right, right - left
    if len(words[0]) - only_left.total() < _MIN_SHARED_WORDS * most:
        return None
    differing = {*only_left, *only_right}
    return frozenset(part for word in differing for part in split_identifier(word))


def fold_translations(
    find: FindAnswer, request: SearchRequest, scoped: ScopedQuery
) -> RankedAnswer:
    """Return the answer with one translation of each page, at the rank of the best translation.

    The translation in the language of the question is preferred, then the original, then the best
    translation. Exact matches are not collapsed.
    """
    answer = find(request, scoped)
    if scoped.is_exact:
        return answer
    paths = answer.candidates.inputs.files.paths
    pages = [parse_translation(paths[at]) for at in answer.order]
    if not any(page.language for page in pages):
        return answer
    groups: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for at, (page, language) in zip(answer.order, pages, strict=True):
        groups[page].append((at, language))
    copies = [group for group in groups.values() if _has_translation(group)]
    if not copies:
        return answer
    wanted = scoped.question.language or _ORIGINAL
    return _fold(answer, copies, wanted)


def _has_translation(group: list[tuple[int, str]]) -> bool:
    return len(group) > 1 and len({language for _, language in group}) > 1


def _fold(answer: RankedAnswer, groups: list[list[tuple[int, str]]], wanted: str) -> RankedAnswer:
    ids, paths = answer.candidates.inputs.files.ids.tolist(), answer.candidates.inputs.files.paths
    duplicates, translations = dict(answer.duplicates), dict(answer.translations)
    place: dict[int, int] = {}  # the best file of a group -> the file that is shown instead
    hidden = set[int]()
    for group in groups:
        best = group[0][0]
        shown = min(group, key=lambda one: _preference(one[1], wanted))[0]
        others = [at for at, _ in group if at != shown]
        found = {path for at in others for path in (paths[at], *duplicates.pop(ids[at], ()))}
        translations[ids[shown]] = tuple(sorted(found))
        place[best] = shown
        hidden |= set(others) | {shown}
    order = tuple(place.get(at, at) for at in answer.order if at in place or at not in hidden)
    scored = _move_scores(answer, place)
    return replace(scored, order=order, duplicates=duplicates, translations=translations)


def _preference(language: str, wanted: str) -> int:
    """Return 0 for the language of the question, 1 for the original, 2 for other languages."""
    if language == wanted or (not language and wanted == _ORIGINAL):
        return 0
    return 1 if language in ("", _ORIGINAL) else 2


def _move_scores(answer: RankedAnswer, place: dict[int, int]) -> RankedAnswer:
    """Give each shown file the score of the best translation, whose place it takes."""
    scores = answer.ranked.scores.copy()
    confidence = answer.confidence
    calibrated = None if confidence is None else confidence.scores.copy()
    for best, shown in place.items():
        scores[shown] = scores[best]
        if calibrated is not None:
            calibrated[shown] = calibrated[best]
    if confidence is not None and calibrated is not None:
        confidence = replace(confidence, scores=calibrated)
    return replace(answer, ranked=replace(answer.ranked, scores=scores), confidence=confidence)
