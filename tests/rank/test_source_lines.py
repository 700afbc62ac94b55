"""Pasted texts are found in the lines from which they come."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from rootle.rank.hyphenated_names import find_hyphenated_names
from rootle.rank.log_lines import is_logged
from rootle.rank.pasted_text import (
    PastedLine,
    align_rows,
    find_source_lines,
    may_be_pasted,
    read_pasted_lines,
)

CODE = """\
def open_pool(size):
    if size > LIMIT:
        raise PoolError(
            f"the pool of {size} connections is larger than {LIMIT}; lower pool-max-size",
        )
    log.warning("connections of the pool are slow")
    return Pool(size)


OPTIONS = {"pool-max-size": 10, "pool-max-size-hard": 20}
"""


def read_line(text: str, unknown: Sequence[str] = ()) -> PastedLine:
    """Return the pasted line of a query that has one.

    The words in `unknown` do not occur in the index; all other words are equally frequent.
    """
    return read_parts(text, unknown)[0]


def read_parts(text: str, unknown: Sequence[str] = ()) -> list[PastedLine]:
    """Return the pasted line of a query that has one, and the parts of it that may be a message."""
    (parts,) = read_pasted_lines(text, lambda words: (9, [word not in unknown for word in words]))
    return parts


def numbers(text: str, source: str = CODE, unknown: Sequence[str] = ()) -> list[int]:
    return [line.number for line in find_source_lines(read_line(text, unknown), source)]


@pytest.mark.parametrize(
    "text",
    [
        "the pool of 40 connections is larger than 20; lower pool-max-size",
        "2026-03-14 09:26:53,589 ERROR [main] the pool of 40 connections is larger than 20; lower"
        " pool-max-size",
        '{"level":"error","msg":"the pool of 40 connections is larger than 20; lower pool-max-size',
        "PoolError: the pool of 40 connections is larger than 20; lower pool-max-size",
        "The pool of {size} connections is larger than {LIMIT}",
    ],
)
def test_a_message_is_found_without_its_values_and_the_words_of_a_logger(text: str) -> None:
    assert numbers(text, unknown=["40", "main"]) == [4]


TEMPLATES = """\
def finish(task, seconds, error):
    log.info("Job %s[%s] finished in %ss", task.name, task.id, seconds)
    log.error("Worker handler raised error: %r", error)
    log.error(f"broker: cannot reach {url}: {error}")
    log.warn("pool full")
"""


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Job shop.tasks.add finished in 0.03s: 4", 2),
        ("Job shop.tasks.add[6ed4b1e5-aa92-4b3c-9d6c-2c9c4d6f0c11] finished in 0.03s", 2),
        ("Worker handler raised error: ValueError('a long explanation, here')", 3),
        ("Worker handler raised error: <Response [404] of shop.example>", 3),
        ("broker: cannot reach amqp://guest@127.0.0.1:5672//: [Errno 111] Connection refused.", 4),
        ('level=warn caller=pool.py:9 msg="pool full" size=3', 5),
    ],
)
def test_names_and_exceptions_in_a_message_are_values(text: str, line: int) -> None:
    found = {one.number for part in read_parts(text) for one in find_source_lines(part, TEMPLATES)}
    assert found == {line}


def test_a_name_in_a_logged_line_is_no_evidence_for_a_source() -> None:
    (line, *_) = read_parts("2026-03-14 09:26:53 Job shop.tasks.add[42] received")
    assert find_source_lines(line, "# A job: shop.tasks.add is documented here.\n") == []


def test_a_source_with_the_same_name_is_better_than_one_with_a_field() -> None:
    text = "Job shop.tasks.add finished in 3s"
    source = f'log.info("Job %s finished in %ss", name, seconds)\n# {text}\n'
    assert numbers(f"{text}:", source)[0] == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-03-14 09:26:53,589 the pool is full", True),
        ('{"level": "info", "msg": "the pool is full"}', True),
        ("Timer failed in tick: OSError(24, 'Too many open files')", True),
        ("what changed since 2026-03-14", False),
        ("close the pool, raise PoolError('closed')", False),
    ],
)
def test_texts_that_a_program_printed_are_recognized(text: str, expected: bool) -> None:
    assert is_logged(text) is expected


def test_words_in_another_order_are_no_source() -> None:
    assert numbers("slow are the pool connections of") == []
    assert numbers("connections of the pool are slow") == [6]


def test_a_whole_line_has_the_highest_share() -> None:
    (line,) = find_source_lines(read_line("connections of the pool are slow"), CODE)
    assert line.share == 1.0
    (line,) = find_source_lines(read_line("connections of this pool are slow: 3"), CODE)
    assert line.share < 1.0


def test_a_sentence_without_signs_of_a_message_must_occur_literally() -> None:
    assert numbers("connections of the pool are slow") == [6]
    assert numbers("the pool of connections is larger") == []
    assert numbers("ERROR the pool of connections is larger") == [4]


@pytest.mark.parametrize(
    "line",
    [
        "2026-03-14 09:26:53 ERROR shop.pool: {}",
        "Mar 14 09:26:53 web-1 shop[1234]: {}",
        '{{"level": "error", "service": "shop", "message": "{}", "request": "a1"}}',
        'level=error service=shop msg="{}"',
        "shop.pool.PoolError: {}",
        "[worker-3] com.shop.Pool - {}",
    ],
)
def test_the_message_in_a_logged_line_is_read_apart(line: str) -> None:
    message = "connections of the pool are slow"
    assert message in [part.text for part in read_parts(line.format(message))]


def test_the_rows_of_a_block_are_those_at_the_same_distance() -> None:
    found = {0: {5: 1.0, 20: 1.0}, 1: {21: 1.0, 40: 1.0}, 3: {23: 0.9, 6: 1.0}}
    assert align_rows(found) == {20: 1.0, 21: 1.0, 23: 0.9}
    assert align_rows({0: {5: 1.0, 20: 0.7}}) == {5: 1.0, 20: 0.7}


def test_a_name_is_found_as_a_whole_and_first_as_a_string() -> None:
    assert numbers("pool-max-size") == [10, 4]
    assert numbers("pool-max-size-hard") == [10]
    assert numbers("pool-max") == []


@pytest.mark.parametrize(
    ("query", "names", "is_only_name"),
    [
        ("pool-max-size", ["pool-max-size"], True),
        ("where is the flag --max-size defined", ["max-size"], True),
        ("how is pool-max-size applied to built-in pools", ["pool-max-size"], False),
        ("built-in pools", [], False),
        ("--max-size=5", ["max-size"], True),
        ("unexpected argument --max-size", ["max-size"], True),
        ("how do --max-size and built-in limits differ for pools", ["max-size"], False),
        ("src/pool-max-size/a.py", [], False),
    ],
)
def test_hyphenated_names_are_recognized(query: str, names: list[str], is_only_name: bool) -> None:
    assert find_hyphenated_names(query) == (names, is_only_name)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("upload should have been canceled", True),
        ("a.py:3: is this an error", True),
        ("where is pool-max-size applied", True),
        ("where is the backoff computed", False),
        ("RetryPolicy", False),
        ("retry backoff", False),
        ("hash table resize", False),
        ("retry_backoff", True),
        ("net/retry", True),
        ("retry.py 12", True),
        ("FAIL test_pool.py", True),
        ("error opening file", True),
    ],
)
def test_a_question_in_plain_words_is_not_pasted(query: str, expected: bool) -> None:
    assert may_be_pasted(query) is expected


def test_a_few_words_may_be_pasted_if_a_part_of_them_is_quoted() -> None:
    assert may_be_pasted("pool is full", has_phrases=True)
    assert not may_be_pasted("full", has_phrases=True)


@pytest.mark.parametrize(
    "line", ["the pool " * 30_000, "a" * 300_000, "- " * 100_000, "x-" * 50_000]
)
def test_hostile_texts_are_read_in_linear_time(line: str) -> None:
    assert numbers("the pool is larger: than the pool", line + "\n" + CODE) is not None
    assert find_hyphenated_names(line[:10_000])[1] is False
    may_be_pasted(line[:10_000])


def test_without_parts_only_the_first_part_of_a_line_is_read() -> None:
    text = "2026-03-14 09:26:53 ERROR [main] the pool is larger than 20: lower pool-max-size"
    every = read_parts(text)

    (first,) = read_pasted_lines(text, lambda words: (9, [1 for _ in words]), has_parts=False)

    assert len(every) > 1
    assert first == every[:1]
