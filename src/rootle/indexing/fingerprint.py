"""The fingerprint of an index: everything that determines its content, except its documents."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from rootle.config.fields import Config
from rootle.ingest.chunking.chunk_size_defaults import CHUNKER_VERSION, ChunkLimits
from rootle.plugins.registry import FoundPlugin, Kind, find_plugins
from rootle.sources.documents.formats import READERS_VERSION
from rootle.sources.documents.recognition import RECOGNITION_DIR
from rootle.sources.files.discovery import WalkRules

# The version of the code that converts texts to terms and vectors. A new version causes every index
# to be rebuilt.
_CONTENT_FORMAT: Final = 3


def chunk_limits(config: Config) -> ChunkLimits:
    """Return the limits on chunks, and the plugins that split texts."""
    return ChunkLimits(
        config.max_chunk_chars,
        config.window_overlap_chars,
        config.part_overlap_chars,
        config.max_file_chars,
        _list_references(config, "chunker"),
    )


def walk_rules(config: Config, index_dir: Path | None = None) -> WalkRules:
    """Return the configured rules of the file walk.

    Text in images is recognized only if `index_dir` is given. This folder then contains the cache
    of recognized texts.
    """
    return WalkRules(
        config.max_file_bytes,
        _list_references(config, "document reader"),
        config.secret_exceptions,
        "off" if index_dir is None else config.ocr,
        "" if index_dir is None else str(index_dir / RECOGNITION_DIR),
    )


def fingerprint(config: Config, model_fingerprint: str) -> str:
    """Return a string that changes with every setting on which the content of an index depends."""
    limits = chunk_limits(config)
    parts = (
        _CONTENT_FORMAT,
        CHUNKER_VERSION,
        READERS_VERSION,
        limits.max_chars,
        limits.overlap_chars,
        limits.part_overlap_chars,
        limits.max_file_chars,
        config.max_file_bytes,
        model_fingerprint,
        *(("ocr",) if config.ocr != "off" else ()),  # `ocr` also changes how PDF files are read
        # Earlier versions did not index the lines outside of the sections of a plugin.
        *(
            f"splits all lines {version}"
            for version in _list_versions(_find_plugins(config, "chunker"))
        ),
        *(f"not secret {pattern!r}" for pattern in config.secret_exceptions),
        *(
            f"reads {version}"
            for version in _list_versions(_find_plugins(config, "document reader"))
        ),
    )
    return "/".join(map(str, parts))


def _find_plugins(config: Config, kind: Kind) -> Mapping[str, FoundPlugin]:
    return find_plugins(config.plugins).select(kind)


def _list_references(config: Config, kind: Kind) -> tuple[tuple[str, str], ...]:
    return tuple((name, found.reference) for name, found in _find_plugins(config, kind).items())


def _list_versions(plugins: Mapping[str, FoundPlugin]) -> list[str]:
    return [f"{name}@{found.plugin.version}" for name, found in sorted(plugins.items())]
