"""Check out the repositories of a benchmark, each at its pinned revision.

    python -m benchmarks.quality.clone_repos BENCH REPOS [--only gin,flask] [--from DIR] [--latest]

BENCH is the folder with `repos.json`, or `benchmarks/labels`; REPOS gets one checkout per
repository. Existing checkouts are kept, so an interrupted run can be repeated. `--from DIR` uses
clones or bare mirrors in DIR (`NAME`, `NAME.git`, `OWNER+NAME`, or `repo` inside such a folder)
instead of the network. `--latest` falls back to the newest commit if the pinned one is not
available, and reports this.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.common.arguments import BENCH, ONLY, REPOS, command_parser
from benchmarks.common.git import GitError, run_git
from benchmarks.common.repositories import (
    Repository,
    RepositoryListError,
    read_repositories,
    select_repositories,
)

LISTS = ("repos.json", "repositories.json")  # the public benchmark's, this repository's


class CheckoutError(Exception):
    """Raised when a repository cannot be checked out; the message gives the reason."""


def main() -> None:
    parser = command_parser(__doc__, BENCH, REPOS, ONLY)
    parser.add_argument(
        "--from", type=Path, dest="mirrors", metavar="DIR", help="folder of clones or mirrors"
    )
    parser.add_argument(
        "--latest", action="store_true", help="use the newest commit if the revision is missing"
    )
    args = parser.parse_args()
    lists = [name for name in LISTS if (args.bench / name).is_file()] or LISTS
    try:
        wanted = select_repositories(read_repositories(args.bench / lists[0]), args.only)
    except RepositoryListError as error:
        sys.exit(str(error))
    args.repos.mkdir(parents=True, exist_ok=True)
    failures = 0
    for repository in wanted:
        try:
            outcome = check_out_repository(
                repository, args.repos, args.mirrors, allow_latest=args.latest
            )
        except (CheckoutError, GitError) as error:
            outcome = f"FAILED: {error}"
            failures += 1
        print(f"{repository.name:18} {outcome}", flush=True)
    if failures:
        sys.exit(f"{failures} of {len(wanted)} repositories could not be checked out")


def check_out_repository(
    repository: Repository, checkouts: Path, mirrors: Path | None, *, allow_latest: bool
) -> str:
    """Check out a repository unless its folder exists; return a description of the outcome."""
    folder = checkouts / repository.name
    if folder.exists():
        return describe_existing(folder, repository.revision, allow_latest=allow_latest)
    source = find_mirror(repository, mirrors) if mirrors else repository.url
    # Renamed when complete, so that an interrupted clone is never used.
    partial = folder.with_name(f".{folder.name}.part")
    shutil.rmtree(partial, ignore_errors=True)
    try:
        run_git(
            Path(), "clone", "-q", "--no-checkout", "--filter=blob:none", "--",
            source, str(partial),
        )  # fmt: skip
        outcome = check_out_revision(partial, repository.revision, allow_latest=allow_latest)
        if not (partial / repository.subfolder).is_dir():
            raise CheckoutError(f"{outcome} has no folder {repository.subfolder}")
        partial.rename(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return outcome


def describe_existing(folder: Path, revision: str, *, allow_latest: bool) -> str:
    """Describe an existing checkout.

    Raise CheckoutError if it is at another revision and `allow_latest` is false.
    """
    has_git = (folder / ".git").exists()
    head = run_git(folder, "rev-parse", "HEAD").strip() if has_git else ""
    if head == revision:
        return f"exists at {revision[:12]}"
    if head and allow_latest:
        return f"exists at {head[:12]} instead of {revision[:12]}"
    raise CheckoutError(f"{folder} exists, but not at {revision[:12]}; move it away")


def check_out_revision(folder: Path, revision: str, *, allow_latest: bool) -> str:
    """Check out a revision, fetching it if needed; return a description of the commit."""
    try:
        if not has_commit(folder, revision):
            run_git(folder, "fetch", "-q", "--filter=blob:none", "origin", revision)
        run_git(folder, "checkout", "-q", "--detach", revision)
    except GitError as error:
        if not allow_latest:
            raise CheckoutError(f"{error} (allow the newest commit with --latest)") from error
        run_git(folder, "checkout", "-q", "--detach", "origin/HEAD")
        head = run_git(folder, "log", "-1", "--format=%h of %cs").strip()
        return f"at {head} INSTEAD OF the pinned {revision[:12]}"
    return f"at {revision[:12]}"


def has_commit(folder: Path, revision: str) -> bool:
    try:
        run_git(folder, "cat-file", "-e", f"{revision}^{{commit}}")
    except GitError:
        return False
    return True


def find_mirror(repository: Repository, mirrors: Path) -> str:
    """Return the path of a repository's clone or mirror. Raise CheckoutError if there is none."""
    path = urlsplit(repository.url).path.strip("/").removesuffix(".git")
    base = path.rsplit("/", 1)[-1]
    name = repository.name
    for candidate in (name, f"{name}.git", base, f"{base}.git", path.replace("/", "+")):
        for folder in (mirrors / candidate, mirrors / candidate / "repo"):
            if (folder / ".git").exists() or (folder / "HEAD").is_file():
                return str(folder.resolve())
    raise CheckoutError(f"no clone of {path} in {mirrors}")


if __name__ == "__main__":
    main()
