"""The names of projects, which are replaced everywhere, and descriptions that do not name them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from benchmarks.renaming.words import match_case

PROJECTS: Final = Path(__file__).with_name("projects.json")


@dataclass(frozen=True)
class Project:
    """A project: invented words for the words that name it, and a description without its name."""

    name: str
    words: Mapping[str, str]
    description: str


class ProjectWords:
    """Replaces the words of a project in a text, even inside identifiers, and keeps their case."""

    def __init__(self, words: Mapping[str, str]) -> None:
        self._words = words
        longest = sorted(words, key=len, reverse=True)
        forms = [
            rf"(?<![a-z]){word}(?![a-z])|{word.capitalize()}(?![a-z])|{word.upper()}(?![A-Z])"
            for word in longest
        ]
        # "MyBatis", "NuGet" and the like: a capital letter inside the word.
        forms += [rf"(?<![A-Za-z])(?i:{word})(?![a-z])" for word in longest]
        self._pattern = re.compile("|".join(forms)) if words else None

    def rename(self, text: str) -> str:
        """Return a text with each word of the project replaced; line breaks stay."""
        if self._pattern is None:
            return text
        return self._pattern.sub(
            lambda match: match_case(match[0], self._words[match[0].lower()]), text
        )


@cache
def read_projects() -> Mapping[str, Project]:
    """Return the known projects by name."""
    records = json.loads(PROJECTS.read_text(encoding="utf-8"))
    return {
        record["name"]: Project(record["name"], record["words"], record["description"])
        for record in records
    }
