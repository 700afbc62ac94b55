"""Convert a commit to the text that is indexed: its message, its files, and parts of its patch."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

from rootle.sources.files.skip_rules import SECRET, reason_by_name
from rootle.sources.files.skipped_content import contains_private_key
from rootle.sources.git.commits.bulk_changes import keep_removed_words
from rootle.sources.git.commits.changed_names import find_changed_names, find_removed_names
from rootle.sources.git.commits.patch_parsing import CommitPatch, FileChange, Hunk
from rootle.sources.source import Document
from rootle.text.file_kinds import is_vendored
from rootle.types import (
    CHANGED_NAMES_SEPARATOR,
    COMMIT_ENCODING,
    COMMIT_KIND,
    COMMIT_MESSAGE,
    COMMIT_URI,
    MAX_INDEXED_FILES,
    PARTIAL_COMMIT,
    RENAMED_TO,
    UNNAMED_CHANGES,
    DocumentSection,
)

_MAX_RENAMES: Final = 200  # renamed files whose old paths are indexed
# If a commit changes more files, only the lines that remove a word for good are indexed.
_MAX_FILES_WITH_PATCH: Final = 100
_MAX_PATCH_CHARS: Final = 10_000
_MAX_FILE_CHARS: Final = 3_000
_MAX_BULK_FILE_CHARS: Final = 600
_MAX_LINE_CHARS: Final = 240
_MAX_TITLE_CHARS: Final = 200
# Trailers at the end of a message, which are not indexed. The author of a commit is stored
# separately.
_TRAILER: Final = re.compile(
    r"^(?:Signed-off-by|Co-authored-by|Reviewed-by|Acked-by|Tested-by|Cc|Change-Id|git-svn-id"
    r"|Reviewed-on|Approved-by|Differential Revision)\b.*$",
    re.IGNORECASE | re.MULTILINE,
)
_TEST: Final = re.compile(r"(?:^|[/_.-])(?:tests?|specs?|__tests__|testdata)(?:[/_.-]|$)", re.I)
_PROSE: Final = re.compile(r"\.(?:md|rst|txt|adoc|asciidoc|mdx|html?)$|(?:^|/)docs?/", re.I)
_NOT_READ: Final = "changed lines not read"
_BLANK_LINES: Final = re.compile(r"\n{3,}")


@dataclass(frozen=True, slots=True)
class _Section:
    label: str
    title: str
    lines: Sequence[str]


def make_document(commit: CommitPatch) -> Document:
    """Return a commit as a document.

    The document has sections for the message, for the most important changed files, and for the old
    paths of renamed files.
    """
    sections = [_message_section(commit), *_file_sections(commit)]
    lines: list[str] = []
    places: list[DocumentSection] = []
    for section in sections:
        start = len(lines) + 1
        lines += [line.replace("\n", " ") for line in section.lines]
        places.append(DocumentSection(section.label, start, len(lines), section.title))
    title, is_partial = read_subject(commit.message), not commit.is_complete
    return commit_document(commit, title, lines, places, is_partial=is_partial)


def commit_document(
    commit: CommitPatch,
    title: str,
    lines: Sequence[str],
    sections: Sequence[DocumentSection],
    *,
    is_partial: bool,
) -> Document:
    """Return the document of a commit, with `lines` as its text.

    Set `is_partial` if not all of its changed lines could be read.
    """
    text = "\n".join(lines)
    # The text is part of the digest, because deepening a shallow clone can change it.
    content = f"{commit.sha}\n{text}".encode("utf-8", "surrogatepass")
    return Document(
        f"{COMMIT_URI}{commit.sha}",
        text,
        blake2b(content, digest_size=16).digest(),
        language="text",
        encoding=PARTIAL_COMMIT if is_partial else COMMIT_ENCODING,
        kind=COMMIT_KIND,
        title=title,
        author=commit.author,
        date_s=float(commit.seconds) or None,
        sections=tuple(sections),
    )


def read_subject(message: str) -> str:
    """Return the first line of a message."""
    return message.partition("\n")[0].strip()[:_MAX_TITLE_CHARS]


def _message_section(commit: CommitPatch) -> _Section:
    text = _BLANK_LINES.sub("\n\n", _TRAILER.sub("", commit.message)).strip()
    return _Section(COMMIT_MESSAGE, "", (text or "(no message)").split("\n"))


def _file_sections(commit: CommitPatch) -> Iterator[_Section]:
    found = [(change, hidden_reason(change)) for change in commit.changes]
    found.sort(key=lambda item: _priority(item[0], item[1], commit.message))
    is_bulk = len(found) > _MAX_FILES_WITH_PATCH
    visible = [change for change, reason in found if not reason]
    shown = {one.path: one for one in (keep_removed_words(visible) if is_bulk else visible)}
    max_chars = _MAX_BULK_FILE_CHARS if is_bulk else _MAX_FILE_CHARS
    if is_bulk:
        has_lines = {path for path, change in shown.items() if change.hunks}
        named = {one.path for one in visible if _is_named(one, commit.message)}
        found.sort(key=lambda item: (item[0].path not in named, item[0].path not in has_lines))
    left = _MAX_PATCH_CHARS
    labels = {COMMIT_MESSAGE}
    for change, reason in found[:MAX_INDEXED_FILES]:
        label = change.path if change.path not in labels else f"./{change.path}"
        if label in labels:
            continue
        labels.add(label)
        if reason:
            yield _Section(label, "", [_describe(change, (), reason)])
            continue
        titles = find_changed_names(change.hunks, change.path)
        names = [name for name in titles if name != UNNAMED_CHANGES]
        patch = _select_lines(shown[change.path], min(left, max_chars))
        left -= sum(map(len, patch))
        lines = [_describe(change, names), *_list_removed(change, names), *patch]
        yield _Section(label, CHANGED_NAMES_SEPARATOR.join(titles), lines)
    renamed = [change for change, _ in found if change.status == "R"]
    for change in renamed[:_MAX_RENAMES]:
        if change.old_path not in labels:
            labels.add(change.old_path)
            yield _Section(
                change.old_path, f"{RENAMED_TO}{change.path}", [f"renamed to {change.path}"]
            )


def _priority(change: FileChange, reason: str, message: str) -> tuple[bool, int, str]:
    """Return a sort key: files that the message names come first, then code, prose and tests."""
    kind = 2 if _TEST.search(change.path) else 1 if _PROSE.search(change.path) else 0
    return not _is_named(change, message), 3 if reason else kind, change.path


def _is_named(change: FileChange, message: str) -> bool:
    stem = change.path.rpartition("/")[2].partition(".")[0]
    return len(stem) > 3 and stem in message


def _describe(change: FileChange, names: Iterable[str], reason: str = "") -> str:
    added, removed = _count(change.hunks, "+"), _count(change.hunks, "-")
    what = {"A": "added ", "D": "deleted ", "C": "copied ", "R": "renamed "}.get(change.status, "")
    was = f" from {change.old_path}" if change.old_path != change.path else ""
    counts = f"+{added} -{removed}" if change.is_read else _NOT_READ
    end = f" ({reason or counts})"
    return f"{what}{change.path}{was}{end} {', '.join(names)}".rstrip()


def _list_removed(change: FileChange, names: Collection[str]) -> Iterator[str]:
    """Yield a line with the removed definitions that the description of the file does not name.

    These definitions can then be found even if the patch is shortened.
    """
    unnamed = [
        name for name in find_removed_names(change.hunks, change.old_path) if name not in names
    ]
    if unnamed:
        yield f"removed: {', '.join(unnamed)}"


def _count(hunks: Sequence[Hunk], sign: str) -> int:
    return sum(line.startswith(sign) for hunk in hunks for line in hunk.lines)


def hidden_reason(change: FileChange) -> str:
    """Return why the content of a file is not indexed; "" if it is indexed."""
    reason = reason_by_name(change.path) or reason_by_name(change.old_path)
    if reason is None and is_vendored(change.path):
        reason = "vendored"
    if reason is None and any(contains_private_key("\n".join(hunk.lines)) for hunk in change.hunks):
        reason = SECRET
    return reason or ""


def _select_lines(change: FileChange, max_chars: int) -> list[str]:
    """Return the changed lines of a file with the headings of their hunks, up to a limit."""
    lines: list[str] = []
    chars = 0
    for hunk in change.hunks:
        for line in (f"@@ {hunk.heading}".rstrip(), *hunk.lines):
            cut = line[:_MAX_LINE_CHARS]
            chars += len(cut) + 1
            if chars > max_chars:
                return lines
            lines.append(cut)
    return lines
