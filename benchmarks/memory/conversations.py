"""Conversations with questions and labeled evidence: LoCoMo and LongMemEval.

LoCoMo (`snap-research/locomo`): `data/locomo10.json`, the `data/locomo10.zip` of an earlier
version, or the unpacked folder. LongMemEval (`xiaowu0162/LongMemEval`): one of its JSON files.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

KINDS = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
TURN_INTERVAL = timedelta(seconds=20)
# Some labels are malformed: several turns in one string, an extra colon, leading zeros.
_TURN_ID = re.compile(r"D:?(\d+):(\d+)")
_SESSION = re.compile(r"session_(\d+)")


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a conversation."""

    text: str
    sent_at: datetime


@dataclass(frozen=True, slots=True)
class Question:
    """A question about a conversation, asked after its end."""

    text: str
    kind: str
    evidence: frozenset[int]  # numbers of the turns that answer it
    asked_at: datetime


@dataclass(frozen=True, slots=True)
class Conversation:
    """The turns of all sessions in order, and the questions with evidence."""

    name: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]


def read_conversations(data: Path) -> list[Conversation]:
    """Return the conversations in a file or folder. Raise ValueError if there are none."""
    found = [one for name, value in _read_files(data) for one in _parse(name, value)]
    if not found:
        raise ValueError(f"{data} contains no conversations of LoCoMo or LongMemEval")
    return found


def _read_files(data: Path) -> Iterator[tuple[str, object]]:
    if data.suffix == ".zip":
        with zipfile.ZipFile(data) as archive:
            for name in sorted(archive.namelist()):
                if name.endswith(".json"):
                    yield Path(name).stem, json.loads(archive.read(name))
        return
    for path in sorted(data.rglob("*.json")) if data.is_dir() else [data]:
        yield path.stem, json.loads(path.read_text(encoding="utf-8"))


def _parse(name: str, value: object) -> Iterator[Conversation]:
    for sample in value if isinstance(value, list) else [value]:
        if not isinstance(sample, dict):
            continue
        if "haystack_sessions" in sample:
            yield _parse_longmemeval(sample)
        elif "qa" in sample:
            yield _parse_locomo(str(sample.get("sample_id", name)), sample)


def _parse_locomo(name: str, sample: Mapping[str, Any]) -> Conversation:
    sessions = sample.get("conversation", sample)  # the later version nests the sessions
    numbers = sorted(int(m[1]) for m in map(_SESSION.fullmatch, sessions) if m)
    turns: list[Turn] = []
    numbered: dict[tuple[int, int], int] = {}  # (session, turn) -> number of the turn
    for number in numbers:
        date = sessions[f"session_{number}_date_time"]
        start = datetime.strptime(date, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        for position, turn in enumerate(sessions[f"session_{number}"]):
            for turn_id in _parse_turn_ids([turn["dia_id"]]):
                numbered[turn_id] = len(turns)
            turns.append(Turn(_memory_text(turn, date), start + position * TURN_INTERVAL))
    end = turns[-1].sent_at + timedelta(days=1)
    questions = []
    for record in sample["qa"]:
        turn_ids = _parse_turn_ids(record.get("evidence") or [])
        evidence = frozenset(numbered[one] for one in turn_ids if one in numbered)
        if evidence:
            kind = KINDS[record["category"]]
            questions.append(Question(record["question"], kind, evidence, end))
    return Conversation(name, tuple(turns), tuple(questions))


def _parse_turn_ids(texts: Iterable[str]) -> list[tuple[int, int]]:
    return [(int(a), int(b)) for text in texts for a, b in _TURN_ID.findall(text)]


def _memory_text(turn: Mapping[str, Any], date: str) -> str:
    """Return a turn with its speaker, its date and the caption of a shared picture."""
    caption = turn.get("blip_caption")
    text = f"{turn['text']} [shared {caption}]" if caption else turn["text"]
    return f"{turn['speaker']} ({date}): {text}"


def _parse_longmemeval(sample: Mapping[str, Any]) -> Conversation:
    turns: list[Turn] = []
    evidence = set()
    for date, session in zip(sample["haystack_dates"], sample["haystack_sessions"], strict=True):
        start = _parse_date(date)
        for position, turn in enumerate(session):
            if turn.get("has_answer"):
                evidence.add(len(turns))
            text = f"{turn['role']} ({date}): {turn['content']}"
            turns.append(Turn(text, start + position * TURN_INTERVAL))
    asked_at = _parse_date(sample["question_date"])
    question = Question(sample["question"], sample["question_type"], frozenset(evidence), asked_at)
    # Unanswerable questions have no evidence.
    return Conversation(sample["question_id"], tuple(turns), (question,) if evidence else ())


def _parse_date(text: str) -> datetime:
    """Parse a time such as `2023/05/20 (Sat) 02:21`."""
    without_day = re.sub(r"\s*\([^)]*\)", "", text)
    return datetime.strptime(without_day, "%Y/%m/%d %H:%M").replace(tzinfo=UTC)
