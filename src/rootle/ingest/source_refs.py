"""Resolve references such as "path:120-180" or "path#name" to lines of a document or commit."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from rootle.errors import QueryError, SourceError
from rootle.index.reader import IndexReader
from rootle.ingest.reference_syntax import Reference, is_file_name, parse_reference
from rootle.ingest.source_parts import WholeDocument, format_names, select_part
from rootle.serialization.outside_text import split_package
from rootle.serialization.path_text import did_you_mean, escape_path, unquote_git_path
from rootle.sources.files.discovery import WalkRules, walk_files
from rootle.sources.files.exclusion_reasons import explain_exclusions
from rootle.sources.files.file_source import read_listed_file
from rootle.sources.files.text_reader import is_generated_file
from rootle.sources.git.commit_text import SHA, explain_hidden_commits, show_commit
from rootle.sources.git.commits.commit_list import find_commit, find_reference
from rootle.sources.git.git_dirs import find_work_tree
from rootle.sources.git.trees.revision import find_revision
from rootle.sources.git.trees.tree_source import read_tree_file
from rootle.sources.source import Document
from rootle.text.similarity.similar_paths import nearest_paths
from rootle.text.terms import compose
from rootle.types import (
    COMMIT_MESSAGE,
    COMMIT_URI,
    EXTERNAL_URI,
    EXTRACTED,
    FILES,
    PACKAGE_URI,
    DocumentSection,
    Passage,
)

_MAX_REFERENCE_CHARS: Final = 1_000
# After a colon, this is a range of lines ("path:12-20"), and not a path in a version ("v2.1:path").
_LINE_NUMBERS: Final = re.compile(r"[Ll]?\d+(?:[-\u2013:,CcLl]+\d+)*\W*")
# A tag or a branch, such as "v2.1", "@org/pool@2.1.0" and "fix/#12".
_NAME: Final = re.compile(r"[\w@][\w./@#+-]{0,249}")
# "HEAD", or an ancestor of HEAD, of a tag or of a branch, such as "HEAD~3".
_ANCESTOR: Final = re.compile(r"HEAD|[\w][\w./+-]{0,249}[~^][~^0-9]{0,30}")
_PATCH_START: Final = "diff --git "
# The prefixes of references to documents of added sources.
_OUTSIDE: Final = (EXTERNAL_URI, "http://", "https://")


@dataclass(frozen=True, slots=True)
class OutsideDocument:
    """An untrusted document from outside the project."""

    uri: str
    language: str
    text: str
    sections: Sequence[DocumentSection]
    origin: str  # the address of the document or of its source


@dataclass(frozen=True, slots=True)
class DocumentSet:
    """The documents to which references may refer: files, commits, and indexed documents."""

    root: Path
    rules: WalkRules
    index: Callable[[], IndexReader | None]  # None while there is no index
    # Returns the document of an added source, given its URI or address; None if there is none.
    read_outside: Callable[[str], OutsideDocument | None] = lambda _: None

    def paths(self) -> list[str]:
        """Return the paths and URIs of all indexed documents; without an index, paths of files."""
        index = self.index()
        if index is None:
            return [entry.uri for entry in walk_files(self.root, self.rules).documents]
        return [state.path for state in index.all_files() if state.skip is None]

    def read_indexed(self, uri: str) -> WholeDocument | None:
        """Return the indexed text of a document that is not a file; None if there is none."""
        index = self.index()
        if index is None:
            return None
        for state in index.all_files():
            if state.path == uri and state.source != FILES and state.skip is None:
                passage = _passage(uri, state.language, index.text_as_written(state.id))
                return WholeDocument(passage, index.read_sections(state.id))
        return None


def read_source(reference: str, documents: DocumentSet) -> Passage:
    """Return the lines of "path", "path:120", "path:120-180", "path#name" or a commit's hash.

    `parse_reference` accepts further forms. If there are no such lines, raise a SourceError that
    suggests valid references.
    """
    _check(reference)
    whole, meaning = _find_whole(reference, documents)
    found = select_part(whole, meaning)
    if whole.passage.note and found.note not in ("", whole.passage.note):
        found = replace(found, note=f"{whole.passage.note}; {found.note}")
    if found.trust is None:
        return found
    # Imported only here: it takes 100 ms, and files of the project need no warning.
    from rootle.text.agent_orders.detector import describe_orders

    return replace(found, warning=describe_orders("\n".join(found.lines)))


def locate_source(reference: str, documents: DocumentSet) -> tuple[Passage, Passage, Reference]:
    """Return a whole file, the lines in it that a reference names, and the parsed reference.

    Raise SourceError as `read_source` does.
    """
    _check(reference)
    whole, meaning = _find_whole(reference, documents)
    return whole.passage, select_part(whole, meaning), meaning


def _find_whole(reference: str, documents: DocumentSet) -> tuple[WholeDocument, Reference]:
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
    for meaning in meanings if failure is None else ():
        path = _find_written(meaning.path, documents)
        whole = _read_whole(path, documents) if path else None
        if whole is not None:
            return whole, replace(meaning, path=path)
    raise failure or _unknown_source(meanings, documents)


def _find_written(path: str, documents: DocumentSet) -> str:
    """Return the document path that differs from `path` only in Unicode composition, or ""."""
    if path.isascii():
        return ""
    composed = compose(path)
    return next((known for known in documents.paths() if compose(known) == composed), "")


def _check(reference: str) -> None:
    if not reference.strip():
        raise SourceError("source is empty")
    if len(reference) > _MAX_REFERENCE_CHARS:
        raise SourceError(
            f"source has {len(reference)} characters; give the path of a file, not its content"
        )
    if not is_file_name(reference):
        raise SourceError("source contains characters that are invalid in a path")


def _read_whole(path: str, documents: DocumentSet) -> WholeDocument | None:
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
            return WholeDocument(passage, _patch_sections(passage.lines))
    relative = _relative_path(documents.root, path)
    found = read_listed_file(documents.root, relative, documents.rules)
    if isinstance(found, str):
        name = escape_path(relative)
        raise SourceError(f"{name} is excluded from the index ({found}) and cannot be read")
    if found is not None:
        return WholeDocument(_file_passage(relative, found), found.sections)
    return (
        documents.read_indexed(path)
        or _read_version(path, documents)
        or _read_named_commit(path, documents)
    )


def _file_passage(path: str, document: Document) -> Passage:
    """Return a whole file, with a note if it is not indexed because it is generated."""
    passage = _passage(path, document.language, document.text)
    if document.encoding == EXTRACTED or not is_generated_file(document.text, path):
        return passage
    return replace(passage, note="this file is not indexed, because it is generated")


def names_package(reference: str, root: Path) -> bool:
    """Return whether a reference names a file of a package.

    The result is False if the project itself has a file with this name, such as "deps:a.py".
    """
    return reference.startswith(PACKAGE_URI) and not any(
        os.path.lexists(root / meaning.path) for meaning in parse_reference(reference)
    )


def _is_in_folder(path: str, documents: DocumentSet) -> bool:
    return os.path.lexists(documents.root / path)


def _read_named_commit(name: str, documents: DocumentSet) -> WholeDocument | None:
    """Return the commit of a tag, the newest one of a branch, or that of a name such as "HEAD~3".

    Return None if there is none.
    """
    folder = os.path.realpath(documents.root)
    is_ancestor = _ANCESTOR.fullmatch(name) is not None
    if not (is_ancestor or _NAME.fullmatch(name)) or ".." in name or find_work_tree(folder) is None:
        return None
    if explain_hidden_commits(documents.root) is not None:
        return None
    kind, full_name = ("", name) if is_ancestor else find_reference(folder, name) or ("", "")
    found = find_commit(folder, full_name) if full_name else None
    whole = None if found is None else _read_whole(found.sha, documents)
    if whole is None or not kind:
        return whole
    what = "a tag of this commit" if kind == "tag" else "a branch; this is its newest commit"
    return replace(whole, passage=replace(whole.passage, note=f"{name} is {what}"))


def _read_outside(reference: str, documents: DocumentSet) -> WholeDocument | None:
    found = documents.read_outside(reference)
    if found is None:
        return None
    passage = _passage(found.uri, found.language, found.text)
    return WholeDocument(replace(passage, origin=found.origin, trust="external"), found.sections)


def _mark_package(whole: WholeDocument | None) -> WholeDocument | None:
    """Return a document; if it is a file of an installed package, add its origin."""
    found = None if whole is None else split_package(whole.passage.source)
    if whole is None or found is None:
        return whole
    passage = replace(whole.passage, origin=" ".join(found), trust="dependency")
    return replace(whole, passage=passage)


def _read_version(path: str, documents: DocumentSet) -> WholeDocument | None:
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
    return WholeDocument(_passage(source, found.language, found.text), found.sections)


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
    rules = explain_exclusions(os.path.realpath(documents.root), [relative])
    return SourceError(_explain_unknown(relative, documents.paths(), rules.get(relative)))


def _explain_unknown(path: str, known: Collection[str], rule: str | None) -> str:
    # "deps:httpx" may be any version of the package.
    folders = (f"{path}/", f"{path}@") if path.startswith(PACKAGE_URI) else f"{path}/"
    inside = sorted(other for other in known if path == "." or other.startswith(folders))
    if inside:
        return f"{escape_path(path)} is a folder; name one of its files: {_format_paths(inside)}"
    if rule is not None:
        return f"{escape_path(path)} is excluded from the index by {rule}"
    other_hint = _PACKAGE_HINT if path.startswith(PACKAGE_URI) else _DEFAULT_HINT
    hint = did_you_mean(nearest_paths(path, known)) or other_hint
    return f"{escape_path(path)} does not exist here or is ignored; {hint}"


_DEFAULT_HINT: Final = "use a path from a search result"
_PACKAGE_HINT: Final = "search with in:deps for the paths of files of packages"


def _format_paths(paths: Sequence[str]) -> str:
    return format_names([escape_path(path) for path in paths])
