"""Opens the web search and the page reader that the configuration enables."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from rootle.config.api_key import read_key
from rootle.config.fields import Config
from rootle.protocols import WebProvider
from rootle.web.cooldowns import Cooldowns
from rootle.web.fallback import WebSearch
from rootle.web.page_download import PageDownloader
from rootle.web.page_reader import PageReader
from rootle.web.url_cache import UrlCache


def open_web_search(config: Config) -> WebSearch:
    """Return a cached search over DuckDuckGo and every provider with a key or an endpoint.

    No request is sent and no key command is run before the first search. Raises MissingExtraError
    if a package is missing.
    """
    return WebSearch(
        _open_providers(config),
        cache=UrlCache(_cache_dir("web_search"), config.web_cache_ttl_seconds),
        cooldowns=Cooldowns(_cache_dir("web_cooldowns")),
    )


def open_page_reader(config: Config) -> PageReader:
    """Return a cached reader of public pages."""
    return PageReader(
        PageDownloader(timeout_s=config.web_timeout_ms / 1000),
        cache=UrlCache(_cache_dir("web_read"), config.web_cache_ttl_seconds),
    )


def _cache_dir(name: str) -> Path:
    """Return a folder in the user's cache, shared by all projects and processes."""
    from platformdirs import user_cache_path

    return user_cache_path("rootle", appauthor=False) / name


def _open_providers(config: Config) -> list[WebProvider]:
    from rootle.web.engines.duckduckgo import DuckDuckGo

    timeout_s = config.web_timeout_ms / 1000
    providers: list[WebProvider] = [DuckDuckGo(timeout_s=timeout_s)]
    if config.brave_api_key.strip() or config.brave_api_key_command.strip():
        from rootle.web.engines.brave import Brave

        key = _key_reader(config.brave_api_key, config.brave_api_key_command, "braveApiKeyCommand")
        providers.append(Brave(key, timeout_s=timeout_s))
    if config.exa_api_key.strip() or config.exa_api_key_command.strip():
        from rootle.web.engines.exa import Exa

        key = _key_reader(config.exa_api_key, config.exa_api_key_command, "exaApiKeyCommand")
        providers.append(Exa(key, timeout_s=timeout_s))
    if config.searxng_endpoint:
        from rootle.web.engines.searxng import SearXNG

        providers.append(SearXNG(config.searxng_endpoint, timeout_s=timeout_s))
    return providers


def _key_reader(key: str, command: str, name: str) -> Callable[[], str]:
    return lambda: read_key(key.strip(), command, name)
