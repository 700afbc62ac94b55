"""Dates depend on the git history, not on the updates that led to the state of the index."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from itertools import chain, repeat
from pathlib import Path
from random import Random

import pytest
from commit_repository import commit_files
from long_history import last_change_s, make_long_history
from polling import wait_until
from sample import OLD_S, MakeApp, git, make_repository, write

from rootle import App, SearchQuery
from rootle.cli.status_output import print_status
from rootle.config.weights import SignalWeights
from rootle.index.local.snapshot_source import open_snapshot
from rootle.indexing.git_history import background_history, commit_date_update
from rootle.indexing.git_history.background_history import HistoryReader
from rootle.serialization.timestamps import format_timestamp

pytestmark = pytest.mark.slow

_COMMITS = 3_500
_DAY_S = 86_400


@pytest.fixture(scope="session")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository whose history is too long to be read at once; copy it before you change it."""
    return make_long_history(tmp_path_factory.mktemp("history") / "repo", _COMMITS)


@pytest.fixture
def clone(history: Path, tmp_path: Path) -> Path:
    git(tmp_path, "clone", "-q", history, "clone")
    return tmp_path / "clone"


def read_dates(app: App) -> dict[str, tuple[str | None, str]]:
    """Update the index and return the date and author of every file."""
    app.search("zebra")
    states = app._container.indexer().snapshot().all_files()
    return {
        state.path: (_format(state.last_modified_s), state.author)
        for state in states
        if state.skip is None
    }


def _format(time_s: float | None) -> str | None:
    return None if time_s is None else format_timestamp(time_s)


def read_fresh_dates(root: Path, make_app: MakeApp) -> dict[str, tuple[str | None, str]]:
    index_dir = root.parent / "fresh-index"
    shutil.rmtree(index_dir, ignore_errors=True)
    app = make_app(root, index_dir=index_dir)
    app.index()
    return read_dates(app)


def wait_for_dates(app: App) -> None:
    wait_until(lambda: not app.status().undated_files, "all dates are known")


def expected_dates(root: Path) -> dict[str, tuple[str | None, str]]:
    return {
        path: (format_timestamp(last_change_s(path, _COMMITS)), "t <t@example.com>")
        for path in git(root, "ls-files").splitlines()
    }


def test_every_file_of_a_long_history_has_the_date_of_its_last_commit(
    clone: Path, make_app: MakeApp
) -> None:
    app = make_app(clone)
    app.index()

    dates = read_dates(app)

    assert len(dates) == 42
    assert dates == expected_dates(clone)
    days = app.search(SearchQuery("zebra", min_recency_days=7, limit=50))
    assert days.results == ()
    assert not any("date" in note for note in days.suggestions)


def test_the_first_answer_says_which_dates_are_not_known_yet(
    clone: Path,
    make_app: MakeApp,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(HistoryReader, "start", lambda self: None)
    monkeypatch.setattr(commit_date_update, "_MAX_COMMITS_AT_ONCE", 1_000)
    app = make_app(clone)

    recent = app.search(SearchQuery("zebra", min_recency_days=7, limit=50))
    dates = read_dates(app)
    shown = app.search(SearchQuery("old", file_paths=("old.py",))).results

    assert recent.results == ()
    assert any("not known: 2 files of 42" in note for note in recent.suggestions)
    assert shown[0].metadata.last_modified is None
    assert dates["sub/old.py"] == (None, "")
    assert dates["busy/file_7.py"] == expected_dates(clone)["busy/file_7.py"]
    status = app.status()
    assert status.undated_files == 2
    print_status(status, with_skipped_files=False)
    expected = (
        "dates       not known for 2 of 42 files: the git history has not been read completely yet"
    )
    assert f"{expected} (1,000 commits so far)" in capsys.readouterr().out


def test_the_rest_of_a_long_history_is_read_in_the_background(
    clone: Path, make_app: MakeApp
) -> None:
    app = make_app(clone)
    app.search("zebra")

    wait_for_dates(app)

    assert read_dates(app) == expected_dates(clone)
    assert app.status().undated_reason == ""


def test_a_large_history_is_not_read_before_the_answer(
    clone: Path, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commit_date_update, "_MAX_PACK_INDEX_BYTES", 0)
    monkeypatch.setattr(HistoryReader, "start", lambda self: None)
    app = make_app(clone)
    app.search("zebra")

    assert app.status().undated_files == 42


def test_several_short_processes_read_the_history_together(
    clone: Path, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commit_date_update, "_MAX_PACK_INDEX_BYTES", 0)
    index_dir = clone.parent / "index"
    # On a slow machine, git needs longer than 20 ms before its first output.
    times_s = chain((0.02, 0.04, 0.08, 0.16, 0.32), repeat(0.5))

    def search_once() -> bool:
        monkeypatch.setattr(background_history, "_MIN_S", next(times_s))
        app = make_app(clone, index_dir=index_dir)
        app.search("zebra")
        app.close()
        return not app.status().undated_files

    wait_until(search_once, "short searches read the history to its end")
    assert read_dates(make_app(clone, index_dir=index_dir)) == expected_dates(clone)


def test_a_new_commit_during_the_walk_is_read_at_once(
    clone: Path, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(HistoryReader, "start", lambda self: None)
        patch.setattr(commit_date_update, "_MAX_PACK_INDEX_BYTES", 0)
        app = make_app(clone)
        app.search("zebra")
        write(clone, "old.py", "zebra = 'edited'\n")
        git(clone, "commit", "-qam", "edit", when_s=OLD_S + 400_000)
        assert read_dates(app)["old.py"][0] == format_timestamp(OLD_S + 400_000)
        assert app.status().undated_files == 41
    app.search("zebra")
    wait_for_dates(app)

    assert read_dates(app) == read_fresh_dates(clone, make_app)


def test_a_switch_to_another_branch_restarts_the_walk(
    clone: Path, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(HistoryReader, "start", lambda self: None)
        app = make_app(clone)
        app.search("zebra")
        git(clone, "checkout", "-q", "-b", "older", "HEAD~100")
        app.search("zebra")
    app.search("zebra")
    wait_for_dates(app)

    assert read_dates(app) == read_fresh_dates(clone, make_app)


_WALK_SLOWLY = """
import os, signal, sys
import rootle.indexing.git_history.commit_date_update as commit_date_update
import rootle.indexing.git_history.background_history as reader
from rootle.indexing.git_history.history_walk import HistoryWalk
commit_date_update._MAX_PACK_INDEX_BYTES = 0
reader._SAVE_INTERVAL_S = 0.0
reader.HistoryReader.read_early = lambda self: None  # it does not save its progress
fatal = int(sys.argv.pop(1))
add = HistoryWalk._add
def add_or_die(self, commit):
    if self.position == fatal:
        os.kill(os.getpid(), signal.SIGKILL)
    add(self, commit)
HistoryWalk._add = add_or_die
from rootle import open_app
with open_app(sys.argv[1], index_dir=sys.argv[2]) as app:
    app.index()
"""


def test_a_walk_continues_after_its_process_was_killed(
    clone: Path, tmp_path: Path, make_app: MakeApp
) -> None:
    index_dir = tmp_path / "index"
    for fatal in (3, 40, 52, 60):
        command = [sys.executable, "-c", _WALK_SLOWLY, str(fatal), str(clone), str(index_dir)]
        assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
        records = open_snapshot(index_dir).value("histories")
        assert f'"walk_position": {fatal}' in records
    app = make_app(clone)
    app.index()

    assert read_dates(app) == expected_dates(clone)


def test_files_of_a_shallow_clone_have_no_date_unless_a_known_commit_changed_them(
    history: Path, tmp_path: Path, make_app: MakeApp
) -> None:
    git(tmp_path, "clone", "-q", "--depth=3", f"file://{history}", "clone")
    root = tmp_path / "clone"
    write(root, "old.py", "zebra = 'edited'\n", when_s=OLD_S + 9)
    write(root, "untracked.py", "zebra = 'new'\n", when_s=OLD_S + 8)
    app = make_app(root)
    app.index()

    dates = {path: date for path, (date, _) in read_dates(app).items() if date is not None}

    known = ["busy/file_18.py", "busy/file_19.py"]
    assert dates == {
        **{path: format_timestamp(last_change_s(path, _COMMITS)) for path in known},
        "old.py": format_timestamp(OLD_S + 9),
        "untracked.py": format_timestamp(OLD_S + 8),
    }
    response = app.search(SearchQuery("zebra", min_recency_days=99_999, limit=50))
    assert {result.file_path for result in response.results} == set(dates)
    assert any("39 files of 43" in note for note in response.suggestions)
    assert "git fetch --unshallow" in app.status().undated_reason

    git(root, "fetch", "-q", "--unshallow")
    app.index()
    assert app.status().undated_files == 0


def test_a_partial_clone_has_no_dates_beyond_its_objects(
    history: Path, tmp_path: Path, make_app: MakeApp
) -> None:
    git(history, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "-q", "--filter=tree:0", f"file://{history}", "clone")
    app = make_app(tmp_path / "clone")
    app.index()

    dates = read_dates(app)

    assert len(dates) == 42
    assert {date for date, _ in dates.values()} <= {None, format_timestamp(OLD_S + 3_499 * 60)}
    assert "partial" in app.status().undated_reason


def test_an_unknown_date_neither_raises_nor_lowers_a_rank(
    history: Path, tmp_path: Path, make_app: MakeApp
) -> None:
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{history}", "clone")
    root = tmp_path / "clone"
    write(root, "sub/new.py", "zebra = 'recent'\n", when_s=time.time() - 30 * _DAY_S)
    app = make_app(root, signal_weights=SignalWeights(recency_boost=1.0))

    found = app.search(SearchQuery("zebra", file_paths=("sub",)), explain=True).results

    gains = {r.file_path: (r.explanation or {})["recencyBoost"] for r in found}
    assert gains["sub/old.py"] == gains["sub/new.py"] > 0


def test_without_git_no_date_is_known(
    clone: Path, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = make_app(clone)
    monkeypatch.setenv("PATH", "")

    assert {date for date, _ in read_dates(app).values()} == {None}
    assert app.status().undated_reason == "git cannot read this repository"


def test_dates_are_read_once_git_can_read_the_repository(tmp_path: Path, make_app: MakeApp) -> None:
    root = make_repository(tmp_path / "repo", {"main.py": "zebra = 'main'\n"})
    index_dir = tmp_path / "index"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", "")
        assert read_dates(make_app(root, index_dir=index_dir)) == {"main.py": (None, "")}

    app = make_app(root, index_dir=index_dir)
    assert read_dates(app) == {"main.py": (format_timestamp(OLD_S), "t <t@example.com>")}


def test_a_repository_that_git_cannot_read_does_not_outdate_the_index(
    tmp_path: Path, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make_repository(tmp_path / "repo", {"main.py": "zebra = 'main'\n"})
    monkeypatch.setenv("PATH", "")
    apps = [make_app(root, index_dir=tmp_path / "index") for _ in range(4)]
    generations = [app.search("zebra").generation for app in apps]
    assert generations[-1] == generations[-2]


def test_the_files_of_submodules_and_nested_repositories_have_their_own_dates(
    tmp_path: Path, make_app: MakeApp
) -> None:
    library = make_repository(tmp_path / "library", {"lib.py": "zebra = 'library'\n"})
    root = make_repository(tmp_path / "repo", {"main.py": "zebra = 'main'\n"})
    git(root, "-c", "protocol.file.allow=always", "submodule", "add", "-q", library, "vendor/lib")
    git(root, "commit", "-qm", "add", when_s=OLD_S + 50)
    nested = make_repository(root / "nested", {"inner.py": "zebra = 'inner'\n"})
    app = make_app(root)
    app.index()
    before = read_dates(app)
    write(nested, "more.py", "zebra = 'more'\n")
    git(nested, "add", "more.py")
    app.search("zebra")
    git(nested, "commit", "-qm", "more", when_s=OLD_S + 60)
    after = read_dates(app)

    assert {
        path: before[path][0] for path in ("main.py", "nested/inner.py", "vendor/lib/lib.py")
    } == {
        path: format_timestamp(OLD_S)
        for path in ("main.py", "nested/inner.py", "vendor/lib/lib.py")
    }
    assert before[".gitmodules"][0] == format_timestamp(OLD_S + 50)
    assert after["nested/more.py"][0] == format_timestamp(OLD_S + 60)
    assert after == read_fresh_dates(root, make_app)


def test_a_nested_repository_without_a_commit_does_not_outdate_the_index(
    tmp_path: Path, make_app: MakeApp
) -> None:
    root = make_repository(tmp_path / "repo", {"main.py": "zebra = 'main'\n"})
    write(root, "nested/inner.py", "zebra = 'inner'\n")
    git(root / "nested", "init", "-q")
    app = make_app(root)
    app.index()

    assert app._container.indexer().state.find_work() is None
    assert read_dates(app)["nested/inner.py"] == (format_timestamp(OLD_S), "")


def test_a_linked_worktree_has_the_dates_of_its_repository(
    clone: Path, tmp_path: Path, make_app: MakeApp
) -> None:
    git(clone, "worktree", "add", "-q", tmp_path / "tree")
    app = make_app(tmp_path / "tree")
    app.index()

    assert read_dates(app) == expected_dates(clone)


def test_a_subfolder_has_the_dates_of_its_repository(clone: Path, make_app: MakeApp) -> None:
    app = make_app(clone / "sub")
    app.index()

    assert read_dates(app) == {"old.py": (format_timestamp(OLD_S), "t <t@example.com>")}


def test_a_deleted_file_has_its_date_again_after_it_was_restored(
    clone: Path, make_app: MakeApp
) -> None:
    app = make_app(clone)
    app.index()
    (clone / "old.py").unlink()
    assert "old.py" not in read_dates(app)
    git(clone, "checkout", "old.py")

    assert read_dates(app) == expected_dates(clone)


def test_dates_are_updated_after_a_run_that_ended_before_it(
    clone: Path, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = make_app(clone)
    app.index()
    write(clone, "old.py", "zebra = 'edited'\n", when_s=OLD_S + 9)

    def fail(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(commit_date_update, "update_commit_dates", fail)
        with pytest.raises(KeyboardInterrupt):
            app.search("zebra")
    assert read_dates(app)["old.py"][0] == format_timestamp(OLD_S + 9)


class Actions:
    """Random changes of a repository: edits, commits, branches, merges, rewritten history."""

    def __init__(self, root: Path, rng: Random) -> None:
        self._root = root
        self._rng = rng
        self._count = 0

    def run(self) -> None:
        name = self._rng.choice(
            "edit edit commit commit commit branch switch merge merge amend reset rename delete "
            "restore orphan".split()
        )
        try:
            getattr(self, f"_{name}")()
        # For example, there is nothing to commit, there is a conflict, or the branch does not
        # exist.
        except subprocess.CalledProcessError:
            for command in (("merge", "--abort"), ("reset", "-q", "--hard")):
                subprocess.run(
                    ["git", "-C", self._root, *command], capture_output=True, check=False
                )

    def _git(self, *arguments: str) -> str:
        return git(self._root, *arguments, when_s=self._draw_time())

    def _draw_time(self) -> int:
        # Some dates jump back, as on machines with wrong clocks.
        return OLD_S + self._count * 60 + self._rng.randrange(-600, 600)

    def _edit(self) -> None:
        self._count += 1
        path = f"{self._rng.choice(['', 'sub/'])}{self._rng.choice('abcdefgh')}.py"
        write(self._root, path, f"zebra = {'1' * self._count}\n", when_s=OLD_S - self._count)

    def _commit(self) -> None:
        self._edit()
        commit_files(self._root, "x", when_s=self._draw_time())

    def _branch(self) -> None:
        self._git("checkout", "-q", "-b", f"branch-{self._count}")

    def _switch(self) -> None:
        self._git("checkout", "-q", self._pick_branch())

    def _merge(self) -> None:
        self._git("merge", "-q", "--no-edit", "-X", "ours", self._pick_branch())

    def _amend(self) -> None:
        self._edit()
        self._git("commit", "-qam", "amended", "--amend")

    def _reset(self) -> None:
        self._git("reset", "-q", "--hard", f"HEAD~{self._rng.randrange(1, 4)}")

    def _rename(self) -> None:
        files = self._git("ls-files").split()
        self._git("mv", self._rng.choice(files), f"moved_{self._count}.py")
        self._git("commit", "-qm", "rename")

    def _delete(self) -> None:
        (self._root / self._rng.choice(self._git("ls-files").split())).unlink(missing_ok=True)

    def _restore(self) -> None:
        self._git("checkout", "-q", ".")

    def _orphan(self) -> None:
        self._git("checkout", "-q", "--orphan", f"orphan-{self._count}")
        self._git("commit", "-qm", "orphan")

    def _pick_branch(self) -> str:
        names = self._git("for-each-ref", "--format=%(refname:short)", "refs/heads").split()
        return self._rng.choice(names)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_dates_do_not_depend_on_the_changes_that_led_to_a_tree(
    seed: int, tmp_path: Path, make_app: MakeApp
) -> None:
    rng = Random(seed)
    root = make_repository(tmp_path / "repo", {"a.py": "zebra = 0\n", "sub/b.py": "zebra = 1\n"})
    actions = Actions(root, rng)
    app = make_app(root)
    for _ in range(8):
        for _ in range(rng.randrange(1, 5)):
            actions.run()
        if rng.random() < 0.3:  # as if a new process started
            app.close()

        assert read_dates(app) == read_fresh_dates(root, make_app), seed
