"""Lay out the repositories of a benchmark, each at its pinned revision.

    python -m benchmarks.quality.clone_repos BENCH REPOS [--only gin,flask] [--from DIR] [--latest]

BENCH is the folder with `repos.json`, or `benchmarks/labels`; REPOS gets one checkout a repository.
What is there already is left as it is, so the command can be repeated until all are there. `--from
DIR` takes clones or bare mirrors in DIR (`NAME`, `NAME.git`, `OWNER+NAME`, or `repo` inside such a
folder) in place of the network. `--latest` takes the newest commit where the pinned one cannot be
had, and says so.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

LISTS = ("repos.json", "repositories.json")  # of the public benchmark, and of our own two


class LayoutError(Exception):
    """A repository cannot be laid out; the message says why."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("bench", type=Path)
    parser.add_argument("repos", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--from", type=Path, dest="mirrors", metavar="DIR")
    parser.add_argument("--latest", action="store_true")
    args = parser.parse_args()
    try:
        names = [name for name in LISTS if (args.bench / name).is_file()] or LISTS
        listed = json.loads((args.bench / names[0]).read_text())
    except (OSError, json.JSONDecodeError) as error:
        sys.exit(f"no list of repositories: {error}")
    wanted = set(filter(None, args.only.split(",")))
    if unknown := wanted - {repo["name"] for repo in listed}:
        sys.exit(f"not in the benchmark: {', '.join(sorted(unknown))}")
    args.repos.mkdir(parents=True, exist_ok=True)
    failures = 0
    for repo in listed:
        if wanted and repo["name"] not in wanted:
            continue
        try:
            said = lay_out(repo, args.repos / repo["name"], args.mirrors, latest=args.latest)
        except LayoutError as error:
            said = f"FAILED: {error}"
            failures += 1
        print(f"{repo['name']:18} {said}", flush=True)
    if failures:
        sys.exit(f"{failures} of {len(wanted) or len(listed)} could not be laid out")


def lay_out(repo: dict, folder: Path, mirrors: Path | None, *, latest: bool) -> str:
    """Make the checkout; returns what was done."""
    revision = repo["revision"]
    if folder.exists():
        head = git("rev-parse", "HEAD", folder=folder) if (folder / ".git").exists() else ""
        if head == revision:
            return f"there already at {revision[:12]}"
        if head and latest:
            return f"there already, but at {head[:12]}, not at {revision[:12]}"
        raise LayoutError(f"{folder} is there, but not at {revision[:12]}; move it away")
    source = mirror_of(repo, mirrors) if mirrors else repo["url"]
    # Under another name until it is whole, so that a broken one is never taken for done.
    part = folder.with_name(f".{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    try:
        git("clone", "-q", "--no-checkout", "--filter=blob:none", "--", source, str(part))
        taken = check_out(part, revision, latest=latest)
        root = part / (repo.get("benchmark_root") or "")
        if not root.is_dir():
            raise LayoutError(f"{taken} has no folder {repo['benchmark_root']}")
        part.rename(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return taken


def check_out(folder: Path, revision: str, *, latest: bool) -> str:
    try:
        if not has_commit(folder, revision):
            git("fetch", "-q", "--filter=blob:none", "origin", revision, folder=folder)
        git("checkout", "-q", "--detach", revision, folder=folder)
    except LayoutError as error:
        if not latest:
            raise LayoutError(f"{error} (--latest takes the newest commit)") from error
        git("checkout", "-q", "--detach", "origin/HEAD", folder=folder)
        head = git("log", "-1", "--format=%h of %cs", folder=folder)
        return f"NOT the pinned {revision[:12]}, but {head}"
    return f"at {revision[:12]}"


def has_commit(folder: Path, revision: str) -> bool:
    try:
        git("cat-file", "-e", f"{revision}^{{commit}}", folder=folder)
    except LayoutError:
        return False
    return True


def mirror_of(repo: dict, mirrors: Path) -> str:
    path = urlsplit(repo["url"]).path.strip("/").removesuffix(".git")
    base = path.rsplit("/", 1)[-1]
    for name in (repo["name"], f"{repo['name']}.git", base, f"{base}.git", path.replace("/", "+")):
        for folder in (mirrors / name, mirrors / name / "repo"):
            if (folder / ".git").exists() or (folder / "HEAD").is_file():
                return str(folder.resolve())
    raise LayoutError(f"no clone of {path} in {mirrors}")


def git(*words: str, folder: Path = Path()) -> str:
    """Run git, never asking for a password; its output. Raises LayoutError with its reason."""
    command = ["git", "-C", str(folder), *words]
    env = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    try:
        done = subprocess.run(command, env=env, text=True, errors="replace", capture_output=True)
    except OSError as error:
        raise LayoutError(f"git cannot be run: {error}") from error
    if done.returncode:
        said = done.stderr.strip().splitlines() or ["no message"]
        fatal = [line for line in said if line.startswith(("fatal:", "error:"))]
        raise LayoutError(f"git {words[0]}: {(fatal or said)[0]}")
    return done.stdout.strip()


if __name__ == "__main__":
    main()
