"""Parsing of questions."""

from __future__ import annotations

import pytest

from rootle.rank.question.parsed import (
    GUESS_WEIGHT,
    MAX_TERMS,
    STOP_WEIGHT,
    Question,
    parse_question,
)
from rootle.text.terms import STOP_WORDS


def _parse(text: str) -> Question:
    return parse_question(text, str.split)  # does not stem, so terms are unchanged


def _weights(text: str) -> dict[str, float]:
    return {term.text: term.weight for term in _parse(text).terms}


def test_stop_words_have_a_low_weight() -> None:
    weights = _weights("how is the backoff computed")
    assert weights["how"] == weights["the"] == STOP_WEIGHT
    assert weights["backoff"] == 1.0
    assert _parse("how is the backoff").words == ("backoff",)
    assert {"how", "the", "where"} <= STOP_WORDS


def test_a_question_of_only_stop_words_has_terms() -> None:
    question = _parse("how is the")
    assert {term.text for term in question.content_terms} == {"how", "is", "the"}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("validateToken", "validatetoken"),
        ("validate_token", "validatetoken"),
        ("`VALIDATE_TOKEN`", "validatetoken"),
        ("validate_token()", "validatetoken"),
        ("auth.Token.validate", "validate"),
        ("Auth::Token::validate", "validate"),
        ("retry", "retry"),
    ],
)
def test_a_single_name_is_a_normalized_symbol(text: str, name: str) -> None:
    question = _parse(text)
    assert question.is_symbol
    assert question.names == (name,)


def test_a_single_stop_word_is_a_symbol() -> None:
    assert _parse("with").words == ("with",)
    assert _weights("with")["with"] == 1.0


@pytest.mark.parametrize(
    ("text", "is_left_out"),
    [
        ("create a new contact", True),
        ("how do I add the new column", True),
        ("Adding a new RPC method", True),
        ("the new contact page", False),
        ("create a New Relic client", False),
        ("create new_contact", False),
        ("a new contact", False),
    ],
)
def test_what_is_created_is_not_searched_as_new(text: str, *, is_left_out: bool) -> None:
    assert ("new" not in _parse(text).words) is is_left_out


def test_names_in_a_sentence_are_found() -> None:
    question = _parse("where does parse_header call HttpClient.fetch for v2")
    assert not question.is_symbol
    assert "parseheader" in question.names
    assert "fetch" in question.names
    assert _parse("plain words only").names == ()


def test_the_name_in_a_signature_is_found_although_it_is_an_ordinary_word() -> None:
    assert "nack" in _parse("func (b *Broker) Nack(evalID, token string) error").names
    assert "untrack" in _parse("private void untrack(Heartbeat broker)").names
    assert _parse("where is the broker (the old one) untracked").names == ()


def test_identifiers_and_their_parts_are_terms() -> None:
    weights = _weights("use parseHTTPHeader here")
    assert {"parse", "http", "header", "parsehttpheader"} <= set(weights)


def test_consecutive_words_are_also_one_identifier() -> None:
    weights = _weights("retry backoff policy")
    assert weights["retrybackoff"] == weights["backoffpolicy"] == 0.5
    assert weights["retry"] == 1.0


def test_questions_about_tests_are_recognized() -> None:
    assert _parse("where are the tests of the parser").is_about_tests
    assert not _parse("where is the contest decided").is_about_tests


@pytest.mark.parametrize(
    ("text", "is_change"),
    [
        ("Fix the retry delay that grows without end after a job dies", True),
        ("net: don't close idle connections before their answers were read", True),
        ("[api] Added an option for the longest delay of failed jobs", True),
        ("Please support proxies that want a password for each connection", True),
        ("where is the fix for the retry delay that grows without end", False),
        ("fix the retry delay that grows without end, or is it meant so?", False),
        ("handle redirects", False),  # a topic, not a request
        ("use-after-free detection in the arena allocator of pooled buffers", False),
        ("Don\u2019t close idle connections before their answers were read", True),
        ("the retry delay grows without end after a job dies", False),
    ],
)
def test_change_requests_are_recognized_by_their_beginning(text: str, *, is_change: bool) -> None:
    assert _parse(text).is_change == is_change


def test_the_number_of_terms_is_bounded() -> None:
    assert len(_parse(" ".join(f"word{n}" for n in range(5_000))).terms) == MAX_TERMS


def test_a_repeated_word_is_one_term() -> None:
    question = _parse("retry retry Retry")
    assert question.words == ("retry",)
    assert [term.text for term in question.terms].count("retry") == 1


def test_names_listed_after_a_description_weigh_half_and_are_not_part_of_its_meaning() -> None:
    text = "wait longer after each failed attempt, exponential backoff, retry_delay, RetryPolicy"
    question = _parse(text)
    assert question.guesses == ("retrydelay", "retrypolicy")
    assert question.names == question.guesses  # each guess is looked up as a name
    assert "backoff" in question.text
    assert "retry_delay" not in question.text
    assert "RetryPolicy" not in question.text
    weights = _weights(text)
    assert weights["backoff"] == weights["attempt"] == 1.0
    assert weights["policy"] == weights["retrypolicy"] == GUESS_WEIGHT


@pytest.mark.parametrize(
    "text",
    [
        "how does RetryPolicy.next compute the delay",  # the name belongs to the question
        "RetryPolicy, BackoffTimer, retry_delay",  # there is no description
        # The name belongs to code.
        "Return the delay of an attempt, in seconds. def retry_delay(attempt, base)",
    ],
)
def test_names_elsewhere_are_no_guesses(text: str) -> None:
    question = _parse(text)
    assert question.text == text
    assert not question.guesses


def test_a_guessed_name_that_is_also_described_has_its_full_weight() -> None:
    assert _weights("the retry policy of a client, RetryPolicy")["policy"] == 1.0


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("split_words calls, cut a command into arguments, ShellCommand", "splitwords"),
        ("Cut a command into arguments. args = shell.split_words(command)", "splitwords"),
    ],
)
def test_a_question_about_uses_has_only_the_used_name_as_a_name(text: str, name: str) -> None:
    question = _parse(text)
    assert question.intent == "usage"
    assert question.names == (name,)


@pytest.mark.parametrize(
    ("text", "is_composed"),
    [
        ("wait after a failed attempt, backoff, retry_delay", True),
        ("wait after a failed attempt; backoff retry RetryPolicy", True),
        ("how are attempts repeated, with or without a delay", False),
        ("my upload stops halfway, which setting prevents that", False),
        ("wait after a failed attempt", False),
        ("ValueError: no delay, no attempt", False),
    ],
)
def test_lists_after_a_description_are_the_voice_of_a_model(
    text: str, *, is_composed: bool
) -> None:
    assert _parse(text).is_composed is is_composed


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("connection pooling", 0.0),
        ("how lazy loading of plugins works", 0.0),
        ("test that early hints are sent", 1.0),
        ("where is parse_header used", 1.0),
        ("ERROR! conflicting action statements: copy, template", 1.0),
        ("why is the oldest snapshot of every month kept although the policy keeps a week", 1.0),
    ],
)
def test_questions_about_one_place_are_detailed_even_if_they_are_short(
    text: str, detail: float
) -> None:
    assert _parse(text).detail == detail
