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
    return (*messages, *_unused_web_keys(config))


def _unused_web_keys(config: Config) -> list[str]:
    engines = {"brave_api_key": "brave", "exa_api_key": "exa", "searxng_endpoint": "searxng"}
    keys = {name: engine for name, engine in engines.items() if getattr(config, name)}
    if not config.web_search:
        return [f"{key_of(name)} is not used: webSearch is false" for name in keys]
    return [
        f"{key_of(name)} is not used: webEngines does not contain {engine}"
        for name, engine in keys.items()
        if engine not in config.web_engines
    ]
