"""Prefixes that embedding models expect before queries and documents."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Final


@dataclass(frozen=True, slots=True)
class Prefixes:
    """The texts to put before each query and each document."""

    query: str = ""
    document: str = ""

    @property
    def fingerprint(self) -> str:
        """A short digest of both prefixes; empty if there are none."""
        if not (self.query or self.document):
            return ""
        both = f"{self.query}\0{self.document}".encode()
        return blake2b(both, digest_size=6).hexdigest()


NO_PREFIXES: Final = Prefixes()
_SENTENCE: Final = "Represent this sentence for searching relevant passages: "
_CODE: Final = "Represent this query for searching relevant code: "
_QWEN: Final = (
    "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"
)
# From the model cards, for servers that pass a text to the model unchanged. The first match wins.
_KNOWN: Final[tuple[tuple[str, Prefixes], ...]] = (
    (r"\be5-(small|base|large)(?!-instruct)", Prefixes("query: ", "passage: ")),
    (r"nomic-embed-text", Prefixes("search_query: ", "search_document: ")),
    (r"nomic-embed-code|coderankembed", Prefixes(_CODE)),
    (r"bge-(small|base|large)-en|mxbai-embed-large", Prefixes(_SENTENCE)),
    (r"snowflake-arctic-embed.*v2|arctic-embed2", Prefixes("query: ")),
    (r"snowflake-arctic-embed", Prefixes(_SENTENCE)),
    (r"embedding-?gemma", Prefixes("task: search result | query: ", "title: none | text: ")),
    (r"qwen3-embedding", Prefixes(_QWEN)),
)
_PROMPT_NAMES: Final = {"query": ("query",), "document": ("document", "passage")}


def find_prefixes(model: str) -> Prefixes:
    """Return the prefixes that a model of this name expects; none if the name is unknown."""
    for pattern, prefixes in _KNOWN:
        if re.search(pattern, model, re.IGNORECASE):
            return prefixes
    return NO_PREFIXES


def read_prefixes(folder: Path) -> Prefixes:
    """Return the prefixes in the sentence-transformers configuration of a model folder.

    If it contains none, return the prefixes that a model with the name of the folder expects.
    """
    try:
        text = (folder / "config_sentence_transformers.json").read_text(encoding="utf-8")
        prompts = json.loads(text).get("prompts") or {}
    except (OSError, ValueError, AttributeError):
        prompts = {}
    if not isinstance(prompts, dict):
        prompts = {}
    by_kind = {
        kind: next((str(prompts[name]) for name in names if prompts.get(name)), "")
        for kind, names in _PROMPT_NAMES.items()
    }
    configured = Prefixes(**by_kind)
    return configured if configured.fingerprint else find_prefixes(folder.name)
