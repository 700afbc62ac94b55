"""Hostile files in a repository: ignore rules, settings, names and content."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from fuzz_inputs import bounded_time, fuzz, json_values, outcome_of, repetitions, texts
from hypothesis import given
from hypothesis import strategies as st
from sample import write

from rootle import Config, open_app
from rootle.config.fields import SECTION, make_key
from rootle.config.precedence import read_settings
from rootle.ingest.chunking.chunk_size_defaults import ChunkLimits
from rootle.ingest.chunking.chunker import split_text
from rootle.sources.files.discovery import WalkRules, walk_files
from rootle.text.languages import LANGUAGES

pytestmark = pytest.mark.slow

_CODE = (
    *("def f(", "class A:", "{", "}", "(", ")", "[", "]", "<", ">", "/*", "*/", '"""', "'", "`"),
    *("#", "##", "\n", "\r\n", "    ", "\t", "\\", "=>", "::", "```\n", "---\n", "<a ", "${", "\0"),
    *("é", "\u2028", "\ufeff", "function ", "template<", "#if X\n", "#endif\n", "<<EOF\n", "é" * 9),
)
_code = st.lists(st.sampled_from(_CODE), max_size=40).map("".join) | st.builds(
    lambda piece, times: piece * times, st.sampled_from(_CODE), st.integers(1, 5_000)
)
_globs = st.text("*?[]!\\/-abz. #\r", max_size=30) | st.builds(
    lambda piece, times: piece * times,
    st.sampled_from(["*a", "**/", "a*", "[!a]", "\\*", "?*", "[[", "a/"]),
    st.integers(1, 300),
)
_KEYS = [make_key(name) for name in Config.__dataclass_fields__]


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for number in range(6):
        write(tmp_path, f"tree/{'a' * 40 * number}b/{'a' * 60}{number}.py", "x = 1\n")
    return tmp_path / "tree"


@fuzz
@given(lines=st.lists(_globs | texts, max_size=20), raw=st.binary(max_size=60))
def test_any_ignore_file_is_applied_in_bounded_time(
    tree: Path, lines: list[str], raw: bytes
) -> None:
    for name in (".gitignore", ".rootleignore"):
        (tree / name).write_bytes(_encode("\n".join(lines)) + b"\n" + raw)
    with bounded_time():
        found = walk_files(tree, WalkRules())
    assert all(entry.uri for entry in found.documents)


@fuzz
@given(
    content=st.binary(max_size=80)
    | texts.map(_encode)
    | json_values.map(lambda value: json.dumps(value).encode())
    | st.dictionaries(st.sampled_from(_KEYS), json_values, max_size=4).map(
        lambda section: json.dumps({SECTION: section}).encode()
    )
)
def test_any_settings_are_read_or_refused(tree: Path, content: bytes) -> None:
    (tree / ".rootle.json").write_bytes(content)
    named = write(tree, "named.json", content)
    outcome_of(lambda: read_settings(tree))
    outcome_of(lambda: read_settings(tree, str(named)))


@fuzz
@given(assignment=texts | st.builds("{}={}".format, st.sampled_from(_KEYS), texts))
def test_any_assignment_is_read_or_refused(tree: Path, assignment: str) -> None:
    (tree / ".rootle.json").unlink(missing_ok=True)
    outcome_of(lambda: read_settings(tree, None, [assignment]))


@fuzz
@given(
    text=_code | texts | repetitions,
    language=st.sampled_from(sorted(LANGUAGES)),
    max_chars=st.sampled_from([1, 40, 2_048]),
)
def test_any_text_is_split_in_bounded_time(text: str, language: str, max_chars: int) -> None:
    limits = ChunkLimits(
        max_chars=max_chars, overlap_chars=0, part_overlap_chars=0, max_file_chars=0
    )
    with bounded_time():
        found = split_text(text, language, limits)
    assert all(0 <= chunk.start <= chunk.end <= len(text) for chunk in found.chunks)


_names = st.binary(min_size=1, max_size=20).filter(
    lambda name: b"\0" not in name and b"/" not in name and name not in (b".", b"..")
)


@fuzz
@given(
    names=st.lists(_names, min_size=1, max_size=4, unique=True),
    content=st.binary(max_size=200) | _code.map(_encode) | texts.map(_encode),
    suffix=st.sampled_from([b"", b".py", b".md", b".c", b".ts", b".json", b".html"]),
)
def test_any_file_is_indexed_and_searched(
    tmp_path_factory: pytest.TempPathFactory, names: list[bytes], content: bytes, suffix: bytes
) -> None:
    folder = tmp_path_factory.mktemp("names")
    root = folder / "root"
    root.mkdir()
    for name in names:
        (root / os.fsdecode(name + suffix)).write_bytes(content)
    config = Config(memory_store="", search_log=False)
    with open_app(root, index_dir=folder / "index", config=config) as app, bounded_time():
        report = app.index()
        assert report.files_total + sum(report.skipped.values()) == len(names)
        assert app.search("anything at all").degraded == ()
