"""The configuration: one frozen record with a field for each key of the `searchAgent` section."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from rootle.config.field import config_field
from rootle.config.weights import RerankerWeights, SignalWeights, TrustRule
from rootle.serialization.json import camel_case
from rootle.text.terms import CHARS_PER_TOKEN

SECTION: Final = "searchAgent"
DEFAULT_MODEL: Final = "static-code-v1"
EMBEDDED: Final = "embedded"  # the backend that ships with rootle
MEM0: Final = "mem0"  # the mem0 library, on this machine
MEM0_SERVICE: Final = "mem0-service"  # a mem0 server

# The default of `rerankerModelID` in the specification. No model has this name, so the value means
# that no model is set.
NO_MODEL: Final = "local-reranker-small"

# The default of `chunkOverlapTokens` in the specification.
_WINDOW_OVERLAP_TOKENS: Final = 50
WEB_ENGINES: Final = ("duckduckgo", "brave", "exa", "searxng")

_DEFAULT_WEIGHTS: Final = RerankerWeights()
_NO_SIGNALS: Final = SignalWeights()


@dataclass(frozen=True, slots=True)
class Config:
    """The `searchAgent` section. The key of a field is its name in camelCase."""

    # Chunks
    max_chunk_size_tokens: int = config_field(
        512,
        "Maximum size of a chunk, in tokens. One token is counted as four characters.",
        (64, 8192),
        project=True,
    )
    chunk_overlap_tokens: int = config_field(
        -1,
        "Overlap of two consecutive chunks, in tokens, where a definition, a section of prose or "
        "text without a known structure is split. -1: 50 tokens in text without a known structure, "
        "and none elsewhere.",
        (-1, 4096),
        project=True,
    )
    max_chunks_per_file: int = config_field(
        0,
        "Maximum amount of text indexed from one file, as a number of chunks of maximum size. The "
        "rest of the file is skipped, and `rootle status --skipped` lists the file. 0: no limit.",
        (0, 1_000_000),
    )
    max_file_bytes: int = config_field(
        5_000_000,
        "Maximum number of bytes indexed from one file. From a larger text file, only the lines up "
        "to this size are indexed, and `rootle status --skipped` lists the file. A larger document "
        "that a plugin would read is skipped.",
        (1, 1 << 40),
    )

    secret_exceptions: tuple[str, ...] = config_field(
        (),
        "Glob patterns for false positives. A value that matches is not masked although it looks "
        "like a secret, and a file whose path matches is indexed although its name suggests "
        "secrets (see [privacy](../explanation/privacy.md)).",
    )
    ocr: str = config_field(
        "off",
        "Whether to read the text in PNG and JPEG images and in scanned PDF pages with Tesseract: "
        "`off`, `docs` for images in folders with documentation, or `all`. An image takes about a "
        "second (see [diagrams and images](../how-to/diagrams-and-images.md)).",
        choices=("off", "docs", "all"),
    )
    index_sharing: str = config_field(
        "private",
        "Who may read the files of the index: `private` for you alone, `group` for your user "
        "group, or `everyone`. Memories, caches and logs are always private.",
    )

    # Embedding
    embedding_model_id: str = config_field(
        DEFAULT_MODEL,
        "Embedding model: the included `static-code-v1`, the path of a model folder (`/…`, `./…` "
        "or `~/…`), or the name of a model on a server (see [embedding models]"
        "(../how-to/embedding-models.md)). Changing the model rebuilds the index.",
        path=True,
    )
    embedding_endpoint: str = config_field(
        "", "URL of the embedding server. Empty: the provider's default URL.", url=True
    )
    embedding_provider: str = config_field(
        "openai",
        "API of the embedding server: openai, azure, cohere, jina, llamacpp, lmstudio, mistral, "
        "ollama, vllm or voyage.",
    )
    embedding_api_key: str = config_field(
        "",
        "API key of the embedding server. It is never shown, logged or sent elsewhere.",
        secret=True,
    )
    embedding_api_key_command: str = config_field(
        "",
        "Command that prints `embeddingApiKey`. It runs without a shell when the key is first "
        "needed.",
    )
    embedding_fallback: str = config_field(
        "", "Model to use if `embeddingModelID` is not available. Empty: none.", path=True
    )
    embedding_query_prefix: str = config_field(
        "",
        "Text that is put before each query that is embedded. Empty: the documented prefix of a "
        "known model, and none for other models.",
    )
    embedding_document_prefix: str = config_field(
        "",
        "Text that is put before each chunk that is embedded. Empty: the documented prefix of a "
        "known model, and none for other models.",
    )
    embedding_dimensions: int = config_field(
        0,
        "Length of the vectors, if the model supports several lengths. 0: the model's default.",
        (0, 65_536),
    )

    # Dense retrieval: vectors
    dense_backend: str = config_field(
        EMBEDDED,
        'Engine for vector search: "embedded", "chroma", "opensearch", "weaviate" or '
        "a [plugin](../how-to/plugins.md).",
    )
    dense_endpoint: str = config_field(
        "",
        "URL of the server for vector search. It has no effect unless `denseBackend` names a "
        "server.",
        url=True,
    )
    dense_api_key: str = config_field(
        "",
        "API key of the server for vector search, or user:password. It is never shown.",
        secret=True,
    )
    dense_api_key_command: str = config_field(
        "",
        "Command that prints `denseApiKey`. It runs without a shell when the key is first needed.",
    )
    dense_top_k: int = config_field(
        200, "Maximum number of chunks returned by vector search.", (1, 10_000), project=True
    )
    dense_batch_size: int = config_field(
        16, "Number of chunks per request to an embedding server.", (1, 10_000)
    )
    dense_timeout_ms: int = config_field(
        2_000,
        "Time limit of vector search. When it expires, only the results of full-text search are "
        "used, and the response says so. There is no time limit for a search that needs neither a "
        "server nor a slow model, if the index has fewer than 200,000 chunks or other searches are "
        "running. The first vector search of a process always has the time limit.",
        (1, 600_000),
    )

    # Sparse retrieval: words
    sparse_backend: str = config_field(
        EMBEDDED,
        'Engine for full-text search: "embedded", "opensearch", "elasticsearch", '
        '"weaviate" or a [plugin](../how-to/plugins.md).',
    )
    sparse_endpoint: str = config_field(
        "",
        "URL of the server for full-text search. It has no effect unless `sparseBackend` names a "
        "server.",
        url=True,
    )
    sparse_api_key: str = config_field(
        "",
        "API key of the server for full-text search, or user:password. It is never shown.",
        secret=True,
    )
    sparse_api_key_command: str = config_field(
        "",
        "Command that prints `sparseApiKey`. It runs without a shell when the key is first needed.",
    )
    sparse_top_k: int = config_field(
        200, "Maximum number of chunks returned by full-text search.", (1, 10_000), project=True
    )
    sparse_timeout_ms: int = config_field(
        1_000,
        "Time limit of full-text search. When it expires, only the results of vector search are "
        "used, and the response says so. For the exceptions, see `denseTimeoutMs`.",
        (1, 600_000),
    )

    # Ranking
    max_merged_candidates: int = config_field(
        4_000,
        "Maximum number of chunks, and maximum number of files, that are ranked after the results "
        "of both searches are merged. No query ranks more than 60 files.",
        (1, 20_000),
        project=True,
    )
    use_learned_reranker: bool = config_field(
        True,
        "true: rank with the learned ranker, and then with `rerankerProvider` if it is set. false: "
        "rank by the sum of signals with `rerankerWeights`.",
        project=True,
    )
    reranker_provider: str = config_field(
        "",
        "Server that reranks the best files: llamacpp, cohere, jina, voyage, vllm, tei or infinity "
        "(see [reranking server](../how-to/reranking-server.md)). Empty: none.",
    )
    reranker_model_id: str = config_field(
        NO_MODEL, "Model of the reranking server. With the default, the server chooses the model."
    )
    reranker_endpoint: str = config_field(
        "",
        "URL of the reranking server. Empty: the provider's default URL. It has no effect unless "
        "`rerankerProvider` is set.",
        url=True,
    )
    reranker_api_key: str = config_field(
        "",
        "API key of the reranking server. It is never shown, logged or sent elsewhere.",
        secret=True,
    )
    reranker_api_key_command: str = config_field(
        "",
        "Command that prints `rerankerApiKey`. It runs without a shell when the key is first "
        "needed.",
    )
    reranker_batch_size: int = config_field(
        8, "Number of files per request to the reranking server.", (1, 10_000)
    )
    reranker_timeout_ms: int = config_field(
        2_000,
        "Time limit of reranking. When it expires, the previous order is kept, and the response "
        "says so.",
        (1, 600_000),
    )
    reranker_weights: RerankerWeights = config_field(  # noqa: RUF009 - returns a `field`
        _DEFAULT_WEIGHTS,
        "Weights of the signals in the sum that ranks results if `useLearnedReranker` is false.",
        project=True,
    )
    signal_weights: SignalWeights = config_field(  # noqa: RUF009 - returns a `field`
        _NO_SIGNALS,
        "Weights of recency and importance if `useLearnedReranker` is true, on the scale of the "
        "[feature weights](../explanation/ranking.md#3-order-the-files).",
        project=True,
    )
    trust: tuple[TrustRule, ...] = config_field(
        (),
        "Rules that raise or lower the scores of files by author or path (see [recency, importance "
        "and trust](../explanation/ranking.md#recency-importance-and-trust)).",
        project=True,
        item=TrustRule,
    )

    # Expansion of questions
    expand_endpoint: str = config_field(
        "",
        "URL of an LLM server with an OpenAI-compatible chat API. The server receives each "
        "question in plain words and returns words to add to the question (see [query expansion]"
        "(../how-to/query-expansion.md)). Empty: no question is sent.",
        url=True,
    )
    expand_model: str = config_field(
        "", "Model of the LLM server. Empty: the server chooses the model."
    )
    expand_api_key: str = config_field(
        "",
        "API key of the LLM server. It is never shown, logged or sent elsewhere.",
        secret=True,
    )
    expand_api_key_command: str = config_field(
        "",
        "Command that prints `expandApiKey`. It runs without a shell when the key is first needed.",
    )
    expand_timeout_ms: int = config_field(
        1_500,
        "Time limit of the LLM server. When it expires, the question is searched without added "
        "words, and the response says so.",
        (1, 600_000),
    )

    # Answer cache
    enable_cache: bool = config_field(True, "Cache answers to repeated queries.")
    cache_ttl_seconds: int = config_field(3_600, "Lifetime of a cached answer.", (1, 31_536_000))
    cache_max_entries: int = config_field(500, "Maximum number of cached answers.", (1, 1_000_000))
    cache_on_disk: bool = config_field(
        False, "Also cache result pages on disk, so that later processes can use them."
    )

    # Context of a result
    max_context_lines: int = config_field(
        50, "Maximum number of lines in a result with context.", (1, 10_000), project=True
    )
    context_before_lines: int = config_field(
        5, "Number of context lines before a result.", (0, 10_000), project=True
    )
    context_after_lines: int = config_field(
        5, "Number of context lines after a result.", (0, 10_000), project=True
    )

    # Recency, and searches without results
    min_recency_days: float = config_field(
        0.0,
        "Search only files modified in the last N days, unless the query sets its own limit. 0: "
        "all files.",
        (0.0, 36_500.0),
        project=True,
    )
    no_results_suggestion: str = config_field(
        "", "Text added to the suggestions of a search without results."
    )

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
        "Packages that `in:deps` searches: `direct` for those that the project names itself, `all` "
        "for those that they require, too, or `off` (see [search the packages that you use]"
        "(../how-to/dependencies.md)). Nothing is indexed until you ask for it.",
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
        "Time for which searches do not check the folder for changes again. With 0, each search "
        "finds every change that was made before it. On Linux, the check takes almost no time "
        "while no file changes.",
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
        "If false, only `rootle add URL` sends requests to the web.",
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

    # Result pages
    default_limit: int = config_field(
        10, "Number of results per page if the query sets no limit.", (1, 1_000), project=True
    )
    max_limit: int = config_field(
        50, "Maximum limit that a query may set.", (1, 1_000), project=True
    )

    @property
    def max_chunk_chars(self) -> int:
        return self.max_chunk_size_tokens * CHARS_PER_TOKEN

    @property
    def window_overlap_chars(self) -> int:
        """Overlap of the windows into which text without a known structure is split."""
        tokens = self.chunk_overlap_tokens
        return (_WINDOW_OVERLAP_TOKENS if tokens < 0 else tokens) * CHARS_PER_TOKEN

    @property
    def part_overlap_chars(self) -> int:
        """Overlap of the parts of a definition or of a section of prose."""
        return max(0, self.chunk_overlap_tokens) * CHARS_PER_TOKEN

    @property
    def max_file_chars(self) -> int:
        """Maximum text indexed from one file, in characters; 0 for no limit."""
        return self.max_chunks_per_file * self.max_chunk_chars


def key_of(name: str) -> str:
    """Return the key of a field in the file: `embedding_model_id` -> `embeddingModelID`."""
    return re.sub(r"Id$", "ID", camel_case(name)).replace("Ttl", "TTL")
