"""SQLite FTS5 over windows of lines: bm25() with query words joined by OR, and Porter stemming.

(included in Python)
python -m benchmarks.peers.fts5_windows --root DIR
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from benchmarks.peers import adapter

_WORD = re.compile(r"\w+")


def open_search(root: Path) -> adapter.Search:
    passages = adapter.read_windows(root)
    database = sqlite3.connect(":memory:")
    database.execute("create virtual table t using fts5(body, tokenize = 'porter unicode61')")
    rows = [(number, adapter.split_identifiers(one.text)) for number, one in enumerate(passages)]
    database.executemany("insert into t (rowid, body) values (?, ?)", rows)

    def search(query: str, k: int) -> Sequence[adapter.Passage]:
        words = dict.fromkeys(_WORD.findall(adapter.split_identifiers(query)))
        any_word = " OR ".join(f'"{word}"' for word in words)
        select = "select rowid from t where t match ? order by rank limit ?"
        return [passages[number] for (number,) in database.execute(select, (any_word, k))]

    return search


if __name__ == "__main__":
    adapter.serve(open_search, adapter.make_parser())
