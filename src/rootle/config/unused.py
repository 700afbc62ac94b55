"""What somebody set without any effect: said by `rootle status`, so that nobody relies on it."""

from __future__ import annotations

from rootle.config.fields import DEFAULT_MODEL, EMBEDDED, MEM0_SERVICE, Config, key_of


def unused_settings(config: Config) -> tuple[str, ...]:
    """A sentence for each key that is set and has no effect beside the others."""
    beside = (
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
    said = [
        f"{part}Endpoint: {key} names nobody who would be asked there"
        for part, endpoint, is_alone, key in beside
        if endpoint and is_alone
    ]
    of_the_web = ("brave_api_key", "exa_api_key", "searxng_endpoint")
    if not config.web_search:
        said += [
            f"{key_of(name)}: webSearch is false" for name in of_the_web if getattr(config, name)
        ]
    return tuple(said)
