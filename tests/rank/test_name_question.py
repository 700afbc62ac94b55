"""Questions about one name are recognized, and all others are not."""

from __future__ import annotations

from time import process_time

import pytest

from rootle.rank.question.name_question import parse_name_question


@pytest.mark.parametrize(
    ("text", "aspect", "name"),
    [
        ("retry_backoff", "definitions", "retry_backoff"),
        ("`Session.get`", "definitions", "Session.get"),
        ("retry_backoff()", "definitions", "retry_backoff"),
        ("where is echo defined?", "definitions", "echo"),
        ("where is the function retry_backoff implemented", "definitions", "retry_backoff"),
        ("Where's LruCache declared", "definitions", "LruCache"),
        ("where is the class LruCache defined", "definitions", "LruCache"),
        ("find the definition of std::Pool", "definitions", "std::Pool"),
        ("which file defines LruCache", "definitions", "LruCache"),
        ("symbol:LruCache", "definitions", "LruCache"),
        ("struct page_cache", "definitions", "page_cache"),
        ("show me the class LruCache", "definitions", "LruCache"),
        ("retry_backoff function", "definitions", "retry_backoff"),
        ("Session.get implementation", "definitions", "Session.get"),
        ("signature of retry_backoff", "definitions", "retry_backoff"),
        ("the LruCache source code", "definitions", "LruCache"),
        ("default value of max_size", "definitions", "max_size"),
        ("what is the default for Pool.maxSize?", "definitions", "Pool.maxSize"),
        ("max_size default", "definitions", "max_size"),
        ("what is the default of the option --max-page-size?", "definitions", "max_page_size"),
        ("peer-limit default value", "definitions", "peer_limit"),
        ("who calls retry_backoff?", "uses", "retry_backoff"),
        ("what uses the LruCache class", "uses", "LruCache"),
        ("callers of Session.get", "uses", "Session.get"),
        ("who calls Session:get", "uses", "Session:get"),
        ("where is Session:get defined", "definitions", "Session:get"),
        ("find all references to `LruCache`", "uses", "LruCache"),
        ("where is retry_backoff used", "uses", "retry_backoff"),
        ("where is echo called from", "uses", "echo"),
        ("what breaks if retry_backoff changes", "uses", "retry_backoff"),
        ("what would break if I rename LruCache?", "uses", "LruCache"),
        ("which functions call validateToken", "uses", "validateToken"),
        ("validateToken calls", "uses", "validateToken"),
        ("uses:validateToken", "uses", "validateToken"),
        ("callers:validateToken", "uses", "validateToken"),
        ("tests of retry_backoff", "tests", "retry_backoff"),
        ("which tests cover Session.get", "tests", "Session.get"),
        ("how is LruCache tested", "tests", "LruCache"),
        ("implementations of Source", "implementations", "Source"),
        ("which classes implement Source", "implementations", "Source"),
        ("subclasses of BaseView", "implementations", "BaseView"),
        ("who implements Reader?", "implementations", "Reader"),
        ("who calls retry_backoff and why?", "uses", "retry_backoff"),
        ("who calls retry_backoff in this repository", "uses", "retry_backoff"),
        ("who calls new LruCache", "uses", "LruCache"),
        ("who calls the class LruCache", "uses", "LruCache"),
        ("classes that implement Source", "implementations", "Source"),
        ("how is retry_backoff used", "uses", "retry_backoff"),
        ("is retry_backoff still used?", "uses", "retry_backoff"),
        ("call hierarchy of retry_backoff", "uses", "retry_backoff"),
        ("impact of changing retry_backoff", "uses", "retry_backoff"),
        ("if I change retry_backoff, what else must change", "uses", "retry_backoff"),
        ("where is base_delay set", "assignments", "base_delay"),
        ("where is base_delay being modified", "assignments", "base_delay"),
        ("who sets base_delay?", "assignments", "base_delay"),
        ("which function writes o.pbytes", "assignments", "o.pbytes"),
        ("code that updates maxAttempts", "assignments", "maxAttempts"),
        ("assignments of maxAttempts", "assignments", "maxAttempts"),
        ("maxAttempts assignments", "assignments", "maxAttempts"),
        ("assignments:maxAttempts", "assignments", "maxAttempts"),
        ("what sets max_size of a pool?", "assignments", "max_size"),
        ("where is maxAttempts set for every new client", "assignments", "maxAttempts"),
        ("who calls retry_backoff for a request", "uses", "retry_backoff"),
        ("where is base_delay read", "reads", "base_delay"),
        ("functions that read base_delay", "reads", "base_delay"),
        ("reads:base_delay", "reads", "base_delay"),
        ("who throws RetryError", "uses", "RetryError"),
    ],
)
def test_a_question_about_a_name_has_its_aspect(text: str, aspect: str, name: str) -> None:
    found = parse_name_question(text)
    assert found is not None
    assert (found.aspect, found.name) == (aspect, name)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "how are requests retried",
        "where is the retry backoff computed",
        "who calls the retry function when a request fails",
        "parse the configuration",
        "def retry_backoff(attempt, base_delay)",
        "what uses the least memory of all caches",
        "where are tests for the http client that mock the server",
        "retry_backoff LruCache",
        "how is money used",
        "HTTP method",
        "type checking",
        "the JSON implementation",
        "default value of the timeout",
        "default export",
        "retry implementation",
        "who calls retry_backoff when a request fails and why",
        "uses of retry_backoff in the client and " + "x" * 200,
    ],
)
def test_other_questions_are_not_about_a_name(text: str) -> None:
    assert parse_name_question(text) is None


@pytest.mark.parametrize(
    ("text", "must_be_rare"),
    [
        ("where is the limit set", True),
        ("what updates the cache", True),
        ("where is the configuration read", True),
        ("who writes pbytes", True),
        ("who writes max_size", False),
        ("where is limit defined", False),
    ],
)
def test_a_word_that_is_set_or_read_must_be_rare(text: str, must_be_rare: bool) -> None:
    found = parse_name_question(text)
    assert found is not None
    assert found.must_be_rare is must_be_rare


@pytest.mark.parametrize(
    ("text", "name", "marked_name", "is_surely_marked"),
    [
        ("who calls save! in the order code", "save", "save!", True),
        ("where is valid? checked", "valid", "valid?", True),
        ("who calls valid? and why", "valid", "valid?", True),
        ("who calls `valid?`", "valid", "valid?", True),
        ("who calls valid?", "valid", "valid?", False),
        ("empty?", "empty", "empty?", False),
        ("who calls save!", "save", "save!", True),
        ("who calls save()?", "save", "", False),
        ("who calls save", "save", "", False),
    ],
)
def test_the_last_character_of_a_name_is_kept_besides_the_name(
    text: str, name: str, marked_name: str, is_surely_marked: bool
) -> None:
    found = parse_name_question(text)
    assert found is not None
    assert found.name == name
    assert (found.marked_name, found.is_surely_marked) == (marked_name, is_surely_marked)


@pytest.mark.parametrize(
    ("text", "is_explicit"),
    [("echo", False), ("where is echo defined", False), ("echo_all", True), ("uses:echo", True)],
)
def test_an_ordinary_word_is_no_explicit_name(text: str, is_explicit: bool) -> None:
    found = parse_name_question(text)
    assert found is not None
    assert found.is_explicit is is_explicit


def test_an_operator_may_skip_uses() -> None:
    found = parse_name_question("uses:retry_backoff from:31")
    assert found is not None
    assert (found.name, found.offset) == ("retry_backoff", 30)


@pytest.mark.parametrize(
    ("text", "aspect"),
    [
        ("implementations of BaseView from:31", "implementations"),
        ("who calls BaseView in src/net from:31", "uses"),
        ("where is BaseView used? from:31", "uses"),
        ("assignments:BaseView from:31", "assignments"),
    ],
)
def test_any_question_that_lists_uses_may_skip_some(text: str, aspect: str) -> None:
    found = parse_name_question(text)
    assert found is not None
    assert (found.name, found.aspect, found.offset) == ("BaseView", aspect, 30)
    assert parse_name_question("BaseView from:31") is None


@pytest.mark.parametrize(
    ("text", "aspect", "name", "place"),
    [
        ("who calls echo in src/net/http.py?", "uses", "echo", "src/net/http.py"),
        ("who calls echo in the folder src/net, and why", "uses", "echo", "src/net"),
        ("callers of Session.get from client.go", "uses", "Session.get", "client.go"),
        ("subclasses of BaseView in django", "implementations", "BaseView", "django"),
        (
            "where is LruCache defined in `app/[id]/page.tsx`",
            *("definitions", "LruCache"),
            "app/[id]/page.tsx",
        ),
    ],
)
def test_a_question_may_end_with_a_path(text: str, aspect: str, name: str, place: str) -> None:
    found = parse_name_question(text)
    assert found is not None
    assert (found.aspect, found.name, found.place) == (aspect, name, place)


def test_a_long_question_is_read_in_linear_time() -> None:
    started = process_time()
    for part in (" in x", " in", "[", " and why", " the", " what", "a.", " "):
        parse_name_question(("who calls x" + part * 160)[:160])
    assert process_time() - started < 0.5


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("what sets maxAttempts to null", "maxAttempts", "null"),
        ("where is max_size set to `0.5`?", "max_size", "0.5"),
        ("when is order.phase set to Phase.FAILED and why", "order.phase", "Phase.FAILED"),
        ("what sets `status` to `done`", "status", "done"),
        ("what sets max_size of a pool", "max_size", ""),
    ],
)
def test_a_question_may_ask_for_the_assignments_of_a_value(
    text: str, name: str, value: str
) -> None:
    question = parse_name_question(text)
    assert question is not None
    assert (question.name, question.aspect, question.value) == (name, "assignments", value)


@pytest.mark.parametrize(
    "text",
    [
        "what sets the result of a build to failed",
        "what changes the limit to 4",
        "where is it set to null",
        "who calls retry_backoff to 3",
    ],
)
def test_other_questions_about_values_are_not_about_a_name(text: str) -> None:
    assert parse_name_question(text) is None
