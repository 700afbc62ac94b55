"""The benchmark of memories: each published form of the data is read, and the figures are right."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

_ROOT = Path(__file__).parents[2]
_SAID = [
    ("D1:1", "Ann", "Hey Bob! I adopted a puppy called Biscuit."),
    ("D1:2", "Bob", "Congratulations! What breed is she?"),
    ("D1:3", "Ann", "She is a beagle, and she eats my shoes."),
    ("D2:1", "Bob", "I sold my bicycle last week and bought a canoe."),
    ("D2:2", "Ann", "Where will you paddle first?"),
]
_TALK = {
    "speaker_a": "Ann",
    "speaker_b": "Bob",
    "session_1_date_time": "1:56 pm on 8 May, 2023",
    "session_1": [{"dia_id": i, "speaker": s, "text": t} for i, s, t in _SAID[:3]],
    "session_2_date_time": "12:09 am on 13 September, 2023",
    "session_2": [
        {"dia_id": i, "speaker": s, "text": t, "blip_caption": "a red canoe"}
        for i, s, t in _SAID[3:]
    ],
    "session_3_date_time": "9:00 am on 14 September, 2023",  # with nothing said
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


def published(folder: Path, form: str) -> Path:
    """The same conversation in one of the forms that LoCoMo was published in."""
    if form == "locomo10.json":
        path = folder / form
        path.write_text(json.dumps([{"sample_id": "conv-26", "conversation": _TALK, "qa": _QA}]))
        return path
    if form == "folder":
        (folder / "26.json").write_text(json.dumps({**_TALK, "qa": _QA}))
        return folder
    path = folder / "locomo10.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data/locomo10/26.json", json.dumps({**_TALK, "qa": _QA}))
    return path


def read(path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    return importlib.import_module("benchmarks.memory.conversations").read_conversations(path)


@pytest.mark.parametrize("form", ["locomo10.json", "folder", "zip"])
def test_each_form_is_read_alike(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (talk,) = read(published(tmp_path, form), monkeypatch)
    assert talk.name.removeprefix("conv-") == "26"
    assert talk.turns[0].text == (
        "Ann (1:56 pm on 8 May, 2023): Hey Bob! I adopted a puppy called Biscuit."
    )
    assert talk.turns[4].text.endswith("Where will you paddle first? [shared a red canoe]")
    assert talk.turns[3].told_at.isoformat() == "2023-09-13T00:09:00+00:00"
    assert [(one.kind, sorted(one.evidence)) for one in talk.questions] == [
        ("single-hop", [0]),
        ("multi-hop", [3, 4]),
        ("adversarial", [2]),
    ]


def test_longmemeval_is_read_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unanswerable = {**_LONGMEMEVAL, "question_id": "q2_abs", "haystack_sessions": [[], []]}
    path = tmp_path / "longmemeval_s.json"
    path.write_text(json.dumps([_LONGMEMEVAL, unanswerable]))
    first, second = read(path, monkeypatch)
    assert [one.evidence for one in first.questions] == [frozenset({2})]
    assert first.turns[2].text == "user (2023/05/21 (Sun) 02:57): I graduated in geology"
    assert first.questions[0].asked_at.isoformat() == "2023-05-30T23:40:00+00:00"
    assert second.questions == ()


def test_anything_else_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "package.json").write_text('{"name": "something"}')
    with pytest.raises(ValueError, match="no conversations"):
        read(tmp_path, monkeypatch)


def test_every_system_is_asked_and_judged_alike(tmp_path: Path) -> None:
    out = tmp_path / "figures.json"
    command = [sys.executable, "-m", "benchmarks.memory.conversation_recall"]
    child = subprocess.run(
        [*command, str(published(tmp_path, "zip")), "--json", str(out)],
        capture_output=True,
        text=True,
        cwd=_ROOT,
    )
    assert child.returncode == 0, child.stderr
    report = json.loads(out.read_text())
    assert list(report["all"]) == ["rootle", "rootle-apart", "bm25", "bm25-english", "mem0"]
    for name in ("rootle", "bm25", "bm25-english"):
        # Five turns, seven places: whatever has a word in common is among them.
        row = report["all"][name]
        assert (row["questions"], row["recall"]["mean"]) == (3, 1.0), name
        assert row["mrr"]["mean"] > 0.5
    assert report["all"]["mem0"]["recallOfOursMore"]["mean"] >= 0
    assert "tried once" not in report
    assert [one["kind"] for one in report["asked"]["bm25"]] == [
        "single-hop",
        "multi-hop",
        "adversarial",
    ]
