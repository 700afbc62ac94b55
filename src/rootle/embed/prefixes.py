"""What a model wants to read before a question and before the text that may answer it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Final


@dataclass(frozen=True, slots=True)
class Prefixes:
    """Put before every text of the kind."""

    query: str = ""
    document: str = ""

    @property
    def mark(self) -> str:
        """A short text that differs with them; empty where there are none."""
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
# From the models' own cards, for servers that hand a text to the model as it comes. The first line
# that fits counts.
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


def known_prefixes(model: str) -> Prefixes:
    """Those that go with the name of a model; none for a name that says nothing to us."""
    for pattern, prefixes in _KNOWN:
        if re.search(pattern, model, re.IGNORECASE):
            return prefixes
    return NO_PREFIXES


def folder_prefixes(folder: Path) -> Prefixes:
    """Those that a model folder states in the way of sentence-transformers, else by its name."""
    try:
        text = (folder / "config_sentence_transformers.json").read_text(encoding="utf-8")
        prompts = json.loads(text).get("prompts") or {}
    except (OSError, ValueError, AttributeError):
        prompts = {}
    if not isinstance(prompts, dict):
        prompts = {}
    found = {
        kind: next((str(prompts[name]) for name in names if prompts.get(name)), "")
        for kind, names in _PROMPT_NAMES.items()
    }
    stated = Prefixes(**found)
    return stated if stated.mark else known_prefixes(folder.name)
