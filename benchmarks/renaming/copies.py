"""A renamed copy of a checkout, as a new git repository with one commit."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.common.git import run_git
from benchmarks.renaming.defined_names import SourceText, defined_names, kept_names
from benchmarks.renaming.paths import path_stems, path_words, rename_paths
from benchmarks.renaming.projects import Project, ProjectWords
from benchmarks.renaming.texts import NAME, Renamer
from benchmarks.renaming.words import WordMap, read_synonyms, split_parts

MAX_TEXT_BYTES = 4_000_000


class CopyError(Exception):
    """Raised when a checkout cannot be copied; the message gives the reason."""


@dataclass(frozen=True)
class Renaming:
    """Everything that is replaced in one repository: paths, names and words of the project."""

    paths: dict[str, str]
    renamer: Renamer

    def rename_path(self, path: str) -> str:
        """Return the new path of a file. Raise KeyError if the repository has no such file."""
        return self.paths[path]


def tracked_files(root: Path) -> list[str]:
    """Return the paths of the files in a checkout that git tracks and that exist, sorted."""
    listed = run_git(root, "ls-files", "-z").split("\0")
    return sorted(path for path in listed if path and (root / path).is_file())


def read_text(path: Path) -> str | None:
    """Return the text of a file, or None if it is binary, large or not UTF-8."""
    data = path.read_bytes()
    if len(data) > MAX_TEXT_BYTES or b"\0" in data:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def plan_renaming(project: Project, files: Iterable[SourceText], paths: list[str]) -> Renaming:
    """Return the replacements for one repository, given its texts and the paths of all files."""
    texts = list(files)
    languages = {file.language for file in texts if file.language}
    own = ProjectWords(project.words)
    stems = {stem for stem in path_stems(paths) if stem}
    modules = {stem for stem in stems if stem.isidentifier()} - kept_names(languages)
    names = defined_names(texts) | modules
    taken: set[str] = set()
    for file in texts:
        taken.update(NAME.findall(file.text))
    vocabulary = {word for name in names for word in split_parts(name)} | path_words(paths)
    words = WordMap(vocabulary, read_synonyms())
    renamed = rename_paths(paths, words, own)
    return Renaming(dict(renamed), Renamer(names, stems, taken, words, own))


def copy_renamed(source: Path, target: Path, project: Project) -> Renaming:
    """Write the renamed copy of a checkout. Raise CopyError if the target exists.

    A link to a file becomes a copy of the file; other links are left out. Binary files, large files
    and text that is not UTF-8 are copied unchanged.
    """
    if target.exists():
        raise CopyError(f"{target} exists; move it away")
    paths = tracked_files(source)
    texts = {path: read_text(source / path) for path in paths}
    files = [SourceText(path, text) for path, text in texts.items() if text is not None]
    renaming = plan_renaming(project, files, paths)
    partial = target.with_name(f".{target.name}.part")
    shutil.rmtree(partial, ignore_errors=True)
    for path in paths:
        new = partial / renaming.paths[path]
        new.parent.mkdir(parents=True, exist_ok=True)
        text = texts[path]
        if text is None:
            shutil.copyfile(source / path, new)
        else:
            renamed = renaming.renamer.rename_file(SourceText(path, text))
            new.write_bytes(renamed.encode("utf-8"))
    commit_all(partial)
    partial.rename(target)
    return renaming


def commit_all(folder: Path) -> None:
    """Make a git repository of a folder, with one commit of all its files and a fixed date."""
    run_git(folder, "init", "-q", "-b", "main")
    run_git(folder, "add", "-A", "-f")
    run_git(
        folder, "-c", "user.name=Renamed copy", "-c", "user.email=copy@example.org",
        "-c", "commit.gpgsign=false", "commit", "-q", "--no-verify", "--date=2024-01-01T00:00:00Z",
        "-m", "Add the renamed copy",
    )  # fmt: skip
