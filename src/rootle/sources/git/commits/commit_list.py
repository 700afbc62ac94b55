"""List the commits of a repository without reading their changes."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from itertools import groupby
from typing import Final, NamedTuple

from rootle.sources.git.command import run_git, stream_git
from rootle.sources.git.commit_time import parse_commit_time
from rootle.types import CountedCommits

_HEAD: Final = re.compile(rb"^HEAD ([0-9a-f]{40,64})$", re.MULTILINE)
_TIMEOUT_S: Final = 10.0
_COMPARE_S: Final = 8.0
# A name that can be the name of a branch. A full name, such as refs/tags/v1.0, is not completed.
_BRANCH: Final = re.compile(r"(?!refs/|HEAD\Z)[\w+@#-][\w./+@#-]*", re.ASCII)


class ListedCommit(NamedTuple):
    """A commit in a list."""

    sha: str
    seconds: int  # Unix time of the commit; 0 if it is not known


def list_heads(folder: str) -> tuple[str, ...] | None:
    """Return the commits that are checked out in the work trees of a repository, sorted.

    Return None if git fails.
    """
    output = run_git(folder, "worktree", "list", "--porcelain", timeout_s=_TIMEOUT_S)
    if output.returncode != 0:
        return None
    found = {sha.decode("ascii") for sha in _HEAD.findall(output.stdout)}
    return tuple(sorted(sha for sha in found if sha.strip("0")))


def list_commits(
    folder: str, heads: Collection[str], *, without: Collection[str] = (), max_count: int
) -> list[ListedCommit] | None:
    """Return the newest commits in the history of `heads`, newest first, at most `max_count`.

    Commits in the history of `without` are left out. Return None if git fails.
    """
    excluded = (f"^{sha}" for sha in without)
    options = ("--format=%H %ct", f"--max-count={max_count}", "--no-show-signature")
    arguments = (*options, *heads, *excluded, "--")
    with stream_git(folder, "log", *arguments, config={}, buffers=True) as stream:
        text = b"".join(stream)
        if stream.wait() != 0:
            return None
    return list(_parse(text))


def list_hashes(folder: str, revisions: Collection[str], *, max_count: int) -> list[str] | None:
    """Return the hashes of the newest commits in the history of `revisions`, newest first.

    A commit follows all its descendants, whatever its date. Return None if git fails.
    """
    options = ("--date-order", f"--max-count={max_count}")
    with stream_git(folder, "rev-list", *options, *revisions, "--", config={}) as stream:
        text = b"".join(stream)
        if stream.wait() != 0:
            return None
    return [line.decode("ascii") for line in text.split(b"\n") if line]


def list_without_copies(folder: str, older: str, newer: str, *, max_count: int) -> list[str] | None:
    """Return the hashes of the commits that only `newer` has, newest first.

    Commits whose changes `older` has in another commit are left out. git compares the changes of
    all commits that only one of the two has. Return None if it fails or takes too long.
    """
    options = ("--date-order", "--cherry-pick", "--right-only", f"--max-count={max_count}")
    output = run_git(folder, "rev-list", *options, f"{older}...{newer}", "--", timeout_s=_COMPARE_S)
    if output.returncode != 0 or output.timed_out:
        return None
    return output.stdout.decode("ascii", "replace").split()


def _parse(text: bytes) -> Iterator[ListedCommit]:
    for line in text.decode("ascii", "replace").split("\n"):
        sha, _, seconds = line.partition(" ")
        if sha:  # a damaged commit may have no time
            yield ListedCommit(sha, parse_commit_time(seconds))


def list_commits_with_text(
    folder: str, text: str, *, max_count: int, timeout_s: float
) -> CountedCommits:
    """Return the newest commits that changed the number of occurrences of a text, newest first.

    A merge counts only if it differs from all of its parents in this number. After the timeout,
    the commits that git has found so far are returned.
    """
    options = ("--format=%H %P", "--no-show-signature", "--no-textconv", "--no-ext-diff")
    # With -m, git lists a merge once for each parent whose number of occurrences differs.
    arguments = (f"-S{text}", *options, "-m", "--no-patch", "--")
    found: list[str] = []
    config = {"log.showRoot": "true"}
    with stream_git(folder, "log", *arguments, config=config, timeout_s=timeout_s) as stream:
        for shas, lines in groupby(_read_lines(stream)):
            sha, *parents = shas.decode("ascii", "replace").split()
            if len(list(lines)) >= len(parents):
                found.append(sha)
            if len(found) == max_count:
                stream.stop()
                break
        is_complete = not stream.is_stopped and stream.wait() == 0
    return CountedCommits(found, is_complete)


def _read_lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines that are not empty. A last line that is cut off is left out."""
    rest = b""
    for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        yield from filter(None, lines)


def find_commit(folder: str, revision: str) -> ListedCommit | None:
    """Return the commit that a hash, tag, branch or date such as `main@{yesterday}` names.

    A branch may exist only in a remote repository: in a fresh clone, the release branch 2.x is
    origin/2.x. If several remote repositories have different branches with this name, none counts.
    """
    if revision.startswith("-") or "\0" in revision:
        return None
    output = run_git(
        folder, "rev-parse", "--verify", "-q", f"{revision}^{{commit}}", timeout_s=_TIMEOUT_S
    )
    sha = output.stdout.decode("ascii", "replace").strip()
    if output.returncode != 0 or not sha:
        sha = _find_remote_branch(folder, revision) if _BRANCH.fullmatch(revision) else ""
    found = list_commits(folder, [sha], max_count=1) if sha else None
    return found[0] if found else None


def find_reference(folder: str, name: str) -> tuple[str, str] | None:
    """Return "tag" or "branch", and the full name of a reference with a short name.

    A tag comes before a branch, and a branch of this repository before one that exists only in a
    remote repository. Return None if there is no such reference, or several remote repositories
    have different branches with this name.
    """
    kinds = (("tag", "refs/tags/"), ("branch", "refs/heads/"), ("branch", "refs/remotes/"))
    patterns = (*(f"{prefix}{name}" for _, prefix in kinds), f"refs/remotes/*/{name}")
    output = run_git(
        folder,
        *("for-each-ref", "--format=%(refname) %(objectname)", *patterns),
        timeout_s=_TIMEOUT_S,
    )
    lines = output.stdout.decode("utf-8", "replace").split("\n")[:-1]
    found = dict(line.split(" ") for line in lines)  # a reference has no space in its name
    for kind, prefix in kinds:
        if f"{prefix}{name}" in found:
            return kind, f"{prefix}{name}"
    remote = [one for one in found if one.startswith("refs/remotes/") and one.endswith(f"/{name}")]
    is_clear = len({found[one] for one in remote}) == 1
    return ("branch", remote[0]) if is_clear else None


def _find_remote_branch(folder: str, name: str) -> str:
    """Return the hash of the commit of a branch of a remote repository; "" if it is unclear."""
    output = run_git(
        folder,
        *("for-each-ref", "--format=%(objectname)", f"refs/remotes/*/{name}"),
        timeout_s=_TIMEOUT_S,
    )
    found = set(output.stdout.decode("ascii", "replace").split())
    return found.pop() if output.returncode == 0 and len(found) == 1 else ""


def list_tags(folder: str) -> list[str]:
    """Return the names of all tags; none if git fails."""
    output = run_git(
        folder, "for-each-ref", "--format=%(refname:strip=2)", "refs/tags", timeout_s=_TIMEOUT_S
    )
    return output.stdout.decode("utf-8", "replace").split("\n")[:-1]


def list_tags_with(folder: str, sha: str) -> list[tuple[str, int]] | None:
    """Return the tags that contain a commit, each with its Unix time, oldest first.

    Return None if git fails.
    """
    output = run_git(
        folder,
        *("for-each-ref", f"--contains={sha}", "--sort=creatordate"),
        *("--format=%(creatordate:unix) %(refname:strip=2)", "refs/tags"),
        timeout_s=_TIMEOUT_S,
    )
    if output.returncode != 0 or output.timed_out:
        return None
    lines = (line.partition(" ") for line in output.stdout.decode("utf-8", "replace").splitlines())
    return [(name, int(seconds)) for seconds, _, name in lines if seconds.isdecimal()]
