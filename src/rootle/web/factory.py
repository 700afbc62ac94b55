"""Opens the web search and the page reader that the configuration enables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from rootle.config.api_key import read_key
from rootle.config.fields import Config
from rootle.errors import ConfigError
from rootle.protocols import WebProvider
from rootle.storage.paths import shared_cache_dir
from rootle.web.cooldowns import Cooldowns
from rootle.web.fallback import WebSearch
from rootle.web.fenced_page_reader import PageReader
from rootle.web.page_download import PageDownloader
from rootle.web.url_cache import COOLDOWNS, PAGES, SEARCHES, UrlCache


def open_web_search(config: Config) -> WebSearch:
    """Return a cached search over the engines in `webEngines` that are configured.

    No request is sent and no key command is run before the first search. Raise ConfigError if no
    engine is configured, MissingExtraError if a package is missing.
    """
    return WebSearch(
        _open_providers(config),
        cache=UrlCache(shared_cache_dir(SEARCHES), config.web_cache_ttl_seconds),
        cooldowns=Cooldowns(shared_cache_dir(COOLDOWNS)),
        secret_exceptions=config.secret_exceptions,
    )


def open_page_reader(config: Config) -> PageReader:
    """Return a reader of public pages with a cache."""
    return PageReader(
        PageDownloader(timeout_s=config.web_timeout_ms / 1000),
        cache=UrlCache(shared_cache_dir(PAGES), config.web_cache_ttl_seconds),
    )


def _open_providers(config: Config) -> list[WebProvider]:
    """Return the engines in `webEngines` that are configured. Raise ConfigError if none is."""
    timeout_s = config.web_timeout_ms / 1000
    providers = [
        provider
        for name, open_engine in _ENGINES.items()
        if name in config.web_engines and (provider := open_engine(config, timeout_s)) is not None
    ]
    if not providers:
        raise ConfigError(
            f"no search engine is configured: webEngines is {list(config.web_engines)}; add "
            '"duckduckgo", or an engine with its key or endpoint'
        )
    return providers


def _open_duckduckgo(_: Config, timeout_s: float) -> WebProvider:
    from rootle.web.engines.duckduckgo import DuckDuckGo

    return DuckDuckGo(timeout_s=timeout_s)


def _open_brave(config: Config, timeout_s: float) -> WebProvider | None:
    from rootle.web.engines.brave import Brave

    if not (config.brave_api_key.strip() or config.brave_api_key_command.strip()):
        return None
    key = _key_reader(config.brave_api_key, config.brave_api_key_command, "braveApiKeyCommand")
    return Brave(key, timeout_s=timeout_s)


def _open_exa(config: Config, timeout_s: float) -> WebProvider | None:
    from rootle.web.engines.exa import Exa

    if not (config.exa_api_key.strip() or config.exa_api_key_command.strip()):
        return None
    key = _key_reader(config.exa_api_key, config.exa_api_key_command, "exaApiKeyCommand")
    return Exa(key, timeout_s=timeout_s)


def _open_searxng(config: Config, timeout_s: float) -> WebProvider | None:
    from rootle.web.engines.searxng import SearXNG

    endpoint = config.searxng_endpoint
    return SearXNG(endpoint, timeout_s=timeout_s) if endpoint else None


# An entry for each name that `webEngines` may contain.
_ENGINES: Final[Mapping[str, Callable[[Config, float], WebProvider | None]]] = {
    "duckduckgo": _open_duckduckgo,
    "brave": _open_brave,
    "exa": _open_exa,
    "searxng": _open_searxng,
}


def _key_reader(key: str, command: str, name: str) -> Callable[[], str]:
    return lambda: read_key(key.strip(), command, name)
