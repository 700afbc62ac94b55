"""Conversations with questions whose evidence is labelled, as LoCoMo and LongMemEval publish them.

LoCoMo (`snap-research/locomo`): `data/locomo10.json`, the `data/locomo10.zip` of an earlier state,
or the folder that it unpacks to. LongMemEval (`xiaowu0162/LongMemEval`): one of its JSON files.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

KINDS = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
BETWEEN_TURNS = timedelta(seconds=20)
# Labels have slips: several turns in one string, a colon too many, a zero in front.
_TURN_ID = re.compile(r"D:?(\d+):(\d+)")
_SESSION = re.compile(r"session_(\d+)")


@dataclass(frozen=True, slots=True)
class Turn:
    """What somebody said once."""

    text: str
    told_at: datetime


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    kind: str
    evidence: frozenset[int]  # which turns answer it
    asked_at: datetime


@dataclass(frozen=True, slots=True)
class Conversation:
    name: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]


def read_conversations(data: Path) -> list[Conversation]:
    """What lies there. Raises ValueError where that is neither of the two."""
    found = [one for name, value in _files(data) for one in _read(name, value)]
    if not found:
        raise ValueError(f"{data} holds no conversations of LoCoMo or LongMemEval")
    return found


def _files(data: Path) -> Iterator[tuple[str, object]]:
    if data.suffix == ".zip":
        with zipfile.ZipFile(data) as archive:
            for name in sorted(archive.namelist()):
                if name.endswith(".json"):
                    yield Path(name).stem, json.loads(archive.read(name))
        return
    for path in sorted(data.rglob("*.json")) if data.is_dir() else [data]:
        yield path.stem, json.loads(path.read_text(encoding="utf-8"))


def _read(name: str, value: object) -> Iterator[Conversation]:
    samples = value if isinstance(value, list) else [value]
    for sample in filter(lambda one: isinstance(one, dict), samples):
        if "haystack_sessions" in sample:
            yield _of_longmemeval(sample)
        elif "qa" in sample:
            yield _of_locomo(str(sample.get("sample_id", name)), sample)


def _of_locomo(name: str, sample: Mapping) -> Conversation:
    talk = sample.get("conversation", sample)  # the earlier state has both on one level
    numbers = sorted(int(m[1]) for m in map(_SESSION.fullmatch, talk) if m)
    turns: list[Turn] = []
    places: dict[tuple[int, int], int] = {}
    for number in numbers:
        said_on = talk[f"session_{number}_date_time"]
        began = datetime.strptime(said_on, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        for at, turn in enumerate(talk[f"session_{number}"]):
            for label in _labels([turn["dia_id"]]):
                places[label] = len(turns)
            turns.append(Turn(_said(turn, said_on), began + at * BETWEEN_TURNS))
    end = turns[-1].told_at + timedelta(days=1)
    questions = []
    for asked in sample["qa"]:
        labels = _labels(asked.get("evidence") or [])
        evidence = frozenset(places[label] for label in labels if label in places)
        if evidence:
            questions.append(Question(asked["question"], KINDS[asked["category"]], evidence, end))
    return Conversation(name, tuple(turns), tuple(questions))


def _labels(texts: Iterable[str]) -> list[tuple[int, int]]:
    return [(int(a), int(b)) for text in texts for a, b in _TURN_ID.findall(text)]


def _said(turn: Mapping, said_on: str) -> str:
    """A turn as a memory: who said what when, with what the shared picture shows."""
    picture = turn.get("blip_caption")
    text = f"{turn['text']} [shared {picture}]" if picture else turn["text"]
    return f"{turn['speaker']} ({said_on}): {text}"


def _of_longmemeval(sample: Mapping) -> Conversation:
    turns: list[Turn] = []
    evidence = set()
    for said_on, session in zip(sample["haystack_dates"], sample["haystack_sessions"], strict=True):
        began = _day(said_on)
        for at, turn in enumerate(session):
            if turn.get("has_answer"):
                evidence.add(len(turns))
            text = f"{turn['role']} ({said_on}): {turn['content']}"
            turns.append(Turn(text, began + at * BETWEEN_TURNS))
    asked_at = _day(sample["question_date"])
    question = Question(sample["question"], sample["question_type"], frozenset(evidence), asked_at)
    # Those that cannot be answered have no evidence to be found.
    return Conversation(sample["question_id"], tuple(turns), (question,) if evidence else ())


def _day(text: str) -> datetime:
    """`2023/05/20 (Sat) 02:21`."""
    plain = re.sub(r"\s*\([^)]*\)", "", text)
    return datetime.strptime(plain, "%Y/%m/%d %H:%M").replace(tzinfo=UTC)
