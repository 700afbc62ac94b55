"""Work trees at the parents of commits, each with a current index."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from benchmarks.common.git import run_git
from benchmarks.history.commit_questions import CommitQuestion
from rootle import App, Config, open_app

_SUBMODULE = "160000"


def visit_parents(
    clone: Path, work: Path, questions: Iterable[CommitQuestion], config: Config | None = None
) -> Iterator[tuple[CommitQuestion, App]]:
    """Yield each question with an app whose tree and index are those of the commit's parent.

    All questions share one app and one tree (`app.root`), so search before you take the next item.
    If the questions are in chronological order, few files change between two trees.
    """
    tree = open_tree(clone, work / "tree")
    with open_app(tree, index_dir=work / "index", config=config) as app:
        for question in questions:
            check_out(tree, question.parent)
            app.index()
            yield question, app


def open_tree(clone: Path, tree: Path) -> Path:
    """Return a repository that shares the clone's objects and leaves the clone untouched."""
    if not (tree / ".git").exists():
        tree.parent.mkdir(parents=True, exist_ok=True)
        source = str(clone.resolve())
        run_git(Path(), "clone", "-q", "--shared", "--no-checkout", source, str(tree))
    return tree


def check_out(tree: Path, revision: str) -> None:
    """Check out a revision, without the files whose content the clone lacks.

    `git checkout` would stop at the first such file, so these files are removed from git's index.
    """
    run_git(tree, "update-ref", "--no-deref", "HEAD", revision)
    run_git(tree, "read-tree", "--reset", revision)
    missing = "".join(f"{path}\0" for path in missing_files(tree))
    run_git(tree, "update-index", "--force-remove", "-z", "--stdin", stdin=missing)
    run_git(tree, "clean", "-ffdxq")
    run_git(tree, "checkout-index", "--all", "--force", "--quiet", "--index")


def missing_files(tree: Path) -> list[str]:
    """Return the files in git's index whose content is not in the object database."""
    objects = {}  # path -> object
    for entry in filter(None, run_git(tree, "ls-files", "-z", "--stage").split("\0")):
        fields, _, path = entry.partition("\t")
        mode, name, _ = fields.split()
        if mode != _SUBMODULE:
            objects[path] = name
    names = "".join(f"{name}\n" for name in sorted(set(objects.values())))
    report = run_git(tree, "cat-file", "--batch-check", stdin=names).splitlines()
    missing = {line.split()[0] for line in report if line.endswith(" missing")}
    return [path for path, name in objects.items() if name in missing]
