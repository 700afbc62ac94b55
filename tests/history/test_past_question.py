"""Questions about the past are recognized, and questions about the code are not."""

from __future__ import annotations

import pytest

from rootle.history.names.name_questions import (
    NameHistoryQuestion,
    RequestedCommits,
    parse_name_history,
)
from rootle.history.past_question import PastQuestion, find_hashes, parse_past_question
from rootle.types import RevisionRange

PAST = (
    "when did we stop retrying on 404",
    "when did we get rid of the retries",
    "When was the cache removed?",
    "why was the pool size check removed",
    "why did they rename the parser",
    "why were timeouts raised",
    "who introduced the lock",
    "who wrote the tokenizer",
    "who last touched the scheduler",
    "I want to know who broke the build",
    "which commit made parsing lazy",
    "commit removing the vendored parser",
    "find the commit introducing the lock",
    "PR that added the cursor",
    "which change made the parser lazy",
    "last time someone touched the pager",
    "was the pager ever removed",
    "change that removed the lock",
    "breaking change that dropped the old format",
    "bug fix commit for the crash of the pager",
    "who ported the generator to Python 3",
    "who simplified the deadline logic",
    "when did the server get websockets",
    "when did typed commands get flags",
    "what commit added TLS support",
    "the commit that fixed the leak",
    "commit where the pager was replaced",
    "what changed in the parser since v2.1",
    "what has changed in the config loader",
    "changes to the allocator since last week",
    "changes between the last two releases",
    "recent changes to the index format",
    "last change of the retry policy",
    "latest commits in src/net",
    "history of the eviction code",
    "git log for the cache",
    "git blame of parse_header",
    "do we no longer support Python 3.8",
    "does it retry any more",
    "why does the pool no longer check its size",
    "why can a clone not ask for a password any more",
    "when was the size check made optional",
    "is there a regression since 3.2",
    "which pull request added the cursor",
    "since when has the default been changed",
    "how come the limit was lowered",
    "commit message about the pager",
    "Why was the cache removed? def clear_cache(self)",
)
CODE = (
    "where is the retry policy",
    "who called the handler",
    "was the file ever opened",
    "who logged in last",
    "please open a pull request that adds a user",
    "commit processing of the log",
    "which change of the cursor is sent to the server",
    "how are commits parsed",
    "how does a commit message close an issue",
    "Parses the commit message for keywords that close issues. def scan_comment(self, text)",
    "When a commit was removed, drop it from the index. fn remove_commit(sha: &str)",
    "how does the transaction commit its changes",
    "when is the cache cleared",
    "why does the parser skip comments",
    "why were two requests made for one page",
    "what happens when a file is removed",
    "which function deletes expired keys",
    "who calls retry_backoff",
    "what listens for changes of the folder",
    "where is the changed flag set",
    "what is the last element of the queue",
    "add a field to the configuration",
    "remove trailing white space",
    "test that a moved file is found",
    "history buffer of the terminal",
    "undo and redo history",
    "rollback of a failed commit",
    "merge two sorted lists",
    "blame",
    "E37: No write since last change (add ! to override)",
    "No write since last change",
    "TypeError: the last commit is None",
    "where can the editor see who changed a page and when",
    "error: cannot commit because a merge is in progress",
    "retry_backoff",
    "LruCache.evict_oldest",
    "deadbeefs",
    "defaced",
    "1234567.89",
    "import ..utils",
    "a..b..c",
    "",
)


@pytest.mark.parametrize("question", PAST)
def test_a_question_about_the_past_gets_commits_first(question: str) -> None:
    assert parse_past_question(question, ()) == PastQuestion(True)


@pytest.mark.parametrize("question", CODE)
def test_a_question_about_code_gets_no_commits(question: str) -> None:
    assert parse_past_question(question, ()) is None


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("583c314", "583c314"),
        ("583C31472577", "583c31472577"),
        ("git:583c31472577", "583c31472577"),
        ("commit 583c31472577?", "583c31472577"),
        ("a" * 39 + "1", "a" * 39 + "1"),
    ],
)
def test_a_hash_is_recognized(question: str, expected: str) -> None:
    found = parse_past_question(question, ())

    assert found is not None
    assert found.commit == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("what changed in 83F64435, and in git:58c34669a592?", ("83f64435", "58c34669a592")),
        ("what does 1234567 mean, or deadbeef", ()),
        ("color #83f6443a, src/83f64435.py, f47ac10b-58cc-4372-a567-0e02b2c3d479", ()),
        ("error: bad object 83f64435", ()),
    ],
)
def test_hashes_in_a_sentence_are_found(text: str, expected: tuple[str, ...]) -> None:
    assert find_hashes(text) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("v2.0..v2.1", RevisionRange("v2.0", "v2.1")),
        ("v2.0...v2.1", RevisionRange("v2.0", "v2.1", is_symmetric=True)),
        ("HEAD~3..HEAD", RevisionRange("HEAD~3", "HEAD")),
        ("origin/main..feature/x-1", RevisionRange("origin/main", "feature/x-1")),
        ("583c314..main", RevisionRange("583c314", "main")),
        ("HEAD~3..", RevisionRange("HEAD~3", "HEAD")),
        ("HEAD~3.. from:21", RevisionRange("HEAD~3", "HEAD")),
        ("583c314..", RevisionRange("583c314", "HEAD")),
        ("what changed since v2.1?", RevisionRange("v2.1", "HEAD")),
        ("what changed between v2.0 and v2.1", RevisionRange("v2.0", "v2.1")),
        ("commits after HEAD~3", RevisionRange("HEAD~3", "HEAD")),
        ("what happened between v2.0 and v2.1", RevisionRange("v2.0", "v2.1")),
        ("what's new since v2.1?", RevisionRange("v2.1", "HEAD")),
        ("what’s new since v2.1?", RevisionRange("v2.1", "HEAD")),
        ("differences between v2.0 and v2.1", RevisionRange("v2.0", "v2.1")),
        ("..origin/main", RevisionRange("HEAD", "origin/main")),
    ],
)
def test_a_range_is_recognized(question: str, expected: RevisionRange) -> None:
    found = parse_past_question(question, ())

    assert found is not None
    assert found.revisions == expected


@pytest.mark.parametrize(
    "question", ["difference between sync and async", "what is new in 2.1", "diff between a and b"]
)
def test_the_difference_between_other_things_is_no_range(question: str) -> None:
    assert parse_past_question(question, ()) is None


@pytest.mark.parametrize("question", ["wait...", "..", "../src/a.py", "see the range.."])
def test_other_dots_are_no_range(question: str) -> None:
    assert parse_past_question(question, ()) is None


def test_the_kinds_decide_which_results_there_are() -> None:
    question = "who introduced the lock"

    assert parse_past_question(question, ("code",)) is None
    assert parse_past_question(question, ("docs", "code")) is None
    assert parse_past_question("lock", ("history",)) == PastQuestion(True, excludes_files=True)
    assert parse_past_question("lock", ("history", "code")) == PastQuestion(False)
    assert parse_past_question(question, ("history", "code")) == PastQuestion(True)


@pytest.mark.parametrize(
    ("question", "name", "oldest_first"),
    [
        ("who changed scroll_terminal last", "scroll_terminal", False),
        ("Who last touched `retry`?", "retry", False),
        ("which commits changed Pool.acquire", "Pool.acquire", False),
        ("the latest change to evictOldest", "evictOldest", False),
        ("what has changed in ns::Class recently", "ns::Class", False),
        ("when was the function retry last modified", "retry", False),
        ("when did _fromFloat change", "_fromFloat", False),
        ("which commit first introduced the JsonNodeFeature enum", "JsonNodeFeature", True),
        ("when did we add retry()", "retry", True),
        ("when was JsonNodeFeature added", "JsonNodeFeature", True),
        ("who changed src/net/retry.py last", "src/net/retry.py", False),
        ("what changed recently in the module retry_policy", "retry_policy", False),
        ("when was Pool#acquire! last modified", "Pool#acquire!", False),
    ],
)
def test_a_question_for_the_history_of_a_name_is_recognized(
    question: str, name: str, oldest_first: bool
) -> None:
    asked: RequestedCommits = "addition" if oldest_first else "changes"
    assert parse_name_history(question) == NameHistoryQuestion(name, asked)


@pytest.mark.parametrize(
    ("question", "version"),
    [
        ("when was v0.100.0 released", "v0.100.0"),
        ("when was the 2.1 release published?", "2.1"),
        ("when did we tag version 3.0", "3.0"),
        ("who released jest-27", "jest-27"),
        ("when was the lock released", ""),
        ("when was python 3.12 released", ""),
    ],
)
def test_a_question_for_the_release_of_a_version_is_recognized(question: str, version: str) -> None:
    past = parse_past_question(question, ())
    assert past is not None
    assert (past.asks_first, past.release) == (True, version)


@pytest.mark.parametrize(
    ("question", "name", "asked"),
    [
        ("was scroll_terminal ever removed", "scroll_terminal", "removal"),
        ("last time someone changed scroll_terminal", "scroll_terminal", "changes"),
        ("when did we last touch src/pager.c", "src/pager.c", "changes"),
        ("who knows most about src/pager.c", "src/pager.c", "authors"),
        ("who should review src/pager.c", "src/pager.c", "authors"),
        ("which commit removed scroll_terminal", "scroll_terminal", "removal"),
        ("who deleted src/net/retry.py?", "src/net/retry.py", "removal"),
        ("when was the class LruCache dropped", "LruCache", "removal"),
        ("when did evictOldest disappear", "evictOldest", "removal"),
        ("what happened to BaseSpider", "BaseSpider", "removal"),
        ("when was retry.py renamed", "retry.py", "rename"),
        ("when was the option --retry deprecated", "--retry", "deprecation"),
        ("which commit deprecated the --retry flag?", "--retry", "deprecation"),
        ("who wrote most of src/net/retry.py", "src/net/retry.py", "authors"),
        ("who are the main contributors to src/", "src/", "authors"),
    ],
)
def test_a_question_for_a_removal_a_rename_or_the_authors_is_recognized(
    question: str, name: str, asked: RequestedCommits
) -> None:
    assert parse_name_history(question) == NameHistoryQuestion(name, asked)
    assert parse_past_question(question, ()) == PastQuestion(True)


@pytest.mark.parametrize(
    ("question", "name", "new_name"),
    [
        ("who moved src/a.py to src/b.py", "src/a.py", "src/b.py"),
        (
            "when was the class evictOldest renamed to `evict_oldest()`?",
            "evictOldest",
            "evict_oldest",
        ),
    ],
)
def test_a_question_for_a_rename_may_give_the_new_name(
    question: str, name: str, new_name: str
) -> None:
    expected = NameHistoryQuestion(name, "rename", new_name=new_name)
    assert parse_name_history(question) == expected
    assert parse_past_question(question, ()) == PastQuestion(True)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (
            "what changed in the parser since v2.1",
            NameHistoryQuestion("parser/", "changes", "v2.1", is_word=True),
        ),
        (
            "what changed between v2.0 and v2.1 in src/net/",
            NameHistoryQuestion("src/net/", "changes", "v2.0", "v2.1"),
        ),
        (
            "who changed retry_backoff from 1.0 to release 2.0",
            NameHistoryQuestion("retry_backoff", "changes", "1.0", "2.0"),
        ),
        ("who wrote the parser since v2.1", None),
    ],
)
def test_a_question_about_a_place_and_versions_is_recognized(
    question: str, expected: NameHistoryQuestion | None
) -> None:
    assert parse_name_history(question) == expected


@pytest.mark.parametrize(
    "question",
    [
        "who changed the retry policy last",
        "history of eviction",
        "when was the cache added",
        "who removed the cache",
        "what happened to the parser",
        "authors of Book",
        "why was scroll_terminal changed",
        "who changed scroll_terminal and why",
    ],
)
def test_other_questions_about_the_past_name_no_definition(question: str) -> None:
    assert parse_name_history(question) is None


@pytest.mark.parametrize(
    "question",
    [
        "which fixes are on release-2.x but not on main",
        "what is in release-2.x that is not in main?",
        "commits on release-2.x missing from main",
        "which commits are in release-2.x and not yet merged into main",
    ],
)
def test_a_question_about_two_branches_asks_for_the_commits_of_only_one(question: str) -> None:
    found = parse_past_question(question, (), {"release-2.x", "main"}.__contains__)

    assert found is not None
    assert found.revisions == RevisionRange("main", "release-2.x", is_without_copies=True)
    unknown = parse_past_question(question, (), {"main"}.__contains__)
    assert unknown is None or unknown.revisions is None


@pytest.mark.parametrize("name", ["rel-2.1.1-stable", "core@2.1"])
def test_a_tag_with_other_text_around_its_version_is_a_version(name: str) -> None:
    text = f"what changed in {name}"
    found = parse_past_question(text, (), {name}.__contains__)
    assert found is not None
    assert found.new_in == name
    other = parse_past_question(text, (), set[str]().__contains__)
    assert other is not None
    assert other.new_in == ""
