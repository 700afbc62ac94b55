"""Recall of evidence in conversations: published formats, scores and their intervals."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from benchmarks.memory.conversation_recall import (
    QuestionScore,
    estimate,
    format_split,
    is_in_split,
    make_report,
    score_question,
)
from benchmarks.memory.conversations import Question, Turn, read_conversations
from benchmarks.memory.store_latency import format_figures, generate_sentences, summarize
from benchmarks.memory.systems import Bm25System, english_words, plain_words

_ROOT = Path(__file__).parents[2]
_NOW = datetime(2024, 1, 1, tzinfo=UTC)
_MESSAGES = [
    ("D1:1", "Ann", "Hey Bob! I adopted a puppy called Biscuit."),
    ("D1:2", "Bob", "Congratulations! What breed is she?"),
    ("D1:3", "Ann", "She is a beagle, and she eats my shoes."),
    ("D2:1", "Bob", "I sold my bicycle last week and bought a canoe."),
    ("D2:2", "Ann", "Where will you paddle first?"),
]
_SESSIONS = {
    "speaker_a": "Ann",
    "speaker_b": "Bob",
    "session_1_date_time": "1:56 pm on 8 May, 2023",
    "session_1": [{"dia_id": i, "speaker": s, "text": t} for i, s, t in _MESSAGES[:3]],
    "session_2_date_time": "12:09 am on 13 September, 2023",
    "session_2": [
        {"dia_id": i, "speaker": s, "text": t, "blip_caption": "a red canoe"}
        for i, s, t in _MESSAGES[3:]
    ],
    "session_3_date_time": "9:00 am on 14 September, 2023",  # a session without messages
    "session_1_observation": {},
}
_QA = [
    {"question": "What is Ann's puppy called?", "evidence": ["D1:1"], "category": 4},
    {
        "question": "What did Bob sell for his canoe?",
        "evidence": ["D2:1; D2:02", "D"],
        "category": 1,
    },
    {"question": "Would Bob like a tent?", "evidence": [], "category": 3},
    {"question": "Which breed is Bob's beagle?", "evidence": ["D:1:3"], "category": 5},
]
_LONGMEMEVAL = {
    "question_id": "q1",
    "question_type": "single-session-user",
    "question": "What did I graduate in?",
    "question_date": "2023/05/30 (Tue) 23:40",
    "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 02:57"],
    "haystack_sessions": [
        [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hello!"}],
        [{"role": "user", "content": "I graduated in geology", "has_answer": True}],
    ],
}


def publish(folder: Path, form: str) -> Path:
    """Write the conversation above in one of the formats in which LoCoMo is published."""
    if form == "locomo10.json":
        path = folder / form
        sample = {"sample_id": "conv-26", "conversation": _SESSIONS, "qa": _QA}
        path.write_text(json.dumps([sample]))
        return path
    if form == "folder":
        (folder / "26.json").write_text(json.dumps({**_SESSIONS, "qa": _QA}))
        return folder
    path = folder / "locomo10.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data/locomo10/26.json", json.dumps({**_SESSIONS, "qa": _QA}))
    return path


@pytest.mark.parametrize("form", ["locomo10.json", "folder", "zip"])
def test_every_format_gives_the_same_conversation(form: str, tmp_path: Path) -> None:
    (conversation,) = read_conversations(publish(tmp_path, form))
    assert conversation.name.removeprefix("conv-") == "26"
    turns = conversation.turns
    assert turns[0].text == (
        "Ann (1:56 pm on 8 May, 2023): Hey Bob! I adopted a puppy called Biscuit."
    )
    assert turns[4].text.endswith("Where will you paddle first? [shared a red canoe]")
    assert turns[3].sent_at.isoformat() == "2023-09-13T00:09:00+00:00"
    assert (turns[4].sent_at - turns[3].sent_at).total_seconds() == 20
    assert [(one.kind, sorted(one.evidence)) for one in conversation.questions] == [
        ("single-hop", [0]),
        ("multi-hop", [3, 4]),
        ("adversarial", [2]),
    ]


def test_longmemeval_files_can_be_read(tmp_path: Path) -> None:
    unanswerable = {**_LONGMEMEVAL, "question_id": "q2_abs", "haystack_sessions": [[], []]}
    path = tmp_path / "longmemeval_s.json"
    path.write_text(json.dumps([_LONGMEMEVAL, unanswerable]))
    first, second = read_conversations(path)
    assert [one.evidence for one in first.questions] == [frozenset({2})]
    assert first.turns[2].text == "user (2023/05/21 (Sun) 02:57): I graduated in geology"
    assert first.questions[0].asked_at.isoformat() == "2023-05-30T23:40:00+00:00"
    assert second.questions == ()


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text('{"name": "something"}')
    with pytest.raises(ValueError, match="no conversations"):
        read_conversations(tmp_path)


@pytest.mark.slow
def test_every_system_is_asked_the_same_questions(tmp_path: Path) -> None:
    out = tmp_path / "figures.json"
    command = [sys.executable, "-m", "benchmarks.memory.conversation_recall"]
    child = subprocess.run(
        [*command, str(publish(tmp_path, "zip")), "--json", str(out)],
        capture_output=True,
        text=True,
        cwd=_ROOT,
    )
    assert child.returncode == 0, child.stderr
    report = json.loads(out.read_text())
    assert list(report["all"]) == ["rootle", "rootle-apart", "bm25", "bm25-english", "mem0"]
    for name in ("rootle", "bm25", "bm25-english"):
        # There are five turns, and a system returns up to seven results. It therefore finds every
        # turn that shares a word with the question.
        row = report["all"][name]
        assert (row["questions"], row["recall"]["mean"]) == (3, 1.0), name
        assert row["mrr"]["mean"] > 0.5
    assert report["all"]["mem0"]["recall_lead"]["mean"] >= 0
    assert "held out" not in report
    assert [one["kind"] for one in report["questions"]["bm25"]] == [
        "single-hop",
        "multi-hop",
        "adversarial",
    ]


def question(*evidence: int) -> Question:
    return Question("where", "temporal", frozenset(evidence), _NOW)


def test_recall_counts_seven_memories_and_the_reciprocal_rank_fifty() -> None:
    found = [frozenset({number}) for number in range(10, 20)]
    score = score_question("conv-1", question(16, 17, 12, 99), found, 5.0)
    assert score.recall == 0.5  # 12 and 16 are found; 17 is in eighth place
    assert score.reciprocal_rank == pytest.approx(1 / 3)
    assert score_question("conv-1", question(19), found, 5.0).recall == 0.0
    assert score_question("conv-1", question(19), found, 5.0).reciprocal_rank == 0.1
    assert score_question("conv-1", question(5), found, 5.0).reciprocal_rank == 0.0


def test_a_memory_may_represent_several_turns() -> None:
    score = score_question("conv-1", question(1, 2), [frozenset({1, 2, 3})], 5.0)
    assert (score.recall, score.reciprocal_rank) == (1.0, 1.0)


def score(conversation: str, recall: float) -> QuestionScore:
    return QuestionScore(conversation, "where", "temporal", recall, recall / 2, 5.0)


def test_the_lead_is_paired_and_splits_follow_the_conversation() -> None:
    report = make_report({
        "rootle": [score("conv-26", 1.0), score("conv-30", 0.5)],
        "bm25": [score("conv-26", 0.5), score("conv-30", 0.25)],
    })  # fmt: skip
    assert list(report) == ["all", "tuning", "held out"]
    lead = report["all"]["bm25"].recall_lead
    assert lead is not None
    assert (lead.mean, lead.low, lead.high) == pytest.approx((0.375, 0.25, 0.5))
    assert report["all"]["rootle"].recall_lead is None
    held_out = report["held out"]["bm25"]
    assert (held_out.questions, held_out.recall.mean, held_out.mrr.mean) == (1, 0.25, 0.125)
    assert held_out.recall_by_kind == {"temporal": 0.25}
    assert "+0.250 (+0.250–+0.250)" in format_split("held out", report["held out"])
    # Only conversations with a number, such as conv-26, belong to a split.
    assert not is_in_split(score("q1", 1.0), tuning=False)


def test_intervals_resample_whole_conversations() -> None:
    one = estimate(np.array([0.0, 0.0, 0.0, 1.0]), ["a", "a", "a", "b"])
    assert (one.mean, one.low, one.high) == (0.25, 0.0, 1.0)
    assert estimate(np.array([0.5, 0.5]), ["a", "a"]).high == 0.5


def test_bm25_ranks_turns_by_shared_words() -> None:
    system = Bm25System(plain_words)
    for text in ("a dog barks", "dogs bark at the dog", "cats sleep"):
        system.store(Turn(text, _NOW))
    assert system.search("dog", _NOW, 5) == [frozenset({0}), frozenset({1})]
    assert system.search("dog", _NOW, 1) == [frozenset({0})]
    assert system.search("bird", _NOW, 5) == []


def test_english_words_are_stems_without_stop_words() -> None:
    assert list(english_words()("The dogs are barking")) == ["dog", "bark"]


def test_sentences_are_reproducible_and_have_a_natural_distribution() -> None:
    sentences = list(generate_sentences(300, seed=1, words=(3, 8)))
    assert sentences == list(generate_sentences(300, seed=1, words=(3, 8)))
    lengths = [len(sentence.split()) for sentence in sentences]
    assert (min(lengths), max(lengths)) == (3, 8)
    words = [word for sentence in sentences for word in sentence.split()]
    most = max(map(words.count, set(words)))
    assert len(set(words)) < len(words)
    assert most > 0.03 * len(words)


def test_latencies_are_summarized_by_clock() -> None:
    figures = summarize([(float(number), number / 2) for number in range(1, 100)])
    assert figures == {"median_ms": [50.0, 25.0], "p95_ms": [95.0, 47.5]}
    table = format_figures({
        "memories": 1000, "stored_per_second": 1234.5, "file_mb": 1.25, "first_ms": [7.0, 6.0],
        **figures, "after_addition_ms": [5.0, 4.0], "before_mb": 50.0, "with_store_mb": 60.0,
    })  # fmt: skip
    assert f"{'stored per second':38}{'1,234':>10}" in table
    assert f"{'search, median ms':38}{'50.0':>10}{'25.0':>10}" in table
