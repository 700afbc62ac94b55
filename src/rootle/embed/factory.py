"""Choose the configured embedding model, and open it. A model is loaded when it is opened."""

from __future__ import annotations

import difflib
import importlib.util
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Final

from rootle.config.api_key import read_key
from rootle.config.fields import Config, is_model_path
from rootle.embed.model_choice import Kind, ModelChoice, open_table
from rootle.embed.prefixes import Prefixes, find_prefixes, read_prefixes
from rootle.embed.providers import PROVIDERS
from rootle.errors import ConfigError, MissingExtraError
from rootle.models.shipped import STATIC_CODE_V2
from rootle.plugins.registry import find_plugins
from rootle.protocols import Embedder

# The minimum similarity, from 0 to 1, of a misspelled name to the name of the shipped model.
_TYPO_SIMILARITY: Final = 0.8
_ONNX_FILES: Final = (
    "model.onnx",
    "onnx/model.onnx",
    "model_quantized.onnx",
    "onnx/model_quantized.onnx",
)
_TABLE_FILE: Final = "model.safetensors"
_MODULES_FILE: Final = "modules.json"
_PACKAGES: Final = {
    "model2vec": ("safetensors", "tokenizers"),
    "onnx": ("onnxruntime", "tokenizers"),
    "sentence-transformers": ("sentence_transformers",),
}


def choose_model(config: Config) -> ModelChoice:
    """Return the model in `embeddingModelID`, else in `embeddingFallback`, else the shipped model.

    Without a fallback, raises ConfigError if the model in `embeddingModelID` does not exist, and
    MissingExtraError if a package that it needs is not installed.
    """
    requested = config.embedding_model_id
    reasons = []
    for model in (requested, config.embedding_fallback):
        try:
            found = _resolve(model, config) if model else None
        except (ConfigError, MissingExtraError) as error:
            # Without a configured fallback, the user must correct the setting, which may have a
            # typo.
            if not config.embedding_fallback:
                raise
            key = "embeddingModelID" if model == requested else "embeddingFallback"
            reasons.append(str(error).replace("embeddingModelID", key, 1))
            continue
        if isinstance(found, ModelChoice):
            return replace(found, note=_note(requested, found.model, reasons))
        reasons += [found] if found else []
    shipped = ModelChoice("static", STATIC_CODE_V2, STATIC_CODE_V2)
    return replace(shipped, note=_note(requested, shipped.model, reasons))


def _note(requested: str, chosen: str, reasons: list[str]) -> str:
    if not reasons:
        return ""
    text = f'{"; ".join(reasons)}; using "{chosen}" instead'
    key = f'embeddingModelID is "{requested}"'
    return text if text.startswith(key) else f"{key}: {text}"


def _resolve(model: str, config: Config) -> ModelChoice | str:
    """Return the model with this name, or the reason why it is not available."""
    if model == STATIC_CODE_V2:
        return ModelChoice("static", model, model)
    plugins = find_plugins(config.plugins).select("embedder")
    if model in plugins:
        name = f"plugin:{model}@{plugins[model].plugin.version}"
        return ModelChoice("plugin", model, name, _override_prefixes(Prefixes(), config))
    # A plain name is never looked up in the current folder: a repository may contain a folder with
    # that name, and opening a model can execute code in it.
    if is_model_path(model) and os.path.isdir(model):
        return _choose_folder(model, config)
    if _is_typo(model, config):
        raise ConfigError(
            f'embeddingModelID is "{model}", which is neither "{STATIC_CODE_V2}" nor a folder with '
            "a model; set the path of a model folder, as in ./model, or remove this setting"
        )
    return _choose_server(model, config)


def _is_typo(model: str, config: Config) -> bool:
    """Return whether a name probably means a folder or the shipped model, but matches neither."""
    if difflib.get_close_matches(model, [STATIC_CODE_V2], cutoff=_TYPO_SIMILARITY):
        return True
    # If a server is configured, a name with a slash is the name of a model, not a path.
    has_slash = "/" in model or os.sep in model
    has_server = bool(config.embedding_endpoint) or _has_key(config)
    return is_model_path(model) or (has_slash and not has_server)


def _has_key(config: Config) -> bool:
    return bool(config.embedding_api_key or config.embedding_api_key_command)


def _choose_folder(model: str, config: Config) -> ModelChoice:
    kind, weights = _detect_kind(Path(model))
    missing = [name for name in _PACKAGES[kind] if importlib.util.find_spec(name) is None]
    if missing:
        raise MissingExtraError(
            f"the model folder {model} needs {' and '.join(missing)}: pip install 'rootle[{kind}]'"
        )
    info = os.stat(weights)
    prefixes = _override_prefixes(read_prefixes(Path(model)), config)
    parts = (os.path.realpath(model), info.st_size, info.st_mtime_ns, prefixes.fingerprint)
    return ModelChoice(kind, model, "@".join(str(part) for part in parts if part), prefixes)


def _detect_kind(folder: Path) -> tuple[Kind, Path]:
    """Return the format of a model folder, and the file whose size and time identify the model."""
    table, modules = folder / _TABLE_FILE, folder / _MODULES_FILE
    onnx = next((folder / name for name in _ONNX_FILES if (folder / name).is_file()), None)
    # A model2vec folder may also contain the other two formats, but model2vec is the fastest.
    if table.is_file() and (_is_model2vec(folder) or not (onnx or modules.is_file())):
        return "model2vec", table
    if onnx:
        return "onnx", onnx
    if modules.is_file():
        return "sentence-transformers", table if table.is_file() else modules
    raise ConfigError(
        f'embeddingModelID is "{folder}", a folder without {_TABLE_FILE}, {_ONNX_FILES[0]} or '
        f"{_MODULES_FILE}; set the path of a model folder or remove this setting"
    )


def _is_model2vec(folder: Path) -> bool:
    try:
        data = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(data, dict) and data.get("model_type") == "model2vec"


def _override_prefixes(defaults: Prefixes, config: Config) -> Prefixes:
    """Return the configured prefixes. Use `defaults` for prefixes that are not configured."""
    return Prefixes(
        config.embedding_query_prefix or defaults.query,
        config.embedding_document_prefix or defaults.document,
    )


def _choose_server(model: str, config: Config) -> ModelChoice | str:
    provider = PROVIDERS.get(config.embedding_provider)
    if provider is None:
        raise ConfigError(
            f'embeddingProvider is "{config.embedding_provider}", expected one of '
            f"{', '.join(PROVIDERS)}"
        )
    if not (config.embedding_endpoint or provider.url):
        return f'embeddingProvider "{config.embedding_provider}" needs embeddingEndpoint'
    if provider.needs_key and not (config.embedding_endpoint or _has_key(config)):
        return (
            f'embeddingProvider "{config.embedding_provider}" needs a key (set embeddingApiKey, '
            "embeddingApiKeyCommand or, for a server without keys, embeddingEndpoint)"
        )
    # A server with OpenAI's API passes texts to the model unchanged. Servers with other APIs add a
    # prefix.
    defaults = find_prefixes(model) if provider.shape == "openai" else Prefixes()
    prefixes = _override_prefixes(defaults, config)
    parts = (provider.shape, model, config.embedding_dimensions, prefixes.fingerprint)
    name = ":".join(str(part) for part in parts if part)
    return ModelChoice("server", model, name, prefixes)


def open_model(choice: ModelChoice, config: Config) -> Embedder:
    """Open a model. A local model is loaded.

    Raises MissingExtraError if a package that the model needs is not installed, and ConfigError if
    its files are damaged.
    """
    if choice.is_table:
        return open_table(choice)
    from rootle.embed.batched_embedder import BatchedEmbedder, TextModel

    model: TextModel
    if choice.kind == "onnx":
        from rootle.embed.onnx_model import OnnxModel

        folder = Path(choice.model)
        model = OnnxModel(folder, _detect_kind(folder)[1])
    elif choice.kind == "sentence-transformers":
        from rootle.embed.sentence_transformer import SentenceTransformerModel

        model = SentenceTransformerModel(choice.model)
    elif choice.kind == "plugin":
        from rootle.embed.plugin_model import PluginModel

        model = PluginModel(find_plugins(config.plugins).select("embedder")[choice.model])
    else:
        from rootle.embed.http_model import HttpModel

        model = HttpModel(
            config.embedding_provider,
            choice.model,
            endpoint=config.embedding_endpoint,
            dimensions=config.embedding_dimensions,
            key=lambda: _read_key(config),
        )
    return BatchedEmbedder(
        model,
        choice.fingerprint,
        prefixes=choice.prefixes,
        batch_size=config.dense_batch_size,
        query_timeout_s=config.dense_timeout_ms / 1000,
    )


def _read_key(config: Config) -> str:
    return read_key(
        config.embedding_api_key, config.embedding_api_key_command, "embeddingApiKeyCommand"
    )
