"""Recognize names in texts that belong to a setting or a product, not to code of the project."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from rootle.links.drift.mentions import Mention, split_parts
from rootle.links.drift.past_names import PastName
from rootle.links.drift.texts import NamedText
from rootle.text.languages import file_language

# In these languages, only types and packages have qualified names that begin with a package.
_PACKAGED: Final = frozenset({"csharp", "groovy", "java", "kotlin", "scala"})
_MIN_SETTING_PARTS: Final = 3
# Subjects of commits that moved code to another project, where its names still exist.
_MOVED_OUT: Final = re.compile(
    r"(?i)\b(?:split|extract|mov|port|migrat|switch)\w*\b.*(?:\b(?:package|library|lib|repo|repository"
    r"|gem|crate|plugin)\b|\bto (?:use )?(?:the )?[\w-]+[/-][\w-]+|\bto use\b)"
    r"|\buse (?:the )?[\w.-]+ (?:library|package|lib)\b|\bvendor|third.?party|submodule"
    r"|\b(?:break|broke|spin|spun)\w* (?:out|off)\b|\bmake\b.*\bdepend on\b"
)
_MAX_SUBJECT_CHARS: Final = 500
# Commands that install a package, and links to a page about a package or a project.
_PACKAGE: Final = re.compile(
    r"(?i)\b(?:(?:install|add)(?:-package| package)?|get|require) "
    r"(?:--?\w[\w-]{0,30} ){0,3}(@?\w{1,60}[/.-][\w@/.-]{2,100})"
    r"|\bgem\s+[\"']([\w-]{3,100})|https?://(?:[\w.-]+/){2,4}([\w.-]{3,100})"
)
_PROVIDED: Final = (
    r"\b(?i:provided|offered|supplied|shipped|included)\s+(?i:by|in|with)\s+(?:(?i:the)\s+)?"
    r"\W{0,3}[\w.@/-]{2,60}\W{0,3}(?:(?i:third.party)\s+)?"
    r"(?i:package|library|gem|crate|plugin|add-?on)\b"
)
_HEAD_LINES: Final = 15  # lines at the start of a document that say what it is about
# Words in the names of templates, such as "database.yml.example" and "database.example.yml".
_TEMPLATES: Final = ("default", "dist", "example", "sample", "template")


def is_setting(text: NamedText, mention: Mention, removed: PastName) -> bool:
    """Return whether a name is probably a setting, such as `play.ws.ahc.maxConnections`.

    In the languages of `_PACKAGED`, the name of a member of a class does not begin with a package.
    A dotted name in lower case is therefore not the name of a removed member. A name without
    qualifiers is a setting if the text has a setting that ends with it.
    """
    if file_language(removed.path) not in _PACKAGED or not removed.is_indented:
        return False
    others = (one.text for one in text.mentions if one.kind == "name")
    is_single = len(split_parts(mention.text)) == 1
    names = [one for one in others if one.endswith(f".{mention.text}")] if is_single else []
    return any(map(_is_dotted, (mention.text, *names)))


def _is_dotted(name: str) -> bool:
    """Return whether a name has at least three parts, none of which is a type or a call."""
    parts: Sequence[str] = name.split(".")
    return (
        len(parts) >= _MIN_SETTING_PARTS
        and all(part[:1].islower() for part in parts)
        and (not name.endswith("()"))
    )


def is_from_package(line: str, name: str) -> bool:
    """Return whether a line says that a name belongs to another project or is its name.

    Examples: "lxml's HTMLParser", "HTMLParser is provided by the `lxml` package", "RedCloth 4.2".
    """
    word = re.escape(name)
    if re.search(rf"\w's\s+[`*]*{word}", line):
        return True
    if re.search(rf"(?<!\w){word}\W.{{0,80}}?{_PROVIDED}", line):
        return True
    version = rf"(?<!\w){word}[`*]*\s+(?:(?:[vr]|version\s+|release\s+)\d|\d+\.\d)"
    return name[:1].isupper() and re.search(version, line) is not None


def moves_out(subject: str) -> bool:
    """Return whether the subject of a commit says that it moved code to another project."""
    return _MOVED_OUT.search(subject, 0, _MAX_SUBJECT_CHARS) is not None


def find_packages(text: NamedText) -> set[str]:
    """Return the packages at the start of a document, in lower case with dots as separators.

    A document that begins with several packages is a list of packages, so the result is empty.
    """
    if text.origin != "document":
        return set()
    head = [text.lines.get(number, "") for number in range(1, _HEAD_LINES + 1)]
    found = (next(filter(None, one.groups())) for line in head for one in _PACKAGE.finditer(line))
    names = {re.sub(r"[-_/]", ".", one.lower()).strip(".@") for one in found}
    return names if len(names) == 1 else set()


def list_templates(path: str) -> list[str]:
    """Return the paths of files that a user may copy to create a file."""
    stem, dot, extension = path.rpartition(".")
    endings = [f"{path}.{word}" for word in _TEMPLATES]
    return endings + ([f"{stem}.{word}{dot}{extension}" for word in _TEMPLATES] if dot else [])
