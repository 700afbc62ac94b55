"""The history of a large repository is read while its first index is built."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import NoReturn

import pytest
from long_history import last_change_s, make_long_history
from sample import MakeApp, git

from rootle import App
from rootle.indexing.git_history import background_history, commit_date_update, early_walk
from rootle.indexing.git_history.early_walk import EarlyWalk
from rootle.sources.git.repository import head_commit

pytestmark = pytest.mark.slow

_COMMITS = 2_500


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_long_history(tmp_path_factory.mktemp("early") / "repo", _COMMITS)


@pytest.fixture
def clone(history: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(commit_date_update, "_MAX_PACK_INDEX_BYTES", 0)
    git(tmp_path, "clone", "-q", history, "clone")
    return tmp_path / "clone"


def read_dates(app: App) -> dict[str, float | None]:
    states = app._container.indexer().snapshot().all_files()
    return {state.path: state.last_modified_s for state in states if state.skip is None}


def expected_dates(root: Path) -> dict[str, float]:
    return {path: last_change_s(path, _COMMITS) for path in git(root, "ls-files").splitlines()}


def refuse(*_: object) -> NoReturn:
    raise AssertionError("the history was read again")


def test_the_first_index_contains_the_dates_of_an_early_walk(
    clone: Path, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background_history, "open_walk", refuse)
    app = make_app(clone)
    app.index()
    assert read_dates(app) == expected_dates(clone)


def test_a_walk_from_another_commit_is_not_used(
    clone: Path, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    walk_from = head_commit(clone)
    monkeypatch.setattr(early_walk, "head_commit", lambda _: walk_from)
    git(clone, "commit", "-q", "--allow-empty", "-m", "later")
    (clone / "old.py").write_text("zebra = 'new'\n")
    git(clone, "commit", "-qam", "change", when_s=2_000_000_000)
    app = make_app(clone)
    app.index()
    assert read_dates(app) == {**expected_dates(clone), "old.py": 2_000_000_000}


def test_an_unfinished_walk_is_continued(
    clone: Path, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background_history, "open_walk", refuse)
    run = EarlyWalk._run
    positions = []

    def read_one_commit(walk: EarlyWalk) -> None:
        walk._is_stopping.set()
        run(walk)
        assert walk._walk is not None
        positions.append(walk._walk.position)

    monkeypatch.setattr(EarlyWalk, "_run", read_one_commit)
    app = make_app(clone)
    app.index()
    assert positions == [1]
    assert read_dates(app) == expected_dates(clone)


def test_a_failed_update_stops_the_early_walk(clone: Path, make_app: MakeApp) -> None:
    def abort(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make_app(clone).index(abort)
    assert not [one for one in threading.enumerate() if one.name == "rootle-early-history"]
