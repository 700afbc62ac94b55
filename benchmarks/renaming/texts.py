"""Replace names in a text: in code all of them, in prose only those that look like code."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from benchmarks.renaming.defined_names import SourceText, is_compound, kept_joined
from benchmarks.renaming.projects import ProjectWords
from benchmarks.renaming.regions import backtick_spans, prose_flags
from benchmarks.renaming.words import WordMap

_TOKEN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:-[A-Za-z0-9]+)*")
NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_JOINED_BEFORE: Final = re.compile(r"(?:[\w)\]][.#]|::|->|[$#.:&])$")
_JOINED_AFTER: Final = re.compile(r"\((?!s\))|[.#:](?=[A-Za-z_])|::|->|\[")
_PRODUCT: Final = re.compile(r"\.(?:js|NET|io|com|org)\b")  # Node.js, ASP.NET
_NO_PATH: Final = re.compile(r"[\s\"'()<>,;]")
_SENTENCE_BEFORE: Final = re.compile(r"[A-Za-z0-9,;)\"'`] $")


class Renamer:
    """Renames the names of one repository in its texts.

    `names` are the identifiers to rename; `stems` are the names of renamed files and folders,
    which may be words joined by "-". `taken` are all identifiers of the repository: a name whose
    new form is one of them keeps its old form, unless that identifier is renamed as well.
    """

    def __init__(
        self,
        names: Iterable[str],
        stems: Iterable[str],
        taken: Iterable[str],
        words: WordMap,
        project: ProjectWords,
    ) -> None:
        self._project = project
        self.names = one_to_one({name: words.rename(name) for name in names}, set(taken))
        self._joined = {stem: words.rename(stem) for stem in stems if "-" in stem}
        for name, new in self.names.items():
            # "max_size" is also the option "--max-size".
            if "_" in name.strip("_"):
                self._joined.setdefault(name.replace("_", "-"), new.replace("_", "-"))
            elif is_compound(name):
                self._joined.setdefault(_kebab(name), _kebab(new))
        for name in kept_joined():
            self._joined.pop(name, None)

    def rename_file(self, file: SourceText) -> str:
        """Return the text of a file with its names replaced; the number of lines stays."""
        flags = prose_flags(file)
        if not file.text.isascii():
            flags = _expand_flags(file.text, flags)
        return self._rename(file.text, flags)

    def rename_prose(self, text: str) -> str:
        """Return a question or another prose text with the names in it replaced."""
        return self._rename(text, bytearray(b"\1" * len(text)))

    def _rename(self, text: str, flags: bytearray) -> str:
        for start, end in backtick_spans(text):
            if all(flags[start:end]):
                flags[start:end] = bytes(end - start)
        replaced = _TOKEN.sub(lambda match: self._replace(match, flags), text)
        return self._project.rename(replaced)

    def _replace(self, match: re.Match[str], flags: bytearray) -> str:
        token = match[0]
        if "-" in token:
            if token in self._joined:
                return self._joined[token]
            if token.lower() in kept_joined():
                return token
            parts = NAME.finditer(match.string, match.start(), match.end())
            return self._replace_parts(match, list(parts), flags)
        return self._replace_name(match.string, *match.span(), flags)

    def _replace_parts(
        self, match: re.Match[str], parts: list[re.Match[str]], flags: bytearray
    ) -> str:
        pieces, at = [], match.start()
        for part in parts:
            pieces.append(match.string[at : part.start()])
            pieces.append(self._replace_name(match.string, *part.span(), flags))
            at = part.end()
        return "".join([*pieces, match.string[at : match.end()]])

    def _replace_name(self, text: str, start: int, end: int, flags: bytearray) -> str:
        name = text[start:end]
        new = self.names.get(name)
        if new is None or (flags[start] and not _looks_like_code(text, name, start, end)):
            return name
        return new


def one_to_one(renamed: Mapping[str, str], taken: set[str]) -> dict[str, str]:
    """Return the mapping without names whose new form is an unchanged name of the repository.

    The remaining names have distinct new forms, none of which is already used for another name.
    """
    kept = {name: new for name, new in renamed.items() if name != new}
    while True:
        times: dict[str, int] = {}
        for new in kept.values():
            times[new] = times.get(new, 0) + 1
        clashing = [
            name
            for name, new in kept.items()
            if times[new] > 1 or (new not in kept and new in taken)
        ]
        if not clashing:
            return kept
        for name in clashing:
            del kept[name]


def _looks_like_code(text: str, name: str, start: int, end: int) -> bool:
    """Return whether a name in prose is written like code, or capitalized like a class."""
    if is_compound(name):
        return True
    if name[:1].isupper() and _PRODUCT.match(text, end):
        return False
    before = text[max(0, start - 2) : start]
    if _JOINED_AFTER.match(text, end) or _JOINED_BEFORE.search(before):
        return True
    if "/" in (before[-1:], text[end : end + 1]):
        return _is_in_path(text, start, end)
    is_class = name[:1].isupper() and not name.isupper()
    return is_class and text[end : end + 1] != "-" and _SENTENCE_BEFORE.search(before) is not None


def _is_in_path(text: str, start: int, end: int) -> bool:
    """Return whether a word next to a slash is in a path: `a/b/c`, `a/b.c`, but not `and/or`."""
    first = next((at for at in range(start, -1, -1) if _NO_PATH.match(text, at)), -1) + 1
    stop = _NO_PATH.search(text, end)
    run = text[first : stop.start() if stop else len(text)].rstrip(".:")
    if run.startswith(("/", "~")):
        return False  # a path on some machine, not in the repository
    return run.count("/") > 1 or "." in run


def _kebab(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).lower().replace("_", "-")


def _expand_flags(text: str, flags: bytearray) -> bytearray:
    """Return flags per character, given those per byte of the UTF-8 text."""
    found = bytearray(len(text))
    at = 0
    for index, character in enumerate(text):
        found[index] = flags[at]
        code = ord(character)
        at += 1 if code < 0x80 else 2 if code < 0x800 else 3 if code < 0x10000 else 4
    return found
