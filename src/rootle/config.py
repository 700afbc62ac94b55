"""Settings: JSON with comments -> a frozen Config, read once at the door."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Final

from rootle.errors import ConfigError
from rootle.text import CHARS_PER_TOKEN
from rootle.types import camel_case

SECTION: Final = "searchAgent"

# Named by the specification, built by later releases: told to the user rather than refused.
_LATER_KEYS: Final = frozenset(
    """denseBatchSize sparseEndpoint useLearnedReranker rerankerModelID rerankerBatchSize
    rerankerTimeoutMs rerankerWeights enableCache cacheTTLSeconds cacheMaxEntries maxContextLines
    contextBeforeLines contextAfterLines minRecencyDays noResultsSuggestion watchDebounceMs
    enableIndexing""".split()
)


@dataclass(frozen=True, slots=True)
class Config:
    """The `searchAgent` section. Each field has the camelCase name of its key in the file."""

    max_chunk_size_tokens: int = field(default=512, metadata={"range": (64, 8192)})
    chunk_overlap_tokens: int = field(default=50, metadata={"range": (0, 4096)})
    max_chunks_per_file: int = field(default=100, metadata={"range": (0, 1_000_000)})
    max_file_bytes: int = field(default=1_000_000, metadata={"range": (1, 1 << 40)})
    embedding_model_id: str = "static-code-v0"
    dense_top_k: int = field(default=200, metadata={"range": (1, 10_000)})
    dense_timeout_ms: int = field(default=2_000, metadata={"range": (1, 600_000)})
    sparse_top_k: int = field(default=200, metadata={"range": (1, 10_000)})
    sparse_timeout_ms: int = field(default=1_000, metadata={"range": (1, 600_000)})
    max_merged_candidates: int = field(default=400, metadata={"range": (1, 20_000)})
    refresh_seconds: float = field(default=2.0, metadata={"range": (0.0, 86_400.0)})
    default_limit: int = field(default=10, metadata={"range": (1, 1_000)})
    max_limit: int = field(default=50, metadata={"range": (1, 1_000)})

    @property
    def max_chunk_chars(self) -> int:
        return self.max_chunk_size_tokens * CHARS_PER_TOKEN

    @property
    def chunk_overlap_chars(self) -> int:
        return self.chunk_overlap_tokens * CHARS_PER_TOKEN

    @property
    def max_file_chars(self) -> int:
        """The text of one file that is indexed, in characters; 0 for all of it."""
        return self.max_chunks_per_file * self.max_chunk_chars


def key_of(name: str) -> str:
    """The key of a field in the file: `embedding_model_id` -> `embeddingModelID`."""
    return re.sub(r"Id$", "ID", camel_case(name))


def load_config(path: Path) -> tuple[Config, tuple[str, ...]]:
    """The configuration in a file, and remarks on keys that this version does not use yet.

    Raises ConfigError naming the file, the key and the cure.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read the configuration {path}: {error}") from error
    try:
        data = json.loads(strip_comments(text))
    except json.JSONDecodeError as error:
        raise ConfigError(f"{path}, line {error.lineno}: {error.msg}") from error
    section = data.get(SECTION, {}) if isinstance(data, dict) else None
    if not isinstance(section, dict):
        raise ConfigError(f'{path}: expected an object with a "{SECTION}" object in it')
    return parse_section(section, str(path))


def parse_section(section: Mapping[str, Any], where: str) -> tuple[Config, tuple[str, ...]]:
    """A Config from the keys of one `searchAgent` object; `where` names its origin in errors."""
    known = {key_of(f.name): f for f in fields(Config)}
    remarks = []
    values: dict[str, Any] = {}
    for key, value in section.items():
        if key in known:
            values[known[key].name] = _checked(known[key], value, f"{where}: {SECTION}.{key}")
        elif key in _LATER_KEYS:
            remarks.append(f"{where}: {SECTION}.{key} is not used by this version")
        else:
            raise ConfigError(f"{where}: unknown key {SECTION}.{key}{_suggestion(key, known)}")
    return replace(Config(), **values), tuple(remarks)


def _checked(field_: Any, value: Any, where: str) -> Any:  # Any: whatever stood in the JSON
    wanted = type(field_.default)
    if wanted is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if not isinstance(value, wanted) or isinstance(value, bool):
        raise ConfigError(f"{where} is {json.dumps(value)}, expected a {_name_of(wanted)}")
    low, high = field_.metadata.get("range", (None, None))
    if low is not None and not low <= value <= high:
        raise ConfigError(f"{where} is {value}, expected {low} to {high}")
    return value


def _name_of(wanted: type) -> str:
    return {int: "whole number", float: "number", str: "text"}[wanted]


def _suggestion(key: str, known: Mapping[str, Any]) -> str:
    near = difflib.get_close_matches(key, [*known, *_LATER_KEYS], n=1)
    return f'; did you mean "{near[0]}"?' if near else ""


_TOKEN: Final = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/|,(?=\s*[}\]])', re.DOTALL)


def strip_comments(text: str) -> str:
    """JSON without `//` and `/* */` comments and trailing commas, its lines where they were."""

    def blank(match: re.Match[str]) -> str:
        found = match.group()
        return found if found.startswith('"') else "\n" * found.count("\n")

    # Twice: a comment may stand between a trailing comma and its bracket.
    return _TOKEN.sub(blank, _TOKEN.sub(blank, text))
