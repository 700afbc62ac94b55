"""Create the reranker of a configuration."""

from __future__ import annotations

from rootle.config.api_key import read_key
from rootle.config.fields import NO_MODEL, Config
from rootle.errors import ConfigError, UnavailableError
from rootle.plugins.registry import find_plugins
from rootle.protocols import Reranker
from rootle.rerank.http_reranker import ServerReranker
from rootle.rerank.providers import PROVIDERS


def open_reranker(config: Config) -> Reranker:
    """Return the configured reranker. It sends nothing and reads no key before its first use.

    Raise ConfigError if the provider is unknown or the endpoint is invalid.
    """
    provider = config.reranker_provider
    found = find_plugins(config.plugins)
    plugins = found.select("reranker")
    if provider not in (*plugins, *PROVIDERS) and found.broken:
        from rootle.rerank.plugin_reranker import UnavailableReranker

        return UnavailableReranker(provider, "; ".join(found.broken.values()))
    if provider in plugins:
        from rootle.rerank.plugin_reranker import PluginReranker

        return PluginReranker(plugins[provider])
    if provider not in PROVIDERS:
        raise ConfigError(
            f'rerankerProvider is "{provider}", expected one of '
            f"{', '.join((*PROVIDERS, *plugins))}; "
            "remove rerankerProvider to disable the reranker"
        )
    return ServerReranker(
        provider,
        "" if config.reranker_model_id == NO_MODEL else config.reranker_model_id,
        endpoint=config.reranker_endpoint,
        key=lambda: _read_api_key(config),
        timeout_s=config.reranker_timeout_ms / 1000,
        batch_size=config.reranker_batch_size,
    )


def _read_api_key(config: Config) -> str:
    name = "rerankerApiKeyCommand"
    key = read_key(config.reranker_api_key, config.reranker_api_key_command, name)
    if not key and not config.reranker_endpoint and PROVIDERS[config.reranker_provider].needs_key:
        # A hosted service rejects requests without a key, so no request is sent.
        raise UnavailableError(
            f"{config.reranker_provider} requires an API key; set rerankerApiKey or {name}"
        )
    return key
