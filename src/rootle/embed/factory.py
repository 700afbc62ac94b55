"""Which model the configuration means, told without loading it, and that model opened."""

from __future__ import annotations

import difflib
import importlib.util
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Final

from rootle.config.fields import Config
from rootle.embed.api_key import embedding_key, has_key
from rootle.embed.model_choice import Kind, ModelChoice, open_table
from rootle.embed.prefixes import Prefixes, folder_prefixes, known_prefixes
from rootle.embed.providers import PROVIDERS
from rootle.errors import ConfigError, MissingExtraError
from rootle.models.shipped import STATIC_CODE_V1
from rootle.plugins.registry import find_plugins
from rootle.protocols import Embedder

_MISTYPED: Final = 0.8  # how alike two names are of which one was meant
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
    """The model that serves: `embeddingModelID`, else `embeddingFallback`, else the shipped one.

    Raises ConfigError where something was named that is not there and no fallback was.
    """
    asked = config.embedding_model_id
    reasons = []
    for model in (asked, config.embedding_fallback):
        try:
            found = _found(model, config) if model else None
        except (ConfigError, MissingExtraError) as error:
            # A folder that is not there is a slip of the pen, unless a substitute was named.
            if not config.embedding_fallback:
                raise
            reasons.append(str(error))
            continue
        if isinstance(found, ModelChoice):
            return replace(found, remark=_remark(asked, found.model, reasons))
        reasons += [found] if found else []
    shipped = ModelChoice("static", STATIC_CODE_V1, STATIC_CODE_V1)
    return replace(shipped, remark=_remark(asked, shipped.model, reasons))


def _remark(asked: str, taken: str, reasons: list[str]) -> str:
    if not reasons:
        return ""
    return f'embeddingModelID is "{asked}": {"; ".join(reasons)}; "{taken}" serves in its place'


def _found(model: str, config: Config) -> ModelChoice | str:
    """The model of a name, or why it cannot serve."""
    if model == STATIC_CODE_V1:
        return ModelChoice("static", model, model)
    plugins = find_plugins(config.plugins).of("embedder")
    if model in plugins:
        name = f"plugin:{model}@{plugins[model].plugin.version}"
        return ModelChoice("plugin", model, name, _prefixes(Prefixes(), config))
    # A mere name is never looked for below the current folder: a repository may hold a folder of
    # that name, and opening a model can mean running what lies in it.
    if _is_path(model) and os.path.isdir(model):
        return _folder(model, config)
    if _is_slip(model, config):
        raise ConfigError(
            f'embeddingModelID is "{model}", which is neither "{STATIC_CODE_V1}" nor a folder with '
            "a model; give the path of one, as in ./model, or leave the key out"
        )
    return _cloud(model, config)


def _is_slip(model: str, config: Config) -> bool:
    """Whether a name is meant as a folder or as the shipped model, and is neither."""
    if difflib.get_close_matches(model, [STATIC_CODE_V1], cutoff=_MISTYPED):
        return True
    # Names of models have slashes too, where something says who serves them.
    has_slash = "/" in model or os.sep in model
    has_server = bool(config.embedding_endpoint) or has_key(config)
    return _is_path(model) or (has_slash and not has_server)


def _is_path(model: str) -> bool:
    return os.path.isabs(model) or model.startswith((".", "~"))


def _folder(model: str, config: Config) -> ModelChoice:
    kind, weights = _kind_of(Path(model))
    missing = [name for name in _PACKAGES[kind] if importlib.util.find_spec(name) is None]
    if missing:
        raise MissingExtraError(
            f"the model folder {model} needs {' and '.join(missing)}: pip install 'rootle[{kind}]'"
        )
    info = os.stat(weights)
    prefixes = _prefixes(folder_prefixes(Path(model)), config)
    parts = (os.path.realpath(model), info.st_size, info.st_mtime_ns, prefixes.mark)
    return ModelChoice(kind, model, "@".join(str(part) for part in parts if part), prefixes)


def _kind_of(folder: Path) -> tuple[Kind, Path]:
    """How a model folder is to be run, and the file that changes with the model."""
    table, modules = folder / _TABLE_FILE, folder / _MODULES_FILE
    onnx = next((folder / name for name in _ONNX_FILES if (folder / name).is_file()), None)
    # A folder of model2vec may hold the two other formats as well, and is fastest as what it is.
    if table.is_file() and (_is_model2vec(folder) or not (onnx or modules.is_file())):
        return "model2vec", table
    if onnx:
        return "onnx", onnx
    if modules.is_file():
        return "sentence-transformers", table if table.is_file() else modules
    raise ConfigError(
        f'embeddingModelID is "{folder}", a folder without {_TABLE_FILE}, {_ONNX_FILES[0]} and '
        f"{_MODULES_FILE}; give the path of a model's folder or leave the key out"
    )


def _is_model2vec(folder: Path) -> bool:
    try:
        data = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(data, dict) and data.get("model_type") == "model2vec"


def _prefixes(own: Prefixes, config: Config) -> Prefixes:
    """The model's own, and in their place what the configuration says."""
    return Prefixes(
        config.embedding_query_prefix or own.query,
        config.embedding_document_prefix or own.document,
    )


def _cloud(model: str, config: Config) -> ModelChoice | str:
    provider = PROVIDERS.get(config.embedding_provider)
    if provider is None:
        raise ConfigError(
            f'embeddingProvider is "{config.embedding_provider}", expected one of '
            f"{', '.join(PROVIDERS)}"
        )
    if not (config.embedding_endpoint or provider.url):
        return f'a server of "{config.embedding_provider}" needs embeddingEndpoint'
    if provider.needs_key and not (config.embedding_endpoint or has_key(config)):
        return (
            f'it is on a server of "{config.embedding_provider}" and no key is set for one (set '
            "embeddingApiKey, embeddingApiKeyCommand or, for a server without keys, "
            "embeddingEndpoint)"
        )
    # Whoever asks in the way of OpenAI gives the text to the model as it is; the others put a
    # prefix of their own before it.
    own = known_prefixes(model) if provider.shape == "openai" else Prefixes()
    prefixes = _prefixes(own, config)
    parts = (provider.shape, model, config.embedding_dimensions, prefixes.mark)
    name = ":".join(str(part) for part in parts if part)
    return ModelChoice("cloud", model, name, prefixes)


def open_model(choice: ModelChoice, config: Config) -> Embedder:
    """The model, loaded where it is one on this machine.

    Raises MissingExtraError where its package is missing, ConfigError where its files are broken.
    """
    if choice.is_table:
        return open_table(choice)
    from rootle.embed.adapter import ModelAdapter, TextModel

    model: TextModel
    if choice.kind == "onnx":
        from rootle.embed.onnx_model import OnnxModel

        folder = Path(choice.model)
        model = OnnxModel(folder, _kind_of(folder)[1])
    elif choice.kind == "sentence-transformers":
        from rootle.embed.sentence_transformer import SentenceTransformerModel

        model = SentenceTransformerModel(choice.model)
    elif choice.kind == "plugin":
        from rootle.embed.plugin_model import PluginModel

        model = PluginModel(find_plugins(config.plugins).of("embedder")[choice.model])
    else:
        from rootle.embed.http_model import HttpModel

        model = HttpModel(
            config.embedding_provider,
            choice.model,
            endpoint=config.embedding_endpoint,
            dimensions=config.embedding_dimensions,
            key=lambda: embedding_key(config),
        )
    return ModelAdapter(
        model,
        choice.fingerprint,
        prefixes=choice.prefixes,
        batch_size=config.dense_batch_size,
        query_timeout_s=config.dense_timeout_ms / 1000,
    )
