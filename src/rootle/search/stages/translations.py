"""Answer stage: show one of several translations of a page, and list the others as its duplicates.

Translations are recognized by their paths: README.md and README.ja.md, docs/guide.md and
docs/zh-CN/guide.md, locales/en.yml and locales/de.yml.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from functools import lru_cache
from typing import Final, NamedTuple

from rootle.rank.question.language_detection import detect_language
from rootle.search.query.scope import ScopedQuery
from rootle.search.request import SearchRequest
from rootle.search.stages.ranked_answer import FindAnswer, RankedAnswer
from rootle.text.languages import CONFIG_EXTENSIONS, PROSE, language_of

_ORIGINAL: Final = "en"
_CODES: Final = frozenset(
    """ar az be bg bn ca cs da de el en eo es et eu fa fi fil fr gl gu he hi hr hu hy id is it ja ka
    kk km kn ko lt lv mk ml mn mr ms my nb ne nl nn no pa pl pt ro ru si sk sl sq sr sv sw ta te th
    tl tr uk ur uz vi zh cn jp kr ua""".split()
)
# Codes of countries that are used for the language.
_ALIASES: Final = {"cn": "zh", "jp": "ja", "kr": "ko", "ua": "uk"}
_CODE: Final = re.compile(r"([a-z]{2,3})(?:[-_](?:[A-Z][a-z]{3}|[A-Z]{2}|[a-z]{2,4}|419))?")
_ENDING: Final = re.compile(r"[._-]([a-z]{2,3}(?:[-_](?:[A-Z][a-z]{3}|[A-Z]{2}|[a-z]{2}))?)$")


class TranslatedPath(NamedTuple):
    """A page in one language."""

    page: str  # equal for all translations of a page
    language: str  # "" if the path does not contain one


@lru_cache(maxsize=65_536)  # called for the same paths by every query
def translation_of(path: str) -> TranslatedPath:
    """Return the page of a document or of a file with texts, and the language in its path."""
    language = language_of(path)
    if language not in PROSE and language not in CONFIG_EXTENSIONS:
        return TranslatedPath(path, "")
    folder, _, name = path.rpartition("/")
    stem, dot, extension = name.partition(".") if name.count(".") == 1 else name.rpartition(".")
    if code := _read_code(stem):
        return TranslatedPath(f"{folder}/{dot}{extension}", code)
    ending = _ENDING.search(stem)
    if ending is not None and (code := _read_code(ending[1])):
        page = f"{stem[: ending.start()]}{dot}{extension}"
        return TranslatedPath(f"{folder}/{page}" if folder else page, code)
    if language in PROSE:
        parts = folder.split("/")
        for at, part in enumerate(parts):
            if code := _read_code(part):
                return TranslatedPath("/".join([*parts[:at], *parts[at + 1 :], name]), code)
    return TranslatedPath(path, "")


def _read_code(text: str) -> str:
    found = _CODE.fullmatch(text)
    code = found[1] if found is not None else ""
    return _ALIASES.get(code, code) if code in _CODES else ""


def fold_translations(
    find: FindAnswer, request: SearchRequest, scoped: ScopedQuery
) -> RankedAnswer:
    """Return the answer with one translation of each page.

    It is the one in the language of the question, else the original, else the best one, and takes
    the place of the best one. Exact matches are all shown.
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
    duplicates = dict(answer.duplicates)
    place: dict[int, int] = {}  # the best file of a group -> the file that is shown instead
    hidden = set[int]()
    for group in groups:
        best = group[0][0]
        shown = min(group, key=lambda one: _preference(one[1], wanted))[0]
        others = [at for at, _ in group if at != shown]
        found = {path for at in others for path in (paths[at], *duplicates.pop(ids[at], ()))}
        duplicates[ids[shown]] = tuple(sorted({*found, *duplicates.get(ids[shown], ())}))
        place[best] = shown
        hidden |= set(others) | {shown}
    order = tuple(place.get(at, at) for at in answer.order if at in place or at not in hidden)
    return replace(_with_scores(answer, place), order=order, duplicates=duplicates)


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
