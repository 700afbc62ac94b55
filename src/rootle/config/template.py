"""The file that `rootle config init` writes: every key with its description and default."""

from __future__ import annotations

import json
import re
import textwrap
from dataclasses import fields
from typing import Final

from rootle.config.fields import SECTION, Config, make_key
from rootle.serialization.json import to_json

_WIDTH: Final = 96
_LINK: Final = re.compile(r"\[([^\]]*)\]\([^)]*\)")  # a link in Markdown
_HEAD: Final = """\
// Configuration of rootle. Remove the "//" in front of a key to set it.
// `rootle config show` prints the values in effect and their sources.
{
  "%s": {
"""


_PROJECT_HEAD: Final = """\
// A project file may set only these keys. All others are ignored in it.
"""


def template(*, for_project: bool = False) -> str:
    """Return the text of the file, in which every key is commented out.

    If `for_project`, it contains only the keys that a project may set.
    """
    entries = []
    for field in fields(Config):
        if for_project and not field.metadata["project"]:
            continue
        description = _LINK.sub(r"\1", field.metadata["about"]) + _format_range(
            field.metadata["range"]
        )
        about = textwrap.wrap(description, _WIDTH)
        default = json.dumps(to_json(field.default))
        entries += [
            *(f"// {line}" for line in about),
            f'// "{make_key(field.name)}": {default},',
            "",
        ]
    body = textwrap.indent("\n".join(entries[:-1]), "    ")
    head = f"{_PROJECT_HEAD if for_project else ''}{_HEAD % SECTION}"
    return f"{head}{body}\n  }}\n}}\n"


def _format_range(span: tuple[float, float] | None) -> str:
    return f" From {span[0]} to {span[1]}." if span else ""
