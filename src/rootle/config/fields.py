"""Settings: the frozen Config, one field a key, and what a key may hold."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from rootle.config.field import config_field
from rootle.config.weights import RerankerWeights, SignalWeights, TrustRule
from rootle.text.terms import CHARS_PER_TOKEN
from rootle.types import camel_case

SECTION: Final = "searchAgent"
DEFAULT_MODEL: Final = "static-code-v1"
EMBEDDED: Final = "embedded"  # the backend that is part of rootle
MEM0: Final = "mem0"  # its library, on this machine
MEM0_SERVICE: Final = "mem0-service"

# The specification's name for a reranker of our own, which is not built: no model of a server.
NO_MODEL: Final = "local-reranker-small"

_DEFAULT_WEIGHTS: Final = RerankerWeights()
_NO_SIGNALS: Final = SignalWeights()


@dataclass(frozen=True, slots=True)
class Config:
    """The `searchAgent` section. Each field has the camelCase name of its key in the file."""

    # Chunks
    max_chunk_size_tokens: int = config_field(
        512,
        "Upper bound of one chunk. A token is four characters.",
        (64, 8192),
        project=True,
    )
    chunk_overlap_tokens: int = config_field(
        50,
        "What two neighbouring windows share. Only text without a structure that rootle knows is "
        "cut into windows.",
        (0, 4096),
        project=True,
    )
    max_chunks_per_file: int = config_field(
        100,
        "Limit for the text of one file: this many full chunks of it are indexed, the rest is left "
        "out and counted by `rootle status`. 0: no limit.",
        (0, 1_000_000),
    )
    max_file_bytes: int = config_field(1_000_000, "Larger files are left out.", (1, 1 << 40))

    # The embedding
    embedding_model_id: str = config_field(
        DEFAULT_MODEL,
        "The shipped model, the path of a model's folder (`/…`, `./…` or `~/…`), or the name of a "
        "model on a server (see [embedding](../how-to/embedding-models.md)). Another model means a "
        "new index.",
        path=True,
    )
    embedding_endpoint: str = config_field(
        "", "URL of the server that embeds with that model. Empty: the provider's own.", url=True
    )
    embedding_provider: str = config_field(
        "openai",
        "Whose requests that server understands: openai, azure, cohere, jina, llamacpp, lmstudio, "
        "mistral, ollama, vllm or voyage.",
    )
    embedding_api_key: str = config_field(
        "", "The key of that server. It is never shown, logged or sent elsewhere.", secret=True
    )
    embedding_api_key_command: str = config_field(
        "", "A command that prints the key, run without a shell when the key is first needed."
    )
    embedding_fallback: str = config_field(
        "", "The model that serves where `embeddingModelID` cannot. Empty: none.", path=True
    )
    embedding_query_prefix: str = config_field(
        "", "Put before a question. Empty: what the model is known to want, if anything."
    )
    embedding_document_prefix: str = config_field(
        "", "Put before a chunk. Empty: what the model is known to want, if anything."
    )
    embedding_dimensions: int = config_field(
        0, "Length of a vector, where a server offers several. 0: the model's own.", (0, 65_536)
    )

    # The dense leg: vectors
    dense_backend: str = config_field(
        EMBEDDED,
        'The engine that searches the vectors: "embedded", "chroma", "opensearch", "weaviate" or '
        "a [plugin](../how-to/plugins.md).",
    )
    dense_endpoint: str = config_field(
        "", "URL of that engine where it is a server. Alone it switches nothing.", url=True
    )
    dense_api_key: str = config_field(
        "", "The key of that server, or user:password. It is never shown.", secret=True
    )
    dense_api_key_command: str = config_field(
        "", "A command that prints the key, run without a shell when the key is first needed."
    )
    dense_top_k: int = config_field(
        200, "Chunks that the vectors may put forward.", (1, 10_000), project=True
    )
    dense_batch_size: int = config_field(
        16, "Chunks in one request to an embedding server.", (1, 10_000)
    )
    dense_timeout_ms: int = config_field(
        2_000, "After this long a search goes on without the vectors and says so.", (1, 600_000)
    )

    # The sparse leg: words
    sparse_backend: str = config_field(
        EMBEDDED,
        'The engine that searches the words: "embedded", "opensearch", "elasticsearch", '
        '"weaviate" or a [plugin](../how-to/plugins.md).',
    )
    sparse_endpoint: str = config_field(
        "", "URL of that engine where it is a server. Alone it switches nothing.", url=True
    )
    sparse_api_key: str = config_field(
        "", "The key of that server, or user:password. It is never shown.", secret=True
    )
    sparse_api_key_command: str = config_field(
        "", "A command that prints the key, run without a shell when the key is first needed."
    )
    sparse_top_k: int = config_field(
        200, "Chunks that the words may put forward.", (1, 10_000), project=True
    )
    sparse_timeout_ms: int = config_field(
        1_000, "After this long a search goes on without the words and says so.", (1, 600_000)
    )

    # The order of the candidates
    max_merged_candidates: int = config_field(
        400, "Chunks that are ranked, after both lists are fused.", (1, 20_000), project=True
    )
    use_learned_reranker: bool = config_field(
        True,
        "false: leave the server that `rerankerProvider` names in peace.",
        project=True,
    )
    reranker_provider: str = config_field(
        "",
        "Whose server reads the best files and orders them anew: `llamacpp`, `cohere`, `jina`, "
        "`voyage`, `vllm`, `tei` or `infinity` (`docs/how-to/reranking-server.md`). Empty: "
        "nobody's.",
    )
    reranker_model_id: str = config_field(
        NO_MODEL, "The model of that server. The default leaves the choice to the server."
    )
    reranker_endpoint: str = config_field(
        "",
        "URL of that server. Empty: the provider's own. Alone it switches nothing.",
        url=True,
    )
    reranker_api_key: str = config_field(
        "", "The key of that server. It is never shown, logged or sent elsewhere.", secret=True
    )
    reranker_api_key_command: str = config_field(
        "", "A command that prints the key, run without a shell when the key is first needed."
    )
    reranker_batch_size: int = config_field(8, "Files in one request to that server.", (1, 10_000))
    reranker_timeout_ms: int = config_field(
        2_000, "After this long the order before it stands, and the answer says so.", (1, 600_000)
    )
    reranker_weights: RerankerWeights = config_field(  # noqa: RUF009 - it makes a `field`
        _DEFAULT_WEIGHTS,
        "What each signal counts in the weighted sum of `useLearnedReranker: false`.",
        project=True,
    )
    signal_weights: SignalWeights = config_field(  # noqa: RUF009 - it makes a `field`
        _NO_SIGNALS,
        "What recency and importance add in the other rankers, on the scale of their "
        "[features](../explanation/ranking.md#3-order-the-files).",
        project=True,
    )
    trust: tuple[TrustRule, ...] = config_field(
        (),
        "Whose files count more or less: a list of rules by author and path ([how]"
        "(../explanation/ranking.md#recency-importance-and-trust)).",
        project=True,
        item=TrustRule,
    )

    # The cache of answers
    enable_cache: bool = config_field(True, "Keep answers for questions that come again.")
    cache_ttl_seconds: int = config_field(3_600, "How long an answer is kept.", (1, 31_536_000))
    cache_max_entries: int = config_field(500, "How many are kept.", (1, 1_000_000))
    cache_on_disk: bool = config_field(
        False, "Keep pages of answers in your state folder too, for the next process."
    )

    # What stands around a result
    max_context_lines: int = config_field(
        50, "The most lines of one widened result.", (1, 10_000), project=True
    )
    context_before_lines: int = config_field(
        5, "Lines before a result that widening adds.", (0, 10_000), project=True
    )
    context_after_lines: int = config_field(
        5, "Lines after a result that widening adds.", (0, 10_000), project=True
    )

    # Where nothing is found
    min_recency_days: float = config_field(
        0.0,
        "Only files modified within so many days, for questions that do not say. 0: all files.",
        (0.0, 36_500.0),
        project=True,
    )
    no_results_suggestion: str = config_field(
        "", "A sentence of yours beside the suggestions where nothing is found."
    )

    # How fresh the index is
    enable_indexing: bool = config_field(
        True, "false: answer from the index that is there, never write."
    )
    watch_debounce_ms: int = config_field(
        500, "How long a watcher gathers changes before it indexes them as one batch.", (0, 60_000)
    )
    stale_check_seconds: float = config_field(
        2.0,
        "How old the last look at the folder may be before a search looks again.",
        (0.0, 86_400.0),
    )

    # The log of searches
    search_log: bool = config_field(
        True, "One line for each search in a file of your own (`docs/how-to/telemetry.md`)."
    )
    search_log_query_text: bool = config_field(
        True, "Write into it what was asked, not only how it went."
    )

    # The MCP server
    mcp_token: str = config_field(
        "",
        "What clients of `rootle mcp --http` must know. Empty: nothing on this machine, else a "
        "token is made at each start.",
        secret=True,
    )
    mcp_token_command: str = config_field(
        "", "A command that prints the token, run without a shell at the start of that server."
    )

    # Memory
    memory_store: str = config_field(
        EMBEDDED,
        'Who keeps what `remember` is told: "embedded", "mem0" or "mem0-service" '
        "(`docs/how-to/memory.md`). Empty: nobody; nothing is remembered.",
    )
    memory_endpoint: str = config_field(
        "",
        "URL of mem0's service, where it is not the provider's own. Alone it switches nothing.",
        url=True,
    )
    memory_api_key: str = config_field(
        "", "The key of that service. It is never shown, logged or sent elsewhere.", secret=True
    )
    memory_api_key_command: str = config_field(
        "", "A command that prints the key, run without a shell when the key is first needed."
    )
    memory_user_id: str = config_field(
        "default", "Whose memories these are, where several people share."
    )
    memory_top_k: int = config_field(7, "The most memories that `recall` may find.", (1, 100))
    include_memories: bool = config_field(
        True, "Show memories that fit a question, or the files that answer it, beside the results."
    )
    memory_timeout_ms: int = config_field(
        1_000,
        "After this long a search, or what is put before a turn, does without memories.",
        (1, 600_000),
    )

    # The web
    web_search: bool = config_field(
        False,
        "Let agents search the web and read pages of it (see [the web](../how-to/web-search.md)). "
        "Otherwise nothing goes there.",
    )
    brave_api_key: str = config_field(
        "", "A key of Brave Search, which is asked too then. It is never shown.", secret=True
    )
    brave_api_key_command: str = config_field(
        "", "A command that prints the key, run without a shell when the key is first needed."
    )
    exa_api_key: str = config_field(
        "", "A key of Exa, which is asked too then. It is never shown.", secret=True
    )
    exa_api_key_command: str = config_field(
        "", "A command that prints the key, run without a shell when the key is first needed."
    )
    searxng_endpoint: str = config_field("", "URL of a SearXNG, which is asked too then.", url=True)
    web_max_results: int = config_field(10, "Results of one search of the web.", (1, 100))
    web_timeout_ms: int = config_field(
        10_000, "What one search engine has to answer, and one page to come.", (100, 600_000)
    )
    web_cache_ttl_seconds: int = config_field(
        86_400, "How long what came from the web is kept on this machine.", (1, 31_536_000)
    )

    # Parts that others wrote
    plugins: tuple[str, ...] = config_field(
        (),
        'Plugins that no installed package names, as "package.module:name". They run with your '
        "rights.",
    )

    # Pages
    default_limit: int = config_field(
        10, "Results a page where a query names no limit.", (1, 1_000), project=True
    )
    max_limit: int = config_field(
        50, "The largest limit that a query may name.", (1, 1_000), project=True
    )

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
    return re.sub(r"Id$", "ID", camel_case(name)).replace("Ttl", "TTL")
