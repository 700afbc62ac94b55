"""The stored weights of the confidence models are named after their signals."""

from __future__ import annotations

from typing import get_args

from rootle.rank.confidence import QUESTION_SIGNALS, RESULT_SIGNALS, Voice, shipped_calibration


def test_every_signal_has_a_weight_of_its_own() -> None:
    names = (*QUESTION_SIGNALS, *RESULT_SIGNALS)
    assert len(set(names)) == len(names)  # equal names would share one stored weight
    for ranker in ("features", "learned"):
        for voice in get_args(Voice):
            calibration = shipped_calibration(ranker, voice)
            assert len(calibration.result) == len(names) + 1
