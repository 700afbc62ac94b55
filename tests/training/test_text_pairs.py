"""Training pairs from code, documents and histories, and their limits."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import numpy as np
import pytest
from training.corpus.reserved_repos import ReservedRepositories
from training.corpus.source_chunks import SourceChunk, split_file
from training.corpus.text_cleaning import clean_subject, is_prose, plain_text, split_sentences
from training.pairs.code_pairs import code_pairs, find_definitions, mention_pairs
from training.pairs.extract_pairs import KIND_LIMITS, limit_kinds
from training.pairs.history_pairs import history_pairs
from training.pairs.prose_pairs import prose_pairs
from training.pairs.text_pair import KINDS, TextPair

_CODE = '''"""Reads numbered records."""


def read_record_header(stream):
    """Reads the header of a record and checks its version number.

    Args:
        stream: an open file.
    """
    version = stream.read(4)
    if version != b"0001":
        raise ValueError("unsupported version of the record header")
    return stream.read(60)
'''


def test_comments_become_prose_without_markers_and_parameters() -> None:
    comment = "/**\n * Returns the {@link Foo bar} of a node.\n * @param node the node\n */"
    assert plain_text(comment).split() == "Returns the Foo bar of a node.".split()
    assert split_sentences("First one.  It goes\non. Second one.") == [
        "First one.", "It goes on.", "Second one."
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Returns the first element of the list", True),
        ("Copyright 2020 the authors of this file", False),
        ("x = foo(bar); y -> z; {a: b}", False),
        ("two words", False),
        ("Use read() -> bytes to get the next record from the stream of files", True),
        ("use a(); b(); {c} -> d of e <f> = g; h | i", False),
    ],
)
def test_prose_is_distinguished_from_code(text: str, *, expected: bool) -> None:
    assert is_prose(text) is expected


def test_ticket_and_kind_are_removed_from_subjects() -> None:
    assert clean_subject("fix(core): handle empty arrays (#12)") == "handle empty arrays"
    assert clean_subject("ABC-12: handle empty arrays") == "handle empty arrays"


def chunks() -> list[SourceChunk]:
    return split_file("src/records.py", "python", _CODE, 0)


def test_chunks_have_symbols_comments_and_numbers() -> None:
    (chunk,) = [one for one in chunks() if one.symbols]
    assert chunk.symbols == ("read_record_header",)
    assert any("checks its version" in line for block in chunk.comments for line in block)
    assert not chunk.is_test
    assert split_file("tests/test_a.py", "python", _CODE, 7)[0].number == 7
    assert split_file("tests/test_a.py", "python", _CODE, 0)[0].is_test
    assert chunk.prepend_path("text") == "src records\ntext"


def pairs_of(kind: str, seeds: int = 20) -> list[TextPair]:
    found = []
    for seed in range(seeds):
        for chunk in chunks():
            found += [one for one in code_pairs(chunk, random.Random(seed), {}) if one.kind == kind]
    return found


def test_a_comment_is_answered_by_code_without_it() -> None:
    documented = [one for one in pairs_of("doc") + pairs_of("bare") if "header" in one.query]
    assert documented
    for pair in documented:
        assert pair.query.startswith("Reads the header of a record")
        assert "checks its version" not in pair.answer
        assert "stream.read(60)" in pair.answer


def test_a_name_is_usually_removed_from_its_answer() -> None:
    names = pairs_of("name")
    assert {one.query for one in names} == {"read record header"}
    removed = ["read_record_header" not in one.answer for one in names]
    assert 0.6 < sum(removed) / len(removed) < 1


def test_a_message_is_removed_from_its_answer() -> None:
    messages = [one for one in pairs_of("message") if one.query.startswith("unsupported")]
    assert {one.query for one in messages} == {"unsupported version of the record header"}
    assert not any("unsupported" in one.answer for one in messages)


def test_a_mention_is_answered_by_the_definition() -> None:
    definitions = find_definitions(chunks())
    assert list(definitions) == ["readrecordheader"]
    sentence = "Call read_record_header before the body of a record"
    (pair,) = mention_pairs(sentence, home=99, definitions=definitions)
    assert pair.kind == "mention"
    assert "read_record_header" not in pair.query
    assert "def read_record_header" in pair.answer
    home = definitions["readrecordheader"].number
    assert list(mention_pairs(sentence, home, definitions)) == []


def test_a_name_with_two_definitions_gives_no_pair() -> None:
    twice = [*chunks(), *split_file("other.py", "python", _CODE, 50)]
    assert find_definitions(twice) == {}


def test_a_test_is_answered_by_the_definition_that_it_names() -> None:
    test = "def test_read_record_header_of_old_files():\n    assert True\n    assert 1 == 1\n"
    (case,) = split_file("tests/test_records.py", "python", test, 9)
    definitions = find_definitions(split_file("src/records.py", "python", _CODE, 0))
    pairs = list(code_pairs(case, random.Random(1), definitions))
    (tested,) = [one for one in pairs if one.kind == "tested"]
    assert tested.query == "read record header of old files"
    assert "def read_record_header" in tested.answer
    short = "def test_reads_of_old_files():\n    assert True\n    assert 1 == 1\n"
    (other,) = split_file("tests/test_records.py", "python", short, 9)
    assert not [p for p in code_pairs(other, random.Random(1), definitions) if p.kind == "tested"]


def test_documents_give_pairs_for_headings_and_fences() -> None:
    body = "Records are read one after the other, and each has a header. " * 9
    fence = "```\nrecords --all --from=disk --to=out\nmore lines\n```"
    text = (
        f"# Guide\n\n{body}\n\n## Reading old records\n\n{body}\n\n"
        f"Run this command to read all records:\n\n{fence}\n"
    )
    found = [
        pair
        for chunk in split_file("guide.md", "markdown", text, 0)
        for pair in prose_pairs(chunk, random.Random(1), {})
    ]
    headings = [one for one in found if one.kind == "heading"]
    assert any(one.query == "Reading old records" for one in headings)
    assert all("Reading old records" not in one.answer for one in headings)
    (command,) = [one for one in found if one.kind == "fence"]
    assert command.query == "Run this command to read all records:"
    assert command.answer.startswith("records --all")


def test_commits_are_answered_by_their_changed_lines(tmp_path: Path) -> None:
    run = ["git", "-C", str(tmp_path), "-c", "user.name=A", "-c", "user.email=a@b"]
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    for number, subject in enumerate(("First state of the reader", "fix: Bump version")):
        lines = "".join(f"value_{number}_{row} = {row}\n" for row in range(6))
        (tmp_path / "reader.py").write_text(lines)
        subprocess.run([*run, "add", "."], check=True)
        subprocess.run([*run, "commit", "-qm", subject], check=True)
    reserved = ReservedRepositories([], np.zeros(0, np.uint64))
    pairs = list(history_pairs(tmp_path / ".git", reserved, random.Random(1)))
    assert [(one.kind, one.query) for one in pairs] == [("commit", "First state of the reader")]
    assert "value_0_5 = 5" in pairs[0].answer
    assert pairs[0].answer_id < 0


def test_frequent_kinds_are_sampled_and_duplicates_dropped() -> None:
    many = [(TextPair(f"q{number}", "a", "path", number), "c") for number in range(400)]
    repeated = [(TextPair("Same", "a", "doc", 1), "c"), (TextPair("same", "b", "doc", 1), "c")]
    kept = list(limit_kinds(iter([*many, *repeated]), random.Random(1)))
    assert sum(pair.kind == "path" for pair, _ in kept) == KIND_LIMITS["path"] == 300
    assert [pair.query for pair, _ in kept if pair.kind == "doc"] == ["Same"]
    assert set(KIND_LIMITS) == set(KINDS)
