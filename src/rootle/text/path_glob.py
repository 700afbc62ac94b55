"""Match paths with globs as `fnmatch` does, except that `**/` can also match nothing.

As in `fnmatch`, `*`, `?` and sets also match slashes. `**/` at the start of a name matches any
number of folders: `src/**/*.py` matches `src/app.py` and `src/net/http/client.py`.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

# Every character of a glob belongs to one token. The last two groups match a set and a character.
_TOKEN: Final = re.compile(
    r"(?P<folders>(?<![^/])\*{2,}+/)|(?P<stars>\*++)|(?P<any>\?)"
    r"|\[(?P<negated>!?+)(?P<set>\]?+[^\]]*+)\]|(?P<literal>.)",
    re.DOTALL,
)
_SET_ITEM: Final = re.compile(r"(.)-(.)|(.)", re.DOTALL)
_NEVER: Final = "(?!)"


def is_glob(text: str) -> bool:
    """Return whether a text has wildcards, so that it can match paths other than itself."""
    return any(sign in text for sign in "*?[")


def matches_glob(path: str, glob: str) -> bool:
    """Return whether a glob matches a whole path, in time linear in the length of the path."""
    return compile_glob(glob).match(path) is not None


@lru_cache(maxsize=256)  # a filter tests many paths with the same globs
def compile_glob(glob: str) -> re.Pattern[str]:
    """Return a regular expression whose `match` gives the same results as `matches_glob`.

    To test many globs with many paths, keep the expressions: the cache holds only 256 of them.
    """
    # The chunk of a glob between two "*" matches a text of fixed length. The first match of a chunk
    # leaves the most room for the rest, so atomic groups lose no match, and they prevent
    # backtracking.
    parts, gap, chunk = list[str](), "", ""
    for token in _TOKEN.finditer(glob):
        if token["folders"] or token["stars"]:
            parts.append(_atomic(gap, chunk))
            gap, chunk = ("(?:.*?/)??" if token["folders"] else ".*?"), ""
        else:
            chunk += _translate(token)
    return re.compile(f"(?s:{''.join(parts)}{gap}{chunk})\\Z")


def _atomic(gap: str, chunk: str) -> str:
    return f"(?>{gap}{chunk})" if gap else chunk


def _translate(token: re.Match[str]) -> str:
    """Return an expression for a token that matches one character."""
    if token["any"]:
        return "."
    if token["literal"]:
        return re.escape(token["literal"])
    items = [_translate_item(item) for item in _SET_ITEM.finditer(token["set"])]
    text = "".join(items)
    if token["negated"]:
        return f"[^{text}]" if text else "."
    return f"[{text}]" if text else _NEVER


def _translate_item(item: re.Match[str]) -> str:
    low, high, single = item.groups()
    if single:
        return re.escape(single)
    return f"{re.escape(low)}-{re.escape(high)}" if low <= high else ""
