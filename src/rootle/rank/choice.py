"""The reranker that the configuration asks for."""

from __future__ import annotations

from rootle.config import NO_MODEL, Config
from rootle.errors import ConfigError, UnavailableError
from rootle.plugins import find_plugins
from rootle.protocols import Reranker
from rootle.rank.cross_encoder import ServerReranker
from rootle.rank.rerank_wires import WIRES
from rootle.settings.key import read_key


def open_reranker(config: Config) -> Reranker:
    """Nothing is sent, and no key command run, before its first use.

    Raises ConfigError for a provider that is unknown and an endpoint that is no URL.
    """
    provider = config.reranker_provider
    found = find_plugins(config.plugins)
    plugins = found.of("reranker")
    if provider not in (*plugins, *WIRES) and found.broken:
        from rootle.rank.plugin_reranker import LostReranker

        return LostReranker(provider, "; ".join(found.broken.values()))
    if provider in plugins:
        from rootle.rank.plugin_reranker import PluginReranker

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
