"""Rankings of sample questions, for review: `make golden` records them, and you review the diff."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from sample import MakeApp

from rootle import SearchQuery

RANKINGS = Path(__file__).with_name("rankings.json")
# A question and the file that answers it.
WANTED = {
    "how long to wait before the next attempt": "src/net/retry.py",
    "RetryPolicy": "src/net/retry.py",
    "which status codes are worth retrying": "src/net/retry.py",
    "download a page and follow redirects": "src/net/client.go",
    "is the access token still valid": "src/auth/token.ts",
    "validateToken": "src/auth/token.ts",
    "salted password hash": "src/auth/password.rs",
    "drop the least recently used entry": "src/store/cache.py",
    "evict_oldest": "src/store/cache.py",
    "tests of the retry backoff": "tests/test_retry.py",
}


def test_rankings_match_the_reviewed_ones(repository: Path, make_app: MakeApp) -> None:
    found = _rankings(make_app(repository))
    if os.environ.get("ROOTLE_WRITE_GOLDEN"):
        RANKINGS.write_text(json.dumps(found, indent=1) + "\n")
    assert found == json.loads(RANKINGS.read_text()), "review the change, then run `make golden`"


def _rankings(app: Any) -> list[dict[str, Any]]:
    rows = []
    for question, wanted in WANTED.items():
        results = app.search(SearchQuery(question)).results
        paths = [result.file_path for result in results]
        rows.append(
            {
                "question": question,
                "wanted": wanted,
                "rank": paths.index(wanted) + 1 if wanted in paths else None,
                "top": [f"{r.file_path}:{r.start_line}-{r.end_line}" for r in results[:3]],
            }
        )
    return rows
