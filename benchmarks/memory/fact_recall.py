"""Recall of single facts, for questions that mostly use different words from the fact.

    python -m benchmarks.memory.fact_recall [--json FILE]

`facts.jsonl` has pairs of a fact and a question, about people and about projects, and questions
that no fact answers. The half "tune" was used to choose parameters and the words of `subjects.tsv`;
the half "test" was written afterwards, and nothing was changed for it. All facts of a half are
stored, each in a session of its own. Recall@k is the share of questions whose fact is among the
first k memories. "Other memories" is the mean number of other memories that are returned for a
question that has an answer. "False" is the share of questions without an answer for which any
memory is returned. The "prefetch" figures are about the memories that rootle adds to a message
unasked; a memory needs a higher score for this than to be returned by `recall`.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from benchmarks.common.arguments import JSON, command_parser
from benchmarks.common.reports import write_json
from rootle.embed.static import StaticEmbedder
from rootle.memory.references import ReferencedProject
from rootle.memory.sqlite_store import EmbeddedMemory
from rootle.memory.user_memory import TOP_K, UserMemory

DATA: Final = Path(__file__).with_name("facts.jsonl")
HALVES: Final = ("tune", "test")
_USER: Final = "user"
_SESSION_S: Final = 86_400


@dataclass(frozen=True)
class Question:
    """A question, and the fact that answers it (`memory`), or "" if no fact does."""

    half: str
    query: str
    memory: str = ""


@dataclass(frozen=True)
class Figures:
    """The figures of one half; all but the counts are shares or means."""

    pairs: int
    recall_at_1: float
    recall_at_3: float
    recall_at_7: float
    other_memories: float
    prefetch_recall: float
    unanswerable: int
    false_recall: float
    false_prefetch: float


def main() -> None:
    args = parse_arguments()
    questions = read_questions(DATA)
    figures = {half: measure([one for one in questions if one.half == half]) for half in HALVES}
    print(format_figures(figures))
    write_json(args.json, {half: asdict(one) for half, one in figures.items()})


def parse_arguments() -> argparse.Namespace:
    return command_parser(__doc__, JSON).parse_args()


def read_questions(path: Path) -> list[Question]:
    """Return the labeled questions in a file of JSON lines."""
    return [Question(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def measure(questions: Sequence[Question]) -> Figures:
    """Store the facts of these questions and ask all of them."""
    with tempfile.TemporaryDirectory() as folder:
        memory = open_memory(Path(folder), [one.memory for one in questions if one.memory])
        try:
            return _measure(memory, questions)
        finally:
            memory.close()


def open_memory(folder: Path, facts: Sequence[str]) -> UserMemory:
    """Return a memory with these facts, one per day."""
    now = 1_700_000_000.0
    store = EmbeddedMemory(folder / "memories.db", StaticEmbedder, clock=lambda: now)
    for fact in facts:
        now += _SESSION_S
        store.add(fact, _USER)
    return UserMemory(store, _USER, ReferencedProject(folder, lambda _: [], lambda _: []))


def _measure(memory: UserMemory, questions: Sequence[Question]) -> Figures:
    answerable = [one for one in questions if one.memory]
    others = [one.query for one in questions if not one.memory]
    found = [(one.memory, [it.text for it in memory.recall(one.query)]) for one in answerable]
    ranks = [texts.index(fact) if fact in texts else TOP_K for fact, texts in found]
    prefetched = [
        one.memory in [it.text for it in memory.find_relevant(one.query, (), TOP_K)]
        for one in answerable
    ]
    return Figures(
        pairs=len(answerable),
        recall_at_1=_mean([rank < 1 for rank in ranks]),
        recall_at_3=_mean([rank < 3 for rank in ranks]),
        recall_at_7=_mean([rank < 7 for rank in ranks]),
        other_memories=_mean([len(texts) - (fact in texts) for fact, texts in found]),
        prefetch_recall=_mean(prefetched),
        unanswerable=len(others),
        false_recall=_mean([bool(memory.recall(query)) for query in others]),
        false_prefetch=_mean([bool(memory.find_relevant(query, (), TOP_K)) for query in others]),
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def format_figures(figures: Mapping[str, Figures]) -> str:
    """Return one row per figure and one column per half."""
    rows = {
        name: [asdict(one)[name] for one in figures.values()] for name in asdict(figures["test"])
    }
    lines = [" " * 18 + "".join(f"{half:>8}" for half in figures)]
    for name, values in rows.items():
        shown = (str(one) if isinstance(one, int) else f"{one:.3f}" for one in values)
        lines.append(f"{name.replace('_', ' '):18}" + "".join(f"{one:>8}" for one in shown))
    return "\n".join(lines)


if __name__ == "__main__":
    main()
