"""Questions that ask for a test, and questions that only mention tests."""

from __future__ import annotations

import pytest

from rootle.rank.question.parsed import Question, parse_question


def parse(text: str) -> Question:
    return parse_question(text, str.split)


@pytest.mark.parametrize(
    "text",
    [
        "which test checks that a stale lock may be taken over after its maximum age",
        "Test that the directory of an empty queue is removed. def test_queue_directory(tmp_path)",
        "Integration test: secret values must not appear in the output of any command",
        "end-to-end check that nothing confirmed goes missing while a server is killed",
        "is it covered that checker-only steps are left out of the compilation database",
        "Orders of two shops are not merged into one basket. it('keeps both orders', () => {",
        "retry tests",
    ],
)
def test_requests_for_a_test_are_recognized(text: str) -> None:
    question = parse(text)
    assert question.is_about_tests
    assert question.intent == "test"


@pytest.mark.parametrize(
    "text",
    [
        "Sort tests so that those that failed last time run first, then the slow ones",
        "is a failed test retried immediately or only after all the other tests are done",
        "part of the bill is covered by a gift balance: in which sequence are they used",
        "where is copyBlobs used outside of the tests, and what does it return there",
    ],
)
def test_code_that_deals_with_tests_is_no_test(text: str) -> None:
    question = parse(text)
    assert not question.is_about_tests
    assert question.intent != "test"


def test_setup_of_tests_may_be_among_the_tests_but_is_no_test() -> None:
    question = parse("which operating systems does the test workflow run on each night")
    assert question.is_about_tests
    assert question.intent != "test"


def test_the_purpose_of_a_request_is_no_question_about_tests() -> None:
    described = "send a copy of the traffic to another server"
    question = parse(f"{described} for testing")
    assert not question.is_about_tests
    assert question.text == described
    weights = {term.text: term.weight for term in question.terms}
    assert weights["testing"] < weights["traffic"]


@pytest.mark.parametrize("text", ["client for testing", "a fake clock that waits for testing"])
def test_a_helper_for_tests_may_be_among_the_tests(text: str) -> None:
    assert parse(text).is_about_tests
