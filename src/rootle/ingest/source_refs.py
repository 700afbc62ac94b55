"""Resolve references such as "path:120-180" or "path#name" to lines of a document or commit."""

from __future__ import annotations

import difflib
import os
import posixpath
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rootle.errors import QueryError, SourceError
from rootle.index.reader import IndexReader
from rootle.ingest.reference_syntax import Reference, is_file_name, parse_reference
from rootle.ingest.similar_paths import nearest_paths
from rootle.serialization.outside_text import split_package
from rootle.serialization.path_text import escape_path, unquote_git_path
from rootle.sources.files.discovery import WalkRules, walk_files
from rootle.sources.files.file_source import read_listed_file
from rootle.sources.git.commit_text import SHA, explain_hidden_commits, show_commit
from rootle.sources.git.commits.commit_list import find_commit
from rootle.sources.git.git_dirs import find_work_tree
from rootle.sources.git.trees.revision import find_revision
from rootle.sources.git.trees.tree_source import read_tree_file
from rootle.text.terms import encodable
from rootle.types import (
    COMMIT_MESSAGE,
    COMMIT_URI,
    EXTERNAL_URI,
    FILES,
    PACKAGE_URI,
    DocumentSection,
    Passage,
)

if TYPE_CHECKING:
    from rootle.ingest.named_ranges import NamedRange

_MAX_REFERENCE_CHARS: Final = 1_000
# For a single line, return the enclosing definition, or this many lines before and after it.
_LINES_AROUND: Final = 30
_MAX_DEFINITION_LINES: Final = 150
_MAX_NAMES: Final = 10
# After a colon, this is a range of lines ("path:12-20"), and not a path in a version ("v2.1:path").
_LINE_NUMBERS: Final = re.compile(r"[Ll]?\d+(?:[-\u2013:,CcLl]+\d+)*\W*")
_TAG: Final = re.compile(r"[\w][\w./+-]{0,249}")
# The checked-out commit, or an ancestor of it, of a tag or of a branch, such as "HEAD~3".
_ANCESTOR: Final = re.compile(r"HEAD|[\w][\w./+-]{0,249}[~^][~^0-9]{0,30}")
_PATCH_START: Final = "diff --git "
# The prefixes of references to documents of added sources.
_OUTSIDE: Final = (EXTERNAL_URI, "http://", "https://")


@dataclass(frozen=True, slots=True)
class OutsideDocument:
    """A document from outside the project, which is not trusted."""

    uri: str
    language: str
    text: str
    sections: Sequence[DocumentSection]
    origin: str  # its address, or that of its source


@dataclass(frozen=True, slots=True)
class DocumentSet:
    """The documents to which references may refer: files, commits, and indexed documents."""

    root: Path
    rules: WalkRules
    index: Callable[[], IndexReader | None]  # None while there is no index
    # Returns the document of an added source with a URI or an address, None if there is none.
    read_outside: Callable[[str], OutsideDocument | None] = lambda _: None

    def paths(self) -> list[str]:
        """Return the paths and URIs of all indexed documents, or of files if there is no index."""
        index = self.index()
        if index is None:
            return [entry.uri for entry in walk_files(self.root, self.rules).documents]
        return [state.path for state in index.all_files() if state.skip is None]

    def read_indexed(self, uri: str) -> _Whole | None:
        """Return the indexed text of a document that is not a file; None if there is none."""
        index = self.index()
        if index is None:
            return None
        for state in index.all_files():
            if state.path == uri and state.source != FILES and state.skip is None:
                passage = _passage(uri, state.language, index.text(state.id))
                return _Whole(passage, index.sections_of(state.id))
        return None


@dataclass(frozen=True, slots=True)
class _Whole:
    """A whole document or commit."""

    passage: Passage
    sections: Sequence[DocumentSection] = ()


def read_source(reference: str, documents: DocumentSet) -> Passage:
    """Return the lines of "path", "path:120", "path:120-180", "path#name" or a commit's hash.

    `parse_reference` accepts further forms. If there are no such lines, raise a SourceError that
    suggests valid references.
    """
    _check(reference)
    whole, meaning = _find_whole(reference, documents)
    found = _select(whole, meaning)
    if found.trust is None:
        return found
    # Imported only here: it takes 100 ms, and files of the project need no warning.
    from rootle.text.agent_orders.detector import describe_orders

    return replace(found, warning=describe_orders("\n".join(found.lines)))


def locate_source(reference: str, documents: DocumentSet) -> tuple[Passage, Passage, Reference]:
    """Return a whole file, the lines of it that a reference names, and the parsed reference.

    Raise SourceError as `read_source` does.
    """
    _check(reference)
    whole, meaning = _find_whole(reference, documents)
    return whole.passage, _select(whole, meaning), meaning


def _find_whole(reference: str, documents: DocumentSet) -> tuple[_Whole, Reference]:
    meanings = list(parse_reference(reference))
    failure: SourceError | None = None
    for meaning in meanings:
        try:
            whole = _read_whole(meaning.path, documents)
        except SourceError as error:
            failure = failure or error
        else:
            if whole is not None:
                return whole, meaning
    raise failure or _unknown_source(meanings, documents)


def _check(reference: str) -> None:
    if not reference.strip():
        raise SourceError("source is empty")
    if len(reference) > _MAX_REFERENCE_CHARS:
        raise SourceError(
            f"source has {len(reference)} characters; give the path of a file, not its content"
        )
    if not is_file_name(reference):
        raise SourceError("source contains characters that are invalid in a path")


def _read_whole(path: str, documents: DocumentSet) -> _Whole | None:
    """Return a commit, a file or an indexed document; None if there is none.

    Raise SourceError if the file is excluded from the index or outside the folder.
    """
    if path.startswith((PACKAGE_URI, *_OUTSIDE)) and not _is_in_folder(path, documents):
        if path.startswith(PACKAGE_URI):
            return _mark_package(documents.read_indexed(path))
        return _read_outside(path, documents)
    sha = _hash_in(path)
    if SHA.fullmatch(sha):
        commit = show_commit(documents.root, sha.lower(), documents.rules)
        if commit is not None:
            passage = _passage(commit[0][: max(12, len(sha))], "diff", commit[1])
            return _Whole(passage, _patch_sections(passage.lines))
    relative = _relative_path(documents.root, path)
    found = read_listed_file(documents.root, relative, documents.rules)
    if isinstance(found, str):
        name = escape_path(relative)
        raise SourceError(f"{name} is excluded from the index ({found}) and cannot be read")
    if found is not None:
        return _Whole(_passage(relative, found.language, found.text), found.sections)
    return (
        documents.read_indexed(path)
        or _read_version(path, documents)
        or _read_tagged_commit(path, documents)
    )


def names_package(reference: str, root: Path) -> bool:
    """Return whether a reference names a file of a package, not a file such as "deps:a.py"."""
    return reference.startswith(PACKAGE_URI) and not any(
        os.path.lexists(root / meaning.path) for meaning in parse_reference(reference)
    )


def _is_in_folder(path: str, documents: DocumentSet) -> bool:
    return os.path.lexists(documents.root / path)


def _read_tagged_commit(name: str, documents: DocumentSet) -> _Whole | None:
    """Return the commit of a tag, or of a name such as "HEAD~3"; None if there is none."""
    folder = os.path.realpath(documents.root)
    is_ancestor = _ANCESTOR.fullmatch(name) is not None
    if not (is_ancestor or _TAG.fullmatch(name)) or ".." in name or find_work_tree(folder) is None:
        return None
    if explain_hidden_commits(documents.root) is not None:
        return None
    found = find_commit(folder, name if is_ancestor else f"refs/tags/{name}")
    return None if found is None else _read_whole(found.sha, documents)


def _read_outside(reference: str, documents: DocumentSet) -> _Whole | None:
    found = documents.read_outside(reference)
    if found is None:
        return None
    passage = _passage(found.uri, found.language, found.text)
    return _Whole(replace(passage, origin=found.origin, trust="external"), found.sections)


def _mark_package(whole: _Whole | None) -> _Whole | None:
    """Return a file of an installed package with its origin."""
    found = None if whole is None else split_package(whole.passage.source)
    if whole is None or found is None:
        return whole
    passage = replace(whole.passage, origin=" ".join(found), trust="dependency")
    return replace(whole, passage=passage)


def _read_version(path: str, documents: DocumentSet) -> _Whole | None:
    """Return a file of an earlier version, as in "v2.1:src/a.py"; None if no version is named.

    Raise SourceError if there is no such version, or no such file in it.
    """
    name, sign, rest = path.partition(":")
    if (
        not (sign and name and rest)
        or _LINE_NUMBERS.fullmatch(rest)
        or find_work_tree(os.path.realpath(documents.root)) is None
    ):
        return None
    try:
        revision = find_revision(documents.root, name)
    except QueryError as error:
        raise SourceError(f"{escape_path(path)} does not exist here; {error}") from error
    relative = _relative_path(documents.root, rest)
    source = f"{name}:{relative}"
    found = read_tree_file(documents.root, revision.sha, relative, documents.rules)
    if isinstance(found, str):
        raise SourceError(
            f"{escape_path(source)} is excluded from the index ({found}) and cannot be read"
        )
    if found is None:
        raise SourceError(
            f"there is no file {escape_path(relative)} in {name}; search with at:{name} to find one"
        )
    return _Whole(_passage(source, found.language, found.text), found.sections)


def _hash_in(path: str) -> str:
    plain = path.removeprefix(COMMIT_URI)
    return plain.removeprefix("commit").lstrip(": ") if plain.startswith("commit") else plain


def _patch_sections(lines: Sequence[str]) -> list[DocumentSection]:
    """Return the message of a commit and the patch of each file as sections."""
    starts = [at for at, line in enumerate(lines, start=1) if line.startswith(_PATCH_START)]
    ends = [*(start - 1 for start in starts[1:]), len(lines)]
    message = DocumentSection(COMMIT_MESSAGE, 1, starts[0] - 1 if starts else len(lines))
    return [
        message,
        *(
            DocumentSection(_patch_label(lines[start - 1]), start, end)
            for start, end in zip(starts, ends, strict=False)
        ),
    ]


def _patch_label(header: str) -> str:
    """Return the label of a patch: the path P in the header "diff --git a/P b/P"."""
    paths = header.removeprefix(_PATCH_START)
    path = unquote_git_path(paths[: len(paths) // 2]).removeprefix("a/")
    return f"./{path}" if path == COMMIT_MESSAGE else path


def _passage(source: str, language: str, text: str) -> Passage:
    lines = tuple(line.removesuffix("\r") for line in text.removesuffix("\n").split("\n"))
    return Passage(source, language, 1, lines, len(lines))


def _relative_path(root: Path, path: str) -> str:
    """Return a path relative to the root. Raise SourceError if it leads out of the folder."""
    path = os.path.expanduser(path) if path.startswith("~/") else path
    for folder in (os.fspath(root), os.path.realpath(root)):
        if path.startswith(folder + os.sep):
            path = path[len(folder) + 1 :]
    relative = posixpath.normpath(path)
    if os.path.isabs(path) or ".." in path.split("/"):
        raise SourceError(
            f"{escape_path(path)} is outside the folder; give a path relative to it, without .."
        )
    return relative


def _unknown_source(meanings: Sequence[Reference], documents: DocumentSet) -> SourceError:
    """Return an error that suggests existing paths for the simplest reading of a reference."""
    # The simplest reading is the one without punctuation, escapes or backslashes.
    path = min(
        (it.path for it in meanings), key=lambda it: (not it.isprintable(), len(it), "\\" in it)
    )
    sha = _hash_in(path)
    if SHA.fullmatch(sha):
        hidden = explain_hidden_commits(documents.root)
        return SourceError(
            hidden or f"there is no commit or file named {sha}; use a hash from git log"
        )
    relative = _relative_path(documents.root, path)
    return SourceError(_explain_unknown(relative, documents.paths()))


def _explain_unknown(path: str, known: Collection[str]) -> str:
    # "deps:httpx" may be any version of the package.
    folders = (f"{path}/", f"{path}@") if path.startswith(PACKAGE_URI) else f"{path}/"
    inside = sorted(other for other in known if path == "." or other.startswith(folders))
    if inside:
        return f"{escape_path(path)} is a folder; name one of its files: {_format_paths(inside)}"
    similar = nearest_paths(path, known)
    other_hint = _PACKAGE_HINT if path.startswith(PACKAGE_URI) else _DEFAULT_HINT
    hint = f"did you mean {_format_paths(similar)}?" if similar else other_hint
    return f"{escape_path(path)} does not exist here or is ignored; {hint}"


_MAX_OTHERS: Final = 5
_MAX_NEAR_NAMES: Final = 3
_MIN_SIMILARITY: Final = 0.7  # from 0 to 1, of two names
_DEFAULT_HINT: Final = "use a path from a search result"
_PACKAGE_HINT: Final = "search with in:deps for the paths of files of packages"


def _format_paths(paths: Sequence[str]) -> str:
    return _format_names([escape_path(path) for path in paths])


def _format_names(names: Sequence[str]) -> str:
    more = f", and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
    return ", ".join(names[:_MAX_NAMES]) + more


def _select(whole: _Whole, reference: Reference) -> Passage:
    passage = whole.passage
    first, last = reference.first_line, reference.last_line
    if reference.name:
        return _select_named(whole, reference.name)
    if first is None:
        return passage
    count = passage.total_lines
    source = escape_path(passage.source)
    if last is not None and last < first:
        raise SourceError(
            f"lines {first}-{last} of {source} end before they begin; request "
            f"{source}:{last}-{first}"
        )
    if first < 1 or first > count:
        given = f"{first}-{last}" if last is not None else str(first)
        raise SourceError(f"{source} has lines 1-{count}, not {given}; request lines in that range")
    if last is None:
        return _cut(passage, *_range_around(passage, first))
    found = _cut(passage, first, last)
    if last <= count:
        return found
    return replace(found, note=f"{source} ends at line {count}; line {last} does not exist")


def _range_around(passage: Passage, line: int) -> tuple[int, int]:
    """Return the range of the definition or section around a line.

    If there is none, or if it is long, return the range of the nearby lines.
    """
    from rootle.ingest.named_ranges import innermost_range, list_named_ranges

    found = innermost_range(list_named_ranges("\n".join(passage.lines), passage.language), line)
    if found is not None and found.last_line - found.first_line < _MAX_DEFINITION_LINES:
        return found.first_line, found.last_line
    return max(1, line - _LINES_AROUND), line + _LINES_AROUND


def _select_named(whole: _Whole, name: str) -> Passage:
    from rootle.ingest.anchors import find_anchor
    from rootle.ingest.named_ranges import (
        find_in_sections,
        find_named_ranges,
        find_plain_names,
        list_named_ranges,
    )

    passage = whole.passage
    for section in whole.sections:
        if name in (section.label, escape_path(section.label)):
            return _cut(passage, section.start_line, section.end_line)
    text = "\n".join(passage.lines)
    ranges = list_named_ranges(text, passage.language, max_chars=len(text))
    if found := find_named_ranges(ranges, name) or find_in_sections(whole.sections, ranges, name):
        return _cut_first(passage, found)
    line = find_anchor(text, passage.language, name)
    if line is not None:
        return _cut(passage, *_section_around(passage, ranges, line))
    if found := find_plain_names(text, passage.language, name):
        return _cut_first(passage, found)
    source = escape_path(passage.source)
    names = [section.label for section in whole.sections]
    names += [candidate.names[-1] for candidate in ranges]
    if not names:
        raise SourceError(f"{source} has no headings or definitions; request lines instead")
    known = _format_names(_nearest_first(names, name))
    raise SourceError(f'{source} has no "{encodable(name)}"; it has: {known}')


def _nearest_first(names: Sequence[str], name: str) -> list[str]:
    """Return the distinct names, those that are similar to a name first."""
    distinct = list(dict.fromkeys(names))
    near = difflib.get_close_matches(name, distinct, _MAX_NEAR_NAMES, _MIN_SIMILARITY)
    # Names of equal similarity keep their order.
    found = sorted(map(distinct.index, near), key=lambda at: (-_similarity(name, distinct[at]), at))
    return list(dict.fromkeys([*(distinct[at] for at in found), *distinct]))


def _similarity(name: str, other: str) -> float:
    return difflib.SequenceMatcher(None, other, name).ratio()


def _section_around(passage: Passage, ranges: Sequence[NamedRange], line: int) -> tuple[int, int]:
    """Return the section of an anchor.

    If the anchor is far below the start of its section, or in no section, return the lines around
    it.
    """
    from rootle.ingest.named_ranges import innermost_range

    found = innermost_range(ranges, line)
    if found is not None and line - found.first_line < _LINES_AROUND:
        return found.first_line, found.last_line
    return _range_around(passage, line)


def _cut_first(passage: Passage, found: Sequence[NamedRange]) -> Passage:
    """Return the lines of the first range, with a note that names the others."""
    first, others = found[0], found[1:]
    cut = _cut(passage, first.first_line, first.last_line)
    return replace(cut, note=_describe_others(others)) if others else cut


def _describe_others(others: Sequence[NamedRange]) -> str:
    places = [f"{other.first_line}-{other.last_line}" for other in others[:_MAX_OTHERS]]
    more = " …" if len(others) > len(places) else ""
    noun = "place has" if len(others) == 1 else "places have"
    return f"{len(others)} other {noun} this name: lines {', '.join(places)}{more}"


def _cut(passage: Passage, first: int, last: int) -> Passage:
    return replace(passage, start_line=first, lines=passage.lines[first - 1 : last])
