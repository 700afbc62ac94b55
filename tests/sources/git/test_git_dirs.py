"""git is used only if its folders belong to the work tree."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from sample import git, make_repository, write

from rootle import open_app
from rootle.errors import SourceError
from rootle.sources.git.repository import has_unreadable_head, head_commit, list_files
from rootle.types import Passage

Disguise = Callable[[Path, Path], object]


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """Return another repository of the user, which must not be shown."""
    files = dict.fromkeys(("plan.md", "inner/plan.md"), "the secret plan\n")
    return make_repository(tmp_path / "secret", files)


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "hostile", {"readme.md": "welcome\n"})


def hash_of(root: Path) -> str:
    return git(root, "rev-parse", "HEAD").strip()


def replace_git(root: Path, pointer: str | Path) -> None:
    """Replace the git folder with a file that contains the path of another git folder."""
    shutil.rmtree(root / ".git")
    (root / ".git").write_text(f"gitdir: {pointer}\n")


def replace_by_link(path: Path, target: Path) -> None:
    shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    path.symlink_to(target)


def _file(hostile: Path, secret: Path) -> None:
    replace_git(hostile, secret / ".git")


def _relative_file(hostile: Path, secret: Path) -> None:
    del secret
    replace_git(hostile, "../secret/.git")


def _file_behind_a_link(hostile: Path, secret: Path) -> None:
    replace_git(hostile, secret / ".git")
    (hostile / ".git").rename(hostile / "pointer")
    (hostile / ".git").symlink_to("pointer")


def _file_with_a_space_at_the_end(hostile: Path, secret: Path) -> None:
    (hostile / ".git").rename(hostile / "fake")
    (hostile / "fake ").symlink_to(secret / ".git")
    (hostile / ".git").write_text("gitdir: fake \n")


def _file_through_a_link(hostile: Path, secret: Path) -> None:
    (hostile / ".git").rename(hostile / "fake")
    (secret / ".git/any").mkdir()
    (hostile / "link").symlink_to(secret / ".git/any")
    (hostile / "any").mkdir()
    (hostile / ".git").write_text("gitdir: link/..\n")


def _link(hostile: Path, secret: Path) -> None:
    replace_by_link(hostile / ".git", secret / ".git")


def _commondir(hostile: Path, secret: Path) -> None:
    write(hostile, ".git/commondir", f"{secret}/.git\n")


def _linked_commondir(hostile: Path, secret: Path) -> None:
    write(hostile, "pointer", f"{secret}/.git\n")
    (hostile / ".git/commondir").symlink_to("../pointer")


def _worktree_of_its_own(hostile: Path, secret: Path) -> None:
    own = hostile / "fake/worktrees/x"
    shutil.copytree(hostile / ".git", own)
    replace_git(hostile, own)
    write(hostile, "fake/worktrees/x/commondir", f"{secret}/.git\n")
    write(hostile, "fake/worktrees/x/gitdir", f"{hostile}/.git\n")


def _alternates(hostile: Path, secret: Path) -> None:
    write(hostile, ".git/objects/info/alternates", f"{secret}/.git/objects\n")


def _linked_alternates(hostile: Path, secret: Path) -> None:
    write(hostile, "names", f"{secret}/.git/objects\n")
    (hostile / ".git/objects/info/alternates").symlink_to(hostile / "names")


def _linked_objects(hostile: Path, secret: Path) -> None:
    replace_by_link(hostile / ".git/objects", secret / ".git/objects")


def _linked_pack_folder(hostile: Path, secret: Path) -> None:
    replace_by_link(hostile / ".git/objects/pack", secret / ".git/objects/pack")


def _linked_packs(hostile: Path, secret: Path) -> None:
    for pack in (secret / ".git/objects/pack").iterdir():
        (hostile / ".git/objects/pack" / pack.name).symlink_to(pack)


def _linked_objects_one_by_one(hostile: Path, secret: Path) -> None:
    pack = next((secret / ".git/objects/pack").glob("*.pack"))
    moved = pack.rename(secret / "moved.pack")
    for index in (secret / ".git/objects/pack").glob("*"):
        index.unlink()
    unpack = f"git -C {secret} unpack-objects -q <{moved}"
    assert os.system(unpack) == 0
    for folder in (secret / ".git/objects").glob("??"):
        (hostile / ".git/objects" / folder.name).symlink_to(folder)


def _repository_above(hostile: Path, secret: Path) -> None:
    """Put a folder with an invalid `.git` into a folder whose `.git` is a link to the secret."""
    inner = hostile / "inner"
    (inner / ".git").mkdir(parents=True)
    replace_by_link(hostile / ".git", secret / ".git")


_DISGUISES = (
    *(_file, _relative_file, _file_behind_a_link, _file_with_a_space_at_the_end),
    *(_file_through_a_link, _link, _commondir, _linked_commondir, _worktree_of_its_own),
    *(_alternates, _linked_alternates, _linked_objects, _linked_pack_folder, _linked_packs),
    *(_linked_objects_one_by_one, _repository_above),
)


@pytest.mark.parametrize("disguise", _DISGUISES)
def test_commits_of_another_repository_are_not_shown(
    disguise: Disguise, hostile: Path, secret: Path, tmp_path: Path
) -> None:
    sha = hash_of(secret)
    write(hostile, "inner/a.md", "inner\n")
    disguise(hostile, secret)
    root = hostile / "inner" if disguise is _repository_above else hostile
    # With `_repository_above`, git in `inner` uses the repository of the folder above.
    if disguise is not _repository_above:
        assert "secret plan" in git(hostile, "show", sha), "the disguise does not work"

    with open_app(root, index_dir=tmp_path / "index") as app, pytest.raises(SourceError) as error:
        app.read(sha)

    assert "secret plan" not in str(error.value)
    assert "commits are not shown here" in str(error.value) or disguise is _repository_above


def test_the_files_of_a_folder_with_a_foreign_git_folder_are_still_listed(
    hostile: Path, secret: Path, caplog: pytest.LogCaptureFixture
) -> None:
    replace_git(hostile, secret / ".git")

    assert list_files(os.fspath(hostile)) is None
    assert f"git -C {hostile} config core.worktree {hostile}" in caplog.text
    assert head_commit(hostile) is None
    assert has_unreadable_head(os.fspath(hostile))


def test_a_linked_worktree_shows_the_commits_of_its_repository(
    secret: Path, tmp_path: Path
) -> None:
    tree = tmp_path / "tree"
    git(secret, "worktree", "add", "-q", tree)
    write(tree, "more.md", "more plans\n")
    git(tree, "add", "-A")
    git(tree, "commit", "-qm", "More")

    with open_app(tree, index_dir=tmp_path / "index") as app:
        assert "more plans" in _text(app.read(hash_of(tree)))
    assert list_files(os.fspath(tree)) is not None


def test_a_linked_worktree_that_was_moved_is_used_after_a_repair(
    secret: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    git(secret, "worktree", "add", "-q", tmp_path / "tree")
    tree = (tmp_path / "tree").rename(tmp_path / "moved")

    assert list_files(os.fspath(tree)) is None
    assert f"git -C {tree} worktree repair" in caplog.text
    git(tree, "worktree", "repair")
    assert list_files(os.fspath(tree)) is not None


@pytest.mark.parametrize("in_worktree", [False, True])
def test_a_submodule_shows_its_commits(
    secret: Path, hostile: Path, tmp_path: Path, in_worktree: bool
) -> None:
    add = ("-c", "protocol.file.allow=always", "submodule")
    git(hostile, *add, "add", "-q", os.fspath(secret), 'mod;"x')
    git(hostile, "commit", "-qm", "Add a submodule")
    if in_worktree:
        git(hostile, "worktree", "add", "-q", tmp_path / "tree")
        git(tmp_path / "tree", *add, "update", "-q", "--init")
    module = (tmp_path / "tree" if in_worktree else hostile) / 'mod;"x'

    with open_app(module, index_dir=tmp_path / "index") as app:
        assert "secret plan" in _text(app.read(hash_of(module)))


def test_a_submodule_with_settings_of_its_worktree_shows_its_commits(
    secret: Path, hostile: Path, tmp_path: Path
) -> None:
    git(hostile, "-c", "protocol.file.allow=always", "submodule", "add", "-q", secret, "mod")
    git(hostile / "mod", "sparse-checkout", "set", "a")

    with open_app(hostile / "mod", index_dir=tmp_path / "index") as app:
        assert "secret plan" in _text(app.read(hash_of(secret)))


def test_a_separate_git_folder_is_used_once_it_names_the_work_tree(tmp_path: Path) -> None:
    root = tmp_path / "root"
    git(tmp_path, "init", "-q", "--separate-git-dir", tmp_path / "state.git", root)
    write(root, "a.md", "text\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "first")

    assert head_commit(root) is None
    git(root, "config", "core.worktree", root)
    assert head_commit(root) == hash_of(root)


def _text(passage: Passage) -> str:
    return "\n".join(passage.lines)
