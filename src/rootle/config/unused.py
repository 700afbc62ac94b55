"""Find configuration keys that are set but have no effect, for `rootle status`."""

from __future__ import annotations

from rootle.config.fields import DEFAULT_MODEL, EMBEDDED, MEM0_SERVICE, Config, key_of


def unused_settings(config: Config) -> tuple[str, ...]:
    """Return a message for each key that is set but has no effect because of another key."""
    endpoints = (
        ("dense", config.dense_endpoint, config.dense_backend == EMBEDDED, "denseBackend"),
        ("sparse", config.sparse_endpoint, config.sparse_backend == EMBEDDED, "sparseBackend"),
        ("reranker", config.reranker_endpoint, not config.reranker_provider, "rerankerProvider"),
        ("memory", config.memory_endpoint, config.memory_store != MEM0_SERVICE, "memoryStore"),
        (
            "embedding",
            config.embedding_endpoint,
            config.embedding_model_id == DEFAULT_MODEL,
            "embeddingModelID",
        ),
    )
    messages = [
        f"{part}Endpoint is not used: {key} names no server"
        for part, endpoint, is_unused, key in endpoints
        if endpoint and is_unused
    ]
    web_keys = ("brave_api_key", "exa_api_key", "searxng_endpoint")
    if not config.web_search:
        messages += [
            f"{key_of(name)} is not used: webSearch is false"
            for name in web_keys
            if getattr(config, name)
        ]
    return tuple(messages)
