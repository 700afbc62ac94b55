"""The benchmark of secret masking: its corpus, and the promised figures on the held-out half."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest
from benchmarks.privacy.corpus import make_corpus
from benchmarks.privacy.masking import is_masked, main

from rootle.text.secret_masking import mask_secrets


@pytest.mark.slow
def test_the_corpus_is_large_deterministic_and_half_held_out() -> None:
    corpus = make_corpus()
    secrets = [example for example in corpus if example.secret]
    assert corpus == make_corpus()
    assert len(secrets) >= 400
    assert len({example.kind for example in secrets}) >= 40
    assert len(corpus) - len(secrets) >= 5_000
    assert all(example.secret in example.text for example in secrets)
    halves = Counter(example.is_held_out for example in corpus)
    assert halves[True] == halves[False]


def test_95_percent_of_held_out_secrets_are_masked_in_files_and_in_memories() -> None:
    secrets = [example for example in make_corpus() if example.secret and example.is_held_out]
    for is_memory in (False, True):
        chosen = [example for example in secrets if example.is_memory == is_memory]
        assert len(chosen) > 100
        assert sum(map(is_masked, chosen)) >= 0.95 * len(chosen)


@pytest.mark.slow
def test_the_lines_of_a_repository_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "settings.py").write_text("DEBUG = True\nPASSWORD = 'Tr0ub4dor3'\n")
    monkeypatch.setattr(sys, "argv", ["masking", str(tmp_path)])
    main()
    assert f"{tmp_path.name}: 1 of 2 lines masked" in capsys.readouterr().out


def test_no_held_out_ordinary_line_is_masked() -> None:
    lines = [one.text for one in make_corpus() if one.is_held_out and not one.secret]
    assert len(lines) == 2_500
    assert [line for line in lines if mask_secrets(line).count] == []
