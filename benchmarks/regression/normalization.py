"""Normalize answers so that two versions of rootle can be compared despite renamed fields."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

# Former and current names of public fields, each mapped to the name used in a recording.
FIELD_NAMES: Final = {
    "copies": "duplicates",
    "understood": "interpretation",
    "queryInterpretation": "interpretation",
    "partial": "indexCoverage",
    "coverage": "indexCoverage",
    "mayBeStale": "possiblyStale",
}
# Fields that depend on the time, the machine or the history of the index.
VOLATILE_FIELDS: Final = frozenset({"tookMs", "generation", "nextCursor", "line", "textQuery"})

_VALUES: Final = re.compile(r'"(?P<quoted>[^"]*)"|`(?P<code>[^`]*)`|(?P<word>[\w./@+-]*\w)')
_NUMBER: Final = re.compile(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?")
_RESULT_LINE: Final = re.compile(r"\S.*:\d+-\d+(?:, \d+-\d+)*(?:  .*)?| +(?:\d+|·+)(?:  .*)?")
_COLOR: Final = re.compile(r"\x1b\[[\d;]*m")
_FENCE: Final = re.compile(r"`{3,}")

Json = Any  # parsed JSON


class Normalizer:
    """Normalizes the answers to one question about one tree.

    Messages are reduced to the values in them: a reworded message does not count as a difference,
    but a different name or number in it does. `days` is the recency filter of the question. This
    number is left out of messages, because it depends on when the question is asked.
    """

    def __init__(self, root: Path, days: float | None = None) -> None:
        self._root = root
        self._days = days

    def answer(self, answer: Json) -> Json:
        """Return an answer with fixed field names, without volatile fields and wording."""
        fields = {name: value for name, value in answer.items() if name not in VOLATILE_FIELDS}
        if "error" in fields:
            fields["error"] = self.values(fields["error"])
        if "suggestions" in fields:
            fields["suggestions"] = [self.values(text) for text in fields["suggestions"]]
        return {**_rename_fields(fields), "hasNextPage": bool(answer.get("nextCursor"))}

    def lines(self, output: str) -> Iterator[Json]:
        """Yield the lines of text or Markdown output: results verbatim, messages as values."""
        fence = ""
        for line in output.splitlines():
            mark = _FENCE.match(line)
            if mark and (not fence or line == fence):
                fence = "" if fence else mark[0]
                yield line
            elif fence or not line or _RESULT_LINE.fullmatch(_COLOR.sub("", line)):
                yield line
            else:
                yield self.values(line)

    def values(self, sentence: str) -> list[str]:
        """Return the quoted values, numbers and existing paths in a message, sorted."""
        found = set()
        for match in _VALUES.finditer(sentence):
            word = match["word"]
            if word is None:
                found.add(match["quoted"] or match["code"] or "")
            elif self._is_number(word) or self._is_path(word):
                found.add(word)
        return sorted(found)

    def _is_number(self, word: str) -> bool:
        if not _NUMBER.fullmatch(word):
            return False
        days = abs(self._days or 0.0)
        return not days or abs(float(word) - days) > days / 1000

    def _is_path(self, word: str) -> bool:
        return ("/" in word or "." in word) and (self._root / word.lstrip("/")).exists()


def _rename_fields(value: Json) -> Json:
    if isinstance(value, dict):
        return {FIELD_NAMES.get(name, name): _rename_fields(item) for name, item in value.items()}
    return [_rename_fields(item) for item in value] if isinstance(value, list) else value
