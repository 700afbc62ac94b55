"""rootle's git commands write nothing into a repository and run no program that it names."""

from __future__ import annotations

import ast
import os
import subprocess
import threading
import time
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest
from commit_reader import read_last_commits
from sample import OLD_S, git, write
from watchfiles._rust_notify import RustNotify

import rootle
from rootle.sources.files.discovery import WalkRules
from rootle.sources.git.command import run_git
from rootle.sources.git.commit_text import show_commit
from rootle.sources.git.commits.commit_list import (
    find_commit,
    list_commits,
    list_commits_with_text,
    list_heads,
    list_tags,
)
from rootle.sources.git.commits.patch_process import PatchProcess
from rootle.sources.git.history import find_base, list_committed_files
from rootle.sources.git.lines.commit_changes import read_removals
from rootle.sources.git.lines.commit_facts import (
    find_merges,
    list_file_commits,
    read_committed,
    read_headers,
)
from rootle.sources.git.lines.file_log import open_file_log
from rootle.sources.git.lines.line_blame import blame_lines
from rootle.sources.git.lines.renames import find_renamed_path, find_source
from rootle.sources.git.repository import (
    head_commit,
    ignored_paths,
    list_changed_files,
    list_files,
)
from rootle.sources.git.trees.revision import find_revision
from rootle.sources.git.trees.tree_source import read_tree_file
from rootle.sources.source import Document

pytestmark = pytest.mark.slow

_WATCHDOG_MS = 60_000

# Every setting of git 2.39 to 2.51 that names a program, apart from aliases.
_PROGRAM_SETTINGS = (
    *("core.fsmonitor", "core.pager", "core.editor", "core.askPass", "core.sshCommand"),
    *("core.gitProxy", "core.alternateRefsCommand"),
    *("credential.helper", "diff.external", "diff.spy.command", "diff.spy.textconv"),
    *("filter.a=b.clean", "filter.a=b.smudge", "filter.a=b.process", "merge.spy.driver"),
    *("gpg.program", "gpg.openpgp.program", "gpg.ssh.program", "gpg.x509.program"),
    *(
        "gpg.ssh.defaultKeyCommand",
        "interactive.diffFilter",
        "sequence.editor",
        "gc.recentObjectsHook",
    ),
    *("pager.ls-files", "pager.log", "pager.show", "pager.diff", "pager.status", "pager.config"),
    *("remote.origin.uploadpack", "remote.origin.receivepack", "uploadpack.packObjectsHook"),
    *("diff.tool", "difftool.spy.cmd", "merge.tool", "mergetool.spy.cmd", "help.browser"),
    *("sendemail.sendmailCmd", "instaweb.httpd", "web.browser", "trailer.spy.command"),
    *("submodule.module.update", "tar.spy.command"),
)
_SUBCOMMANDS = (
    *("ls-files", "check-ignore", "rev-parse", "merge-base", "log", "show", "status", "config"),
    *("ls-tree", "rev-list", "worktree", "cat-file", "diff-tree", "diff-index"),
    *("blame", "for-each-ref"),
)
_HOOKS = (
    *("post-index-change", "fsmonitor-watchman", "query-watchman", "post-checkout", "pre-commit"),
    *("reference-transaction", "pre-auto-gc", "post-rewrite", "proc-receive", "update"),
)


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """Return a repository in which every configured program, hook and filter leaves a trace."""
    root = tmp_path / "hostile"
    root.mkdir()
    git(root, "init", "-q")
    for name in ("a.py", "b.py", "sub/c.py"):
        write(root, name, f"first = '{name}'\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "first")
    write(root, "a.py", "second = 2\n")
    write(root, ".gitattributes", "* filter=a=b diff=spy merge=spy\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "second")
    _sign_head(root)
    trap = write(tmp_path, "trap.sh", f'#!/bin/sh\necho "$0 $*" >>{tmp_path}/ran\ncat\n')
    trap.chmod(0o755)
    (root / ".git/hooks").mkdir(exist_ok=True)
    for hook in _HOOKS:
        (root / ".git/hooks" / hook).unlink(missing_ok=True)
        (root / ".git/hooks" / hook).symlink_to(trap)
    for name in _PROGRAM_SETTINGS:
        git(root, "config", name, trap)
    for subcommand in _SUBCOMMANDS:
        git(root, "config", f"alias.{subcommand}", f"!{trap}")
    git(root, "config", "log.showSignature", "true")
    git(root, "config", "filter.a=b.required", "true")
    write(root, "a.py", "third = 33\n", when_s=OLD_S + 5)
    os.utime(root / "b.py", (OLD_S + 9, OLD_S + 9))  # unchanged, but git must compare it
    write(root, "untracked.py", "new = 1\n")
    (tmp_path / "ran").unlink(missing_ok=True)
    return root


def _sign_head(root: Path) -> None:
    """Give the last commit a signature, which git would check with a configured program."""
    header, message = git(root, "cat-file", "commit", "HEAD").split("\n\n", 1)
    lines = ("-----BEGIN PGP SIGNATURE-----", "", "AAAA", "-----END PGP SIGNATURE-----")
    signed = f"{header}\ngpgsig " + "\n ".join(lines) + f"\n\n{message}"
    commit = write(root.parent, "commit", signed)
    sha = git(root, "hash-object", "-t", "commit", "-w", commit).strip()
    git(root, "update-ref", "HEAD", sha)


def ask_everything(root: Path) -> None:
    """Call every function of rootle that runs git."""
    listing = list_files(os.fspath(root))
    assert listing is not None
    assert sorted(listing.tracked) == [".gitattributes", "a.py", "b.py", "sub/c.py"]
    assert ignored_paths(os.fspath(root), ["a.py"]) == set()
    head = head_commit(root)
    assert head is not None
    assert find_base(os.fspath(root), head, head, max_commits=1) == head
    assert list_committed_files(os.fspath(root), head) == [
        ".gitattributes",
        "a.py",
        "b.py",
        "sub/c.py",
    ]
    assert list_changed_files(root) == {"a.py"}
    assert set(read_last_commits(root)) == {".gitattributes", "a.py", "b.py", "sub/c.py"}
    shown = show_commit(root, head, WalkRules())
    assert shown is not None
    assert "+second = 2" in shown[1]
    assert list_heads(os.fspath(root)) == (head,)
    commits = list_commits(os.fspath(root), [head], max_count=9)
    assert commits is not None
    assert commits[0].sha == head
    counted = list_commits_with_text(os.fspath(root), "second", max_count=9, timeout_s=9)
    assert counted.hashes == [head]
    patches = PatchProcess(os.fspath(root))
    patch = patches.read(head)
    alone = patches.read_message(head)
    patches.close()
    assert patch is not None
    assert patch.message == "second"
    assert alone is not None
    assert alone.message == "second"
    assert find_commit(os.fspath(root), "HEAD") == commits[0]
    assert list_commits(os.fspath(root), [commits[-1].sha], without=[head], max_count=1) == []
    assert find_commit(os.fspath(root), "unknown") is None
    assert list_tags(os.fspath(root)) == []
    ask_about_lines(root, head)


def ask_about_lines(root: Path, head: str) -> None:
    folder = os.fspath(root)
    with open_file_log(folder, head, "a.py", time.monotonic() + 60) as log:
        assert len(list(log)) == 2
    source = find_source(folder, head, ".gitattributes", 60)
    assert source is not None
    assert source.status == "A"
    removed = read_removals(folder, head, "b.py", ["first = 'b.py'"], 60)
    assert removed is not None
    assert [path for path, _ in removed] == ["a.py"]
    assert [blamed.sha for blamed in blame_lines(folder, head, "a.py", [1], 60)] == [head]
    assert read_committed(folder, head, "a.py") == b"second = 2\n"
    assert find_renamed_path(folder, "a.py", 60) == "a.py"
    assert set(read_headers(folder, [head])) == {head}
    assert find_merges(folder, [head], head, time.monotonic() + 60) == {}
    assert list_file_commits(folder, "a.py", 1) == [head]
    assert find_revision(root, "2100").sha == head
    committed = read_tree_file(root, head, "sub/c.py", WalkRules())
    assert isinstance(committed, Document)
    assert committed.text == "first = 'sub/c.py'\n"


def test_no_program_that_a_repository_names_is_run(hostile: Path, tmp_path: Path) -> None:
    ask_everything(hostile)

    assert not (tmp_path / "ran").exists()
    subprocess.run(["git", "diff", "HEAD"], cwd=hostile, check=False, capture_output=True)
    assert (tmp_path / "ran").exists()  # an ordinary git command runs the programs


def test_a_hook_is_not_run_even_by_a_command_that_writes_the_index(
    hostile: Path, tmp_path: Path
) -> None:
    written = run_git(os.fspath(hostile), "update-index", "--force-write-index", timeout_s=60)

    assert written.returncode == 0, written.stderr
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "url",
    ["ext::{trap} x", "ssh://host/x", "git://127.0.0.1:1/x", "{root}", "https://127.0.0.1:1/x"],
)
def test_a_missing_object_is_not_fetched(url: str, hostile: Path, tmp_path: Path) -> None:
    git(hostile, "config", "core.repositoryFormatVersion", "1")
    git(hostile, "config", "extensions.partialClone", "origin")
    git(hostile, "config", "remote.origin.promisor", "true")
    git(hostile, "config", "protocol.allow", "always")
    git(hostile, "config", "remote.origin.url", url.format(trap=tmp_path / "trap.sh", root=hostile))
    head = head_commit(hostile)
    assert head is not None
    blob = git(hostile, "rev-parse", "HEAD:a.py").strip()
    (tmp_path / "ran").unlink(missing_ok=True)
    (hostile / ".git/objects" / blob[:2] / blob[2:]).unlink()

    list_changed_files(hostile)
    read_last_commits(hostile)
    shown = show_commit(hostile, head, WalkRules())

    assert shown is None or "second" not in shown[1].partition("diff --git a/a.py")[2]
    assert not (tmp_path / "ran").exists()


def test_nothing_is_written_into_the_repository(hostile: Path) -> None:
    index = hostile / ".git/index"
    before = index.stat().st_mtime_ns, index.stat().st_ino, index.read_bytes()

    with RecordedWrites(hostile / ".git") as writes:
        ask_everything(hostile)

    assert (index.stat().st_mtime_ns, index.stat().st_ino, index.read_bytes()) == before
    assert writes == set()


def test_files_can_be_staged_while_rootle_asks_git(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    root.mkdir()
    git(root, "init", "-q")
    for number in range(300):
        write(root, f"f{number}.py", f"n = {number}\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "first")
    stop = threading.Event()
    thread = threading.Thread(target=_ask_until, args=(stop, root))
    thread.start()
    failures = []
    for number in range(20):
        write(root, f"f{number}.py", f"changed = {number}\n", when_s=None)
        added = subprocess.run(["git", "add", "-A"], cwd=root, capture_output=True, check=False)
        failures += [added.stderr] if added.returncode else []
        for other in range(100, 200):  # so that git has a reason to refresh its index
            os.utime(root / f"f{other}.py", (OLD_S + number, OLD_S + number))
    stop.set()
    thread.join()

    assert failures == []


def test_every_git_command_of_rootle_is_checked_here() -> None:
    """List each git command that rootle runs in `_SUBCOMMANDS`, and run it in `ask_everything`."""
    package = Path(rootle.__file__).parent
    found = set()
    for path in package.rglob("*.py"):
        for call in _calls(
            ast.parse(path.read_text()), {"run_git", "_git", "stream_git", "open_session"}
        ):
            texts = (node.value for node in ast.walk(call) if isinstance(node, ast.Constant))
            words = [text for text in texts if isinstance(text, str)]
            found.add(next((word for word in words if word in _SUBCOMMANDS), f"{path}: {words}"))

    assert found == set(_SUBCOMMANDS)


def _calls(tree: ast.Module, names: Collection[str]) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names:
            passes_on = any(
                isinstance(argument, ast.Starred)
                and isinstance(argument.value, ast.Name)
                and argument.value.id == "arguments"
                for argument in node.args
            )
            names_command = any(isinstance(argument, ast.Constant) for argument in node.args)
            if names_command or not passes_on:
                yield node


def _ask_until(stop: threading.Event, root: Path) -> None:
    while not stop.is_set():
        list_changed_files(root)


class RecordedWrites:
    """A recorder of the names of files that are created, changed or deleted below a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._notify = RustNotify([os.fspath(folder)], False, False, 300, True, False)
        self._names: set[str] = set()

    def __enter__(self) -> set[str]:
        return self._names

    def __exit__(self, *_: object) -> None:
        # Events arrive in order, so all earlier events have been read when this event arrives.
        (self._folder / "last").touch()
        while "last" not in self._names:
            events = self._notify.watch(50, 20, _WATCHDOG_MS, None)
            assert isinstance(events, set)
            self._names.update(os.path.relpath(path, self._folder) for _, path in events)
        self._names.remove("last")
        self._notify.close()
