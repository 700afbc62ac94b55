"""Which server serves a leg, by the names of the configuration."""

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
_OF_LEG: Final[Mapping[Leg, tuple[str, ...]]] = {
    "dense": ("chroma", "opensearch", "weaviate"),
    "sparse": ("opensearch", "elasticsearch", "weaviate"),
}
NO_PLUGINS: Final = Plugins((), {})

Opener = Callable[[str], Any]  # Any: a RemoteDense for the dense leg, a RemoteSparse for the other


@dataclass(frozen=True, slots=True)
class Backend:
    """One leg's server as it is configured."""

    leg: Leg
    kind: str  # the name of a server, or of a plugin
    endpoint: str
    api_key: str = field(default="", repr=False)
    api_key_command: str = ""
    timeout_s: float = 2.0


def check_backend(backend: Backend, plugins: Plugins = NO_PLUGINS) -> None:
    """Raise ConfigError for a server that cannot serve this leg, or that nobody can find."""
    key = f"{backend.leg}Backend"
    known = (EMBEDDED, *_OF_LEG[backend.leg], *plugins.of("index"))
    if backend.kind not in known and plugins.broken:
        return  # it may be one of those: the leg says so, and the other one answers
    if backend.kind not in known:
        listed = ", ".join(f'"{name}"' for name in known)
        raise ConfigError(f'{key} is "{backend.kind}"; choose one of {listed}')
    if backend.kind in _OF_LEG[backend.leg] and not backend.endpoint:
        raise ConfigError(
            f'{key} is "{backend.kind}", but {backend.leg}Endpoint is empty; give the URL of the '
            "server"
        )
    if urlsplit(backend.endpoint).username is not None:
        raise ConfigError(
            f"{backend.leg}Endpoint has a user or a key in it, which would be shown; put them into "
            f"{backend.leg}ApiKey"
        )


def opener_of(backend: Backend, plugins: Plugins) -> tuple[str, Opener]:
    """The name of who serves the leg, for messages, and what opens an index of a name there."""
    if backend.kind not in _TITLES:
        return f"the index {backend.kind}", plugin_opener(backend, plugins)
    server = open_server(backend)
    if backend.leg == "dense":
        return server.name, dense_opener(backend, server)
    return server.name, sparse_opener(backend, server)


def plugin_opener(backend: Backend, plugins: Plugins) -> Opener:
    """The same for a plugin; opening raises UnavailableError where it is broken."""
    from rootle.index.remote.plugin_index import PluginIndexes

    found = plugins.of("index").get(backend.kind)
    if found is None:
        broken = "; ".join(plugins.broken.values())

        def fail(name: str) -> NoReturn:
            raise UnavailableError(f'there is no index "{backend.kind}" for {name}: {broken}')

        return fail
    setting = f"{backend.leg}ApiKeyCommand"
    key = partial(read_key, backend.api_key, backend.api_key_command, setting)
    return PluginIndexes(found, backend.leg, backend.endpoint, key).open


def open_server(backend: Backend) -> HttpBackend:
    """The server of a checked backend; nothing is sent yet."""
    place = urlunsplit(urlsplit(backend.endpoint)._replace(query="", fragment=""))
    return HttpBackend(_TITLES[backend.kind], place, partial(_credentials, backend))


def dense_opener(backend: Backend, server: HttpBackend) -> Callable[[str], RemoteDense]:
    """What opens the dense index of a name there."""
    if backend.kind == "chroma":
        from rootle.index.remote.chroma import ChromaDense

        place = parse_qs(urlsplit(backend.endpoint).query)
        own = {part: place[part][0] for part in ("tenant", "database") if part in place}
        return lambda name: ChromaDense(server, name, **own)
    if backend.kind == "opensearch":
        from rootle.index.remote.opensearch import OpenSearchDense

        return lambda name: OpenSearchDense(server, name)
    from rootle.index.remote.weaviate import WeaviateDense

    return lambda name: WeaviateDense(server, name)


def sparse_opener(backend: Backend, server: HttpBackend) -> Callable[[str], RemoteSparse]:
    """What opens the sparse index of a name there."""
    if backend.kind in ("opensearch", "elasticsearch"):
        from rootle.index.remote.opensearch import OpenSearchSparse

        return lambda name: OpenSearchSparse(server, name)
    from rootle.index.remote.weaviate import WeaviateSparse

    return lambda name: WeaviateSparse(server, name)


def _credentials(backend: Backend) -> dict[str, str]:
    setting = f"{backend.leg}ApiKeyCommand"
    key = read_key(backend.api_key, backend.api_key_command, setting)
    if not key:
        return {}
    if backend.kind == "chroma":
        return {"X-Chroma-Token": key}
    if backend.kind == "weaviate":
        return {"Authorization": f"Bearer {key}"}
    if ":" in key:  # user:password
        return {"Authorization": f"Basic {base64.b64encode(key.encode()).decode()}"}
    return {"Authorization": f"ApiKey {key}"}
