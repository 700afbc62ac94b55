"""Find the files that may change together with a file, and compute the features of each."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np

from rootle.history.cochange import ChangeHistory, Cochange
from rootle.index.reader import FileState, IndexReader
from rootle.models.shipped import IMPACT_V1, model_file
from rootle.protocols import WeightedTerm
from rootle.rank.rankers.tree_ensemble import GradientBoostedTrees, load_trees
from rootle.search.symbols.definitions import is_test_place
from rootle.text.languages import PROSE, file_language
from rootle.text.terms import WORD, file_stem, split_identifier, whole_identifier

# The features of the model that `training/impact/train.py` trains, in order.
NAMES: Final = (
    *("share", "share_squared", "log_count", "log_popularity", "no_history", "in_last_commit"),
    *("same_stem", "test_pair", "same_folder", "common_folders", "references", "is_referenced"),
    *("similarity", "is_test", "is_document", "days_since_change", "lift"),
    *("reverse_share", "recent_share", "share_rank", "similarity_rank", "links"),
    *("common_words", "is_part_of_name", "folder_share", "folder_rank", "log_seed_changes"),
    *("log_changes", "year_share", "recency"),
)

_MAX_DEFINED: Final = 30  # names that the file defines, and whose uses are looked up
_MAX_USED: Final = 150  # names that the file uses, and whose definitions are looked up
_MAX_USERS: Final = 12  # a name that more files use does not indicate that the files are related
_MAX_DEFINERS: Final = 3
_SIMILAR_FILES: Final = 30
_MAX_TERMS: Final = 40
_MAX_SAME_FOLDER: Final = 30
_FREQUENT_FILES: Final = 10
_TEST_WORDS: Final = frozenset({"test", "tests", "spec", "specs", "unittest"})
_DAY_S: Final = 86_400
_NONE: Final = Cochange(0, 0.0, ())
_NAME: Final = re.compile(r"[A-Za-z_]\w{4,}")


@dataclass(frozen=True, slots=True)
class ImpactCandidate:
    """A file that may change together with a given file."""

    path: str
    cochange: Cochange
    references: tuple[str, ...]
    similarity: float
    features: tuple[float, ...]  # as in NAMES


class ImpactFeatures:
    """Describes the files of one index."""

    def __init__(self, files: IndexReader, history: ChangeHistory) -> None:
        self._index = files
        self._history = history
        self._frequent = history.frequent(_FREQUENT_FILES)
        self._states = {state.path: state for state in files.all_files() if state.skip is None}
        self._by_stem: dict[str, list[str]] = defaultdict(list)
        self._by_folder: dict[str, list[str]] = defaultdict(list)
        for path in self._states:
            self._by_stem[_stem(path)].append(path)
            self._by_folder[_folder(path)].append(path)

    def has(self, path: str) -> bool:
        """Return whether a file is indexed."""
        return path in self._states

    def candidates(self, seed: str) -> list[ImpactCandidate]:
        """Return the files that may change together with a file, in the order of their paths."""
        partners = self._history.partners(seed)
        state = self._states.get(seed)
        used, defined, similar = self._content_links(state)
        paths = {
            *partners,
            *used,
            *defined,
            *similar,
            *self._by_stem[_stem(seed)],
            *self._by_folder[_folder(seed)][:_MAX_SAME_FOLDER],
            *self._frequent,
        }
        by_share = _rank({path: one.share for path, one in partners.items()})
        by_words = _rank(similar)
        in_folder = self._history.folder_partners(seed)
        by_folder = _rank(in_folder)
        found = []
        for path in sorted(paths & self._states.keys() - {seed}):
            cochange = partners.get(path, _NONE)
            names = (*defined.get(path, ()), *used.get(path, ()))
            features = self._describe(
                seed,
                path,
                cochange,
                uses=len(used.get(path, ())),
                used=len(defined.get(path, ())),
                similarity=similar.get(path, 0.0),
                ranks=(by_share.get(path, 0.0), by_words.get(path, 0.0)),
                folder=(in_folder.get(path, 0.0), by_folder.get(path, 0.0)),
            )
            references = tuple(dict.fromkeys(names))
            found.append(
                ImpactCandidate(path, cochange, references, similar.get(path, 0.0), features)
            )
        return found

    def _describe(
        self,
        seed: str,
        path: str,
        cochange: Cochange,
        *,
        uses: int,
        used: int,
        similarity: float,
        ranks: tuple[float, float],
        folder: tuple[float, float],
    ) -> tuple[float, ...]:
        history = self._history
        changes, own = history.list_changes(seed), history.list_changes(path)
        days = (history.newest_s - own[0].committed_s) / _DAY_S if own else 3_650.0
        popularity = len(own) / (history.count + 1)
        last = changes[0].paths if changes else ()
        is_test, was_test = is_test_place(path, ""), is_test_place(seed, "")
        same_stem = _stem(path) == _stem(seed)
        folders, others = _folder(seed).split("/"), _folder(path).split("/")
        common = sum(1 for one, other in zip(folders, others, strict=False) if one == other)
        return (
            cochange.share,
            cochange.share**2,
            math.log1p(cochange.count),
            math.log(popularity + 1e-4),
            float(not changes),
            float(path in last),
            float(same_stem),
            float(same_stem and is_test != was_test),
            float(folders == others),
            common / max(len(folders), len(others)),
            math.log1p(uses),
            math.log1p(used),
            similarity,
            float(is_test),
            float(file_language(path) in PROSE),
            math.log1p(max(0.0, days)),
            math.log((cochange.share + 0.01) / (popularity + 0.01)),
            cochange.reverse_share,
            cochange.recent_share,
            *ranks,
            float(cochange.count > 0 and uses + used > 0),
            *_compare_names(seed, path),
            *folder,
            math.log1p(len(changes)),
            math.log1p(len(own)),
            cochange.year_share,
            history.measure_recency(path),
        )

    def _content_links(
        self, state: FileState | None
    ) -> tuple[dict[str, list[str]], dict[str, list[str]], dict[str, float]]:
        """Return the files that are related to a file by their content.

        The three mappings contain the files that define names which this file uses, the files that
        use names which this file defines, and similar files. The first two map to the names, and
        the third to the scores.
        """
        if state is None:
            return {}, {}, {}
        chunks = [row.id for row in self._index.list_chunks(state.id)]
        text = self._index.text(state.id)
        symbols = list(dict.fromkeys(self._index.list_symbols(chunks)))
        return self._used(text, symbols), self._users(symbols), self._similar(text, state)

    def _used(self, text: str, symbols: Sequence[str]) -> dict[str, list[str]]:
        counts = Counter(_NAME.findall(text))
        own = {whole_identifier(name) for name in symbols}
        keys = {whole_identifier(name): name for name in counts}
        names = [key for key in keys if key not in own][:_MAX_USED]
        definers = self._index.sparse.definers(names, _MAX_DEFINERS + 1)
        chunks = [at for ids in definers.values() if len(ids) <= _MAX_DEFINERS for at in ids]
        rows = self._index.chunks(chunks)
        paths = self._index.files({row.file_id for row in rows.values()})
        found: dict[str, list[str]] = defaultdict(list)
        for key, ids in definers.items():
            if len(ids) <= _MAX_DEFINERS:
                for file_id in {rows[at].file_id for at in ids if at in rows}:
                    found[paths[file_id].path].append(keys[key])
        return found

    def _users(self, symbols: Sequence[str]) -> dict[str, list[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        specific = [name for name in symbols if len(name) > 4][:_MAX_DEFINED]
        for name in specific:
            terms = self._index.sparse.stems(whole_identifier("".join(WORD.findall(name))))
            if not terms:
                continue
            ids = self._index.sparse.files_with(terms, [], _MAX_USERS + 1, None)
            if len(ids) <= _MAX_USERS:
                for state in self._index.files(ids).values():
                    found[state.path].append(name)
        return found

    def _similar(self, text: str, state: FileState) -> dict[str, float]:
        """Return the files that share rare words with a file, with scores relative to the best."""
        words = (part for word in WORD.findall(text[:50_000]) for part in split_identifier(word))
        counts = Counter(word for word in words if len(word) > 3)
        common = [word for word, _ in counts.most_common(4 * _MAX_TERMS)]
        terms = list(dict.fromkeys(self._index.sparse.stems(" ".join(common))))
        total, frequencies = self._index.sparse.file_frequencies(terms)
        weighted = sorted(
            (
                (math.log(total / count), term)
                for term, count in zip(terms, frequencies, strict=True)
                if count > 1
            ),
            reverse=True,
        )[:_MAX_TERMS]
        query = [WeightedTerm(term, 1.0) for _, term in weighted]
        if not query:
            return {}
        hits = self._index.sparse.field_scores("files", ["body"], query, _SIMILAR_FILES)
        scores = dict(zip(hits.ids.tolist(), hits.scores.tolist(), strict=True))
        best = max(scores.get(state.id, 0.0), *scores.values()) if scores else 0.0
        states = self._index.files(scores)
        return {states[at].path: score / best for at, score in scores.items()} if best else {}


def _rank(values: Mapping[str, float]) -> dict[str, float]:
    """Return 1 for the path with the greatest value, 1/2 for the second, and so on."""
    ordered = sorted(values, key=lambda path: (-values[path], path))
    return {path: 1 / at for at, path in enumerate(ordered, start=1)}


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _stem(path: str) -> str:
    """Return the words of a file name without its extension and words such as "test"."""
    name = file_stem(path).partition(".")[0] or path.rpartition("/")[2]
    return " ".join(word for word in split_identifier(name) if word not in _TEST_WORDS)


def _compare_names(seed: str, path: str) -> tuple[float, float]:
    """Return the share of words that two file names have in common.

    Also return 1 if one name includes the other, else 0.
    """
    one, other = set(_stem(seed).split()), set(_stem(path).split())
    common = len(one & other)
    contains = bool(common) and common == min(len(one), len(other))
    return common / max(1, len(one | other)), float(contains)


def estimate_probability(features: Sequence[float]) -> float:
    """Return the probability for a candidate with these features, as in NAMES."""
    return estimate_probabilities([features])[0]


def estimate_probabilities(rows: Sequence[Sequence[float]]) -> list[float]:
    """Return the probability for each candidate, by its features."""
    if not rows:
        return []
    scores = np.clip(_load().scores(np.array(rows)), -30, 30)
    probabilities: list[float] = (1 / (1 + np.exp(-scores))).tolist()
    return probabilities


@cache
def _load() -> GradientBoostedTrees:
    return load_trees(model_file(IMPACT_V1, "trees.npz"), NAMES)
