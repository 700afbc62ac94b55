"""Format the files that must change together with others as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rootle.serialization.path_text import escape_path
from rootle.types import ImpactAnswer, ImpactedFile

_HASH_CHARS: Final = 12
_MAX_SEEDS: Final = 3


def impact_lines(answer: ImpactAnswer) -> Iterator[str]:
    """Yield a line with the changed files, and for each file its probability and evidence."""
    shown = ", ".join(escape_path(path) for path in answer.seeds[:_MAX_SEEDS])
    left = len(answer.seeds) - _MAX_SEEDS
    yield f"together with {shown}{f' and {left} more' if left > 0 else ''}:"
    for file in answer.files:
        yield f"{file.probability:4.0%}  {escape_path(file.path)} ({file.kind})"
        for reason in _list_evidence(file, has_many_seeds=len(answer.seeds) > 1):
            yield f"      {reason}"


def _list_evidence(file: ImpactedFile, *, has_many_seeds: bool) -> Iterator[str]:
    with_seed = f" with {escape_path(file.seed)}" if has_many_seeds else ""
    if file.cochanges:
        times = "once" if file.cochanges == 1 else f"{file.cochanges} times"
        newest = file.commits[0]
        subject = f"{newest.hash[:_HASH_CHARS]} {newest.subject}"
        yield f"changed{with_seed} {times} ({file.confidence:.0%} of its commits): {subject}"
    if file.references:
        yield f"shares names{with_seed}: {', '.join(file.references)}"
    if not file.cochanges and not file.references:
        yield f"similar{with_seed}: {file.similarity:.0%} of the words"
