"""The files that a walk returns without git, and the reasons for skipping files."""

from __future__ import annotations

import logging
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from rootle.errors import IngestError
from rootle.sources.files.discovery import WalkRules, walk_files
from rootle.sources.files.file_listing import list_tree
from rootle.sources.files.skip_rules import REASONS, reason_by_name
from rootle.sources.source import Scan

_UNPRIVILEGED = 65534


def _write(root: Path, *paths: str, text: str = "x\n") -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)


def _paths(root: Path, rules: WalkRules | None = None) -> list[str]:
    return [entry.uri for entry in walk_files(root, rules or WalkRules()).documents]


def _skips(walk: Scan) -> dict[str, str]:
    assert {skip.reason for skip in walk.skips} <= REASONS
    return {skip.uri: skip.reason for skip in walk.skips}


def test_a_walk_returns_sorted_paths_with_size_and_time(tmp_path: Path) -> None:
    _write(tmp_path, "b.py", "a/c.py", "a.py", text="four")

    walk = walk_files(tmp_path, WalkRules())

    assert [entry.uri for entry in walk.documents] == ["a.py", "a/c.py", "b.py"]
    assert {entry.size for entry in walk.documents} == {4}
    assert walk.documents[0].mtime_ns == (tmp_path / "a.py").stat().st_mtime_ns
    assert not list_tree(str(tmp_path)).in_git


def test_a_root_may_be_a_link_to_a_folder(tmp_path: Path) -> None:
    _write(tmp_path, "real/a.py")
    (tmp_path / "link").symlink_to("real")

    assert _paths(tmp_path / "link") == ["a.py"]


def test_nested_ignore_files_apply_without_git(tmp_path: Path) -> None:
    _write(tmp_path, "a.log", "keep.log", "sub/b.log", "sub/deep/c.log", "sub/d.tmp", "out/e.py")
    (tmp_path / ".gitignore").write_text("*.log\n!keep.log\n/out/\n")
    (tmp_path / "sub/.gitignore").write_text("!deep/*.log\n")
    (tmp_path / "sub/.ignore").write_text("*.tmp\n")

    paths = _paths(tmp_path)

    assert paths == [".gitignore", "keep.log", "sub/.gitignore", "sub/.ignore", "sub/deep/c.log"]


def test_an_ignore_file_overrides_gitignore_in_the_same_folder(tmp_path: Path) -> None:
    _write(tmp_path, "a.log")
    (tmp_path / ".gitignore").write_text("*.log\n.*\n")
    (tmp_path / ".ignore").write_text("!a.log\n")

    assert _paths(tmp_path) == ["a.log"]


def test_excluded_folders_are_not_listed_without_git(tmp_path: Path) -> None:
    _write(tmp_path, "node_modules/x/i.js", "a/__pycache__/b.py", ".hg/store", "env/pyvenv.cfg")
    _write(tmp_path, "env/lib/x.py", "target/CACHEDIR.TAG", "target/x.rs", "build/keep.py")

    assert _paths(tmp_path) == ["build/keep.py"]


def test_rootleignore_reincludes_only_its_own_exclusions(tmp_path: Path) -> None:
    _write(tmp_path, "a.log", "b.py", "docs/c.md", "docs/d.md")
    (tmp_path / ".gitignore").write_text("*.log\n.*\n")
    (tmp_path / ".rootleignore").write_text("docs/*\n!docs/d.md\n!a.log\n")

    assert _paths(tmp_path) == ["b.py", "docs/d.md"]


def test_a_nested_rootleignore_applies_to_its_folder(tmp_path: Path) -> None:
    _write(tmp_path, "x.py", "sub/x.py", "sub/y.py")
    (tmp_path / "sub/.rootleignore").write_text("/x.py\n.*\n")

    assert _paths(tmp_path) == ["sub/y.py", "x.py"]


def test_links_are_skipped_and_loops_end(tmp_path: Path) -> None:
    _write(tmp_path, "a/b.py")
    (tmp_path / "a/loop").symlink_to("..")
    (tmp_path / "file.py").symlink_to("a/b.py")
    (tmp_path / "broken.py").symlink_to("nowhere")

    walk = walk_files(tmp_path, WalkRules())

    assert [entry.uri for entry in walk.documents] == ["a/b.py"]
    assert _skips(walk) == dict.fromkeys(["a/loop", "broken.py", "file.py"], "symlink")


def test_pipes_and_sockets_are_never_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    os.mkfifo(tmp_path / ".gitignore")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(os.fspath(tmp_path / "socket.py"))

    walk = walk_files(tmp_path, WalkRules())

    wanted = [".gitignore", "pipe.py", "socket.py"]
    assert _skips(walk) == dict.fromkeys(wanted, "not a regular file")


def test_a_large_text_is_listed_and_a_large_document_of_a_plugin_is_skipped(
    tmp_path: Path,
) -> None:
    for name in ("big.py", "big.deck"):
        _write(tmp_path, name, text="x" * 11)
    _write(tmp_path, "fits.deck", text="x" * 10)

    walk = walk_files(tmp_path, WalkRules(max_file_bytes=10, readers=((".deck", "some:plugin"),)))

    assert [entry.uri for entry in walk.documents] == ["big.py", "fits.deck"]
    assert [(skip.uri, skip.reason, skip.size) for skip in walk.skips] == [
        ("big.deck", "too large", 11)
    ]


def test_names_with_spaces_newlines_and_invalid_utf8_are_listed(tmp_path: Path) -> None:
    names = [b"a b.py", b"c\nd.py", b"\xff\xfe.py", "ü.py".encode(), b"\x01.py", b" .py", b"-x.py"]
    for name in names:
        with open(os.path.join(os.fsencode(tmp_path), name), "wb"):
            pass
    wanted = sorted(os.fsdecode(name) for name in names)

    assert _paths(tmp_path) == wanted
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    assert _paths(tmp_path) == wanted
    subprocess.run(["git", "-C", tmp_path, "add", "."], check=True)
    assert _paths(tmp_path) == wanted


@pytest.mark.parametrize("name", ["missing", "file"])
def test_a_root_that_is_not_a_folder_is_an_error(name: str, tmp_path: Path) -> None:
    _write(tmp_path, "file")

    with pytest.raises(IngestError, match=name):
        walk_files(tmp_path / name, WalkRules())


def _run_unprivileged(code: str, root: Path) -> str:
    """Run code as an unprivileged user, because the tests may run as root."""
    parent = root
    while parent != parent.parent:  # only the owner can access pytest's folders
        if parent.stat().st_uid == os.geteuid() and parent.stat().st_mode & 0o005 != 0o005:
            parent.chmod(0o755)
        parent = parent.parent
    drop = f"os.setgroups([]); os.setgid({_UNPRIVILEGED}); os.setuid({_UNPRIVILEGED})"
    setup = "import os, sys; from pathlib import Path; sys.path[:0] = {!r}\n"
    imports = (
        "from rootle.sources.files.discovery import *\n"
        "from rootle.sources.files.text_reader import *\n"
        "import encodings.cp1252, encodings.utf_16, rootle.errors\n"
    )
    script = setup.format(sys.path) + imports + (drop if os.geteuid() == 0 else "") + "\n" + code
    command = [sys.executable, "-c", script, os.fspath(root)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


@pytest.fixture
def locked(tmp_path: Path) -> Path:
    """A tree with an unreadable folder, ignore file and source file."""
    root = tmp_path / "tree"
    _write(root, "open/a.py", "locked/b.py", "secret.py", "sub/.gitignore", "sub/c.py")
    for path in ("locked", "secret.py", "sub/.gitignore"):
        (root / path).chmod(0)
    return root


_PRINT_WALK = """
walk = walk_files(Path(sys.argv[1]), WalkRules())
print([entry.uri for entry in walk.documents], walk.skips, list_tree(sys.argv[1]).in_git)
print(read_text(sys.argv[1], "secret.py"))
"""


@pytest.mark.slow
def test_unreadable_folders_and_files_are_skipped(locked: Path) -> None:
    printed = _run_unprivileged(_PRINT_WALK, locked)

    assert "['open/a.py', 'secret.py', 'sub/.gitignore', 'sub/c.py']" in printed
    assert "SkippedDocument(uri='locked', reason='unreadable', size=0)" in printed
    assert "the ignore file" in printed
    assert "\nunreadable\n" in printed


@pytest.mark.slow
def test_folders_that_git_cannot_read_are_reported(locked: Path) -> None:
    subprocess.run(["git", "init", "-q", locked], check=True)
    _write(locked, "sub/deep/it's locked/x.py")
    (locked / "sub/deep/it's locked").chmod(0)
    if os.geteuid() == 0:
        subprocess.run(["chown", "-R", str(_UNPRIVILEGED), locked / ".git"], check=True)
        os.chown(locked, _UNPRIVILEGED, -1)

    printed = _run_unprivileged(_PRINT_WALK, locked)
    below = _run_unprivileged("sys.argv[1] += '/sub'" + _PRINT_WALK, locked)

    assert "'open/a.py', 'secret.py'" in printed
    assert (
        "SkippedDocument(uri='deep/it\\'s locked'" in below
        or 'SkippedDocument(uri="deep/it\'s locked"' in below
    )
    assert "SkippedDocument(uri='locked', reason='unreadable', size=0)" in printed
    assert "True\n" in printed


@pytest.mark.slow
def test_an_unreadable_root_is_an_error(locked: Path) -> None:
    code = (
        "try: walk_files(Path(sys.argv[1], 'locked'), WalkRules())\n"
        "except rootle.errors.IngestError as error: print(error)"
    )

    assert "cannot be read" in _run_unprivileged(code, locked)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("a/package-lock.json", "lock file"),
        ("Cargo.lock", "lock file"),
        ("go.sum", "lock file"),
        ("jquery.min.js", "minified"),
        ("api_pb2.py", "generated"),
        ("api.pb.go", "generated"),
        ("Form1.Designer.cs", "generated"),
        ("logo.PNG", "binary"),
        ("x.tar.gz", "binary"),
        (".env", "secret"),
        (".env.production", "secret"),
        ("keys/server.pem", "secret"),
        ("id_rsa", "secret"),
        ("home/.aws/credentials", "secret"),
        (".npmrc", "secret"),
        ("home/.docker/config.json", "secret"),
        (".kube/config", "secret"),
        ("gcp/credentials.json", "secret"),
        ("infra/terraform.tfvars", "secret"),
        (".envrc", "secret"),
        ("deploy/prod.env", "secret"),
        (".env~", "secret"),
        ("id_rsa.bak", "secret"),
        ("ana.ppk", "secret"),
        (".config/sops/age/keys.txt", "secret"),
        ("example.env", None),
        ("main.py~", None),
        ("notes.bak", None),
        ("src/credentials", None),
        ("config.json", None),
        (".env.example", None),
        ("id_rsa.pub", None),
        ("admin.js", None),
        ("map", None),
        ("main.go", None),
        ("video.ts", None),
        (".gitignore", None),
        (".png", None),
        ("example.com", None),
        ("README.pt", None),
        ("lock.py", None),
        ("icon.svg", None),
    ],
)
def test_a_file_may_be_skipped_because_of_its_name(name: str, reason: str | None) -> None:
    assert reason_by_name(name) == reason


def test_a_file_that_is_deleted_after_the_listing_is_not_returned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _write(tmp_path, "a.py", "b.py")
    lstat = os.lstat

    def lstat_after_deletion(path: str) -> os.stat_result:
        (tmp_path / "b.py").unlink(missing_ok=True)
        return lstat(path)

    monkeypatch.setattr("rootle.sources.files.discovery.os.lstat", lstat_after_deletion)

    walk = walk_files(tmp_path, WalkRules())

    assert [entry.uri for entry in walk.documents] == ["a.py"]
    assert walk.skips == ()


def test_a_folder_named_like_an_ignore_file_is_not_applied(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    _write(tmp_path, ".gitignore/x.py", "a.py")

    with caplog.at_level(logging.WARNING):
        assert _paths(tmp_path) == [".gitignore/x.py", "a.py"]
    assert "not a regular file" in caplog.text
