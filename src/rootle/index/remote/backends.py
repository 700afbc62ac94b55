"""Open the search backends that the configuration names."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NoReturn
from urllib.parse import parse_qs, urlsplit, urlunsplit

from rootle.config.api_key import read_key
from rootle.config.fields import EMBEDDED
from rootle.errors import ConfigError, UnavailableError
from rootle.index.remote.http_backend import HttpBackend
from rootle.index.remote.protocol import Leg
from rootle.plugins.registry import Plugins

if TYPE_CHECKING:
    from rootle.index.remote.protocol import RemoteDense, RemoteSparse

_TITLES: Final = {
    "chroma": "Chroma",
    "opensearch": "OpenSearch",
    "elasticsearch": "Elasticsearch",
    "weaviate": "Weaviate",
}
_KINDS_OF_LEG: Final[Mapping[Leg, tuple[str, ...]]] = {
    "dense": ("chroma", "opensearch", "weaviate"),
    "sparse": ("opensearch", "elasticsearch", "weaviate"),
}
NO_PLUGINS: Final = Plugins((), {})

Opener = Callable[[str], Any]  # Any: a RemoteDense or a RemoteSparse


@dataclass(frozen=True, slots=True)
class Backend:
    """The configured backend of one leg: dense or sparse retrieval."""

    leg: Leg
    kind: str  # a key of _TITLES, or the name of a plugin
    endpoint: str
    api_key: str = field(default="", repr=False)
    api_key_command: str = ""
    timeout_s: float = 2.0


def check_backend(backend: Backend, plugins: Plugins = NO_PLUGINS) -> None:
    """Raise ConfigError if a backend cannot be used.

    This is the case if it does not support the leg, has no endpoint, or has an endpoint that
    contains a user name.
    """
    key = f"{backend.leg}Backend"
    known = (EMBEDDED, *_KINDS_OF_LEG[backend.leg], *plugins.select("index"))
    if backend.kind not in known and plugins.broken:
        # The backend probably belongs to a broken plugin. This leg reports the error, and the other
        # leg works.
        return
    if backend.kind not in known:
        listed = ", ".join(f'"{name}"' for name in known)
        raise ConfigError(f'{key} is "{backend.kind}"; choose one of {listed}')
    if backend.kind in _KINDS_OF_LEG[backend.leg] and not backend.endpoint:
        raise ConfigError(
            f'{key} is "{backend.kind}", but {backend.leg}Endpoint is empty; set it to the URL of '
            "the server"
        )
    if urlsplit(backend.endpoint).username is not None:
        raise ConfigError(
            f"{backend.leg}Endpoint contains a user name or key, which would appear in messages; "
            f"move it to {backend.leg}ApiKey"
        )


def open_backend(backend: Backend, plugins: Plugins) -> tuple[str, Opener]:
    """Return the name of a backend for messages, and a function that opens an index by name."""
    if backend.kind not in _TITLES:
        return f"the index {backend.kind}", _open_plugin(backend, plugins)
    server = open_server(backend)
    if backend.leg == "dense":
        return server.name, dense_opener(backend, server)
    return server.name, sparse_opener(backend, server)


def _open_plugin(backend: Backend, plugins: Plugins) -> Opener:
    """Return a function that opens an index by name.

    If the plugin is broken, the function raises UnavailableError instead.
    """
    from rootle.index.remote.plugin_index import PluginIndexes

    found = plugins.select("index").get(backend.kind)
    if found is None:
        broken = "; ".join(plugins.broken.values())

        def fail(name: str) -> NoReturn:
            raise UnavailableError(
                f'the index "{backend.kind}" is not available for {name}: {broken}'
            )

        return fail
    command_key = f"{backend.leg}ApiKeyCommand"
    key = partial(read_key, backend.api_key, backend.api_key_command, command_key)
    return PluginIndexes(found, backend.leg, backend.endpoint, key).open


def open_server(backend: Backend) -> HttpBackend:
    """Return the server of a valid backend, without connecting."""
    url = urlunsplit(urlsplit(backend.endpoint)._replace(query="", fragment=""))
    return HttpBackend(_TITLES[backend.kind], url, partial(_credentials, backend))


def dense_opener(backend: Backend, server: HttpBackend) -> Callable[[str], RemoteDense]:
    """Return a function that opens a dense index by name."""
    if backend.kind == "chroma":
        from rootle.index.remote.chroma import ChromaDense

        query = parse_qs(urlsplit(backend.endpoint).query)
        location = {part: query[part][0] for part in ("tenant", "database") if part in query}
        return lambda name: ChromaDense(server, name, **location)
    if backend.kind == "opensearch":
        from rootle.index.remote.opensearch import OpenSearchDense

        return lambda name: OpenSearchDense(server, name)
    from rootle.index.remote.weaviate import WeaviateDense

    return lambda name: WeaviateDense(server, name)


def sparse_opener(backend: Backend, server: HttpBackend) -> Callable[[str], RemoteSparse]:
    """Return a function that opens a sparse index by name."""
    if backend.kind in ("opensearch", "elasticsearch"):
        from rootle.index.remote.opensearch import OpenSearchSparse

        return lambda name: OpenSearchSparse(server, name)
    from rootle.index.remote.weaviate import WeaviateSparse

    return lambda name: WeaviateSparse(server, name)


def _credentials(backend: Backend) -> dict[str, str]:
    command_key = f"{backend.leg}ApiKeyCommand"
    key = read_key(backend.api_key, backend.api_key_command, command_key)
    if not key:
        return {}
    if backend.kind == "chroma":
        return {"X-Chroma-Token": key}
    if backend.kind == "weaviate":
        return {"Authorization": f"Bearer {key}"}
    if ":" in key:  # user:password
        return {"Authorization": f"Basic {base64.b64encode(key.encode()).decode()}"}
    return {"Authorization": f"ApiKey {key}"}
