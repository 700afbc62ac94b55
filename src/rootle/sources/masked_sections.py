"""Mask the secrets in the titles and labels of the sections of a document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from rootle.sources.documents.section_labels import (
    UniqueLabels,
    is_made_from,
    label_base,
    make_label,
)
from rootle.text.secret_masking import mask_secrets
from rootle.types import DocumentSection

_SEPARATOR: Final = " > "  # between the headings in a title


def mask_sections(
    sections: Sequence[DocumentSection], text: str, masked: str, exceptions: tuple[str, ...] = ()
) -> tuple[DocumentSection, ...]:
    """Return the sections without secrets.

    `masked` is the text with its secrets masked. `exceptions` are as in `mask_secrets`. A label
    that was made from a heading with a secret is made again from the masked heading; other labels,
    such as "page-7", stay.
    """
    before = text.split("\n") if text != masked else []
    after = masked.split("\n") if text != masked else []
    titles = [mask_secrets(section.title, exceptions).text for section in sections]
    renamed: dict[str, str] = {}  # base of an old label -> new label
    labels = []
    for section, title in zip(sections, titles, strict=True):
        pairs = [*_pair_headings(section.title, title), *_pair_lines(section, before, after)]
        base = label_base(section.label)
        for heading, masked_heading in pairs:
            if heading != masked_heading and is_made_from(section.label, heading):
                renamed.setdefault(base, make_label(masked_heading))
        # Look up the new label by the base of the old one: the title of a later section with the
        # same heading may lack the heading, because long titles are cut.
        label = renamed.get(base) or mask_secrets(section.label, exceptions).text
        labels.append(label)
    unique = UniqueLabels(
        section.label
        for section, label in zip(sections, labels, strict=True)
        if label == section.label
    )
    return tuple(
        replace(
            section,
            label=label if label == section.label else unique.add(label),
            title=title,
        )
        for section, label, title in zip(sections, labels, titles, strict=True)
    )


def _pair_headings(title: str, masked: str) -> Iterator[tuple[str, str]]:
    yield title, masked
    headings, others = title.split(_SEPARATOR), masked.split(_SEPARATOR)
    if len(headings) == len(others):
        yield from zip(headings, others, strict=True)


def _pair_lines(
    section: DocumentSection, before: Sequence[str], after: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """Yield the first line of a section, often its heading, with and without its secrets."""
    at = section.start_line - 1
    if 0 <= at < min(len(before), len(after)):
        yield before[at], after[at]
