"""Weigh the subjects of a question about a change by their rarity."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rootle.history.changes.change_question import ChangeQuestion, Subject
from rootle.history.changes.change_words import stem_line

# The factor for a subject that only names a kind of thing, such as "command", or says where the
# change was made. A message may lack such words.
_KIND_FACTOR: Final = 0.2
_MIN_WEIGHT: Final = 0.01  # of a word that all commits contain, such as the name of the project
_CORE_SHARE: Final = 0.5


@dataclass(frozen=True, slots=True)
class WeightedSubject:
    """A subject of a question with its weight, which is higher for rarer words."""

    subject: Subject
    weight: float


def weigh_subjects(
    question: ChangeQuestion, total: int, frequencies: Mapping[str, int]
) -> tuple[WeightedSubject, ...]:
    """Return the subjects with their weights.

    `total` is the number of commits, and `frequencies` maps each stem to the number of commits that
    contain it.
    """
    return tuple(WeightedSubject(one, _weigh(one, total, frequencies)) for one in question.subjects)


def _weigh(subject: Subject, total: int, frequencies: Mapping[str, int]) -> float:
    rarest = min(frequencies.get(part, 0) for part in subject.parts)
    factor = _KIND_FACTOR if subject.is_kind or subject.is_context else 1.0
    return max(_MIN_WEIGHT, factor * math.log((total + 1) / (rarest + 1)))


def find_core(subjects: Sequence[WeightedSubject]) -> list[Subject]:
    """Return the rare subjects, which a commit must contain."""
    heaviest = max(one.weight for one in subjects)
    return [one.subject for one in subjects if one.weight >= heaviest * _CORE_SHARE]


def find_rarest(subjects: Sequence[WeightedSubject]) -> Subject:
    """Return the rarest subject."""
    return max(subjects, key=lambda one: one.weight).subject


def find_missing(subjects: Sequence[WeightedSubject], text: str) -> list[Subject]:
    """Return those rare subjects that are names or versions and that a text does not contain."""
    named = [one for one in find_core(subjects) if one.is_named]
    line = stem_line(text) if named else ""
    return [one for one in named if not one.is_in(line)]
