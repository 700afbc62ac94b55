"""The intent of a question."""

from __future__ import annotations

import pytest
from fuzz_inputs import bounded_time

from rootle.rank.question.intent import Intent
from rootle.rank.question.parsed import parse_question

_KINDS: list[tuple[Intent, list[str]]] = [
    ("symbol", ["RetryPolicy", "parse_header", "Config.max_limit", "`std::move`", "retry"]),
    (
        "error",
        [
            "ValueError: HTTPAUTH_DOMAIN must be set when HTTPAUTH_USER is configured",
            "Request timed out after 3000 ms on route '/export/pdf'",
            'file "/srv/mail/inbox.db" changed type, refusing to archive',
            "fatal: not a git repository",
            "ninja: error: build.ninja:214: multiple rules generate gen/version.h",
            "obj/foo.o.d: inputs may not also have inputs",
            "Response status code was unacceptable: 404",
            "java.lang.IllegalStateException: closed\n\tat com.shop.Pool.get(Pool.java:12)",
        ],
    ),
    (
        "howto",
        [
            "how do I add a plugin",
            "how to write a plugin",
            "can I run a spider from a notebook",
            "steps to make a new release",
        ],
    ),
    (
        "usage",
        [
            "who calls ftp_store_file",
            "ftp_store_file calls, upload a file to a server",
            "calls to FtpStore.upload, copy a file",
            "Copy the file to the server. await store.upload_file(path)",
            "where is hookRunnerApplication invoked",
            "which components use job_dir()",
            "callers of validate_token",
            "Callers of validate_token, which checks a token. fn validate_token",
            "who uses AssetType.isVideo",
        ],
    ),
    (
        "configuration",
        [
            "which setting limits the size of uploads",
            "default value of maxAttempts",
            "environment variable that turns colours off",
            "CI job that builds with the address sanitizer",
        ],
    ),
    (
        "history",
        [
            "when was the retry policy added",
            "which commit renamed the Session class",
            "what changed in the last release, see the changelog",
            "on_worker_boot was renamed",
        ],
    ),
    (
        "test",
        ["test that a key file with too short data is rejected", "which spec covers the parser"],
    ),
    (
        "search",
        [
            "how does a worker decide that a job is dead",
            "where are passwords hashed",
            "what happens when a custom error handler throws",
            "why is a request refused after the server could not bind: is that retried?",
            "exponential backoff",
            "why does it say: no such file or directory",
            "fatal: not a git repository?",
            "cache: drop the oldest entries",
            "Restart the server and its caller. fn restart_server(cx, args)",
            "Restart the server. def restart(args); and where restart is called",
            "Set the margin. pub margin: usize; and where it is used. fn offset_of_view",
            "",
        ],
    ),
]


@pytest.mark.parametrize(
    ("intent", "text"), [(intent, text) for intent, texts in _KINDS for text in texts]
)
def test_the_intent_of_a_question_is_classified_by_its_words(intent: Intent, text: str) -> None:
    assert parse_question(text, str.split).intent == intent


@pytest.mark.slow
def test_only_the_start_of_a_pasted_log_is_classified() -> None:
    log = "TypeError: x is undefined\n" + "who calls this: what( test covers it? " * 10_000
    with bounded_time():
        assert parse_question(log, str.split).intent == "error"
