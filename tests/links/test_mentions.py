"""Names of code are found in prose, in linear time even if the text is hostile."""

from __future__ import annotations

from time import process_time

import pytest

from rootle.links.drift.mentions import ProseLine, find_mentions, read_lines

_REPEATED = (
    *("[ ]( [a]( ` `` `< `<https: ``a` <a <a> </a> <a\thttps: <https: ]](".split()),
    *("a. a:: a-> a# a( a(b a(b) a/ /a ./ ../ a- --a- - a+ +a a@a a@a. A_ _a $a @a ~a".split()),
    *('[[a, << <<a <<a, (a)= [#a {#a :a.a :ref:` .. .._a: .._ "a/ \'a/ id=" http:// ://a'.split()),
    *(r"\f[ \f( \[ \( .SH Fl = # * ? ! { } | % \"".split()),
    *(" ", "\t", ". ", "a ", "Fl Fl ", ".. _a", "`a "),
)
_CHARS = 20_000
_WATCHDOG_S = 5  # seconds for one text: linear time takes milliseconds, quadratic time many seconds


def _seconds(language: str, lines: list[str]) -> float:
    start = process_time()
    for line in read_lines(lines, language):
        list(find_mentions(line))
    return process_time() - start


@pytest.mark.slow
@pytest.mark.parametrize("before", ["", "<a "])
def test_names_are_found_in_linear_time(before: str) -> None:
    for repeated in _REPEATED:
        text = before + (repeated * _CHARS)[:_CHARS]
        start = process_time()
        # `read_lines` would shorten a line of this length, so it is not called.
        list(find_mentions(ProseLine(1, text, "", False)))
        assert process_time() - start < _WATCHDOG_S, repeated


@pytest.mark.parametrize("language", ["markdown", "rst", "asciidoc", "text", "manual"])
def test_hostile_lines_of_every_kind_of_document_are_read_in_bounded_time(language: str) -> None:
    lines = [(repeated * 2_000)[:2_000] for repeated in _REPEATED]
    assert _seconds(language, lines) < _WATCHDOG_S


def test_addresses_and_links_to_other_sites_are_not_names() -> None:
    text = (
        "Ask first.last+net_retry@example.org or a+net/retry.py, see "
        "[net_backoff](https://example.org/a_b) and "
        '<a href="https://example.org/net_x">net_y</a>, then `net_retry`.'
    )
    (line,) = read_lines([text], "markdown")
    assert {mention.text for mention in find_mentions(line)} == {"a+net/retry.py", "net_retry"}
