"""Cross-fitting by repository: the decision trees that rank a question never saw its repository."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np

from rootle.rank.features import WORD_ORDER
from rootle.rank.rankers.features_ranker import RankedFiles, rank_files
from rootle.rank.rankers.learned_ranker import RERANKED, SUM_SCALE, correct_order
from rootle.rank.rankers.learned_ranker_columns import model_columns
from rootle.rank.ranking_inputs import Floats
from training.ranker.ranking_examples import RankingExample, Source, Voice, example_ndcg

FOLDS: Final = 5
EVALUATED: Final[tuple[Source, ...]] = ("bench", "labels", "renamed", "large")
RANKED: Final[tuple[Source, ...]] = (*EVALUATED, "unanswerable")

RankedExamples = list[tuple[RankingExample, RankedFiles]]


class TreeModel(Protocol):
    """A trained model."""

    def predict(self, data: Floats, /) -> object: ...


@dataclass(frozen=True)
class TrainingExample:
    """A question with the features of the files that the trees may reorder."""

    example: RankingExample
    features: Floats  # one row per file
    relevance: Floats  # 1 for a file with an answer
    by_sum: RankedFiles  # the order of the weighted sum

    @property
    def initial_scores(self) -> Floats:
        """Return the scores of the weighted sum on the scale of the trees."""
        scores = self.by_sum.scores_without(WORD_ORDER)[list(self.by_sum.order[:RERANKED])]
        return scores * SUM_SCALE

    @property
    def detail(self) -> float:
        """Return the amount of detail in the query; at zero, the trees have no effect."""
        return self.example.inputs.question.detail


def prepare(example: RankingExample) -> TrainingExample:
    """Return an example with the features of its best files."""
    ranked = rank_files(example.inputs)
    best = np.array(ranked.order[:RERANKED], dtype=np.int64)
    paths = [example.inputs.files.paths[file] for file in best]
    wanted = {path for target in example.targets for path, _, _ in target}
    return TrainingExample(
        example,
        model_columns(example.inputs, ranked)[best],
        np.array([float(path in wanted) for path in paths]),
        ranked,
    )


def cross_fit(
    examples: Sequence[TrainingExample],
    train: Callable[[Sequence[TrainingExample]], TreeModel],
) -> dict[int, Floats]:
    """Map the number of each ranked example to the corrections of the trees."""
    ranked = sorted({one.example.repository for one in examples if one.example.source in RANKED})
    shuffled = np.random.default_rng(0).permutation(ranked)
    fold_of = {str(name): place % FOLDS for place, name in enumerate(shuffled)}
    corrections = {}
    for fold in range(FOLDS):
        unseen = {name for name, own in fold_of.items() if own == fold}
        model = train([one for one in examples if one.example.repository not in unseen])
        for number, one in enumerate(examples):
            is_ranked = one.example.source in RANKED and one.example.repository in unseen
            if is_ranked and one.detail:
                values = np.asarray(model.predict(one.features))
                corrections[number] = one.detail * values / SUM_SCALE
    return corrections


def rank_evaluated(
    examples: Sequence[TrainingExample], corrections: Mapping[int, Floats]
) -> dict[str, RankedExamples]:
    """Return each ranker's order for the evaluated and the unanswerable questions."""
    evaluated = [
        (number, one) for number, one in enumerate(examples) if one.example.source in RANKED
    ]
    learned = [
        (
            one.example,
            correct_order(one.by_sum, corrections[number]) if number in corrections else one.by_sum,
        )
        for number, one in evaluated
    ]
    return {"features": [(one.example, one.by_sum) for _, one in evaluated], "learned": learned}


def mean_ndcg(ranked: RankedExamples, source: Source, voice: Voice = "user") -> float:
    """Return NDCG@10 of the answerable questions of a source, averaged by repository."""
    return mean_by_repository(ranked, source, voice, example_ndcg)


def mean_first_hit(ranked: RankedExamples, source: Source, voice: Voice = "user") -> float:
    """Return the share of answerable questions that the first file answers (mean by repository)."""
    return mean_by_repository(
        ranked, source, voice, lambda example, order: float(example.answers(order[0]))
    )


def mean_by_repository(
    ranked: RankedExamples,
    source: Source,
    voice: Voice,
    score: Callable[[RankingExample, Sequence[int]], float],
) -> float:
    """Return the mean over repositories of the mean score; NaN if no question was scored."""
    scores: dict[str, list[float]] = defaultdict(list)
    for example, ranking in ranked:
        is_wanted = example.source == source and example.voice == voice
        if is_wanted and example.targets and ranking.order:
            scores[example.repository].append(score(example, ranking.order))
    return statistics.mean(map(statistics.mean, scores.values())) if scores else math.nan
