"""Small samples of external documentation, in the formats in which it is published."""

from __future__ import annotations

import json
import sqlite3
import zlib
from contextlib import closing
from pathlib import Path

PAGE = """\
<html><head><title>Streams</title><script>ignored()</script></head><body>
<nav>Home | Search</nav>
<main>
<h1>Streams</h1>
<p>A stream delivers <code>bytes</code> in blocks.</p>
<dl>
<dt id="lib.open_stream">lib.open_stream(path, mode)<a class="headerlink">#</a></dt>
<dd><p>Open a stream for reading and lock the file.</p>
<pre>stream = open_stream("a")
# no heading
</pre></dd>
<dt id="lib.close_stream">lib.close_stream(stream)</dt>
<dd><p>Close the stream and release the lock.</p></dd>
</dl>
<h2>History</h2><p>Added in 2019.</p>
</main><footer>Imprint</footer></body></html>
"""


def write_sphinx(folder: Path, *, with_pages: bool = True) -> Path:
    """Write a Sphinx inventory, and optionally the page that it lists."""
    folder.mkdir(parents=True, exist_ok=True)
    entries = [
        "lib.open_stream py:function 1 api/streams.html#$ -",
        "lib.close_stream py:function 1 api/streams.html#$ -",
        "api/streams std:doc -1 api/streams.html Streams",
    ]
    head = "# Sphinx inventory version 2\n# Project: lib\n# Version: 1\n# zlib\n"
    body = zlib.compress("\n".join([*entries, ""]).encode())
    (folder / "objects.inv").write_bytes(head.encode() + body)
    if with_pages:
        (folder / "api").mkdir()
        (folder / "api/streams.html").write_text(PAGE)
    return folder


def write_devdocs(folder: Path) -> Path:
    """Write the three files of a DevDocs document."""
    folder.mkdir(parents=True, exist_ok=True)
    entries = [{"name": "open_stream()", "path": "streams#lib.open_stream", "type": "Streams"}]
    (folder / "index.json").write_text(json.dumps({"entries": entries, "types": []}))
    (folder / "db.json").write_text(json.dumps({"streams": PAGE}))
    (folder / "meta.json").write_text(json.dumps({"name": "Lib", "slug": "lib~1"}))
    return folder


def write_docset(folder: Path) -> Path:
    """Write a Dash docset."""
    resources = folder / "Contents/Resources"
    (resources / "Documents/api").mkdir(parents=True)
    page = PAGE.replace('id="lib.open_stream"', 'id="x"').replace(
        "<p>Open", '<a name="//apple_ref/cpp/Function/open_stream"></a><p>Open'
    )
    (resources / "Documents/api/streams.html").write_text(page)
    with closing(sqlite3.connect(resources / "docSet.dsidx")) as index, index:
        index.execute("CREATE TABLE searchIndex(id INTEGER PRIMARY KEY, name, type, path)")
        index.executemany(
            "INSERT INTO searchIndex(name, type, path) VALUES (?, ?, ?)",
            [
                (
                    "open_stream",
                    "Function",
                    "<dash_entry_name=x>api/streams.html#//apple_ref/cpp/Function/open_stream",
                ),
                ("Streams", "Guide", "api/streams.html"),
                ("secret", "Guide", "../../../../outside.html"),
            ],
        )
    return folder


def write_mdn(folder: Path) -> Path:
    """Write an MDN page in the folder structure of MDN."""
    page = folder / "files/en-us/web/api/lockmanager/index.md"
    page.parent.mkdir(parents=True)
    page.write_text(
        "---\ntitle: LockManager\nslug: Web/API/LockManager\npage-type: web-api-interface\n---\n\n"
        '{{APIRef("Locks")}}\n\nThe {{domxref("LockManager")}} requests locks.\n\n'
        '## Examples\n\nUse {{jsxref("Promise", "promises")}} to wait.\n'
    )
    return folder


def write_stack_exchange(folder: Path) -> Path:
    """Write a dump with two questions; the second of two answers to the first is accepted."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [
        {"Id": 1, "PostTypeId": 1, "AcceptedAnswerId": 5, "Score": 12, "Title": "Merge two dicts",
         "Tags": "&lt;python&gt;&lt;dictionary&gt;", "CreationDate": "2020-01-02T03:04:05.000",
         "Body": "&lt;p&gt;How do I merge two dictionaries?&lt;/p&gt;"},
        {"Id": 2, "PostTypeId": 1, "Score": -3, "Title": "Merge dicts quickly", "Tags": "|python|",
         "CreationDate": "2021-01-01T00:00:00.000",
         "Body": "&lt;p&gt;How do I merge two dictionaries?&lt;/p&gt;"},
        {"Id": 4, "PostTypeId": 2, "ParentId": 1, "Score": 90,
         "Body": "&lt;p&gt;Use &lt;code&gt;update&lt;/code&gt;.&lt;/p&gt;"},
        {"Id": 5, "PostTypeId": 2, "ParentId": 1, "Score": 40,
         "Body": "&lt;pre&gt;z = x | y&lt;/pre&gt;"},
        {"Id": 6, "PostTypeId": 5, "Score": 1, "Body": "a wiki page about a tag"},
    ]  # fmt: skip
    lines = [
        "  <row " + " ".join(f'{name}="{value}"' for name, value in row.items()) + " />"
        for row in rows
    ]
    text = '<?xml version="1.0" encoding="utf-8"?>\n<posts>\n' + "\n".join(lines) + "\n</posts>"
    (folder / "Posts.xml").write_text(text)
    return folder
