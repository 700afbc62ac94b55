"""The commits of a repository are indexed once and incrementally, if they may be shown."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from threading import Event
from typing import Any
from unittest.mock import Mock

import pytest
from commit_repository import add_commit, commit_all, find_commits, make_history, subjects_of
from polling import TIMEOUT_S
from sample import MakeApp, git, write

import rootle
from rootle import App, open_app
from rootle.errors import IndexStorageError, IngestError, QueryError
from rootle.indexing import commit_index
from rootle.indexing.commit_index import CommitIndex
from rootle.indexing.git_history import commit_scope, ignored_changes
from rootle.sources.git import repository
from rootle.sources.git.command import GitOutput, run_git
from rootle.sources.git.commits import commit_list
from rootle.sources.git.commits.commit_source import CommitReader
from rootle.types import SearchQuery, ignore_progress

pytestmark = pytest.mark.slow

SUBJECTS = ("Parser change", "Cache change", "Retry change", "Token change")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_history(tmp_path / "repo", SUBJECTS)


@pytest.fixture
def app(root: Path, make_app: MakeApp) -> App:
    app: App = make_app(root)
    return app


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list to which the URIs of commits are added when they are read for indexing."""
    found: list[str] = []
    read = CommitReader.read

    def record(self: CommitReader, uri: str) -> object:
        found.append(uri)
        return read(self, uri)

    monkeypatch.setattr(CommitReader, "read", record)
    return found


def count(app: App) -> int:
    history = app.status().history
    return 0 if history is None else history.commits


@pytest.mark.parametrize("setting", [{"ocr": "docs"}, {"max_file_bytes": 50_000}])
def test_settings_for_files_do_not_rebuild_the_commits(
    setting: dict[str, Any], root: Path, make_app: MakeApp, reads: list[str]
) -> None:
    first = make_app(root)
    first.index()
    first.index_history()
    commits_read = len(reads)

    other = make_app(root, **setting)
    report = other.index()
    history = other.index_history()

    assert report.files_indexed == report.files_total > 0  # the files were read again
    assert (history.commits, history.commits_read) == (len(SUBJECTS), 0)
    assert len(reads) == commits_read > 0


def test_a_question_about_the_past_indexes_all_commits(app: App) -> None:
    assert app.status().history is None

    assert subjects_of(app) == set(SUBJECTS)

    history = app.status().history
    assert history is not None
    assert (history.commits, history.is_complete) == (4, True)
    assert history.index_bytes > 0


def test_a_question_about_code_indexes_no_commits(app: App, reads: list[str]) -> None:
    app.search(SearchQuery("where is the parser"))

    assert reads == []
    assert app.status().history is None


def test_a_folder_that_was_deleted_in_the_meantime_is_an_error(app: App, root: Path) -> None:
    commits = app._container.history().commit_index()
    assert commits is not None
    root.rename(root.with_name("moved"))
    with pytest.raises(IngestError, match="does not exist: name a folder to index"):
        commits.update(timeout_s=1)


def test_only_a_new_commit_is_read(app: App, root: Path, reads: list[str]) -> None:
    app.index_history()
    assert len(reads) == 2 * 4  # each of the two indexes reads each commit once
    reads.clear()
    sha = add_commit(root, "Planner change", day=9)

    assert "Planner change" in subjects_of(app)
    assert reads == [f"git:{sha}"]


def test_nothing_is_read_if_there_is_no_new_commit(app: App, reads: list[str]) -> None:
    app.index_history()
    reads.clear()

    app.index_history()
    subjects_of(app)

    assert reads == []


def test_commits_of_a_rewritten_history_are_no_longer_found(app: App, root: Path) -> None:
    app.index_history()
    write(root, "token.py", "x = 1\n")
    git(root, "commit", "-qa", "--amend", "-m", "Amended change")
    assert subjects_of(app) == {*SUBJECTS[:3], "Amended change"}

    git(root, "rebase", "-q", "--onto", "HEAD~3", "HEAD~1")
    assert subjects_of(app) == {SUBJECTS[0], "Amended change"}
    assert count(app) == 2


def test_a_commit_that_is_not_checked_out_is_not_found(app: App, root: Path) -> None:
    app.index_history()
    git(root, "checkout", "-q", "HEAD~2")

    assert subjects_of(app) == set(SUBJECTS[:2])


def test_work_trees_share_an_index_but_find_only_their_own_history(
    root: Path, tmp_path: Path
) -> None:
    git(root, "worktree", "add", "-q", "-b", "side", tmp_path / "side", "HEAD~1")
    add_commit(tmp_path / "side", "Side change", day=9)
    with open_app(root) as main, open_app(tmp_path / "side") as side:
        main.index_history()
        statuses = [app.status().history for app in (main, side)]

        assert len({status.index_dir for status in statuses if status}) == 1
        assert count(side) == 5
        assert subjects_of(main) == set(SUBJECTS)
        assert subjects_of(side) == {*SUBJECTS[:3], "Side change"}
        sha = git(root, "rev-parse", "side").strip()
        # git reads the message of a commit that is named by its hash.
        assert [one.file_path for one in find_commits(main, sha[:12])] == [f"git:{sha}"]
        assert len(find_commits(side, sha[:12])) == 1
        git(root, "merge", "-q", "-m", "Merge", "side")
        assert "Side change" in subjects_of(main)


def clone(origin: Path, folder: Path, *options: str) -> Path:
    """Clone from a file URL, a protocol that only this command allows."""
    git(origin, "config", "uploadpack.allowFilter", "true")
    command = ("git", "-c", "protocol.file.allow=always", "clone", "-q", *options)
    subprocess.run([*command, f"file://{origin}", folder], check=True)
    return folder


def test_the_oldest_commit_of_a_shallow_clone_does_not_add_all_files(
    root: Path, tmp_path: Path, make_app: MakeApp
) -> None:
    shallow = clone(root, tmp_path / "shallow", "--depth=2")
    app: App = make_app(shallow)

    files = {
        it.commit.subject: [file.path for file in it.commit.files]
        for it in find_commits(app, "in:history change")
        if it.commit
    }

    assert files == {"Token change": ["token.py"], "Retry change": []}
    git(shallow, "-c", "protocol.file.allow=always", "fetch", "-q", "--unshallow")
    assert subjects_of(app) == set(SUBJECTS)
    deepened = find_commits(app, "in:history retry change")[0].commit
    assert deepened is not None
    assert [file.path for file in deepened.files] == ["retry.py"]


def test_an_answer_about_the_past_says_that_a_clone_is_shallow(
    root: Path, tmp_path: Path, make_app: MakeApp
) -> None:
    shallow = clone(root, tmp_path / "shallow", "--depth=2")
    app: App = make_app(shallow)
    note = "older commits are missing: this is a shallow clone; git fetch --unshallow completes it"

    assert note in app.search(SearchQuery("when was the cache changed")).suggestions
    assert note in app.gone("cache").suggestions
    assert note in app.impact("token.py").suggestions

    git(shallow, "-c", "protocol.file.allow=always", "fetch", "-q", "--unshallow")
    assert note not in app.search(SearchQuery("when was the cache changed")).suggestions


def test_an_answer_about_the_past_says_that_there_is_no_commit(
    tmp_path: Path, make_app: MakeApp
) -> None:
    root = tmp_path / "new"
    write(root, "cache.py", "def cache():\n    pass\n")
    git(root, "init", "-q")
    app: App = make_app(root)
    note = "the repository has no commit yet"

    assert note in app.search(SearchQuery("when was the cache changed")).suggestions
    assert note in app.gone("cache").suggestions


def test_a_partial_clone_is_searched_by_messages_and_paths(
    root: Path, tmp_path: Path, make_app: MakeApp
) -> None:
    partial = clone(root, tmp_path / "partial", "--filter=blob:none", "--no-checkout")
    packs = sorted(os.listdir(partial / ".git/objects/pack"))
    app: App = make_app(partial)

    found = find_commits(app, "in:history cache.py")

    assert found[0].commit is not None
    assert found[0].commit.subject == "Cache change"
    assert [file.path for file in found[0].commit.files] == ["cache.py"]
    assert sorted(os.listdir(partial / ".git/objects/pack")) == packs


def test_an_answer_says_that_the_lines_of_a_partial_clone_were_not_searched(
    root: Path, tmp_path: Path, make_app: MakeApp
) -> None:
    write(root, "cache.py", "def evict():\n    return 1\n")
    commit_all(root, "Evict change", day=8)
    app: App = make_app(clone(root, tmp_path / "partial", "--filter=blob:none"))

    gone = app.gone("cache_1")
    past = app.search(SearchQuery("in:history frobnicate"))
    shown = find_commits(app, "in:history evict change")[0]

    count = len(SUBJECTS) + 1
    note = f"not all changed lines of {count} of {count} commits are searched"
    assert gone.removals == ()
    assert [one for one in gone.suggestions if one.startswith(note)], gone.suggestions
    assert any(one.startswith(note) for one in past.suggestions)
    assert any(one.startswith(note) for one in app.drift().suggestions)
    history = app.status().history
    assert history is not None
    assert [one for one in history.notes if one.startswith(note)], history.notes
    text = " ".join((shown.snippet, *(span.snippet for span in shown.more_spans)))
    assert "cache.py (changed lines not read)" in text
    assert "(+0 -0)" not in text


def test_an_answer_about_a_complete_clone_has_no_note_about_lines(app: App) -> None:
    notes = (
        *app.gone("frobnicate").suggestions,
        *app.search(SearchQuery("in:history frobnicate")).suggestions,
    )

    assert not any("changed lines" in note for note in notes)


def test_a_partial_clone_that_was_completed_is_searched_by_lines(
    root: Path, tmp_path: Path, make_app: MakeApp
) -> None:
    partial = clone(root, tmp_path / "partial", "--filter=blob:none", "--no-checkout")
    app: App = make_app(partial)
    assert subjects_of(app) == set(SUBJECTS)

    settings = ("-c", "protocol.file.allow=always", "-c", "fetch.unpackLimit=1")
    git(partial, *settings, "fetch", "-q", "--refetch", "--no-filter")

    found = find_commits(app, "in:history cache change")[0].commit
    assert found is not None
    assert [(file.path, file.functions) for file in found.files] == [("cache.py", ("cache_1",))]


def test_a_commit_with_a_forged_date_is_found(root: Path, app: App) -> None:
    tree, head = (git(root, "rev-parse", name).strip() for name in ("HEAD^{tree}", "HEAD"))
    for seconds in ("10500000000", "9" * 30, "9" * 5_000):
        commit = (
            f"tree {tree}\nparent {head}\nauthor Ada <ada@x.org> 1 +0000\n"
            f"committer Ada <ada@x.org> {seconds} +0000\n\nForged change {len(seconds)}\n"
        )
        write(root.parent, "commit", commit)
        arguments = ("-t", "commit", "-w", "--literally", str(root.parent / "commit"))
        head = git(root, "hash-object", *arguments).strip()
    git(root, "update-ref", "HEAD", head)

    found = subjects_of(app)

    assert {f"Forged change {digits}" for digits in (11, 30, 5_000)} <= found
    assert set(SUBJECTS) <= found


_KILLED = """
import os, signal, sys
from rootle import open_app
from rootle.sources.git.commits import commit_list
from rootle.sources.git.commits.commit_source import CommitReader
read, count = CommitReader.read, 0
def read_some(self, uri):
    global count
    count += 1
    if count > {limit}:
        os.kill(os.getpid(), signal.SIGKILL)
    return read(self, uri)
CommitReader.read = read_some
with open_app(sys.argv[1], index_dir=sys.argv[2]) as app:
    app.index_history()
"""


# Each batch contains one commit.
_SMALL_BATCHES = "from rootle.ingest import batches\nbatches._FIRST_BATCH_CHARS = 1\n"


def kill_while_indexing(root: Path, index: Path, limit: int, first: str = _SMALL_BATCHES) -> None:
    """Index the commits in a process that kills itself after some commits.

    The process runs the code `first` at the start.
    """
    code = first + _KILLED.format(limit=limit)
    command = [sys.executable, "-c", code, str(root), str(index)]
    path = (str(Path(rootle.__file__).parents[1]), os.environ.get("PYTHONPATH", ""))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, path))}
    killed = subprocess.run(command, check=False, capture_output=True, env=environment)
    assert killed.returncode == -signal.SIGKILL, killed.stderr


@pytest.mark.parametrize("limit", [0, 3])
def test_indexing_continues_after_it_was_killed(
    limit: int, root: Path, tmp_path: Path, make_app: MakeApp
) -> None:
    kill_while_indexing(root, tmp_path / "index", limit, first="")
    app: App = make_app(root)

    assert subjects_of(app) == set(SUBJECTS)
    assert count(app) == 4


_NEW_FORMAT = {
    "commits": "from rootle.indexing import commit_index\ncommit_index.COMMIT_FORMAT = -1\n",
    "chunks": "from rootle.indexing import fingerprint\nfingerprint.CHUNKER_VERSION = -1\n",
}


@pytest.mark.parametrize("changed", _NEW_FORMAT)
def test_a_killed_rebuild_of_the_commits_continues_while_the_older_index_answers(
    changed: str,
    root: Path,
    tmp_path: Path,
    make_app: MakeApp,
    reads: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for number in range(6):
        add_commit(root, f"Planner change {number}", day=9 + number)
    with make_app(root) as writer:
        writer.index()
        writer.index_history()
    first = _NEW_FORMAT[changed] + _SMALL_BATCHES
    for _ in range(2):  # the second process continues, and is killed as well
        kill_while_indexing(root, tmp_path / "index", 3, first)
    name = "commit_index.COMMIT_FORMAT" if changed == "commits" else "fingerprint.CHUNKER_VERSION"
    monkeypatch.setattr(f"rootle.indexing.{name}", -1)
    app: App = make_app(root)
    index = app._container.history().commit_index()
    assert index is not None

    assert index.explain_gap()[0] == ""
    note = "the index of commits is being rebuilt (60% done); until then, the old one answers"
    assert index.describe_rebuild() == note
    assert index.snapshot().file_count() == 10
    reads.clear()
    index.update()

    assert len(reads) == 10 - 2 * 3
    assert subjects_of(app) == {*SUBJECTS, *(f"Planner change {number}" for number in range(6))}
    assert len(list((tmp_path / "index" / "history").rglob("rootle.db"))) == 1


def test_a_killed_repair_of_a_damaged_index_of_the_commits_continues(
    root: Path, tmp_path: Path, make_app: MakeApp, reads: list[str]
) -> None:
    for number in range(6):
        add_commit(root, f"Planner change {number}", day=9 + number)
    with make_app(root) as writer:
        writer.index()
        writer.index_history()
    (tmp_path / "index" / "history" / "rootle.db").write_bytes(b"no database" * 1000)
    for _ in range(2):  # the second process continues, and is killed as well
        kill_while_indexing(root, tmp_path / "index", 3)
    app: App = make_app(root)
    index = app._container.history().commit_index()
    assert index is not None

    reason = index.explain_gap()[0]
    assert (
        "not all commits are indexed yet, because a damaged index is being rebuilt (60%" in reason
    )
    status = app.status().history
    assert status is not None
    assert (status.commits, status.notes) == (0, (reason,))
    reads.clear()
    index.update()

    assert len(reads) == 10 - 2 * 3
    assert index.explain_gap()[0] == ""
    assert subjects_of(app) == {*SUBJECTS, *(f"Planner change {number}" for number in range(6))}
    assert len(list((tmp_path / "index" / "history").rglob("rootle.db"))) == 1


def test_an_index_that_another_process_has_just_repaired_is_not_rebuilt(
    app: App, reads: list[str]
) -> None:
    app.index_history()
    index = app._container.history().commit_index()
    assert index is not None
    reads.clear()

    index._indexer.update(ignore_progress, timeout_s=-1, rebuild="repair")

    assert reads == []


def test_a_killed_rebuild_is_not_continued_with_other_settings(
    root: Path, tmp_path: Path, make_app: MakeApp, reads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with make_app(root) as writer:
        writer.index()
        writer.index_history()
    kill_while_indexing(root, tmp_path / "index", 3, _NEW_FORMAT["commits"] + _SMALL_BATCHES)
    monkeypatch.setattr("rootle.indexing.commit_index.COMMIT_FORMAT", -2)
    app: App = make_app(root)
    index = app._container.history().commit_index()
    assert index is not None

    assert "being rebuilt (0% done)" in index.describe_rebuild()
    reads.clear()
    index.update()

    assert len(reads) == len(SUBJECTS)
    assert len(list((tmp_path / "index" / "history").rglob("rootle.db"))) == 1


@pytest.mark.parametrize("indexed", [0, 4])
def test_commits_that_were_read_before_a_kill_are_searched(
    indexed: int, root: Path, tmp_path: Path, make_app: MakeApp
) -> None:
    writer: App = make_app(root)
    writer.index()
    if indexed:
        writer.index_history()
    for number in range(6):
        add_commit(root, f"Planner change {number}", day=9 + number)
    kill_while_indexing(root, tmp_path / "index", 3)

    reader: App = make_app(root, enable_indexing=False)

    assert count(reader) == indexed + 3
    assert "Planner change 5" in subjects_of(reader)


def test_the_share_of_the_commits_is_that_of_the_searched_ones(
    root: Path, tmp_path: Path, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer: App = make_app(root)
    writer.index()
    kill_while_indexing(root, tmp_path / "index", 2)
    app: App = make_app(root)
    # The update goes on after the wait has ended, and before the commits are opened.
    prepare = CommitIndex.prepare

    def prepare_and_continue(index: CommitIndex, wait_s: float) -> str:
        with monkeypatch.context() as patch:
            patch.setattr(CommitIndex, "update_in_background", lambda _: None)
            reason = prepare(index, wait_s)
        index.update()
        return reason

    monkeypatch.setattr(CommitIndex, "prepare", prepare_and_continue)
    answer = app.search(SearchQuery("in:history change"))

    assert answer.degraded == ()
    assert not [note for note in answer.suggestions if "searched" in note]


def test_a_part_of_the_commits_is_described_by_its_own_share(
    root: Path, tmp_path: Path, make_app: MakeApp
) -> None:
    writer: App = make_app(root)
    writer.index()
    kill_while_indexing(root, tmp_path / "index", 2)
    index = make_app(root)._container.history().commit_index()
    assert index is not None

    reason, generation = index.explain_gap()

    assert generation == index.snapshot().generation
    assert f"only the newest {100 * 2 // len(SUBJECTS)}%" in reason


def test_the_status_says_which_commits_are_not_searched(
    root: Path, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    app: App = make_app(root)
    app.index()
    app.index_history()
    complete = app.status().history
    add_commit(root, "Planner change", day=9)
    outdated = app.status().history
    limited: App = make_app(root, max_history_commits=2)
    limited.index_history()
    cut = limited.status().history

    assert complete is not None
    assert complete.notes == ()
    assert outdated is not None
    assert outdated.notes[0].startswith("not all commits are indexed yet, the newest are missing")
    assert cut is not None
    limit = "of the commits, only the newest 2 are indexed, as maxHistoryCommits says"
    assert cut.notes == (limit,)
    assert limit in limited.search(SearchQuery("in:history frobnicate")).suggestions


def test_an_answer_says_that_the_commits_are_being_indexed_again(
    root: Path, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    app: App = make_app(root)
    app.index()
    app.index_history()
    monkeypatch.setattr("rootle.indexing.commit_index.COMMIT_FORMAT", "newer")
    monkeypatch.setattr(CommitIndex, "update", lambda self, **_: None)

    app = make_app(root)
    answer = app.search(SearchQuery("in:history change"))
    status = app.status().history

    # The old index contains all commits, so nothing is missing.
    note = "the index of commits is being rebuilt (0% done); until then, the old one answers"
    assert answer.suggestions[0] == note
    assert answer.degraded == ()
    assert {one.commit.subject for one in answer.results if one.commit} == set(SUBJECTS)
    assert status is not None
    assert status.notes == (note,)
    add_commit(root, "Planner change", day=9)
    answer = app.search(SearchQuery("in:history change"))
    assert answer.suggestions[0].startswith("only 4 commits were searched: ")
    assert "the newest are missing" in answer.suggestions[0]
    assert answer.suggestions[1] == note
    assert answer.degraded == ("history",)


def test_a_question_waits_longer_until_something_is_kept_for_the_next_one(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    ended = Event()
    monkeypatch.setattr(CommitIndex, "wait", lambda _, timeout_s: waits.append(timeout_s))
    monkeypatch.setattr(CommitIndex, "_count", lambda _: 0 if len(waits) < 4 else 12 + len(waits))
    monkeypatch.setattr(CommitIndex, "update", lambda _, **__: ended.wait(TIMEOUT_S))
    index = app._container.history().commit_index()
    assert index is not None

    reason = index.prepare(10)
    assert waits == [10, *[commit_index._POLL_S] * 3]
    assert "not even the newest" in reason

    # The same update is far from its end, so further questions are answered at once.
    monkeypatch.setattr(index._indexer.state, "read_progress", lambda: (10, 100))
    index.prepare(10)
    assert len(waits) == 4
    monkeypatch.setattr(index._indexer.state, "read_progress", lambda: (90, 100))
    index.prepare(10)
    assert waits[4] == 10
    ended.set()


def test_a_question_waits_no_longer_if_commits_of_an_older_index_can_be_searched(
    app: App, root: Path, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    app.index_history()
    app.close()
    monkeypatch.setattr("rootle.indexing.commit_index.COMMIT_FORMAT", -1)
    waits: list[float] = []
    ended = Event()
    monkeypatch.setattr(CommitIndex, "wait", lambda _, timeout_s: waits.append(timeout_s))
    monkeypatch.setattr(CommitIndex, "update", lambda _, **__: ended.wait(TIMEOUT_S))

    answer = make_app(root).search(SearchQuery("in:history which commit changed the parser"))
    ended.set()

    assert waits == [10]
    assert answer.results[0].commit is not None
    assert answer.results[0].commit.subject == "Parser change"
    assert answer.suggestions[0].startswith("the index of commits is being rebuilt")


def test_git_lists_the_commits_once_for_a_head_while_they_are_being_indexed(
    app: App, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app.index_history()
    index = app._container.history().commit_index()
    assert index is not None
    scope, snapshot = index._scope, index.snapshot()
    list_commits = Mock(wraps=commit_list.list_commits)
    monkeypatch.setattr(commit_scope, "list_commits", list_commits)
    for batch in ("first", "second"):  # each batch changes the indexed heads
        assert len(scope.find_ids(snapshot, (batch,)) or ()) == len(SUBJECTS)
    assert list_commits.call_count == 1
    git(root, "reset", "-q", "--hard", "HEAD~1")
    assert len(scope.find_ids(snapshot, ("second",)) or ()) == len(SUBJECTS) - 1


def test_only_the_newest_commits_are_indexed(root: Path, make_app: MakeApp) -> None:
    app: App = make_app(root, max_history_commits=2)
    assert subjects_of(app) == set(SUBJECTS[2:])
    app.close()

    more: App = make_app(root, max_history_commits=3)
    assert subjects_of(more) == set(SUBJECTS[1:])
    more.close()

    fewer: App = make_app(root, max_history_commits=1)
    assert subjects_of(fewer) == set(SUBJECTS[3:])


def test_new_commits_replace_the_oldest_ones_beyond_the_limit(
    root: Path, make_app: MakeApp, reads: list[str]
) -> None:
    app: App = make_app(root, max_history_commits=5)
    assert subjects_of(app) == set(SUBJECTS)
    add_commit(root, "Planner change", day=9)
    app.index_history()
    assert count(app) == 5
    reads.clear()
    added = [add_commit(root, f"{name} change", day=10 + day) for day, name in enumerate("XY")]

    assert subjects_of(app) == {*SUBJECTS[2:], "Planner change", "X change", "Y change"}
    assert count(app) == 5
    assert sorted(reads) == sorted(f"git:{sha}" for sha in added)


def test_no_commits_are_indexed_if_the_limit_is_zero(root: Path, make_app: MakeApp) -> None:
    app: App = make_app(root, max_history_commits=0)

    with pytest.raises(QueryError, match="maxHistoryCommits"):
        subjects_of(app)
    with pytest.raises(IndexStorageError, match="maxHistoryCommits"):
        app.index_history()
    assert find_commits(app, "when was the cache changed") == []
    assert app.status().history is None


def test_commits_are_searched_but_not_indexed_if_indexing_is_disabled(
    root: Path, make_app: MakeApp, reads: list[str]
) -> None:
    writer: App = make_app(root)
    writer.index()
    writer.index_history()
    writer.close()
    reader: App = make_app(root, enable_indexing=False)
    assert reader.search(SearchQuery("in:history change")).degraded == ()
    add_commit(root, "Planner change", day=9)
    reads.clear()

    answer = reader.search(SearchQuery("in:history change"))

    assert len(answer.results) == 4
    assert "history" in answer.degraded
    assert any("enableIndexing" in note for note in answer.suggestions)
    assert reads == []


def test_without_indexed_commits_a_question_is_answered_from_the_files(
    root: Path, make_app: MakeApp
) -> None:
    writer: App = make_app(root)
    writer.index()
    writer.close()
    reader: App = make_app(root, enable_indexing=False)

    files = reader.search(SearchQuery("when was the cache changed"))
    commits = reader.search(SearchQuery("in:history cache"))

    assert "cache.py" in [result.file_path for result in files.results]
    assert commits.results == ()
    for answer in (files, commits):
        assert "history" in answer.degraded
        assert answer.suggestions[0].startswith("no commits were searched: enableIndexing is false")


def test_a_folder_below_the_work_tree_finds_only_commits_that_changed_it(
    root: Path, make_app: MakeApp
) -> None:
    write(root, "sub/inner.py", "def inner():\n    return 'zebra'\n")
    write(root, "outer.py", "def outer():\n    return 'zebra giraffe giraffe'\n")
    both = commit_all(root, "Zebra change", day=9)
    outside = add_commit(root, "Zebras outside change", day=10)
    app: App = make_app(root / "sub")

    found = find_commits(app, "in:history giraffe zebra change")

    assert [it.file_path for it in found] == [f"git:{both}"]
    commit = found[0].commit
    assert commit is not None
    assert [(file.path, file.functions) for file in commit.files] == [("inner.py", ("inner",))]
    shown = [found[0].snippet, *(span.snippet for span in found[0].more_spans)]
    assert "giraffe" not in "".join(shown)
    assert "sub/" not in "".join(shown)
    assert find_commits(app, outside) == []
    assert [it.file_path for it in find_commits(app, f"{both}~1..{outside}")] == [f"git:{both}"]
    files = app.search(SearchQuery("inner zebra")).results
    assert files[0].last_commit is not None
    assert files[0].last_commit.hash == both


def test_commits_that_may_belong_to_another_repository_are_not_indexed(
    root: Path, tmp_path: Path, make_app: MakeApp
) -> None:
    other = make_history(tmp_path / "other", ["Other change"])
    write(root, ".git/objects/info/alternates", f"{other}/.git/objects\n")
    app: App = make_app(root)

    with pytest.raises(QueryError, match=r"no commits can be searched: .*/alternates borrows"):
        subjects_of(app)
    with pytest.raises(QueryError, match="git repack -a -d"):
        app.impact("change the cache")
    with pytest.raises(IndexStorageError, match="git repack -a -d"):
        app.index_history()
    (note,) = app.search("when was the cache added").suggestions
    assert "git repack -a -d" in note


def test_a_folder_without_git_has_no_commits(tmp_path: Path, make_app: MakeApp) -> None:
    write(tmp_path / "plain", "a.py", "def cache():\n    return 1\n")
    app: App = make_app(tmp_path / "plain")

    answer = app.search(SearchQuery("when was the cache changed"))

    assert [result.file_path for result in answer.results] == ["a.py"]
    assert "history" not in answer.degraded
    with pytest.raises(QueryError, match="not in a git repository"):
        subjects_of(app)


def test_indexed_commits_are_kept_if_git_is_missing(
    root: Path, make_app: MakeApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ignored_changes, "_RETRY_S", 0.0)
    notices: list[str] = []
    app: App = make_app(root, notices=notices)
    app.index_history()
    path = os.environ["PATH"]
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))

    answer = app.search(SearchQuery("in:history change"))

    assert "history" in answer.degraded
    # The commits are indexed, but without git, it is not known which files are ignored.
    assert answer.suggestions[0].startswith("no commits were searched: git failed to check which")
    assert answer.results == ()
    # It is not known either which tags exist.
    notes = app.search(SearchQuery("what changed between v8.0 and v9.0")).suggestions
    assert not [note for note in notes if "is named" in note]
    monkeypatch.setenv("PATH", path)
    assert count(app) == 4
    assert "history" not in app.search(SearchQuery("in:history change")).degraded


def test_a_repository_without_commits_has_an_empty_answer(
    tmp_path: Path, make_app: MakeApp
) -> None:
    root = make_history(tmp_path / "empty", [])
    app: App = make_app(root)

    assert subjects_of(app) == set()
    add_commit(root, "First change", day=1)
    assert subjects_of(app) == {"First change"}


@pytest.mark.parametrize("damage", [b"", b"no database" * 1000])
def test_a_damaged_index_is_created_again(
    damage: bytes, root: Path, make_app: MakeApp, tmp_path: Path
) -> None:
    app: App = make_app(root)
    app.index_history()
    app.close()
    databases = [p for p in (tmp_path / "index/history").rglob("*.db") if p.is_file()]
    databases += [p for p in (tmp_path / "index/history").rglob("*.sqlite*") if p.is_file()]
    assert databases
    for database in databases:
        database.write_bytes(damage)

    assert subjects_of(make_app(root)) == set(SUBJECTS)


def test_clear_deletes_the_indexed_commits(app: App, tmp_path: Path) -> None:
    app.index()
    app.index_history()

    assert app.clear()

    assert app.status().history is None
    assert not (tmp_path / "index").exists() or not any((tmp_path / "index").rglob("*.db"))
    assert subjects_of(app) == set(SUBJECTS)


def test_a_change_of_a_submodule_is_no_change_of_a_file(root: Path, app: App) -> None:
    head = git(root, "rev-parse", "HEAD").strip()
    git(root, "update-index", "--add", "--cacheinfo", f"160000,{head},module")
    git(root, "commit", "-qm", "Submodule change")

    commit = find_commits(app, "in:history submodule change")[0].commit

    assert commit is not None
    assert commit.files == ()


def test_the_answer_does_not_depend_on_the_order_of_indexing(
    root: Path, make_app: MakeApp, tmp_path: Path
) -> None:
    staged: App = make_app(root, index_dir=tmp_path / "staged")
    staged.index_history()
    for day, name in enumerate(("Planner", "Solver", "Widget"), start=9):
        add_commit(root, f"{name} change", day=day)
        staged.index_history()
    at_once: App = make_app(root, index_dir=tmp_path / "at-once")

    for question in (
        "in:history change",
        "which commit changed the solver",
        "in:history widget_11",
    ):
        answers = [
            [(it.file_path, it.score, it.commit) for it in find_commits(app, question)]
            for app in (staged, at_once)
        ]
        assert answers[0] == answers[1]
        assert answers[0]


def test_commits_are_read_again_after_their_format_changed(
    app: App, reads: list[str], root: Path, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    app.index_history()
    app.close()
    reads.clear()
    monkeypatch.setattr("rootle.indexing.commit_index.COMMIT_FORMAT", -1)

    make_app(root).index_history()

    assert len(reads) == 2 * 4


@pytest.mark.parametrize("rule", [".rootleignore", ".gitignore"])
def test_the_changes_of_a_file_that_is_ignored_later_are_not_shown(
    rule: str, root: Path, app: App
) -> None:
    write(root, "private.py", "def walrus_customer():\n    return 'pays 12345'\n")
    write(root, "open.py", "def walrus_count():\n    return 1\n")
    commit_all(root, "Add walrus", day=9)
    questions = (
        "in:history walrus pays",
        "who added walrus_customer",
        "who changed private.py last",
        'in:history "pays 12345"',
        "why does walrus_customer return 12345",
    )
    assert any("12345" in shown_text(app, question) for question in questions)
    write(root, rule, "private.py\n")
    if rule == ".gitignore":
        git(root, "rm", "-q", "--cached", "private.py")
    for question in questions:
        shown = shown_text(app, question)
        assert "12345" not in shown
        assert "def walrus_customer" not in shown
    assert "def walrus_count" in shown_text(app, "in:history walrus")
    (root / rule).unlink()
    assert "12345" in shown_text(app, questions[0])


@pytest.mark.parametrize("command", ["check-ignore", "ls-files"])
def test_no_changes_are_shown_while_git_cannot_find_the_ignored_files(
    command: str, root: Path, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(root, "private.py", "def walrus_customer():\n    return 'pays 12345'\n")
    commit_all(root, "Add walrus", day=9)
    write(root, ".gitignore", "private.py\ncache.py\n")
    git(root, "rm", "-q", "--cached", "private.py")
    with make_app(root) as writer:
        writer.index()
        writer.index_history()
    index = make_app(root)._container.history().commit_index()
    assert index is not None

    def fail(folder: str, *arguments: str, **options: Any) -> GitOutput:
        if command in arguments:
            return GitOutput(b"", b"", -signal.SIGKILL, timed_out=True)
        return run_git(folder, *arguments, **options)

    def read_all(index: CommitIndex) -> str:
        reader = index.open_shown()
        return "\n".join(reader.text(state.id) for state in reader.all_files())

    monkeypatch.setattr(ignored_changes, "_RETRY_S", 0.0)
    app = make_app(root)
    app.search(SearchQuery("cache"))  # needs no commits
    with monkeypatch.context() as patch:
        patch.setattr(repository, "run_git", fail)
        text = read_all(index)
        # The message of a commit that changed only ignored files is not shown either.
        answer = app.search(SearchQuery("in:history walrus"))
    assert answer.results == ()
    assert answer.suggestions[0] == (
        "no commits were searched: git failed to check which files are ignored, so commits are "
        "hidden until it succeeds"
    )
    assert answer.degraded == ("history",)
    assert "Add walrus" in text
    assert "12345" not in text
    assert "def cache_1" not in text
    text = read_all(index)
    assert "12345" not in text
    assert "def cache_1" in text


def test_a_commit_that_changed_only_files_that_are_ignored_now_is_not_listed(
    root: Path, app: App
) -> None:
    write(root, "private.py", "def walrus_customer():\n    return 'pays 12345'\n")
    commit_all(root, "Add the walrus customer", day=9)
    write(root, "private.py", "def walrus_customer():\n    return 'pays 99999'\n")
    write(root, "open.py", "def walrus_count():\n    return 1\n")
    commit_all(root, "Count the walrus", day=10)
    question = "in:history walrus"
    assert {"Add the walrus customer", "Count the walrus"} <= subjects_of(app, question)

    write(root, ".rootleignore", "private.py\n")
    assert "Count the walrus" in subjects_of(app, question)
    assert "Add the walrus customer" not in subjects_of(app, question)

    (root / ".rootleignore").unlink()
    assert "Add the walrus customer" in subjects_of(app, question)


def test_a_tracked_file_is_shown_although_git_ignores_its_name(root: Path, app: App) -> None:
    write(root, "build.log", "walrus_count = 1\n")
    commit_all(root, "Add walrus", day=9)
    write(root, ".gitignore", "*.log\n")
    assert "+walrus_count" in shown_text(app, "in:history walrus_count")


def shown_text(app: App, question: str) -> str:
    results = app.search(question).results
    return "\n".join(
        "\n".join((one.snippet, *(span.snippet for span in one.more_spans)))
        for one in results
        if one.kind == "history"
    )
