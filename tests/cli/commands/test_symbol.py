"""`rootle symbol`, and questions about a name in `rootle search`."""

from __future__ import annotations

import json

import pytest
from command import rootle
from sample import indexed_repository

pytestmark = pytest.mark.slow


def run(*arguments: str, code: int = 0) -> str:
    repository = indexed_repository()
    done = rootle(*arguments, "--root", repository.root, "--index-dir", repository.index_dir)
    assert done.code == code, done.err
    return done.out + done.err


def test_the_definition_is_printed_on_one_line() -> None:
    assert run("symbol", "retry_backoff").splitlines() == [
        "1 definition of retry_backoff; used or mentioned on 2 other lines",
        "src/net/retry.py:4-6  def retry_backoff(attempt: int, base: float = 0.5) -> float:",
    ]


def test_uses_are_printed_below_their_files() -> None:
    assert run("symbol", "--uses", "retry_backoff").splitlines() == [
        "1 definition of retry_backoff; 1-2 of 2 uses of retry_backoff (1 call, 1 import)",
        "src/net/retry.py:4-6  def retry_backoff(attempt: int, base: float = 0.5) -> float:",
        "tests/test_retry.py",
        "  5 (call, def test_backoff_doubles)  assert retry_backoff(3) == 4.0",
        "  1 (import)  from net.retry import retry_backoff",
    ]


def test_the_json_output_is_the_record() -> None:
    data = json.loads(run("symbol", "--tests", "--json", "retry_backoff", "-n", "1"))
    assert data["aspect"] == "tests"
    assert (data["totalUses"], len(data["uses"])) == (2, 1)
    assert data["definitions"][0]["startLine"] == 4
    rest = run("symbol", "--tests", "--json", "retry_backoff", "--cursor", data["nextCursor"])
    assert json.loads(rest)["offset"] == 1


def test_a_name_that_is_not_defined_is_no_result() -> None:
    output = run("symbol", "retry_backof", code=1)
    assert "no definition of retry_backof was found in the indexed files" in output
    assert "similar names that are defined here: retry_backoff" in output


def test_a_search_prints_the_first_of_many_definitions() -> None:
    files = {f"part{at}.py": f"def close():\n    return {at}\n" for at in range(30)}
    repository = indexed_repository(files)
    place = ("--root", repository.root, "--index-dir", repository.index_dir)
    found = rootle("search", "close", "-n", "1", *place)
    assert "at least 10 definitions of close" in found.out
    assert found.out.count("  def close():") == 10 + 1  # 10 rows, and 1 result above them
    assert "more definitions: `rootle symbol close`" in found.err
    assert rootle("symbol", "close", *place).out.count("  def close():") == 30


def test_a_search_for_the_callers_lists_them() -> None:
    output = run("search", "--explain", "who calls retry_backoff")
    assert "answered from the symbols: uses of retry_backoff" in output
    assert "  5 (call, def test_backoff_doubles)  assert retry_backoff(3) == 4.0" in output


def test_the_limit_of_a_search_is_the_number_of_listed_uses() -> None:
    output = run("search", "-n", "1", "what uses retry_backoff")
    assert "1-1 of 2 uses of retry_backoff" in output
    assert "from net.retry import retry_backoff" not in output
    assert "1 more use; `rootle symbol --uses -n 2 retry_backoff` lists them" in output
