"""Words such as "since v2.1" in a question become filters if the revisions exist."""

from __future__ import annotations

import pytest

from rootle.history.revision_dates import resolve_dates

DATES = {"v1.0": 1_700_000_000.0, "v2.0": 1_710_000_000.0}
SINCE = "since:@1700000001:v1.0"
UNTIL = "until:@1710000001:v2.0"


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("parser since v1.0", f"parser  {SINCE}"),
        ("parser between v1.0 and v2.0", f"parser  {SINCE} {UNTIL}"),
        ("changes since v1.0 from client to server", f"changes  from client to server {SINCE}"),
        ("changes from client to server", "changes from client to server"),
    ],
)
def test_words_for_a_period_become_filters(question: str, expected: str) -> None:
    assert resolve_dates(question, DATES.get, in_words=True) == expected
