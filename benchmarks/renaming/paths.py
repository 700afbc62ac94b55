"""New names of files and folders."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from benchmarks.renaming.projects import ProjectWords
from benchmarks.renaming.words import WordMap, split_parts

# Names that carry a convention, not a meaning of this project.
CONVENTIONAL: Final = frozenset(
    "src lib libs test tests testdata spec specs doc docs guides guide examples example samples "
    "sample bench benches benchmark benchmarks bin cmd internal pkg crates ext vendor scripts "
    "script tools build config conf contrib assets images img resources res main java kotlin "
    "groovy org com net io apache index mod __init__ __main__ conftest setup readme "
    "copying changelog changes history news authors contributing security code_of_conduct todo "
    "makefile dockerfile rakefile gemfile cmakelists package composer cargo pom mix go tsconfig "
    "pyproject tox settings gradle gradlew gradlew build jsr bun vitest eslint configure autogen "
    "version agents claude governance maintainers release install notice unlicense faq website "
    "static public fixtures fixture".split()
)
CONVENTIONAL_STARTS: Final = ("license", "licence", "readme", "copying", "changelog")
_STEM: Final = re.compile(r"([^.]+)(.*)", re.DOTALL)


def strip_extensions(component: str) -> str:
    """Return a file or folder name without its extensions; empty for names like `.github`."""
    match = _STEM.fullmatch(component)
    return match[1] if match else ""


def is_conventional(component: str) -> bool:
    """Return whether a file or folder name must stay."""
    stem = strip_extensions(component).lower()
    return stem in CONVENTIONAL or not stem or stem.startswith(CONVENTIONAL_STARTS)


def path_stems(paths: Iterable[str]) -> set[str]:
    """Return the names of files and folders that may be renamed, without extensions."""
    components = {component for path in paths for component in path.split("/")}
    return {strip_extensions(one) for one in components if not is_conventional(one)}


def path_words(paths: Iterable[str]) -> set[str]:
    """Return the subwords of the names that may be renamed."""
    return {word for stem in path_stems(paths) for word in split_parts(stem)}


def rename_paths(paths: Iterable[str], words: WordMap, project: ProjectWords) -> Mapping[str, str]:
    """Return the new path of each file; files whose new paths collide keep their names."""
    renamed = {path: rename_path(path, words, project) for path in sorted(set(paths))}
    while clashing := [
        path for path, new in renamed.items() if path != new and Counter(renamed.values())[new] > 1
    ]:
        renamed.update({path: path for path in clashing})
    return renamed


def rename_path(path: str, words: WordMap, project: ProjectWords) -> str:
    """Return a path with each unconventional component renamed.

    In conventional components and in extensions, only the words of the project are replaced.
    """
    return "/".join(_rename_component(one, words, project) for one in path.split("/"))


def _rename_component(component: str, words: WordMap, project: ProjectWords) -> str:
    if is_conventional(component):
        return project.rename(component)
    match = _STEM.fullmatch(component)
    if match is None:
        return component
    return words.rename(project.rename(match[1])) + project.rename(match[2])
