"""The configuration: one frozen record with a field for each key of the `searchAgent` section."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Final

from rootle.config.field import config_field
from rootle.config.index_fields import DEFAULT_MODEL, EMBEDDED
from rootle.config.query_fields import NO_MODEL, QueryFields
from rootle.serialization.json import camel_case

__all__ = [
    "DEFAULT_MODEL",
    "EMBEDDED",
    "MEM0",
    "MEM0_SERVICE",
    "NO_MODEL",
    "SECTION",
    "WEB_ENGINES",
    "Config",
    "is_model_path",
    "make_key",
]

SECTION: Final = "searchAgent"
MEM0: Final = "mem0"  # the mem0 library, on this machine
MEM0_SERVICE: Final = "mem0-service"  # a mem0 server
WEB_ENGINES: Final = ("duckduckgo", "brave", "exa", "searxng")


@dataclass(frozen=True, slots=True)
class Config(QueryFields):
    """The `searchAgent` section. The key of a field is its name in camelCase."""

    # Git history
    max_history_commits: int = config_field(
        20_000,
        "Maximum number of commits to index, the newest first. They answer questions about the "
        "past. 0: index no commits.",
        (0, 1_000_000),
    )

    # Packages that the project depends on
    dependencies: str = config_field(
        "direct",
        "Packages that `in:deps` searches: `direct` for the packages that the project itself "
        "requires, `all` to include the packages that these require, or `off` (see [search the "
        "packages that you use](../how-to/dependencies.md)). Nothing is indexed until you ask for "
        "it.",
        choices=("direct", "all", "off"),
    )
    dependency_folders: tuple[str, ...] = config_field(
        (),
        "Folders outside the project from which packages may be read, such as a virtual "
        "environment.",
    )

    # Added sources
    external_max_documents: int = config_field(
        100_000,
        "Maximum number of documents that are read from one source that was added with "
        "`rootle add`.",
        (1, 10_000_000),
    )
    external_max_age_days: float = config_field(
        180.0,
        "Age after which an answer from an added source says that the source should be refreshed. "
        "0: never.",
        (0.0, 36_500.0),
    )

    # Freshness of the index
    enable_indexing: bool = config_field(
        True,
        "Build and update the index. If false, the existing index is searched but not changed.",
    )
    watch_debounce_ms: int = config_field(
        500,
        "Time without file events after which the watcher indexes a batch of changes.",
        (0, 60_000),
    )
    stale_check_seconds: float = config_field(
        0.0,
        "Minimum time between two checks of the folder for changes. With 0, each search finds "
        "every change that was made before it. On Linux, a check takes almost no time if no file "
        "has changed.",
        (0.0, 86_400.0),
    )

    # Search log
    search_log: bool = config_field(
        True, "Log one line per search to a private file (see [telemetry](../how-to/telemetry.md))."
    )
    search_log_query_text: bool = config_field(
        True, "Include the text of the query in the search log."
    )

    # MCP server
    mcp_token: str = config_field(
        "",
        "Token that clients of `rootle mcp --http` must send. Empty: none on a loopback address, "
        "and a random token at each start on other addresses.",
        secret=True,
    )
    mcp_token_command: str = config_field(
        "", "Command that prints `mcpToken`. It runs without a shell when the server starts."
    )

    # Memory
    memory_store: str = config_field(
        EMBEDDED,
        'Store for memories: "embedded", "mem0" or "mem0-service" (see [memory]'
        "(../how-to/memory.md)). Empty: memories are off.",
    )
    memory_endpoint: str = config_field(
        "",
        "URL of the mem0 service. Empty: its default URL. It has no effect unless `memoryStore` is "
        "`mem0-service`.",
        url=True,
    )
    memory_api_key: str = config_field(
        "",
        "API key of the mem0 service. It is never shown, logged or sent elsewhere.",
        secret=True,
    )
    memory_api_key_command: str = config_field(
        "",
        "Command that prints `memoryApiKey`. It runs without a shell when the key is first needed.",
    )
    memory_user_id: str = config_field(
        "default", "Name of the user who owns the memories, if several people share a store."
    )
    memory_top_k: int = config_field(
        7, "Maximum number of memories that `recall` returns.", (1, 100)
    )
    include_memories: bool = config_field(
        True, "Add memories that match the query or the found files to the response."
    )
    memory_timeout_ms: int = config_field(
        1_000,
        "Time limit of a memory lookup. When it expires, no memories are added.",
        (1, 600_000),
    )

    # Web
    web_search: bool = config_field(
        False,
        "Let agents search the web and read pages (see [web search](../how-to/web-search.md)). "
        "If false, only `rootle add` and `rootle sources refresh` send requests to websites.",
    )
    web_engines: tuple[str, ...] = config_field(
        WEB_ENGINES,
        "Search engines that may be used: duckduckgo, brave, exa and searxng. Brave and Exa also "
        "need a key, and SearXNG an endpoint.",
        choices=WEB_ENGINES,
    )
    brave_api_key: str = config_field(
        "",
        "API key of Brave Search, never shown. The engine is used if this key or "
        "`braveApiKeyCommand` is set.",
        secret=True,
    )
    brave_api_key_command: str = config_field(
        "",
        "Command that prints `braveApiKey`. It runs without a shell when the key is first needed.",
    )
    exa_api_key: str = config_field(
        "",
        "API key of Exa, never shown. The engine is used if this key or `exaApiKeyCommand` is set.",
        secret=True,
    )
    exa_api_key_command: str = config_field(
        "", "Command that prints `exaApiKey`. It runs without a shell when the key is first needed."
    )
    searxng_endpoint: str = config_field(
        "", "URL of a SearXNG instance. The engine is used if this URL is set.", url=True
    )
    web_max_results: int = config_field(10, "Maximum number of results of a web search.", (1, 100))
    web_timeout_ms: int = config_field(
        10_000,
        "Time limit of a request to a search engine, and of a page download.",
        (100, 600_000),
    )
    web_cache_ttl_seconds: int = config_field(
        86_400, "Lifetime of cached web results and pages.", (1, 31_536_000)
    )

    # Plugins
    plugins: tuple[str, ...] = config_field(
        (),
        'Plugins without an entry point, each as "package.module:name". They run with your '
        "privileges.",
    )


def is_model_path(model: str) -> bool:
    """Return whether a value of `embeddingModelID` or `embeddingFallback` is a path."""
    return os.path.isabs(model) or model.startswith((".", "~"))


def make_key(name: str) -> str:
    """Return the key of a field in the file: `embedding_model_id` -> `embeddingModelID`."""
    return re.sub(r"Id$", "ID", camel_case(name)).replace("Ttl", "TTL")
