"""`rootle config show` and `rootle config init`."""

from __future__ import annotations

import argparse
import json
import os
import re
from dataclasses import Field, fields
from pathlib import Path
from typing import Any, Final

from rootle.cli.context import folder_of, printable, settings_for
from rootle.cli.main import RESULTS
from rootle.config.fields import Config, key_of
from rootle.config.loading import Settings, user_file
from rootle.config.template import template
from rootle.config.validation import DEFAULT
from rootle.errors import ConfigError
from rootle.serialization.json import to_json

_SET: Final = "(set)"
# A name and a password before the host of a URL.
_PASSWORD: Final = re.compile(r"(?<=://)[^/@\s]+(?=@)")
# What a URL's query calls a key, as `?api-key=…` or `&sig=…`.
_KEY_IN_QUERY: Final = re.compile(
    r"(?<=[?&])([^=&#]*(?:key|token|secret|sig|pass|auth|code)[^=&#]*=)[^&#]*", re.IGNORECASE
)
# The file may come to hold a key, so only its owner may read it.
_MODE: Final = 0o600


def run_config_show(options: argparse.Namespace) -> int:
    settings = settings_for(folder_of(options), options)
    if options.json:
        print(json.dumps(_as_json(settings)))
    else:
        _print(settings)
    return RESULTS


def run_config_init(options: argparse.Namespace) -> int:
    path = Path(options.file) if options.file else user_file()
    flags = os.O_WRONLY | os.O_CREAT | (os.O_TRUNC if options.force else os.O_EXCL)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(os.open(path, flags, _MODE), "w", encoding="utf-8") as file:
            file.write(template())
    except FileExistsError as error:
        raise ConfigError(f"{path} is there already; --force writes over it") from error
    except OSError as error:
        raise ConfigError(f"cannot write {path}: {error.strerror}") from error
    print(f"wrote {printable(str(path))}")
    return RESULTS


def _print(settings: Settings) -> None:
    rows = [
        (key_of(field.name), json.dumps(_shown(settings, field)), _origin(settings, field.name))
        for field in fields(Config)
    ]
    key_width, value_width = (max(len(row[at]) for row in rows) for at in (0, 1))
    value_width = min(value_width, 40)
    for key, value, origin in rows:
        print(printable(f"{key:{key_width}}  {value:{value_width}}  {origin}"))
    print("\nfiles, the first goes before the others")
    for path, is_there in settings.files:
        print(printable(f"  {path}{'' if is_there else ' (not there)'}"))


def _as_json(settings: Settings) -> dict[str, Any]:
    values = {}
    for field in fields(Config):
        origin = settings.origins.get(field.name)
        values[key_of(field.name)] = {
            "value": _shown(settings, field),
            "source": origin.source if origin else DEFAULT,
            "line": origin.line if origin else None,
        }
    files = [{"path": str(path), "exists": is_there} for path, is_there in settings.files]
    return {"settings": values, "files": files, "warnings": list(settings.warnings)}


def _shown(settings: Settings, field: Field[Any]) -> Any:
    """A value as JSON data, without what is secret in it."""
    value = to_json(getattr(settings.config, field.name))
    if field.metadata["secret"]:
        return _SET if value else ""
    if not isinstance(value, str):
        return value
    value = _PASSWORD.sub(_SET, value)
    return _KEY_IN_QUERY.sub(rf"\1{_SET}", value) if field.metadata["url"] else value


def _origin(settings: Settings, name: str) -> str:
    return str(settings.origins.get(name, DEFAULT))
