"""`rootle index`, `rootle status` and `rootle clear`, as text and as JSON."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from command import rootle
from commit_repository import commit_all, make_history
from sample import FILES, write, write_tree

from rootle.storage.paths import shared_cache_dir
from rootle.web.url_cache import COOLDOWNS, PAGES, SEARCHES, UrlCache

pytestmark = pytest.mark.slow

_STATUS = {
    "revisions",
    "dependencies",
    "root",
    "indexDir",
    "exists",
    "generation",
    "files",
    "chunks",
    "indexBytes",
    "sourceBytes",
    "ageSeconds",
    "model",
    "languages",
    "encodings",
    "skipped",
    "skippedFiles",
    "pending",
    "pendingEmbeddings",
    "skippedTextShare",
    "unusedSettings",
    "backends",
    "pendingSince",
    "pendingReason",
    "pendingRetryAt",
    "modelNote",
    "watcher",
    "plugins",
    "brokenPlugins",
    "partialFiles",
    "excluded",
    "undatedFiles",
    "undatedReason",
}


def test_index_reports_its_figures(repository: Path) -> None:
    first = rootle("index", repository, "--json").data
    assert first["filesIndexed"] == first["filesTotal"] == len(FILES)
    assert first["chunksTotal"] == first["chunksEmbedded"] > len(FILES) - 1
    second = rootle("index", repository, "--json").data
    assert (second["filesIndexed"], second["chunksEmbedded"]) == (0, 0)
    assert second["generation"] == first["generation"]
    rebuilt = rootle("index", repository, "--rebuild")
    assert (rebuilt.code, rebuilt.err) == (0, "")
    assert f"{len(FILES)} files" in rebuilt.out


def test_a_dry_run_reports_the_plan_and_writes_nothing(repository: Path, home: Path) -> None:
    write(repository, "package-lock.json", "{}\n")
    write(repository, "big.txt", "long line\n" * 600_000)
    write(repository, "rows.csv", "name,value\n" + "walrus,1\n" * 50_000)
    plain = rootle("index", repository, "--dry-run")
    assert plain.code == 0
    assert f"{len(FILES) + 2} files to" in plain.out
    assert " s\n" in plain.out
    shown = ("python", "typescript", "lock file", "package-lock.json")
    assert all(text in plain.out for text in shown)
    data = rootle("index", repository, "--dry-run", "--json").data
    assert {"filePath": "big.txt", "bytes": 6_000_000, "language": "text"} in data["files"]
    assert [skip["filePath"] for skip in data["skipped"]] == ["package-lock.json"]
    assert sum(file["bytes"] for file in data["files"]) == data["bytes"]
    assert data["estimatedSeconds"] > 0
    assert not (home / "cache/rootle").exists()
    assert rootle("index", repository).code == 0
    assert rootle("index", repository, "--dry-run", "--json").data["unchanged"] == len(FILES) + 2
    # The status reports the same missing text as the dry run.
    partial = rootle("status", repository, "--json").data["partialFiles"]
    assert [file["path"] for file in partial] == ["big.txt", "rows.csv"]
    assert data["partialFiles"] == partial
    for file in partial:
        assert f"{file['path']} (the last {file['missingShare']:.2%}, beyond " in plain.out


def test_status_has_exactly_the_documented_fields(repository: Path) -> None:
    before = rootle("status", repository, "--json")
    assert (before.code, before.data["exists"]) == (1, False)
    assert before.data["pending"] == len(FILES)
    write(repository, "latin.txt", "déjà vu\n".encode("windows-1252"))
    write(repository, "wide.txt", "breit\n".encode("utf-16"))
    write(repository, "photo.py", b"\0\1\2")
    rootle("index", repository)
    write(repository, "later.py", "x = 1\n")
    (repository / "README.md").unlink()
    outcome = rootle("status", repository, "--json")
    status = outcome.data
    assert (outcome.code, outcome.err) == (0, "")
    assert set(status) == _STATUS
    assert status["files"] == len(FILES) + 2
    assert status["encodings"] == {"utf-8": len(FILES), "windows-1252": 1, "utf-16": 1}
    assert status["skipped"] == {"binary": 1}
    assert status["skippedFiles"] == [["photo.py", "binary"]]
    assert status["pending"] == 2
    assert status["model"] == "static-code-v2"
    assert status["indexBytes"] > 0 < status["sourceBytes"]
    assert 0 <= status["ageSeconds"] < 3600
    plain = rootle("status", repository, "--skipped").out
    for shown in ("generation", "files", "chunks", "model", "windows-1252 1", "photo.py"):
        assert shown in plain


def test_status_names_what_ignore_rules_exclude(repository: Path) -> None:
    write(repository, ".rootleignore", "# all\n/*\n")
    index = rootle("index", repository)
    assert "no file is indexed; `rootle status --skipped` lists what is excluded" in index.out
    outcome = rootle("status", repository, "--skipped")
    (row,) = (line for line in outcome.out.splitlines() if line.startswith("excluded"))
    assert "README.md, " in row
    assert row.endswith(", … (`rootle status --skipped` lists the reasons)")
    assert "README.md by `/*` in .rootleignore:2" in outcome.out
    write(repository, ".rootleignore", "README.md\n")
    rootle("index", repository)
    status = rootle("status", repository, "--json").data
    assert status["excluded"] == {"README.md": "`README.md` in .rootleignore:1"}


def test_status_shows_how_much_text_is_over_the_limit_for_one_file(
    repository: Path, home: Path
) -> None:
    config = write(
        home, "c.json", '{"searchAgent": {"maxChunksPerFile": 1, "maxChunkSizeTokens": 64}}'
    )
    write(repository, "long.md", "".join(f"# Part {n}\n\nword {n}\n\n" for n in range(200)))
    rootle("index", repository, "--config", config)
    status = rootle("status", repository, "--json", "--config", config).data
    assert 0.5 < status["skippedTextShare"] < 1
    listed = {file["path"]: file for file in status["partialFiles"]}
    assert listed["long.md"]["limit"] == "maxChunksPerFile"
    assert listed["long.md"]["missingShare"] > 0.5
    plain = rootle("status", repository, "--skipped", "--config", config).out
    share = listed["long.md"]["missingShare"]
    assert f"long.md (the last {share:.2%}, beyond maxChunksPerFile)" in plain


def test_clear_reports_whether_it_deleted_an_index(repository: Path, home: Path) -> None:
    assert rootle("clear", repository).code == 1
    rootle("index", repository)
    outcome = rootle("clear", repository, "--json")
    assert (outcome.code, outcome.data["cleared"]) == (0, True)
    assert list((home / "cache/rootle").iterdir()) == []
    assert rootle("search", "retry", "--json", cwd=repository).code == 0


def test_clear_keeps_added_sources(repository: Path, tmp_path: Path) -> None:
    guide = write_tree(tmp_path / "guide", {"a.md": "# Locks\n\nA lock expires.\n"})
    rootle("index", repository)
    rootle("add", str(guide), "--name", "manual", cwd=repository)
    shutil.rmtree(guide)  # from now on, the source cannot be read again
    cleared = rootle("clear", repository)
    assert cleared.code == 0
    assert re.search(r"kept the added sources \(0\.\d MB\): manual; .*clear --sources", cleared.out)
    found = rootle("search", "--in", "web", "when does a lock expire", cwd=repository)
    assert "web:manual/a.md" in found.out
    data = rootle("clear", repository, "--json").data
    assert data["keptSources"] == {"manual": str(guide)}
    assert data["keptBytes"] > 0
    again = rootle("clear", repository)
    assert again.code == 1
    assert "no index to delete" in again.out


def test_clear_deletes_what_was_read_from_the_web(repository: Path) -> None:
    folders = [shared_cache_dir(name) for name in (SEARCHES, PAGES, COOLDOWNS)]
    for folder in folders:
        UrlCache(folder).fetch("a private question", lambda: "an answer")
    cleared = rootle("clear", repository)
    assert "no index to delete" in cleared.out
    assert not any(folder.exists() for folder in folders)


def test_an_undeletable_web_cache_is_reported_after_the_index_is_deleted(repository: Path) -> None:
    assert rootle("index", repository).code == 0
    index_dir = Path(rootle("status", repository, "--json").data["indexDir"])
    (shared_cache_dir(PAGES) / "folder").mkdir(parents=True)
    cleared = rootle("clear", repository)
    assert cleared.code not in (0, 1)
    assert "cannot delete the cached web pages in" in cleared.err
    assert not (index_dir / "rootle.db").exists()


def test_clear_says_how_to_add_the_deleted_sources_again(repository: Path, tmp_path: Path) -> None:
    guide = write_tree(tmp_path / "my guide", {"a.md": "# Locks\n\nA lock expires.\n"})
    rootle("add", str(guide), "--name", "manual", cwd=repository)
    cleared = rootle("clear", "--sources", repository)
    assert f"rootle add '{guide}' --name manual" in cleared.out
    assert not rootle("sources", "--json", cwd=repository).data["sources"]


def test_clear_deletes_a_damaged_list_on_request(repository: Path, tmp_path: Path) -> None:
    guide = write_tree(tmp_path / "guide", {"a.md": "# Locks\n\nA lock expires.\n"})
    rootle("add", str(guide), cwd=repository)
    folder = Path(rootle("status", repository, "--json").data["indexDir"]) / "external"
    (folder / "documents.db").write_bytes(b"damaged" * 999)
    kept = rootle("clear", repository)
    assert "kept the added sources (0.0 MB); " in kept.out
    assert "rootle clear --sources" in rootle("sources", cwd=repository).err
    assert rootle("clear", "--sources", repository).code == 0
    assert not folder.exists()


@pytest.mark.parametrize("column", ["options", "weight", "read_s"])
def test_a_list_with_damaged_values_can_be_deleted(
    column: str, repository: Path, tmp_path: Path
) -> None:
    guide = write_tree(tmp_path / "guide", {"a.md": "# Locks\n\nA lock expires.\n"})
    rootle("add", str(guide), cwd=repository)
    folder = Path(rootle("status", repository, "--json").data["indexDir"]) / "external"
    with closing(sqlite3.connect(folder / "documents.db")) as database, database:
        database.execute(f"UPDATE sources SET {column} = '{{damaged'")
    assert "rootle clear --sources" in rootle("sources", cwd=repository).err
    assert rootle("clear", "--sources", repository).code == 0
    assert not folder.exists()


def test_json_is_the_only_output(repository: Path) -> None:
    for command in (("index",), ("status",), ("index", "--dry-run"), ("clear",)):
        outcome = rootle(*command, repository, "--json")
        assert outcome.err == ""
        json.loads(outcome.out)


def test_indexed_commits_are_counted(tmp_path: Path) -> None:
    root = make_history(tmp_path / "repo", ("Parser change", "Cache change", "Retry change"))
    write(root, "parser.py", "")
    commit_all(root, "Drop the parser", day=9)
    options = (root, "--history", "--index-dir", tmp_path / "index")

    first = rootle("index", *options)
    second = rootle("index", *options, "--json")

    assert first.code == second.code == 0, first.err
    assert re.search(
        r"^4 commits, 1 removed definition; 4 commits read in \d+\.\d s$", first.out, re.MULTILINE
    )
    history = json.loads(second.out)["history"]
    assert (history["commits"], history["removedDefinitions"]) == (4, 1)
    assert history["commitsRead"] == 0
