"""Files below a folder are opened without following links, even links that have just appeared."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from rootle.storage import open_without_links
from rootle.storage.open_without_links import open_below


def _read(root: Path, path: str) -> str:
    with open(open_below(os.fspath(root), path), encoding="utf-8") as file:
        return file.read()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a link to the folder `real`, next to a folder `outside` that must not be read."""
    for folder in ("real", "outside"):
        (tmp_path / folder / "a/b").mkdir(parents=True)
        for path in ("x.py", "a/x.py", "a/b/x.py"):
            (tmp_path / folder / path).write_text(folder)
    (tmp_path / "root").symlink_to("real")
    return tmp_path / "root"


@pytest.fixture(params=[True, False], ids=["relative to folders", "by path"])
def _any_platform(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_without_links, "_CAN_OPEN_IN_FOLDER", request.param)


@pytest.mark.usefixtures("_any_platform")
@pytest.mark.parametrize("path", ["x.py", "a/x.py", "a/b/x.py"])
def test_a_file_is_opened_below_a_folder(path: str, root: Path) -> None:
    assert _read(root, path) == "real"


@pytest.mark.usefixtures("_any_platform")
@pytest.mark.parametrize("link", ["a", "a/b", "a/b/x.py"])
@pytest.mark.parametrize("is_inside", [True, False])
def test_no_link_below_the_folder_is_followed(link: str, is_inside: bool, root: Path) -> None:
    target = (root.resolve() if is_inside else root.parent / "outside") / link
    if is_inside:
        target = target.rename(root / "moved")
    else:
        (root / link).rename(root / "moved")
    (root / link).symlink_to(target)

    with pytest.raises(OSError, match=r"directory|symbolic link"):
        _read(root, "a/b/x.py")


@pytest.mark.usefixtures("_any_platform")
@pytest.mark.parametrize("path", ["../outside/x.py", "a/../../outside/x.py", "/etc/hostname"])
def test_no_path_leads_out_of_the_folder(path: str, root: Path) -> None:
    with pytest.raises(OSError, match=r"\S"):
        _read(root, path)


def test_a_folder_that_is_replaced_by_a_link_again_and_again_is_never_followed(
    root: Path, tmp_path: Path
) -> None:
    (root / "link").symlink_to(tmp_path / "outside/a")
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            os.rename(root / "a", root / "aside")
            os.rename(root / "link", root / "a")
            os.rename(root / "a", root / "link")
            os.rename(root / "aside", root / "a")

    thread = threading.Thread(target=swap)
    thread.start()
    seen: set[str] = set()
    refused = 0
    while not (refused >= 100 and seen):
        try:
            seen.add(_read(root, "a/b/x.py"))
        except OSError:
            refused += 1
    stop.set()
    thread.join()

    assert seen == {"real"}


def test_a_folder_that_may_be_entered_but_not_listed_is_opened(root: Path) -> None:
    (root / "a").chmod(0o311)
    try:
        assert _read(root, "a/b/x.py") == "real"
    finally:
        (root / "a").chmod(0o755)
