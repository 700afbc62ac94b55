"""SQLite FTS5 over windows of lines: its bm25(), any word of the query, Porter stems.

(part of Python)
python -m benchmarks.peers.fts5_windows --root DIR
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from benchmarks.peers.adapter import (
    Passage,
    Search,
    adapter_parser,
    read_windows,
    serve,
    split_identifiers,
)

_WORD = re.compile(r"\w+")


def open_search(root: Path) -> Search:
    passages = read_windows(root)
    database = sqlite3.connect(":memory:")
    database.execute("create virtual table t using fts5(body, tokenize = 'porter unicode61')")
    rows = [(number, split_identifiers(one.text)) for number, one in enumerate(passages)]
    database.executemany("insert into t (rowid, body) values (?, ?)", rows)

    def search(query: str, k: int) -> Sequence[Passage]:
        words = dict.fromkeys(_WORD.findall(split_identifiers(query)))
        any_word = " OR ".join(f'"{word}"' for word in words)
        select = "select rowid from t where t match ? order by rank limit ?"
        return [passages[number] for (number,) in database.execute(select, (any_word, k))]

    return search


if __name__ == "__main__":
    serve(open_search, adapter_parser())
