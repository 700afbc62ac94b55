"""The reranker that the configuration asks for."""

from __future__ import annotations

from rootle.config.api_key import read_key
from rootle.config.fields import NO_MODEL, Config
from rootle.errors import ConfigError, UnavailableError
from rootle.plugins.registry import find_plugins
from rootle.protocols import Reranker
from rootle.rerank.http_reranker import ServerReranker
from rootle.rerank.providers import WIRES


def open_reranker(config: Config) -> Reranker:
    """Nothing is sent, and no key command run, before its first use.

    Raises ConfigError for a provider that is unknown and an endpoint that is no URL.
    """
    provider = config.reranker_provider
    found = find_plugins(config.plugins)
    plugins = found.of("reranker")
    if provider not in (*plugins, *WIRES) and found.broken:
        from rootle.rerank.plugin_reranker import UnavailableReranker

        return UnavailableReranker(provider, "; ".join(found.broken.values()))
    if provider in plugins:
        from rootle.rerank.plugin_reranker import PluginReranker

        return PluginReranker(plugins[provider])
    if provider not in WIRES:
        raise ConfigError(
            f'rerankerProvider is "{provider}", which is none of {", ".join((*WIRES, *plugins))}; '
            "leave the key out for no reranker"
        )
    return ServerReranker(
        provider,
        "" if config.reranker_model_id == NO_MODEL else config.reranker_model_id,
        endpoint=config.reranker_endpoint,
        key=lambda: _key(config),
        timeout_s=config.reranker_timeout_ms / 1000,
        batch_size=config.reranker_batch_size,
    )


def _key(config: Config) -> str:
    name = "rerankerApiKeyCommand"
    key = read_key(config.reranker_api_key, config.reranker_api_key_command, name)
    if not key and not config.reranker_endpoint and WIRES[config.reranker_provider].needs_key:
        # Nothing is shown to a stranger who would only refuse it.
        raise UnavailableError(
            f"{config.reranker_provider} wants a key; set rerankerApiKey or {name}"
        )
    return key
