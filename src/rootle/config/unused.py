"""Find configuration keys that are set but have no effect, for `rootle status`."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import fields

from rootle.config.fields import (
    DEFAULT_MODEL,
    EMBEDDED,
    MEM0_SERVICE,
    Config,
    is_model_path,
    make_key,
)


def unused_settings(config: Config, configured: Collection[str] = ()) -> tuple[str, ...]:
    """Return a message for each key that is set but has no effect because of another key.

    A key is set if its value is not the default, or if its field is in `configured`.
    """
    defaults = {field.name: field.default for field in fields(Config)}
    return tuple(
        f"{make_key(name)} is not used: {reason}"
        for reason, names in _disabled_keys(config)
        for name in names.split()
        if name in configured or getattr(config, name) != defaults[name]
    )


def _disabled_keys(config: Config) -> Iterator[tuple[str, str]]:
    """Yield (reason, names of fields) for each group of keys that another key disables."""
    yield from _keys_of_servers(config)
    if config.use_learned_reranker:
        yield "useLearnedReranker is true", "reranker_weights"
    else:
        yield "useLearnedReranker is false", "reranker_provider signal_weights"
    if not config.enable_cache:
        yield "enableCache is false", "cache_ttl_seconds cache_max_entries cache_on_disk"
    if not config.enable_indexing:
        yield "enableIndexing is false", "watch_debounce_ms stale_check_seconds"
    if not config.search_log:
        yield "searchLog is false", "search_log_query_text"
    if not config.web_search:
        yield (
            "webSearch is false",
            "brave_api_key exa_api_key searxng_endpoint brave_api_key_command exa_api_key_command "
            "web_engines web_max_results web_timeout_ms web_cache_ttl_seconds",
        )
    else:
        yield from _keys_of_engines(config)
    if not config.memory_store:
        yield (
            "memoryStore is empty",
            "memory_user_id memory_top_k memory_timeout_ms include_memories",
        )


def _keys_of_servers(config: Config) -> Iterator[tuple[str, str]]:
    if config.dense_backend == EMBEDDED:
        yield "denseBackend names no server", "dense_endpoint dense_api_key dense_api_key_command"
    if config.sparse_backend == EMBEDDED:
        yield (
            "sparseBackend names no server",
            "sparse_endpoint sparse_api_key sparse_api_key_command",
        )
    if not config.reranker_provider:
        yield (
            "rerankerProvider names no server",
            "reranker_endpoint reranker_model_id reranker_api_key reranker_api_key_command "
            "reranker_batch_size",
        )
    if not config.expand_endpoint:
        yield (
            "expandEndpoint is empty",
            "expand_model expand_api_key expand_api_key_command expand_timeout_ms",
        )
    if not config.image_embedding_endpoint:
        yield (
            "imageEmbeddingEndpoint is empty",
            "image_embedding_model_id image_embedding_api_key image_embedding_api_key_command",
        )
    if config.memory_store != MEM0_SERVICE:
        yield (
            "memoryStore names no server",
            "memory_endpoint memory_api_key memory_api_key_command",
        )
    if config.embedding_model_id == DEFAULT_MODEL:
        yield (
            "embeddingModelID names no server",
            "embedding_endpoint embedding_provider embedding_api_key embedding_api_key_command "
            "embedding_fallback embedding_query_prefix embedding_document_prefix "
            "embedding_dimensions dense_batch_size",
        )
    elif is_model_path(config.embedding_model_id) and (
        not config.embedding_fallback or is_model_path(config.embedding_fallback)
    ):
        yield (
            "embeddingModelID is a folder",
            "embedding_endpoint embedding_provider embedding_api_key embedding_api_key_command "
            "embedding_dimensions",
        )


def _keys_of_engines(config: Config) -> Iterator[tuple[str, str]]:
    keys = {
        "brave": "brave_api_key brave_api_key_command",
        "exa": "exa_api_key exa_api_key_command",
        "searxng": "searxng_endpoint",
    }
    for engine, names in keys.items():
        if engine not in config.web_engines:
            yield f"webEngines does not contain {engine}", names
