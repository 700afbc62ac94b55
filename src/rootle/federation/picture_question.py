"""Recognize questions that ask for a picture, such as "the diagram of the login flow"."""

from __future__ import annotations

import re
from typing import Final

_PICTURES: Final = (
    r"(?:diagram|screenshot|screen shot|picture|photo|photograph|wireframe|mockup|whiteboard|"
    r"flowchart|sketch|drawing|illustration)s?"
)
# These words often name something in code. They count only if words such as "of" follow.
_AMBIGUOUS: Final = r"(?:image|figure|chart|graph|icon|logo|slide)s?"
_ABOUT: Final = r"(?:that|which|of|showing|shows|with|where|depicting|about|for|from)"
_START: Final = (
    r"(?:(?:please )?(?:show|find|give|get|open)(?: me)? |where (?:is|are) |"
    r"(?:is|are) there |do we have |which |what )?(?:the |an? |any |all |our |some )?"
)
# The first words of instructions that code carries out: "take screenshot", "render diagram".
_ACTIONS: Final = (
    r"(?!(?:add|attach|build|capture|change|close|compress|convert|create|crop|decode|delete|"
    r"display|download|draw|edit|encode|export|fetch|generate|handle|how|import|insert|load|make|"
    r"parse|paste|plot|print|process|read|remove|render|resize|save|scale|send|set|store|take|"
    r"test|update|upload|validate|why|write)\b)"
)
_QUESTION: Final = re.compile(
    rf"{_START}{_ACTIONS}(?:[\w'-]+ ){{0,3}}?"
    rf"(?:{_PICTURES}(?: {_ABOUT}\b.*|[ ?.!]*)|{_AMBIGUOUS} {_ABOUT}\b.*)",
    re.IGNORECASE | re.DOTALL,
)
_CODE: Final = re.compile(r"[_(){}\[\]=;<>/\\]|[a-z][A-Z]")
_MAX_CHARS: Final = 300


def asks_for_picture(text: str) -> bool:
    """Return whether a question, without operators, asks for a picture rather than for code."""
    words = " ".join(text.split())
    if len(words) > _MAX_CHARS or _CODE.search(words):
        return False
    return _QUESTION.fullmatch(words) is not None
