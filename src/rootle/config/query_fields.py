"""The configuration keys of answers: ranking, expansion, caching, context and result pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rootle.config.field import config_field
from rootle.config.index_fields import IndexFields
from rootle.config.weights import RerankerWeights, SignalWeights, TrustRule

# The default of `rerankerModelID` in the specification. No model has this name, so the value means
# that no model is set.
NO_MODEL: Final = "local-reranker-small"
_DEFAULT_WEIGHTS: Final = RerankerWeights()
_NO_SIGNALS: Final = SignalWeights()


@dataclass(frozen=True, slots=True)
class QueryFields(IndexFields):
    """The settings of answers to queries."""

    # Ranking
    max_merged_candidates: int = config_field(
        4_000,
        "Maximum number of chunks, and maximum number of files, that are ranked after the results "
        "of both searches are merged. The files are ranked in groups of 60. The first group is "
        "ranked for the first page, and each further group only if a later page needs it.",
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

    # Result pages
    default_limit: int = config_field(
        10, "Number of results per page if the query sets no limit.", (1, 1_000), project=True
    )
    max_limit: int = config_field(
        50, "Maximum limit that a query may set.", (1, 1_000), project=True
    )
