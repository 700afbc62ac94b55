"""Score commits for a question about one change by their messages and their changed lines."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final

from rootle.history.changes.change_words import Action
from rootle.history.changes.message_evidence import score_line
from rootle.history.changes.patch_evidence import score_patch
from rootle.history.changes.subject_weights import WeightedSubject
from rootle.types import DocumentSection

# A commit fits best if its subject line says that it made the change, less if the text below says
# so, and least if only its changed lines show it. These factors were chosen like those in
# `message_evidence`.
_BODY_FACTOR: Final = 0.8
_PATCH_FACTOR: Final = 0.5
_PATCH_BONUS: Final = 0.1  # for changed lines that confirm the message
_EXTENT_BONUS: Final = 0.04  # for each tenfold increase in the number of these lines
# A line of a message that is at least this long, and is followed by one that begins with a small
# letter, was probably wrapped there. Most messages are wrapped at 72 characters.
_MIN_WRAPPED_CHARS: Final = 50


@dataclass(frozen=True, slots=True)
class Evidence:
    """A measure of how well a commit fits a question."""

    score: float  # from 0 to about 1.3
    line: int  # the line of the commit's text that shows the fit best, from 1
    patch: float  # how well its changed lines alone fit, from 0 to 1
    addition: float  # how well they show that the thing was added, from 0 to 1
    stated: float  # how well its message alone fits, from 0 to 1.05
    is_program: bool  # the lines that fit are in a program, not only in data files


def score_commit(
    action: Action,
    subjects: Sequence[WeightedSubject],
    lines: Sequence[str],
    sections: Sequence[DocumentSection],
) -> Evidence:
    """Return how well a commit fits. `lines` is its indexed text, and `sections` its parts.

    The first section is the message.
    """
    end = sections[0].end_line if sections else len(lines)
    scores = [score_line(action, subjects, lines[0])]
    scores += [
        max(score_line(action, subjects, text, needs_action=True) for text in texts) * _BODY_FACTOR
        for texts in map(set, zip(lines[1:end], _join_wrapped(lines[1:end]), strict=True))
    ]
    stated = max(scores)
    patch = score_patch(action, subjects, lines, sections)
    shown = patch.fit * _PATCH_FACTOR
    score = max(stated, shown) + patch.fit * _PATCH_BONUS
    if score:
        score += _EXTENT_BONUS * math.log10(1 + patch.extent)
    line = scores.index(stated) + 1 if stated >= shown else patch.line
    return Evidence(score, line, patch.fit, patch.addition, stated, patch.is_program)


def _join_wrapped(lines: Sequence[str]) -> list[str]:
    """Return the lines; append the next line to each line that was wrapped."""
    return [
        f"{line} {following}"
        if len(line) >= _MIN_WRAPPED_CHARS and following[:1].islower()
        else line
        for line, following in zip_longest(lines, lines[1:], fillvalue="")
    ]
