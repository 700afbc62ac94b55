"""The `grep` and `read` tools of the agent-loop benchmark; words that renamed copies replace."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from benchmarks.agent_loop.file_tools import MAX_CHARS, ToolCallError, file_tools
from benchmarks.agent_loop.renaming import (
    RenamingError,
    WordTable,
    copy_renamed,
    read_table,
    rename_words,
)
from sample import write_tree


@pytest.fixture
def root(tmp_path: Path) -> Path:
    files: dict[str, str | bytes] = {
        "src/otter.py": "".join(f"def swim_{number}(): ...\n" for number in range(300)),
        "src/badger.go": "func Dig() {}\n// digs a hole\n",
        "docs/otter.md": "# Otters\n\nAn otter swims.\n",
        "image.bin": b"\0swim\0",
        ".git/config": "swim\n",
    }
    return write_tree(tmp_path / "zoo", files)


def call(root: Path, name: str, **arguments: Any) -> str:
    tools = {tool.name: tool for tool in file_tools(root)}
    return tools[name].run(arguments)


def test_grep_prints_paths_lines_and_texts(root: Path) -> None:
    assert call(root, "grep", pattern=r"swim_7\b") == "src/otter.py:8:def swim_7(): ..."
    assert call(root, "grep", pattern="OTTER s", ignore_case=True) == (
        "docs/otter.md:3:An otter swims."
    )
    assert call(root, "grep", pattern="giraffe") == "No matches."


def test_grep_is_limited_and_says_how_much_is_left(root: Path) -> None:
    lines = call(root, "grep", pattern="swim_").splitlines()
    assert len(lines) == 101
    assert lines[-1] == "… 200 more matches; narrow the search"
    assert len(call(root, "grep", pattern="swim_", max_results=3).splitlines()) == 4


def test_grep_lists_files_and_keeps_to_paths_and_names(root: Path) -> None:
    assert call(root, "grep", pattern="(?i)dig|otter", output_mode="files").splitlines() == [
        "docs/otter.md", "src/badger.go",
    ]  # fmt: skip
    assert call(root, "grep", pattern="swim", glob="*.md") == "docs/otter.md:3:An otter swims."
    assert call(root, "grep", pattern="swim|hole", path="src", glob="*.go").startswith(
        "src/badger.go:2"
    )
    assert call(root, "grep", pattern="hole", path="src/badger.go", context=1) == (
        "src/badger.go-1-func Dig() {}\nsrc/badger.go:2:// digs a hole"
    )


def test_a_bad_pattern_is_a_message_for_the_model(root: Path) -> None:
    with pytest.raises(ToolCallError, match="parenthesis"):
        call(root, "grep", pattern="(")
    with pytest.raises(ToolCallError, match='"pattern" must be a string'):
        call(root, "grep", pattern=7)


def test_read_numbers_lines_and_says_where_it_stops(root: Path) -> None:
    lines = call(root, "read", path="src/otter.py").splitlines()
    assert lines[0] == "1\tdef swim_0(): ..."
    assert lines[-1] == "(lines 1-200 of 300)"
    assert call(root, "read", path="src/otter.py", offset=300) == "300\tdef swim_299(): ..."
    assert call(root, "read", path="src/otter.py", offset=301) == "(lines 301-300 of 300)"
    assert call(root, "read", path=".").splitlines() == [".git/", "docs/", "image.bin", "src/"]


def test_read_stays_in_the_folder_and_in_its_limits(root: Path) -> None:
    (root.parent / "secret.txt").write_text("secret")
    (root / "link").symlink_to(root.parent / "secret.txt")
    for path in ("../secret.txt", "/etc/passwd", "link", "nothing.py"):
        with pytest.raises(ToolCallError, match="no such file"):
            call(root, "read", path=path)
    with pytest.raises(ToolCallError, match="binary"):
        call(root, "read", path="image.bin")
    (root / "long.txt").write_text("x" * 900 + "\n" + ("y" * 900 + "\n") * 500)
    assert len(call(root, "read", path="long.txt", limit=500)) <= MAX_CHARS + 50


@pytest.mark.parametrize(
    ("text", "renamed"),
    [
        ("channel", "duct"),
        ("Channels", "Ducts"),
        ("SERVER_CHANNEL = newChannelId", "SERVER_DUCT = newDuctId"),
        ("HTTPChannel of channeling", "HTTPDuct of channeling"),
        ("libnetty_epoll, NettyChannel", "libweft_epoll, WeftDuct"),
    ],
)
def test_words_are_replaced_in_every_case_and_number(text: str, renamed: str) -> None:
    assert rename_words(text, WordTable({"channel": "duct"}, {"netty": "weft"})) == renamed


def test_a_renamed_copy_keeps_lines_and_binary_files(root: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    assert copy_renamed(root, copy, WordTable({"otter": "beaver", "swim": "float"}, {})) == 4
    assert (copy / "docs/beaver.md").read_text() == "# Beavers\n\nAn beaver floats.\n"
    assert (copy / "image.bin").read_bytes() == b"\0swim\0"
    assert not (copy / ".git").exists()


def test_ambiguous_renaming_is_refused(root: Path, tmp_path: Path) -> None:
    write_tree(root, {"src/mink.py": ""})
    with pytest.raises(RenamingError, match=r"would both be src/otter\.py"):
        copy_renamed(root, tmp_path / "copy", WordTable({"mink": "otter"}, {}))
    table = tmp_path / "words.json"
    table.write_text('{"words": {"otter": "mink", "mink": "seal"}, "names": {}}')
    with pytest.raises(RenamingError, match="is replaced too"):
        read_table(table)
    table.write_text('{"words": {"otter": "seal"}, "names": {"mink": "seal"}}')
    with pytest.raises(RenamingError, match="same replacement"):
        read_table(table)
