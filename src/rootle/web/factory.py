"""The search engines and the reader of pages that the configuration asks for."""

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


def open_engines(config: Config) -> WebSearch:
    """DuckDuckGo, and whoever has a key or an endpoint; what they say is kept on disk.

    Nothing is sent, and no key command run, before the first search. Raises MissingExtraError.
    """
    return WebSearch(
        _providers(config),
        cache=UrlCache(_folder("web_search"), config.web_cache_ttl_seconds),
        rests=Cooldowns(_folder("web_rests")),
    )


def open_pages(config: Config) -> PageReader:
    """A reader of public pages; what it reads is kept on disk."""
    return PageReader(
        PageDownloader(timeout_s=config.web_timeout_ms / 1000),
        cache=UrlCache(_folder("web_read"), config.web_cache_ttl_seconds),
    )


def _folder(name: str) -> Path:
    """In the user's cache folder, for all searched folders and processes together."""
    from platformdirs import user_cache_path

    return user_cache_path("rootle", appauthor=False) / name


def _providers(config: Config) -> list[WebProvider]:
    from rootle.web.engines.duckduckgo import DuckDuckGo

    timeout_s = config.web_timeout_ms / 1000
    providers: list[WebProvider] = [DuckDuckGo(timeout_s=timeout_s)]
    if config.brave_api_key.strip() or config.brave_api_key_command.strip():
        from rootle.web.engines.brave import Brave

        key = _key(config.brave_api_key, config.brave_api_key_command, "braveApiKeyCommand")
        providers.append(Brave(key, timeout_s=timeout_s))
    if config.exa_api_key.strip() or config.exa_api_key_command.strip():
        from rootle.web.engines.exa import Exa

        key = _key(config.exa_api_key, config.exa_api_key_command, "exaApiKeyCommand")
        providers.append(Exa(key, timeout_s=timeout_s))
    if config.searxng_endpoint:
        from rootle.web.engines.searxng import SearXNG

        providers.append(SearXNG(config.searxng_endpoint, timeout_s=timeout_s))
    return providers


def _key(key: str, command: str, name: str) -> Callable[[], str]:
    return lambda: read_key(key.strip(), command, name)
