"""Properties of all chunks, checked with the files of this machine and with random text."""

from __future__ import annotations

import os
import sysconfig
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rootle.ingest.chunking.chunk_size_defaults import ChunkLimits
from rootle.ingest.chunking.chunker import ChunkedText, split_text
from rootle.syntax.grammars import GRAMMARS
from rootle.text.languages import LANGUAGES, PROSE, file_language

pytestmark = pytest.mark.slow

FOLDERS = (
    sysconfig.get_path("stdlib"),
    sysconfig.get_path("purelib"),
    "/usr/include",
    "/usr/share/doc",
    "/usr/share/perl",
)
MAX_FILES = 3_000
MAX_BYTES = 30_000_000
MAX_FILE_BYTES = 60_000
# Limit on the files of one language, so that there is time for the others.
MAX_FILES_PER_LANGUAGE = 700


def check_chunks(text: str, language: str, limits: ChunkLimits) -> ChunkedText:
    """Return the chunks of a text, after checking the properties of all chunks."""
    chunked = split_text(text, language, limits)
    rows = text.split("\n")
    covered: set[int] = set()
    fragments: dict[int, str] = {}
    for chunk in chunked.chunks:
        whole = "\n".join(rows[chunk.start_line - 1 : chunk.end_line])
        content = text[chunk.start : chunk.end]
        assert 0 < len(content) <= limits.max_chars
        assert content.strip()
        if len(whole) > limits.max_chars:
            assert chunk.start_line == chunk.end_line
            assert content in whole
            fragments[chunk.start_line] = fragments.get(chunk.start_line, "") + content
        else:
            assert content == whole
        covered.update(range(chunk.start_line, chunk.end_line + 1))
    if chunked.skipped_chars == 0:
        assert {row for row, line in enumerate(rows, 1) if line.strip()} <= covered
        for row, joined in fragments.items():
            assert "".join(joined.split()) == "".join(rows[row - 1].split())
    order = [(chunk.start, chunk.end) for chunk in chunked.chunks]
    assert order == sorted(order)
    has_parts = (chunked.parsed and language in GRAMMARS) or language in PROSE
    overlap = limits.part_overlap_chars if has_parts else limits.overlap_chars
    for left, right in pairwise(chunked.chunks):
        assert left.end - right.start <= overlap
        assert left.start < right.start
        assert left.end < right.end
    return chunked


def real_files() -> Iterator[tuple[Path, str]]:
    counts: dict[str, int] = {}
    for folder in FOLDERS:
        for where, folders, names in os.walk(folder):
            folders.sort()
            for name in sorted(names):
                path = Path(where, name)
                language = file_language(name)
                if language == "unknown" or not path.is_file():
                    continue
                counts[language] = counts.get(language, 0) + 1
                is_small = path.stat().st_size <= MAX_FILE_BYTES
                if is_small and counts[language] <= MAX_FILES_PER_LANGUAGE:
                    yield path, language


def test_the_chunks_of_real_files_are_exact_and_complete() -> None:
    files = size = 0
    for path, language in real_files():
        text = path.read_bytes().decode("utf-8", "surrogateescape")
        check_chunks(text, language, ChunkLimits(max_chars=(2_048, 300)[files % 2]))
        files += 1
        size += len(text)
        if files == MAX_FILES or size > MAX_BYTES:
            break
    assert files >= 1_000, f"only {files} source files were found: install the dev group first"


MARKS = '{ } ( ) [ ] < > # ``` === --- """ /* */ // == <div> end'.split()
CODE = ("def f():", "class A:", "x = 1;")
SPACES = ("\n", "\n\n", "\n    ", "\t", "\r\n", " ", "\u2028", "\x0c")
WORDS = st.sampled_from([*MARKS, *CODE, *SPACES, "\0", "ü", "\ud800"])
TEXTS = st.one_of(
    st.text(alphabet=st.characters(), max_size=300),
    st.lists(WORDS, max_size=120).map("".join),
)


@settings(max_examples=200, deadline=None)
@given(
    text=TEXTS,
    language=st.sampled_from(sorted(LANGUAGES)),
    max_chars=st.sampled_from([1, 7, 40, 2_048]),
    overlap_chars=st.sampled_from([0, 5, 200]),
    part_overlap_chars=st.sampled_from([0, 5, 200]),
    max_file_chars=st.sampled_from([0, 30, 204_800]),
)
def test_the_chunks_of_random_text_are_exact(
    text: str,
    language: str,
    max_chars: int,
    overlap_chars: int,
    part_overlap_chars: int,
    max_file_chars: int,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    limits = ChunkLimits(max_chars, overlap_chars, part_overlap_chars, max_file_chars)
    # If a grammar crashes the process, this file contains the text that caused the crash.
    last = tmp_path_factory.getbasetemp() / "last-random-text"
    last.write_text(repr((language, text, limits)), encoding="utf-8")
    check_chunks(text, language, limits)
