"""SQLite's FTS5 over windows of lines: its bm25(), any word of the question, Porter stems.

(comes with Python)
python -m benchmarks.peers.fts5_windows --root DIR
"""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

from benchmarks.peers.adapter import Search, run, split_names, windows

_WORD = re.compile(r"\w+")


def open_search(root: Path) -> Search:
    passages = windows(root)
    database = sqlite3.connect(":memory:")
    database.execute("create virtual table t using fts5(body, tokenize = 'porter unicode61')")
    rows = [(at, split_names(one.text)) for at, one in enumerate(passages)]
    database.executemany("insert into t (rowid, body) values (?, ?)", rows)

    def search(question: str, k: int):
        words = dict.fromkeys(_WORD.findall(split_names(question)))
        any_word = " OR ".join(f'"{word}"' for word in words)
        asked = "select rowid from t where t match ? order by rank limit ?"
        return [passages[at] for (at,) in database.execute(asked, (any_word, k))]

    return search


if __name__ == "__main__":
    run(open_search)
