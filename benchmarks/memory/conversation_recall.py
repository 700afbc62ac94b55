"""How well memories are found again: labelled evidence in long conversations, beside BM25 and mem0.

    python -m benchmarks.memory.conversation_recall DATA [--systems rootle,rootle-apart,bm25,bm25-english,mem0]
        [--json FILE]

DATA is what LoCoMo (`snap-research/locomo`) publishes: `locomo10.json`, `locomo10.zip` or the
folder in it; a JSON file of LongMemEval is read as well. Each turn of a conversation is told as a
memory, "Speaker (session's date): text", with the caption of a picture that was shared, the same to
every system; then its questions are asked. Recall@7 is the share of a question's evidence among the
first seven memories, MRR one over the rank of the first evidence among fifty. Both are means over
questions; their 95 % intervals come from drawing conversations with replacement, and so does that
of the difference to rootle. mem0 keeps texts as they are, with rootle's embedder.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.memory.conversations import Conversation, Question, read_conversations
from benchmarks.memory.systems import SYSTEMS, open_system
from rootle.embed.static import StaticEmbedder

OURS = "rootle"
TOP_K, DEPTH = 7, 50
DRAWS = 10_000
# Those that rootle's numbers were chosen on; the others were tried once.
TUNED_ON = frozenset({"26", "41", "43", "47", "49"})


@dataclass(frozen=True, slots=True)
class Asked:
    """One question to one system, and how it went."""

    conversation: str
    question: str
    kind: str
    recall: float
    reciprocal_rank: float
    ms: float


def main() -> None:
    args = parse_arguments()
    conversations = read_conversations(args.data)
    embedder = StaticEmbedder()
    asked: dict[str, list[Asked]] = {name: [] for name in args.systems}
    for number, conversation in enumerate(conversations, start=1):
        for name in args.systems:
            asked[name] += ask_all(name, conversation, embedder)
        print(f"\r{number} of {len(conversations)}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    report = report_of(asked)
    print_report(report)
    if args.json:
        rows = {name: [one_row(one) for one in found] for name, found in asked.items()}
        args.json.write_text(json.dumps({**report, "asked": rows}, indent=1) + "\n")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("data", type=Path, metavar="DATA")
    parser.add_argument("--systems", default=",".join(SYSTEMS), help="some of them, by commas")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    args.systems = args.systems.split(",")
    if unknown := set(args.systems) - set(SYSTEMS):
        parser.error(f"no system {', '.join(sorted(unknown))}; there are {', '.join(SYSTEMS)}")
    return args


def ask_all(name: str, conversation: Conversation, embedder: StaticEmbedder) -> list[Asked]:
    with tempfile.TemporaryDirectory(prefix="memories-") as folder:
        system = open_system(name, Path(folder), embedder)
        for turn in conversation.turns:
            system.tell(turn)
        asked = []
        for question in conversation.questions:
            started = time.perf_counter()
            found = system.ask(question.text, question.asked_at, DEPTH)
            ms = (time.perf_counter() - started) * 1000
            asked.append(judged(conversation.name, question, found, ms))
        system.close()
    return asked


def judged(
    conversation: str, question: Question, found: Sequence[frozenset[int]], ms: float
) -> Asked:
    seen = frozenset().union(*found[:TOP_K])
    ranks = (rank for rank, turns in enumerate(found, start=1) if turns & question.evidence)
    first = next(ranks, None)
    return Asked(
        conversation,
        question.text,
        question.kind,
        len(seen & question.evidence) / len(question.evidence),
        1 / first if first else 0.0,
        ms,
    )


def report_of(asked: Mapping[str, Sequence[Asked]]) -> dict:
    sides = {"all": None, "tuned on": True, "tried once": False}
    return {
        side: {
            name: figures([one for one in found if on(one, tuned)], ours(asked, tuned, name))
            for name, found in asked.items()
        }
        for side, tuned in sides.items()
        if any(on(one, tuned) for one in next(iter(asked.values())))
    }


def on(one: Asked, tuned: bool | None) -> bool:
    number = one.conversation.removeprefix("conv-")
    return tuned is None or (number.isdecimal() and (number in TUNED_ON) == tuned)


def ours(asked: Mapping[str, Sequence[Asked]], tuned: bool | None, name: str) -> list[Asked]:
    """What rootle found, where it is not this system itself."""
    return [one for one in asked.get(OURS, ()) if on(one, tuned)] if name != OURS else []


def figures(found: Sequence[Asked], of_ours: Sequence[Asked]) -> dict:
    recalls = np.array([one.recall for one in found])
    ranks = np.array([one.reciprocal_rank for one in found])
    groups = [one.conversation for one in found]
    row = {
        "questions": len(found),
        "recall": interval(recalls, groups),
        "mrr": interval(ranks, groups),
        "medianMs": float(np.median([one.ms for one in found])),
        "recallByKind": {
            kind: float(recalls[[one.kind == kind for one in found]].mean())
            for kind in sorted({one.kind for one in found})
        },
    }
    if of_ours:
        row["recallOfOursMore"] = interval(
            np.array([one.recall for one in of_ours]) - recalls, groups
        )
        more = np.array([one.reciprocal_rank for one in of_ours]) - ranks
        row["mrrOfOursMore"] = interval(more, groups)
    return row


def interval(values: np.ndarray, groups: Sequence[str]) -> dict[str, float]:
    """The mean, and where 95 % of the means lie of as many conversations drawn anew."""
    names = sorted(set(groups))
    of = np.array([names.index(group) for group in groups])
    sums, counts = np.bincount(of, values), np.bincount(of)
    drawn = np.random.default_rng(7).integers(len(names), size=(DRAWS, len(names)))
    means = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return {"mean": float(values.mean()), "low": float(low), "high": float(high)}


def print_report(report: Mapping[str, Mapping[str, dict]]) -> None:
    for side, systems in report.items():
        count = next(iter(systems.values()))["questions"]
        print(f"\n{side}: {count} questions")
        print(f"{'':14}{'recall@7':>22}{'MRR':>22}{'rootle more':>24}{'ms':>7}")
        for name, row in systems.items():
            more = shown(row["recallOfOursMore"], "+.3f") if "recallOfOursMore" in row else ""
            print(
                f"{name:14}{shown(row['recall']):>22}{shown(row['mrr']):>22}{more:>24}"
                f"{row['medianMs']:7.1f}"
            )
        kinds = next(iter(systems.values()))["recallByKind"]
        print(f"{'recall@7':14}" + "".join(f"{kind:>14}" for kind in kinds))
        for name, row in systems.items():
            print(f"{name:14}" + "".join(f"{row['recallByKind'][kind]:14.3f}" for kind in kinds))


def shown(figure: Mapping[str, float], form: str = ".3f") -> str:
    return f"{figure['mean']:{form}} ({figure['low']:{form}}–{figure['high']:{form}})"


def one_row(one: Asked) -> dict[str, object]:
    return {
        "conversation": one.conversation,
        "question": one.question,
        "kind": one.kind,
        "recall": one.recall,
        "reciprocalRank": one.reciprocal_rank,
    }


if __name__ == "__main__":
    main()
