"""Reduce the answer of a language model to one line of words."""

from __future__ import annotations

import re
from typing import Final

from rootle.text.terms import WORD

# The maximum length of an answer, in characters. The prompt asks for 30 words; a longer answer
# would outweigh the words of the question.
MAX_CHARS: Final = 400
_REASONING: Final = re.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL)
_FENCED: Final = re.compile(r"```[^\n`]*\n(.*?)(?:```|\Z)", re.DOTALL)
# The indentation must not span several lines: with `\s*`, the matching time would grow with the
# square of the number of empty lines.
_LIST_ITEM: Final = re.compile(r"^[^\S\n]*(?:[-*•]|\d{1,2}[.)])\s+", re.MULTILINE)
_LABEL: Final = re.compile(
    r"^\W*(?:(?:sure|okay|ok)\b[,!.]*\s*)?(?:here(?:'s| is| are)\b[^:\n]{0,80}"
    r"|(?:(?:expanded|rewritten|search|likely)\s+)*(?:query|queries|answer|keywords|terms|words))"
    r"\W*:\W*",
    re.IGNORECASE,
)
# These characters are removed, so that no word is a quoted phrase or formatted text.
_MARKS: Final = re.compile(r"[\"“”„«»`]|\*\*")


def clean_answer(text: str) -> str:
    """Return the words of an answer in one line of at most MAX_CHARS; "" if it has none.

    Reasoning, code fences, labels such as "Query:", list marks and quotation marks are removed.
    """
    text = _REASONING.sub(" ", text.encode("utf-8", "replace").decode("utf-8"))
    fenced = _FENCED.search(text)
    text = fenced[1] if fenced else text
    text = _MARKS.sub(" ", _LIST_ITEM.sub("", _LABEL.sub("", text)))
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    line = _cut(line)
    return line if WORD.search(line) else ""


def _cut(line: str) -> str:
    """Return a line that is shortened to MAX_CHARS, between two words if possible."""
    if len(line) <= MAX_CHARS:
        return line
    return line[: MAX_CHARS + 1].rpartition(" ")[0] or line[:MAX_CHARS]
