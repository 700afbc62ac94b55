"""Recall of labeled evidence in long conversations: rootle, BM25 and mem0.

    python -m benchmarks.memory.conversation_recall DATA
        [--systems rootle,rootle-apart,bm25,bm25-english,mem0] [--json FILE]

DATA is LoCoMo as published (`snap-research/locomo`): `locomo10.json`, `locomo10.zip` or the
unpacked folder; a JSON file of LongMemEval works too. Every system stores the same text for each
turn: "Speaker (session date): text", with the caption of a shared picture. Then the questions are
asked. Recall@7 is the share of a question's evidence among the first seven memories; MRR is one
over the rank of the first evidence among the first fifty. Both are means over questions. The 95 %
intervals resample conversations. Rootle's lead over a system is the mean difference per question,
with an interval of the same kind. mem0 stores the texts unchanged and uses rootle's embedder.
`systems.py` describes the other systems.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.common import arguments
from benchmarks.common.arguments import JSON, command_parser
from benchmarks.common.metrics import ROOTLE
from benchmarks.common.reports import format_interval, write_json
from benchmarks.common.rootle_search import measure_ms
from benchmarks.common.statistics import Floats, resampled_rows
from benchmarks.memory.conversations import Conversation, Question, read_conversations
from benchmarks.memory.systems import SYSTEMS, open_system
from rootle.embed.static import StaticEmbedder

TOP_K, DEPTH = 7, 50
DRAWS = 10_000
# rootle's constants were chosen on these conversations; the other conversations were scored once.
TUNING_CONVERSATIONS = frozenset({"26", "41", "43", "47", "49"})
SPLITS = {"all": None, "tuning": True, "held out": False}


@dataclass(frozen=True, slots=True)
class QuestionScore:
    """The scores of one system on one question."""

    conversation: str
    question: str
    kind: str
    recall: float
    reciprocal_rank: float
    ms: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean with its 95 % interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of one system over a set of conversations."""

    questions: int
    recall: Estimate
    mrr: Estimate
    median_ms: float
    recall_by_kind: dict[str, float]
    recall_lead: Estimate | None  # rootle's recall minus the system's
    mrr_lead: Estimate | None


Report = dict[str, dict[str, Figures]]  # split -> system -> figures


def main() -> None:
    args = parse_arguments()
    conversations = read_conversations(args.data)
    embedder = StaticEmbedder()
    scores: dict[str, list[QuestionScore]] = {name: [] for name in args.systems}
    for number, conversation in enumerate(conversations, start=1):
        for name in args.systems:
            scores[name] += ask_questions(name, conversation, embedder)
        print(f"\r{number} of {len(conversations)}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    report = make_report(scores)
    for split, systems in report.items():
        print(format_split(split, systems))
    figures = {
        split: {name: asdict(one) for name, one in systems.items()}
        for split, systems in report.items()
    }
    questions = {name: [asdict(one) for one in found] for name, found in scores.items()}
    write_json(args.json, {**figures, "questions": questions})


def parse_arguments() -> argparse.Namespace:
    parser = command_parser(__doc__, arguments.SYSTEMS.with_settings(default=list(SYSTEMS)), JSON)
    parser.add_argument("data", type=Path, metavar="DATA", help="LoCoMo or LongMemEval")
    args = parser.parse_args()
    if unknown := set(args.systems) - set(SYSTEMS):
        parser.error(f"no system {', '.join(sorted(unknown))}; known: {', '.join(SYSTEMS)}")
    return args


def ask_questions(
    name: str, conversation: Conversation, embedder: StaticEmbedder
) -> list[QuestionScore]:
    """Store a conversation in a system and return the scores of its questions."""
    with tempfile.TemporaryDirectory(prefix="memories-") as folder:
        system = open_system(name, Path(folder), embedder)
        for turn in conversation.turns:
            system.store(turn)
        scores = []
        for question in conversation.questions:
            search = partial(system.search, question.text, question.asked_at, DEPTH)
            found, ms = measure_ms(search)
            scores.append(score_question(conversation.name, question, found, ms))
        system.close()
    return scores


def score_question(
    conversation: str, question: Question, found: Sequence[frozenset[int]], ms: float
) -> QuestionScore:
    """Return the scores of one question; `found` holds the turn numbers of each memory found."""
    shown = frozenset[int]().union(*found[:TOP_K])
    ranks = (rank for rank, turns in enumerate(found, start=1) if turns & question.evidence)
    first = next(ranks, None)
    return QuestionScore(
        conversation,
        question.text,
        question.kind,
        len(shown & question.evidence) / len(question.evidence),
        1 / first if first else 0.0,
        ms,
    )


def make_report(scores: Mapping[str, Sequence[QuestionScore]]) -> Report:
    """Return the figures of each split that has questions."""
    report: Report = {}
    for split, tuning in SPLITS.items():
        selected = {
            name: [one for one in found if is_in_split(one, tuning)]
            for name, found in scores.items()
        }
        if any(selected.values()):
            rootle = selected.get(ROOTLE)
            report[split] = {
                name: summarize_system(found, None if name == ROOTLE else rootle)
                for name, found in selected.items()
            }
    return report


def is_in_split(score: QuestionScore, tuning: bool | None) -> bool:
    """Return whether a question belongs to a split; None means all questions."""
    number = score.conversation.removeprefix("conv-")
    return tuning is None or (number.isdecimal() and (number in TUNING_CONVERSATIONS) == tuning)


def summarize_system(
    scores: Sequence[QuestionScore], rootle: Sequence[QuestionScore] | None
) -> Figures:
    """Return the figures of a system; `rootle` holds rootle's scores on the same questions."""
    recalls = np.array([one.recall for one in scores])
    ranks = np.array([one.reciprocal_rank for one in scores])
    groups = [one.conversation for one in scores]
    recall_lead = mrr_lead = None
    if rootle:
        recall_lead = estimate(np.array([one.recall for one in rootle]) - recalls, groups)
        mrr_lead = estimate(np.array([one.reciprocal_rank for one in rootle]) - ranks, groups)
    return Figures(
        len(scores),
        estimate(recalls, groups),
        estimate(ranks, groups),
        float(np.median([one.ms for one in scores])),
        {
            kind: float(recalls[[one.kind == kind for one in scores]].mean())
            for kind in sorted({one.kind for one in scores})
        },
        recall_lead,
        mrr_lead,
    )


def estimate(values: Floats, groups: Sequence[str]) -> Estimate:
    """Return the mean of the values with an interval from resampled groups."""
    names = sorted(set(groups))
    group_of = np.array([names.index(group) for group in groups])
    sums, counts = np.bincount(group_of, values), np.bincount(group_of)
    drawn = resampled_rows(len(names), DRAWS, seed=7)
    means = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return Estimate(float(values.mean()), float(low), float(high))


def format_split(split: str, systems: Mapping[str, Figures]) -> str:
    """Return the table of one split, and the recall of each kind of question."""
    first = next(iter(systems.values()))
    lines = [
        f"\n{split}: {first.questions} questions",
        f"{'':14}{'recall@7':>22}{'MRR':>22}{'lead of rootle':>24}{'ms':>7}",
    ]
    for name, row in systems.items():
        lead = format_estimate(row.recall_lead, "+.3f") if row.recall_lead else ""
        lines.append(
            f"{name:14}{format_estimate(row.recall):>22}{format_estimate(row.mrr):>22}{lead:>24}"
            f"{row.median_ms:7.1f}"
        )
    kinds = first.recall_by_kind
    lines.append(f"{'recall@7':14}" + "".join(f"{kind:>14}" for kind in kinds))
    lines += [
        f"{name:14}" + "".join(f"{row.recall_by_kind[kind]:14.3f}" for kind in kinds)
        for name, row in systems.items()
    ]
    return "\n".join(lines)


def format_estimate(one: Estimate, form: str = ".3f") -> str:
    return f"{one.mean:{form}} {format_interval((one.low, one.high), form)}"


if __name__ == "__main__":
    main()
