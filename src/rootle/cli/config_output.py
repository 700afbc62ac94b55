"""The output of `rootle config show`, without secrets."""

from __future__ import annotations

import json
import re
from dataclasses import Field, fields
from typing import Any, Final

from rootle.cli.terminal import write_line, write_lines
from rootle.config.fields import Config, make_key
from rootle.config.key_validation import DEFAULT
from rootle.config.precedence import Settings
from rootle.serialization.json import to_json

_HIDDEN: Final = "(set)"
_MAX_VALUE_WIDTH: Final = 40
# The user name and password before the host of a URL.
_CREDENTIALS: Final = re.compile(r"(?<=://)[^/@\s]+(?=@)")
# A secret in the query of a URL, such as `?api-key=…` or `&sig=…`.
_SECRET_PARAMETER: Final = re.compile(
    r"(?<=[?&])([^=&#]*(?:key|token|secret|sig|pass|auth|code)[^=&#]*=)[^&#]*", re.IGNORECASE
)


def print_settings(settings: Settings) -> None:
    """Print one row per key with its value and origin, then the configuration files."""
    rows = [
        (make_key(field.name), json.dumps(_public_value(settings, field)), _origin(settings, field))
        for field in fields(Config)
    ]
    key_width = max(len(key) for key, _, _ in rows)
    value_width = min(max(len(value) for _, value, _ in rows), _MAX_VALUE_WIDTH)
    for key, value, origin in rows:
        write_line(f"{key:{key_width}}  {value:{value_width}}  {origin}")
    write_lines(("", "files, highest precedence first"))
    for path, exists in settings.files:
        write_line(f"  {path}{'' if exists else ' (missing)'}")


def settings_as_json(settings: Settings) -> dict[str, Any]:  # Any: JSON
    """Return the value and origin of each key, the configuration files and the warnings."""
    values = {}
    for field in fields(Config):
        origin = settings.origins.get(field.name)
        values[make_key(field.name)] = {
            "value": _public_value(settings, field),
            "source": origin.source if origin else DEFAULT,
            "line": origin.line if origin else None,
        }
    files = [{"path": str(path), "exists": exists} for path, exists in settings.files]
    return {"settings": values, "files": files, "warnings": list(settings.warnings)}


def _public_value(settings: Settings, field: Field[Any]) -> Any:
    """Return a value as JSON data, with secrets replaced."""
    value = to_json(getattr(settings.config, field.name))
    if field.metadata["secret"]:
        return _HIDDEN if value else ""
    if not isinstance(value, str):
        return value
    value = _CREDENTIALS.sub(_HIDDEN, value)
    return _SECRET_PARAMETER.sub(rf"\1{_HIDDEN}", value) if field.metadata["url"] else value


def _origin(settings: Settings, field: Field[Any]) -> str:
    return str(settings.origins.get(field.name, DEFAULT))
