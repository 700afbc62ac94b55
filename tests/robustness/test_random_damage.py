"""Random damage to any file of an index leads to equal answers or to an error with a remedy."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.reliability.damage import DEFECTS, Trial, build_index
from sample import FILES, make_repository, many_files

pytestmark = pytest.mark.slow

_CASES = 40
# The word index has its own tests of damage.
_WITHOUT = ("sparse",)


def test_no_random_damage_leads_to_a_crash_or_to_other_answers(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "repository", {**FILES, **many_files(12)})
    index = build_index(root, tmp_path)
    trial = Trial(root, index, tmp_path, 1, _WITHOUT)
    cases = [trial.run(number) for number in range(_CASES)]
    assert [case for case in cases if case.verdict in DEFECTS] == []
    # Some of the damage has an effect and is detected.
    assert {case.verdict for case in cases} >= {"equal", "clean error"}
