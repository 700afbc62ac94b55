"""Prepare the repositories of the agent loop and their indexes.

    python -m benchmarks.agent_loop.checkouts WORK [--clones DIR] [--only press]

Repositories without a `url` in `repositories.json` are commits of this repository. The others are
copied from `DIR/NAME`, a clone or bare clone of `url`, where NAME is the `clone` of the entry. In
the copy, the words in the repository's table of replacements are replaced. Existing folders are
kept. The indexes are built with the default settings.
"""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.agent_loop.renaming import RenamingError, copy_renamed, read_table
from benchmarks.agent_loop.tasks import FOLDER
from benchmarks.agent_loop.workspace import WORK, Workspace, open_workspace
from benchmarks.common.arguments import CLONE_FOLDER, ONLY, command_parser
from rootle import Config, open_app

REPOSITORIES: Final = FOLDER / "repositories.json"
_THIS: Final = FOLDER.parents[1]


@dataclass(frozen=True)
class TaskRepository:
    """A repository of the tasks. Without a URL, it is this repository at a revision."""

    name: str
    size: str
    language: str
    revision: str
    paths: tuple[str, ...]  # the files and folders of a checkout; all if empty
    url: str = ""
    clone: str = ""
    words: str = ""  # the path of the table of replacements, relative to this folder


class CheckoutError(Exception):
    """Raised when a commit cannot be exported."""


def main() -> None:
    args = command_parser(__doc__, WORK, ONLY, CLONE_FOLDER).parse_args()
    workspace = open_workspace(args.work)
    try:
        for one in read_task_repositories():
            if not args.only or one.name in args.only:
                print(prepare(one, workspace, args.clones), flush=True)
    except (CheckoutError, RenamingError) as error:
        sys.exit(str(error))


def read_task_repositories(path: Path = REPOSITORIES) -> list[TaskRepository]:
    """Return the entries of `repositories.json`."""
    records = json.loads(path.read_text(encoding="utf-8"))
    return [TaskRepository(**{**record, "paths": tuple(record["paths"])}) for record in records]


def prepare(repository: TaskRepository, workspace: Workspace, clones: Path | None) -> str:
    """Make the checkout and the index of a repository; return a line about them."""
    root = workspace.root(repository.name)
    if not root.exists():
        _make_checkout(repository, root, clones)
    count = sum(path.is_file() for path in root.rglob("*"))
    open_app(root, index_dir=workspace.index_dir(repository.name), config=Config()).index()
    return f"{repository.name}: {repository.size}, {count:,} files"


def _make_checkout(repository: TaskRepository, root: Path, clones: Path | None) -> None:
    if not repository.url:
        export_commit(_THIS, repository.revision, root, repository.paths)
        return
    if clones is None:
        raise CheckoutError(f"{repository.name} needs --clones with {repository.clone}")
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "source"
        export_commit(clones / repository.clone, repository.revision, source, repository.paths)
        partial = root.with_name(f"{root.name}.partial")
        shutil.rmtree(partial, ignore_errors=True)
        copy_renamed(source, partial, read_table(FOLDER / repository.words))
        partial.rename(root)


def export_commit(clone: Path, revision: str, target: Path, paths: Sequence[str] = ()) -> None:
    """Write the files of a commit into a new folder. Raise CheckoutError if git fails."""
    command = ["git", "-C", str(clone), "archive", "--format=tar", revision, *paths]
    done = subprocess.run(command, capture_output=True)
    if done.returncode:
        raise CheckoutError(f"{clone}: {done.stderr.decode(errors='replace').strip()}")
    target.mkdir(parents=True)
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        archive.extractall(target, filter="data")


if __name__ == "__main__":
    main()
