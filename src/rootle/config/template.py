"""A settings file to start from: every key, its meaning and its default, commented out."""

from __future__ import annotations

import json
import re
import textwrap
from dataclasses import fields
from typing import Final

from rootle.config.fields import SECTION, Config, key_of
from rootle.serialization.json import to_json

_WIDTH: Final = 96
_LINK: Final = re.compile(r"\[([^\]]*)\]\([^)]*\)")  # of Markdown
_HEAD: Final = """\
// Settings of rootle. What starts with "//" holds no effect: take it off a line to set that key.
// `rootle config show` tells what holds and why.
{
  "%s": {
"""


def template() -> str:
    """The text of the file; it sets nothing until a user changes it."""
    entries = []
    for field in fields(Config):
        said = _LINK.sub(r"\1", field.metadata["about"]) + _range(field.metadata["range"])
        about = textwrap.wrap(said, _WIDTH)
        default = json.dumps(to_json(field.default))
        entries += [*(f"// {line}" for line in about), f'// "{key_of(field.name)}": {default},', ""]
    body = textwrap.indent("\n".join(entries[:-1]), "    ")
    return f"{_HEAD % SECTION}{body}\n  }}\n}}\n"


def _range(span: tuple[float, float] | None) -> str:
    return f" From {span[0]} to {span[1]}." if span else ""
