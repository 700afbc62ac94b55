"""The files that a commit changed are read from the raw output of git."""

from __future__ import annotations

from rootle.sources.git.raw_diff import split_raw_diff

FACTS = b":100644 100644 1111111 2222222"
CHANGED = FACTS + b" M\0a.py\0"
RENAMED = FACTS + b" R087\0old.py\0new.py\0"


def test_each_file_has_its_status_and_both_paths() -> None:
    files, patch = split_raw_diff(CHANGED + RENAMED + b"\0diff --git a/a.py b/a.py\n")

    assert files == [("M", "a.py", "a.py"), ("R", "old.py", "new.py")]
    assert patch == b"diff --git a/a.py b/a.py\n"


def test_an_entry_that_was_cut_off_is_left_out() -> None:
    for size in range(1, len(RENAMED)):
        assert split_raw_diff(CHANGED + RENAMED[:size]) == ([("M", "a.py", "a.py")], b"")
