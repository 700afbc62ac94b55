"""Queries made from comments, titles, messages and names."""

from __future__ import annotations

import pytest
from training.corpus.source_chunks import split_file
from training.questions.case_titles import title_questions
from training.questions.chunk_questions import (
    heading_questions,
    message_questions,
    name_questions,
    span_near,
)
from training.questions.comment_cleaning import clean_sentence, repeats_name
from training.questions.doc_comments import doc_questions, remove_docs
from training.questions.phrasing import comment_query, hash_choice, keywords, phrase
from training.questions.placeholders import fill_placeholders, likely_values
from training.questions.repository_questions import (
    count_sentence,
    is_primary,
    normalize_words,
)
from training.questions.verbs import base_form, third_person, unlisted_base_form


@pytest.mark.parametrize(
    ("sentence", "name", "cleaned"),
    [
        (
            "FooBar returns the shortest path between two nodes of a graph.",
            "FooBar",
            "returns the shortest path between two nodes of a graph",
        ),
        (
            "Used to remove expired entries from the session cache.",
            "purge",
            "remove expired entries from the session cache",
        ),
        ("Finds the `Node` nearest to a point in a tree", "f",
         "Finds the Node nearest to a point in a tree"),
        ("TODO: find the shortest path between two nodes", "f", None),
        ("Returns the value", "f", None),
        ("Same as above for the other nodes of the graph", "f", None),
    ],
)  # fmt: skip
def test_markup_preamble_and_name_are_removed_from_sentences(
    sentence: str, name: str, cleaned: str | None
) -> None:
    assert clean_sentence(sentence, name) == cleaned


def test_a_long_sentence_ends_at_a_clause() -> None:
    long = "Removes expired entries from the session cache of the server, " + "word " * 20
    assert (
        clean_sentence(long, "f") == "Removes expired entries from the session cache of the server"
    )


def test_queries_are_reproducible_and_have_several_forms() -> None:
    texts = [f"removes expired entry {n} from the session cache" for n in "abcdefghijklmnopqrst"]
    queries = [phrase(text) for text in texts]
    assert queries == [phrase(text) for text in texts]
    assert any(query.endswith("?") for query in queries)
    assert any(query in texts for query in queries)
    assert any(not query.endswith("?") and query not in texts for query in queries)
    assert comment_query("TODO: later", "f") is None


def test_keywords_are_up_to_six_content_words() -> None:
    text = "Returns the given path of the Session file that the cache server of a user writes"
    assert keywords(text) == "path session file cache server user"


def test_names_are_recognized_in_any_spelling() -> None:
    assert repeats_name("calls read_header twice", "ReadHeader")
    assert not repeats_name("calls read twice", "read")


def test_verbs_have_a_base_form_and_a_third_person() -> None:
    assert [base_form(word) for word in ("Returns", "copies", "pushes", "banana")] == [
        "return", "copy", "push", None
    ]  # fmt: skip
    assert unlisted_base_form("Demonizes", "the process") == "demonize"
    assert unlisted_base_form("Demons", "of the process") is None
    assert [third_person(verb) for verb in ("push", "copy", "play", "read")] == [
        "pushes", "copies", "plays", "reads"
    ]  # fmt: skip


def test_placeholders_get_values_of_their_kind() -> None:
    assert likely_values("file_path", is_number=False, is_cause=False)[0] == "/srv/app/data.json"
    assert likely_values("retry_count", is_number=False, is_cause=False)[0] == "3"
    assert likely_values("x", is_number=False, is_cause=True)[0] == "permission denied"
    filled = fill_placeholders("cannot read %d bytes of {path}: {error}")
    assert filled == fill_placeholders("cannot read %d bytes of {path}: {error}")
    assert "{" not in filled
    assert "%" not in filled
    number = filled.split()[2]
    assert number.isdigit()


def test_choices_are_stable_and_cover_the_range() -> None:
    choices = {hash_choice(f"key {number}", 5) for number in range(100)}
    assert choices == set(range(5))
    assert hash_choice("a", 1000) == hash_choice("a", 1000)


_DOCUMENTED = '''import os


def purge(cache, now):
    """Removes expired entries from the session cache of the server."""
    for key in list(cache):
        if cache[key].expires < now:
            del cache[key]
    return len(cache)
'''


def test_a_doc_comment_is_removed_and_its_code_is_the_answer() -> None:
    (question,) = doc_questions(_DOCUMENTED, "python", "cache.py")
    assert "expired" in question.query
    text, (span,) = remove_docs(_DOCUMENTED, [question])
    assert "expired entries" not in text
    rows = text.split("\n")
    assert rows[span[0] - 1].startswith("def purge")
    assert rows[span[1] - 1].strip() == "return len(cache)"


def test_a_test_title_is_removed_from_its_file() -> None:
    text = "def test_expired_entries_are_removed_first():\n    cache = {}\n    assert not cache\n"
    changed, (question,) = title_questions(text, "python", "test_cache.py", 2)
    assert "expired entries are removed first" in question.query
    assert "expired" not in changed
    assert (question.first_line, question.last_line) == (1, 3)
    assert title_questions("def helper():\n    a = 1\n    return a\n", "python", "t.py", 2)[1] == []


_STORE = """def load_session_file(path):
    if not path:
        raise ValueError(f"no session file at {path} for this user")
    return open(path)
"""
_USERS = {
    "store.py": _STORE,
    "one.py": (
        "from store import load_session_file\n\n\n"
        "def start(path):\n    return load_session_file(path)\n"
    ),
    "two.py": "import store\n\n\ndef stop(path):\n    return store.load_session_file(path)\n",
}


def test_questions_about_names_target_the_definition_and_the_uses() -> None:
    chunks = [one for path, text in _USERS.items() for one in split_file(path, "python", text, 0)]
    symbols, usages = name_questions(chunks)
    (symbol,) = [one for one in symbols if "load_session_file" in one.query]
    assert [(path, first) for path, first, _ in symbol.targets] == [("store.py", 1)]
    (usage,) = usages
    assert sorted(path for path, _, _ in usage.targets) == ["one.py", "two.py"]


def test_questions_about_messages_target_the_place_that_raises_them() -> None:
    chunks = split_file("store.py", "python", _USERS["store.py"], 0)
    (question,) = message_questions(chunks)
    assert question.query.startswith("no session file at /") or "session file" in question.query
    assert "{" not in question.query
    assert question.targets[0][0] == "store.py"


def test_a_heading_that_occurs_once_becomes_a_question() -> None:
    section = "Sessions are stored in files, one for each user of the server. " * 9
    titles = ("# Server", "## Session file format", "## Upgrading")
    text = "\n\n".join(f"{title}\n\n{section}" for title in titles)
    chunks = split_file("guide.md", "markdown", text, 0)
    questions = list(heading_questions(chunks))
    assert any("session file format" in one.query for one in questions)
    assert list(heading_questions([*chunks, *chunks])) == []


def test_a_span_has_a_limited_number_of_lines_around_its_row() -> None:
    (chunk,) = split_file("a.txt", "text", "\n".join(f"line {n} of text" for n in range(50)), 0)[:1]
    rows = chunk.text.count("\n") + 1
    path, first, last = span_near(chunk, rows // 2, 10)
    assert (path, last - first + 1) == ("a.txt", 10)
    assert first == chunk.first_line + rows // 2 - 5
    assert span_near(chunk, 0, 10)[1] == chunk.first_line
    assert span_near(chunk, rows - 1, 10)[2] == chunk.first_line + rows - 1


def test_sentences_are_counted_despite_markup_and_line_breaks() -> None:
    words = normalize_words(
        {"a": "// Removes expired\n//   entries.", "b": "removes EXPIRED entries"}
    )
    assert count_sentence("Removes expired entries!", words) == 2
    assert count_sentence("expired", words) == 2
    assert count_sentence("moves expired", words) == 0


def test_tests_examples_and_generated_files_are_not_primary() -> None:
    texts = {"src/a.py": "x", "tests/a.py": "x", "examples/a.py": "x", "b.py": "# @generated"}
    assert [path for path in texts if is_primary(path, texts)] == ["src/a.py"]
