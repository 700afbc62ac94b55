"""Describe the commits that explain a passage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from time import monotonic
from typing import Final

from rootle.provenance.contributions import Contributions
from rootle.provenance.ranking import find_numbers
from rootle.provenance.walk import REVERTED_HASH
from rootle.serialization.timestamps import format_commit_time
from rootle.sources.git.lines.commit_facts import CommitHeader, find_merges, read_headers
from rootle.text.secret_detection import Exceptions
from rootle.text.secret_masking import mask_secrets
from rootle.types import CommitFacts, PassageCommit

_MERGES_S: Final = 2.0
_SHARE_DIGITS: Final = 3


def describe_commits(
    folder: str,
    head: str,
    hashes: Sequence[str],
    found: Contributions,
    path: str,
    exceptions: Exceptions,
) -> tuple[PassageCommit, ...]:
    """Return the facts about commits in the given order.

    If a commit was not compared, `path` is assumed to be the path of the file in this commit.
    """
    deadline_s = monotonic() + _MERGES_S
    merges = find_merges(folder, hashes, head, deadline_s)
    wanted = {*hashes, *merges.values(), *found.reverts.values()}
    headers = read_headers(folder, sorted(wanted))
    for sha in hashes:  # `found.reverts` does not contain reverts that removed lines
        named = REVERTED_HASH.search(headers[sha].message) if sha in headers else None
        if named is not None and sha not in found.reverts:
            reverted = read_headers(folder, [named[1]])
            headers.update(reverted)
            found.reverts[sha] = next(iter(reverted), "")
    return tuple(_describe(headers, merges, hashes, found, path, exceptions))


def name_commits(
    folder: str, hashes: Sequence[str], exceptions: Exceptions
) -> tuple[CommitFacts, ...]:
    """Return the date, author and subject of commits in the given order, without their files."""
    headers = read_headers(folder, hashes)
    return tuple(
        CommitFacts(
            sha,
            format_commit_time(header.seconds),
            mask_secrets(header.author, exceptions).text,
            mask_secrets(header.message, exceptions).text.partition("\n")[0].strip(),
        )
        for sha in hashes
        if (header := headers.get(sha)) is not None
    )


def _describe(
    headers: dict[str, CommitHeader],
    merges: dict[str, str],
    hashes: Sequence[str],
    found: Contributions,
    path: str,
    exceptions: Exceptions,
) -> Iterator[PassageCommit]:
    def mask(text: str) -> str:
        return mask_secrets(text, exceptions).text

    def read_message(sha: str) -> str:
        return mask(headers[sha].message) if sha in headers else ""

    for sha in hashes:
        if sha not in headers:
            continue
        header = headers[sha]
        merge, reverted = merges.get(sha, ""), found.reverts.get(sha, "")
        message = read_message(sha)
        yield PassageCommit(
            hash=sha,
            date=format_commit_time(header.seconds),
            author=mask(header.author),
            subject=message.partition("\n")[0].strip(),
            message=message,
            share=round(found.measure_share(sha), _SHARE_DIGITS),
            lines=tuple(sorted(found.touched.get(sha, ()))),
            path=found.paths.get(sha, path),
            numbers=find_numbers(message, read_message(merge)),
            merge=merge,
            merge_subject=read_message(merge).partition("\n")[0],
            reverts=reverted,
            reverted_subject=read_message(reverted).partition("\n")[0],
        )
