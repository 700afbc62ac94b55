"""Pipeline stage: collapse the translations of a page into one result with the other paths.

Translations are recognized by their paths.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import Final

from rootle.rank.question.language_detection import detect_language
from rootle.search.query.scope import ScopedQuery
from rootle.search.request import SearchRequest
from rootle.search.stages.ranked_answer import FindAnswer, RankedAnswer
from rootle.text.translated_paths import translation_of

_ORIGINAL: Final = "en"


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
    groups: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for at in answer.order:
        page, language = translation_of(paths[at])
        groups[page].append((at, language))
    copies = [group for group in groups.values() if _has_translation(group)]
    if not copies:
        return answer
    wanted = detect_language(scoped.question.parsed.text) or _ORIGINAL
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
    scored = _with_scores(answer, place)
    return replace(scored, order=order, duplicates=duplicates, translations=translations)


def _preference(language: str, wanted: str) -> int:
    """Return 0 for the language of the question, 1 for the original, 2 for other languages."""
    if language == wanted or (not language and wanted == _ORIGINAL):
        return 0
    return 1 if language in ("", _ORIGINAL) else 2


def _with_scores(answer: RankedAnswer, place: dict[int, int]) -> RankedAnswer:
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
