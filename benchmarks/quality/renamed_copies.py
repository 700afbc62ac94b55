"""Copies of the labeled repositories in which their own names are replaced by synonyms.

    python -m benchmarks.quality.renamed_copies make REPOS COPIES [--split test] [--only hono]
    python -m benchmarks.quality.renamed_copies questions COPIES [--split test] [--only hono]

A language model knows public repositories and guesses their names from memory. In a copy, these
guesses are wrong. The subwords of each identifier that the repository defines are replaced by the
synonyms of `benchmarks/renaming/synonyms.tsv`, consistently and one-to-one, in code, comments,
documents, strings and paths. The name of the project is replaced by an invented name. Keywords,
names of the standard library and of well-known packages (`kept_names.txt`) stay, and so do plain
words in comments and documents. Line numbers stay valid.

REPOS is the folder that `clone_repos` filled. `make` writes one git repository per checkout to
COPIES, and the label files, with the new paths and names, to COPIES/labels. `questions` prints the
questions about the copies as JSON lines, with a description of the repository ("a web framework in
TypeScript") instead of its name.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.common.arguments import ONLY, REPOS, SPLIT, command_parser, option
from benchmarks.common.labels import LABEL_REPOSITORIES, LABELS
from benchmarks.common.repositories import (
    Repository,
    RepositoryListError,
    read_repositories,
    select_repositories,
)
from benchmarks.renaming.copies import CopyError, copy_renamed
from benchmarks.renaming.labels import FOLDER, rename_labels
from benchmarks.renaming.projects import read_projects

COPIES = option("copies", type=Path, metavar="COPIES", help="folder with the renamed copies")


def main() -> None:
    args = parse_arguments()
    try:
        listed = select_repositories(read_repositories(LABEL_REPOSITORIES), args.only, args.split)
        if args.command == "make":
            make_copies(args.repos, args.copies, listed)
        else:
            for question in copy_questions(args.copies, listed):
                print(json.dumps(question, ensure_ascii=False))
    except (CopyError, OSError, RepositoryListError) as error:
        sys.exit(str(error))


def parse_arguments() -> argparse.Namespace:
    parser = command_parser(__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, options in (("make", (REPOS, COPIES)), ("questions", (COPIES,))):
        command = commands.add_parser(name)
        for one in (*options, SPLIT, ONLY):
            command.add_argument(one.name, **one.settings)
    return parser.parse_args()


def make_copies(checkouts: Path, copies: Path, listed: list[Repository]) -> None:
    """Write the renamed copy of each checkout, and its label file; existing copies are kept."""
    labels = copies / FOLDER
    labels.mkdir(parents=True, exist_ok=True)
    projects = read_projects()
    for repository in listed:
        name = repository.name
        if (copies / name).exists() and (labels / f"{name}.jsonl").exists():
            print(f"{name:12} exists")
            continue
        renaming = copy_renamed(checkouts / name, copies / name, projects[name])
        text = (LABELS / f"{name}.jsonl").read_text(encoding="utf-8")
        renamed = rename_labels(text, renaming.rename_path, renaming.renamer.rename_prose)
        (labels / f"{name}.jsonl").write_text(renamed, encoding="utf-8")
        moved = sum(path != new for path, new in renaming.paths.items())
        names = len(renaming.renamer.names)
        print(f"{name:12} {names} names, {moved} of {len(renaming.paths)} paths", flush=True)


def copy_questions(copies: Path, listed: list[Repository]) -> Iterator[dict[str, Any]]:
    """Yield the questions about the copies: id, description of the repository, language, text."""
    projects = read_projects()
    for repository in listed:
        text = (copies / FOLDER / f"{repository.name}.jsonl").read_text(encoding="utf-8")
        for number, line in enumerate(text.splitlines(), start=1):
            yield {
                "id": f"{repository.name}-{number}",
                "repository": projects[repository.name].description,
                "language": repository.language,
                "question": json.loads(line)["query"],
            }


if __name__ == "__main__":
    main()
