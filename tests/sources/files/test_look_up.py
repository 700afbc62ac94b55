"""Looking up some paths gives the same result as a complete walk."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from rootle.sources.files import discovery
from rootle.sources.files.discovery import WalkRules, look_up_files, walk_files

FILES = {
    "a.py": "1",
    "src/b.py": "2",
    "src/deep/er/c.py": "3",
    "src/deep/ignored.log": "4",
    "src/deep/.gitignore": "*.log\nout/\n",
    "src/deep/out/d.py": "5",
    "private/e.py": "6",
    ".rootleignore": "private/\n",
    "src/f.tmp": "7",
    "src/.rootleignore": "*.tmp\n",
    "node_modules/g.js": "8",
    "cache/CACHEDIR.TAG": "Signature: 8a477f597d28d172789f06886806bc55",
    "cache/h.py": "9",
    "key.pem": "10",
    "we[ir]d *.py": "11",
    "gr\udcfc\udcdfe.py": "12",
}
RULES = WalkRules()


@pytest.fixture(params=["git", "no git", "below a work tree"])
def root(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    folder = tmp_path / "work/inner" if request.param == "below a work tree" else tmp_path / "work"
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    if request.param != "no git":
        subprocess.run(["git", "init", "-q", tmp_path / "work"], check=True)
        subprocess.run(["git", "add", "-f", "src/deep/out/d.py", "a.py"], cwd=folder, check=True)
    (folder / "src/link.py").symlink_to("b.py")
    return folder


def test_looking_up_paths_agrees_with_a_complete_walk(root: Path) -> None:
    whole = walk_files(root, RULES)
    asked = [*FILES, "src/link.py", "gone.py", "gone/too.py"]
    for paths in ([path] for path in asked):
        found = look_up_files(root, paths, RULES)
        assert found is not None
        assert list(found.documents) == [e for e in whole.documents if e.uri in paths], paths
        assert list(found.skips) == [s for s in whole.skips if s.uri in paths], paths
    found = look_up_files(root, asked, RULES)
    assert found is not None
    assert (found.documents, found.skips) == (whole.documents, whole.skips)
    assert not found.is_complete
    listed = {entry.uri for entry in whole.documents} | {skip.uri for skip in whole.skips}
    assert set(found.removed) == set(asked) - listed


def test_a_path_in_a_nested_repository_needs_a_complete_walk(root: Path) -> None:
    subprocess.run(["git", "init", "-q", root / "sub"], check=True)
    (root / "sub/x.py").write_text("1")
    assert look_up_files(root, ["sub/x.py"], RULES) is None


def test_looking_up_a_path_does_not_list_the_whole_tree(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(root: str) -> None:
        pytest.fail("the whole tree was listed")

    monkeypatch.setattr(discovery, "list_tree", refuse)
    assert look_up_files(root, ["src/b.py"], RULES) is not None
