"""Create the components for the sources that the user added, on first use."""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rootle.app.configured_models import ComponentSetup
from rootle.config.fields import Config
from rootle.errors import QueryError, SourceError
from rootle.index.local.index_dir import EXTERNAL_DIR
from rootle.serialization.path_text import escape_path
from rootle.sources.external.store import ExternalStore, SourceRecord
from rootle.types import EXTERNAL_URI

if TYPE_CHECKING:
    from rootle.app.external_sources import ExternalSources
    from rootle.embed.model_choice import ModelChoice
    from rootle.federation.external_search import ExternalSearch
    from rootle.indexing.external_index import ExternalIndex
    from rootle.ingest.source_refs import OutsideDocument
    from rootle.search.agent import SearchAgent

_SECONDS_PER_DAY: Final = 86_400.0


class ExternalComponents:
    """The components of one app that read and search added sources. Thread-safe."""

    def __init__(self, setup: ComponentSetup) -> None:
        self._root = setup.root
        self._config = setup.config
        self._models = setup.models
        self._on_warning = setup.on_warning
        self._lock = threading.RLock()
        self.store = ExternalStore(setup.index_dir / EXTERNAL_DIR)
        self._index: ExternalIndex | None = None
        self._agent: SearchAgent | None = None

    def close(self) -> None:
        """Close all components; they are created again when they are needed."""
        with self._lock:
            for component in (self._agent, self._index):
                if component is not None:
                    component.close()
            self._agent = self._index = None

    def sources(self) -> ExternalSources:
        """Return the component that adds and removes sources."""
        from rootle.app.external_sources import ExternalSources

        return ExternalSources(self.store, self._config, self.index)

    def search(self) -> ExternalSearch:
        """Return the component that searches added sources."""
        from rootle.federation.external_search import ExternalSearch

        return ExternalSearch(self._open_agent, self)

    def index(self) -> ExternalIndex:
        """Return the index of the added sources."""
        from rootle.indexing.external_index import ExternalIndex

        with self._lock:
            if self._index is None:
                config, _ = self._setup()
                self._index = ExternalIndex(
                    self._root,
                    self.store,
                    config,
                    choose_model=self._models.local_choice,
                    open_embedder=self._models.local_embedder,
                    on_warning=self._on_warning,
                )
            return self._index

    def prepare(self) -> None:
        """Index documents that have changed. Raise QueryError if no source was added."""
        if not self.store.sources():
            raise QueryError(
                "in:web searches the sources that you added, and there are none; add one with "
                "`rootle add URL` or `rootle add PATH`"
            )
        self.index().update()

    def find_origins(self, uris: Sequence[str]) -> Mapping[str, str]:
        """Return the URL of each document if it was downloaded, else the name of its source."""
        sources = {record.name: record for record in self.store.sources()}
        return {
            uri: _describe_origin(uri, address, sources.get(name))
            for uri, (name, address, _) in self.store.facts(uris).items()
        }

    def list_notes(self, uris: Sequence[str]) -> Sequence[str]:
        """Return a message for each source that contains one of these documents and is too old."""
        names = {uri.removeprefix(EXTERNAL_URI).partition("/")[0] for uri in uris}
        max_age_s = self._config.external_max_age_days * _SECONDS_PER_DAY
        return [
            f"{record.name} was read {_days_since(record):.0f} days ago; "
            f"`rootle sources refresh {record.name}` reads it again"
            for record in self.store.sources()
            if record.name in names and 0 < max_age_s < time.time() - record.read_s
        ]

    def read(self, reference: str) -> OutsideDocument | None:
        """Return the document with this URI, or the downloaded page with this address, if any.

        Raise SourceError if the reference is a URI but no document has it.
        """
        from rootle.ingest.source_refs import OutsideDocument

        is_uri = reference.startswith(EXTERNAL_URI)
        uri = reference if is_uri else self.store.find_uri(reference)
        found = None if uri is None else self.store.read(uri)
        sources = {record.name: record for record in self.store.sources()}
        if uri is None or found is None:
            if is_uri:
                raise _unknown_document(reference, sources)
            return None
        origin = _describe_origin(uri, found.address, sources.get(found.source))
        return OutsideDocument(found.uri, found.language, found.text, found.sections, origin)

    def _open_agent(self) -> SearchAgent:
        """Return the pipeline that searches the added sources."""
        from rootle.rank.rankers.registry import configured_ranker
        from rootle.rank.signals import DocumentFactors
        from rootle.search.factory import SearchedIndex, SearchFeatures, open_agent

        with self._lock:
            if self._agent is None:
                config, choice = self._setup()
                factors = DocumentFactors(config.signal_weights, (), self._find_factors)
                self._agent = open_agent(
                    SearchedIndex(
                        self.index().snapshot, self._models.local_embedder, model=choice.fingerprint
                    ),
                    config,
                    SearchFeatures(ranker=replace(configured_ranker(config), signals=factors)),
                )
            return self._agent

    def _find_factors(self, uris: Sequence[str]) -> Sequence[float]:
        weights = {record.name: record.weight for record in self.store.sources()}
        facts = self.store.facts(uris)
        return [
            weights.get(facts[uri][0], 1.0) * facts[uri][2] if uri in facts else 1.0 for uri in uris
        ]

    def _setup(self) -> tuple[Config, ModelChoice]:
        """Return the configuration and the model for added sources."""
        from rootle.indexing.external_index import external_config

        config, choice = external_config(self._config), self._models.local_choice()
        if not self._models.model_choice().is_table:
            # A slow model would need hours for a large source.
            config = replace(config, embedding_endpoint="")
        return replace(config, embedding_model_id=choice.model), choice


def _unknown_document(uri: str, names: Collection[str]) -> SourceError:
    name, _, path = uri.removeprefix(EXTERNAL_URI).partition("/")
    if name in names:
        missing = f'the source "{name}" has no document {escape_path(path)}'
        return SourceError(f"{missing}; search with in:web to find one")
    known = ", ".join(names) or "none"
    return SourceError(f'there is no source "{escape_path(name)}"; added sources: {known}')


def _describe_origin(uri: str, address: str, source: SourceRecord | None) -> str:
    """Return the URL from which a document was downloaded; for a local document, its source.

    If a local file names an address as its origin, the address is marked as a claim, because a file
    can name any page.
    """
    if source is None:
        return uri
    if source.is_site:
        return address or source.address
    return f"{source.name} (claims to be {address})" if address else source.name


def _days_since(record: SourceRecord) -> float:
    return (time.time() - record.read_s) / _SECONDS_PER_DAY
