"""Changes to files appear in the next search."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest
from hash_embedder import HashEmbedder
from sample import FILES, MakeApp, git, make_repository, write

from rootle.app import App
from rootle.embed.model_choice import ModelChoice
from rootle.storage.change_time import CHANGE_TICK_NS


def search_paths(app: App, query: str) -> list[str]:
    return [result.file_path for result in app.search(query).results]


def test_an_edit_is_found_and_the_old_text_is_not(repository: Path, make_app: MakeApp) -> None:
    app = make_app(repository)
    assert search_paths(app, "evict_oldest")[0] == "src/store/cache.py"
    write(repository, "src/store/cache.py", "def zebra_crossing():\n    pass\n")
    assert search_paths(app, "zebra_crossing")[0] == "src/store/cache.py"
    assert all("evict_oldest" not in r.snippet for r in app.search("evict_oldest").results)


@pytest.mark.slow
def test_additions_deletions_and_renames_are_found(repository: Path, make_app: MakeApp) -> None:
    app = make_app(repository)
    app.index()
    write(repository, "src/zebra.py", "def zebra_crossing(): pass\n")
    (repository / "README.md").unlink()
    (repository / "src/auth/token.ts").rename(repository / "src/auth/ticket.ts")
    report = app.index()
    assert (report.files_indexed, report.files_removed) == (2, 2)
    assert search_paths(app, "zebra_crossing")[0] == "src/zebra.py"
    assert search_paths(app, "validateToken")[0] == "src/auth/ticket.ts"
    assert app.status().files == len(FILES)
    assert not {"README.md", "src/auth/token.ts"} & set(search_paths(app, "a service with tokens"))


def test_a_rename_embeds_only_texts_that_contain_the_new_name(
    repository: Path, make_app: MakeApp, embedder: HashEmbedder
) -> None:
    app = make_app(repository, embedder=embedder)
    app.index()
    embedder.texts.clear()
    (repository / "src/auth/token.ts").rename(repository / "src/auth/ticket.ts")
    app.index()
    assert len(embedder.texts) > 0
    assert all("ticket" in text for text in embedder.texts)


def test_a_new_modification_time_alone_changes_and_embeds_nothing(
    repository: Path, make_app: MakeApp, embedder: HashEmbedder
) -> None:
    app = make_app(repository, embedder=embedder)
    before = app.index()
    embedder.texts.clear()
    for path in FILES:
        os.utime(repository / path, (1_720_000_000, 1_720_000_000))
    time.sleep(CHANGE_TICK_NS / 1e9)
    after = app.index()
    assert embedder.texts == []
    assert (after.generation, after.chunks_embedded) == (before.generation, 0)
    # The first run has recorded the new times, so the next run reads no file.
    assert app.index().files_indexed == 0


def test_an_open_app_records_new_modification_times(repository: Path, make_app: MakeApp) -> None:
    app = make_app(repository)
    assert app.search("retry_backoff").results
    os.utime(repository / "src/net/retry.py", (1_720_000_000, 1_720_000_000))
    time.sleep(CHANGE_TICK_NS / 1e9)
    assert app.search("retry_backoff").results
    assert app.plan().is_empty


def test_an_edit_of_equal_size_and_time_right_after_indexing_is_found(
    repository: Path, make_app: MakeApp
) -> None:
    app = make_app(repository)
    file = write(repository, "note.py", "def zebra(): pass\n", when_s=None)
    assert search_paths(app, "zebra")[0] == "note.py"
    before = file.stat()
    file.write_text("def giraf(): pass\n")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert file.stat().st_size == before.st_size
    assert app.search("giraf").results[0].snippet == "def giraf(): pass"


@pytest.mark.slow
def test_switching_between_branches_embeds_nothing_twice(
    repository: Path, make_app: MakeApp, embedder: HashEmbedder
) -> None:
    app = make_app(repository, embedder=embedder)
    app.index()
    git(repository, "checkout", "-qb", "other")
    write(repository, "src/net/retry.py", "def other_branch(): pass\n")
    (repository / "docs/guide.md").unlink()
    write(repository, "src/only_there.py", "def only_there(): pass\n")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "other")
    app.index()
    for branch in ("main", "other", "main"):
        git(repository, "checkout", "-q", branch)
        embedder.texts.clear()
        report = app.index()
        assert (embedder.texts, report.chunks_embedded) == ([], 0)
    assert search_paths(app, "retry_backoff")[0] == "src/net/retry.py"
    assert "src/only_there.py" not in search_paths(app, "only_there")


def test_an_edit_embeds_only_changed_chunks(
    repository: Path, make_app: MakeApp, embedder: HashEmbedder
) -> None:
    parts = [f"def function_{n}():\n" + f"    call_{n}()\n" * 40 for n in range(8)]
    write(repository, "long.py", "\n\n".join(parts))
    app = make_app(repository, embedder=embedder)
    app.index()
    embedder.texts.clear()
    parts[5] = parts[5].replace("call_5", "changed")
    write(repository, "long.py", "\n\n".join(parts), when_s=1_720_000_000)
    app.index()
    assert 1 <= len(embedder.texts) <= 2
    assert "changed" in "".join(embedder.texts)


@pytest.mark.slow
def test_an_ignore_rule_removes_files_until_it_is_deleted(
    repository: Path, make_app: MakeApp
) -> None:
    write(repository, "notes/draft.md", "# Zebra crossing\n")
    app = make_app(repository)
    assert search_paths(app, "zebra crossing")[0] == "notes/draft.md"
    write(repository, ".gitignore", "notes/\n")
    assert "notes/draft.md" not in search_paths(app, "zebra crossing")
    (repository / ".gitignore").unlink()
    assert search_paths(app, "zebra crossing")[0] == "notes/draft.md"


@pytest.mark.slow
def test_a_file_is_partly_indexed_while_it_exceeds_the_size_limit(
    repository: Path, make_app: MakeApp
) -> None:
    question = '"def retry_backoff"'
    app = make_app(repository, max_file_bytes=2_000)
    small = FILES["src/net/retry.py"]
    assert search_paths(app, question)[0] == "src/net/retry.py"
    write(repository, "src/net/retry.py", "# padding\n" * 300 + small)
    assert search_paths(app, question) == []
    assert [file.path for file in app.status().partial_files] == ["src/net/retry.py"]
    write(repository, "src/net/retry.py", small)
    assert search_paths(app, question)[0] == "src/net/retry.py"
    assert app.status().partial_files == ()


def test_a_file_that_becomes_binary_is_removed(repository: Path, make_app: MakeApp) -> None:
    app = make_app(repository)
    app.index()
    write(repository, "src/net/retry.py", b"\0\1\2\3" * 100)
    assert "src/net/retry.py" not in search_paths(app, "retry_backoff")
    assert app.status().skipped == {"binary": 1}


@pytest.mark.slow
def test_another_chunk_size_rebuilds_the_index(
    repository: Path, make_app: MakeApp, tmp_path: Path
) -> None:
    index_dir = tmp_path / "index"
    write(repository, "long.md", "".join(f"# Part {n}\n\nword {n}\n\n" for n in range(300)))
    first = make_app(repository, index_dir=index_dir).index()
    other = make_app(repository, index_dir=index_dir, max_chunk_size_tokens=64)
    second = other.index()
    assert second.chunks_embedded == second.chunks_total > first.chunks_total
    assert search_paths(other, "retry_backoff")[0] == "src/net/retry.py"
    # The second run has nothing to do.
    assert other.index().files_indexed == 0


@pytest.mark.slow
def test_another_model_rebuilds_the_index(
    repository: Path,
    make_app: MakeApp,
    tmp_path: Path,
    embedder: HashEmbedder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    index_dir = tmp_path / "index"
    make_app(repository, index_dir=index_dir).index()
    choice = ModelChoice("model2vec", "a/hash", embedder.fingerprint)
    monkeypatch.setattr("rootle.embed.factory.choose_model", lambda config: choice)
    app = make_app(repository, index_dir=index_dir, embedder=embedder)
    report = app.index()
    assert report.chunks_embedded == report.chunks_total == len(embedder.texts)
    assert app.status().model == "a/hash"
    dense = app._container.indexer().snapshot().dense
    assert dense.dimensions == embedder.dimensions
    assert search_paths(app, "retry_backoff")[0] == "src/net/retry.py"


@pytest.mark.slow
def test_the_last_modified_time_of_a_committed_file_is_the_time_of_the_commit(
    repository: Path, make_app: MakeApp
) -> None:
    write(repository, "src/new.py", "def zebra_crossing(): pass\n", when_s=1_720_000_000)
    app = make_app(repository)
    assert read_last_modified(app, "zebra_crossing") == "2024-07-03T09:46:40Z"
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "second", when_s=1_730_000_000)
    assert read_last_modified(app, "zebra_crossing") == "2024-10-27T03:33:20Z"


def read_last_modified(app: App, query: str) -> str | None:
    return app.search(query).results[0].metadata.last_modified


def test_an_index_is_current_after_the_git_folder_was_deleted(
    repository: Path, make_app: MakeApp
) -> None:
    app = make_app(repository)
    app.index()
    shutil.rmtree(repository / ".git")
    app.index()
    assert app._container.indexer().state.find_work() is None


@pytest.mark.slow
def test_the_folder_is_not_checked_again_within_stale_check_seconds(
    repository: Path, make_app: MakeApp
) -> None:
    app = make_app(repository, stale_check_seconds=3600)
    app.search("retry")
    write(repository, "src/zebra.py", "def zebra_crossing(): pass\n")
    assert "src/zebra.py" not in search_paths(app, "zebra_crossing")
    assert app.index().files_indexed == 1
    assert search_paths(app, "zebra_crossing")[0] == "src/zebra.py"


@pytest.mark.slow
def test_many_small_updates_equal_one_full_index(tmp_path: Path, make_app: MakeApp) -> None:
    root = make_repository(tmp_path / "repo")
    app = make_app(root, index_dir=tmp_path / "often")
    for number in range(12):
        write(
            root,
            f"src/part_{number % 4}.py",
            f"def step_{number}():\n    return {number}\n",
            when_s=1_710_000_000 + number,
        )
        app.index()
    fresh = make_app(root, index_dir=tmp_path / "once")
    for query in ("step_11", "step_9", "retry_backoff", "validateToken"):
        assert search_paths(app, query)[0] == search_paths(fresh, query)[0]
    assert app.status().chunks == fresh.status().chunks


def test_an_index_is_complete_after_only_a_binary_file_was_added(
    repository: Path, make_app: MakeApp
) -> None:
    app = make_app(repository)
    app.index()
    write(repository, "logo.png", bytes(900), when_s=None)
    app.index()
    assert ("logo.png", "binary") in app.status().skipped_files
    reader = make_app(repository, enable_indexing=False)
    assert reader.search("retry_backoff").results
