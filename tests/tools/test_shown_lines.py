"""The lines of a file that an agent receives."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rootle.text.word_stems import find_stems, stems_of

_WORDS = st.sampled_from(
    ["retry_backoff", "RetryBackoff", "the", "ΣΑΣ", "İstanbul", "größe", "ΟΔΟΣ.x", " ", "(", "\t"]
)
_LINES = st.lists(st.one_of(_WORDS, st.text(max_size=8)), max_size=8).map("".join)


@given(lines=st.lists(_LINES.filter(lambda line: "\n" not in line), max_size=12), question=_LINES)
def test_the_words_of_a_question_are_found_in_every_line_that_contains_them(
    lines: list[str], question: str
) -> None:
    stems = stems_of(question)
    expected = {number: stems_of(line) & stems for number, line in enumerate(lines, 1)}
    assert find_stems(lines, stems) == {number: some for number, some in expected.items() if some}
