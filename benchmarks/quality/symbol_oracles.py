"""Independent answers about names: Universal Ctags, `git grep` with Pygments, and Jedi."""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Name, String
from pygments.util import ClassNotFound

from benchmarks.common.git import GitError, run_git
from rootle.text.languages import CODE_EXTENSIONS, file_language

# Kinds of tags that are not definitions, or that name something inside a function.
_OTHER_KINDS: Final = frozenset(
    """local parameter import unknown package namespace heading section chapter label key
    namespaceprefix heredoc module-import id anchor header alias selector packagename""".split()
)
_CONTAINERS: Final = frozenset({"namespace", "module", "package"})
_LEXERS: Final = {"bash": "bash", "csharp": "csharp", "objc": "objective-c", "tsx": "typescript"}
_MIN_NAME_CHARS: Final = 3
# Names that ctags makes up for functions and structures without a name.
_IS_GENERATED: Final = re.compile(r"AnonymousFunction|anonymous|__anon")


@dataclass(frozen=True, order=True)
class Tag:
    """A definition that ctags found."""

    name: str
    path: str
    line: int
    scope: str  # "" at the top level
    is_top: bool
    language: str


def read_tags(root: Path, paths: Collection[str]) -> list[Tag]:
    """Return the definitions in these files. Raise FileNotFoundError without ctags."""
    if shutil.which("ctags") is None:
        raise FileNotFoundError("Universal Ctags is missing: apt-get install universal-ctags")
    command = [
        "ctags", "--output-format=json", "--fields=+nKsSl", "--kinds-C=+px", "--kinds-C++=+px",
        "-f", "-", "-L", "-",
    ]  # fmt: skip
    done = subprocess.run(
        command, input="\n".join(sorted(paths)), cwd=root, capture_output=True,
        encoding="utf-8", errors="replace", check=True,
    )  # fmt: skip
    tags = (json.loads(line) for line in done.stdout.splitlines())
    return [_read_tag(tag) for tag in tags if tag.get("kind", "").lower() not in _OTHER_KINDS]


def _read_tag(tag: dict[str, Any]) -> Tag:
    # In functions without a name, ctags reports no scope.
    is_indented = tag.get("pattern", "/^")[2:3] in (" ", "\t")
    is_top = not is_indented if not tag.get("scope") else tag.get("scopeKind") in _CONTAINERS
    language = file_language(tag["path"])
    return Tag(tag["name"], tag["path"], tag["line"], tag.get("scope", ""), is_top, language)


def code_paths(root: Path, indexed: Collection[str]) -> list[str]:
    """Return the tracked source files that are in the index."""
    tracked = run_git(root, "ls-files").splitlines()
    return [p for p in tracked if p in indexed and file_language(p) in CODE_EXTENSIONS]


def sample_unique(tags: Sequence[Tag], count: int, seed: str) -> list[Tag]:
    """Return top-level definitions whose names have no other definition."""
    times = Counter(tag.name for tag in tags)
    unique = sorted(
        tag
        for tag in tags
        if times[tag.name] == 1 and tag.is_top and len(tag.name) >= _MIN_NAME_CHARS
        if tag.name.isidentifier() and not _IS_GENERATED.match(tag.name)
        if tag.language not in ("css", "html", "scss", "sql")
    )
    return sorted(random.Random(seed).sample(unique, min(count, len(unique))))


def sample_repeated(tags: Sequence[Tag], count: int, seed: str) -> list[Tag]:
    """Return definitions of members whose names are defined in at least two classes."""
    places = defaultdict(set)
    for tag in tags:
        places[tag.name].add(tag.scope)
    members = sorted(
        tag
        for tag in tags
        if len(places[tag.name]) > 1 and not tag.is_top and tag.name.isidentifier()
        if not tag.name.startswith("__")
    )
    return sorted(random.Random(seed).sample(members, min(count, len(members))))


def find_uses(root: Path, name: str, paths: Collection[str]) -> set[tuple[str, int]]:
    """Return the lines on which a name occurs as a word outside of comments and strings."""
    try:
        output = run_git(root, "grep", "-nwzF", "--no-color", "-e", name)
    except GitError:
        return set()
    found = set()
    for row in output.splitlines():
        parts = row.split("\0")
        if len(parts) < 3 or parts[0] not in paths:
            continue
        line = int(parts[1])
        if _is_code(root / parts[0], name, line):
            found.add((parts[0], line))
    return found


def _is_code(path: Path, name: str, line: int) -> bool:
    return line in _code_lines(path).get(name, frozenset())


@lru_cache(maxsize=4_096)
def _code_lines(path: Path) -> dict[str, set[int]]:
    """Map each word of a file to its lines, except in comments and strings."""
    language = file_language(path.name)
    try:
        lexer = get_lexer_by_name(_LEXERS.get(language, language), stripnl=False, ensurenl=False)
    except ClassNotFound:
        return {}
    text = path.read_bytes().decode("utf-8", "replace").replace("\r\n", "\n")
    found: defaultdict[str, set[int]] = defaultdict(set)
    starts = [at for at, char in enumerate(text) if char == "\n"]
    for at, token, value in lexer.get_tokens_unprocessed(text):
        if token in Comment and token not in Comment.Preproc:
            continue
        if token in String and token not in Name:
            continue
        for start, word in _words(value):
            found[word].add(bisect_right(starts, at + start - 1) + 1)
    return dict(found)


def _words(text: str) -> Iterator[tuple[int, str]]:
    start = -1
    for at, char in enumerate(f"{text} "):
        if char == "_" or char.isalnum():
            start = at if start < 0 else start
        elif start >= 0:
            yield start, text[start:at]
            start = -1


class JediOracle:
    """Resolves references in Python code. Raises ModuleNotFoundError without Jedi."""

    def __init__(self, root: Path) -> None:
        import jedi

        self._jedi = jedi
        self._root = root
        self._project = jedi.Project(root)

    def targets(self, path: str, line: int, name: str) -> set[tuple[str, int]]:
        """Return the definitions that Jedi finds for a name on a line."""
        text = (self._root / path).read_text(encoding="utf-8", errors="replace")
        script = self._jedi.Script(text, path=self._root / path, project=self._project)
        found = []
        for match in re.finditer(rf"\b{re.escape(name)}\b", text.split("\n")[line - 1]):
            try:
                found += script.goto(line, match.start() + 1, follow_imports=True)
            except Exception:  # Jedi raises many types of errors on unusual code
                continue
        inside = (one for one in found if one.module_path is not None and one.line)
        return {
            (one.module_path.relative_to(self._root).as_posix(), one.line)
            for one in inside
            if one.module_path.is_relative_to(self._root)
        }
