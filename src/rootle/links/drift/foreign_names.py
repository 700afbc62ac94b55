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


def has_version(line: str, name: str) -> bool:
    """Return whether a version follows a name, as in "RedCloth 4.2" or "RedCloth r12"."""
    version = rf"(?<!\w){re.escape(name)}[`*]*\s+(?:(?:[vr]|version\s+|release\s+)\d|\d+\.\d)"
    return name[:1].isupper() and re.search(version, line) is not None


def list_templates(path: str) -> list[str]:
    """Return the paths of files that a user may copy to create a file."""
    stem, dot, extension = path.rpartition(".")
    endings = [f"{path}.{word}" for word in _TEMPLATES]
    return endings + ([f"{stem}.{word}{dot}{extension}" for word in _TEMPLATES] if dot else [])
