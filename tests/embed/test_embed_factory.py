"""The choice of the embedding model, and the fingerprint of the chosen model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rootle import Config
from rootle.embed.batched_embedder import BatchedEmbedder
from rootle.embed.factory import choose_model, open_model
from rootle.embed.model_choice import ModelChoice
from rootle.errors import ConfigError, MissingExtraError
from rootle.protocols import QueuedEmbedder

ENDPOINT = "http://127.0.0.1:1/v1"


def choose(model: str = "some-model", **settings: Any) -> ModelChoice:
    return choose_model(Config(embedding_model_id=model, **settings))


def make_folder(path: Path, *names: str) -> str:
    for name in names:
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text("{}")
    return str(path)


def test_the_shipped_model_is_the_default() -> None:
    choice = choose_model(Config())
    assert (choice.kind, choice.model, choice.note) == ("static", "static-code-v2", "")
    assert choice.is_table


@pytest.mark.parametrize("provider", ["openai", "mistral", "jina", "voyage", "cohere", "azure"])
def test_a_server_model_without_a_key_is_replaced_and_a_note_says_so(provider: str) -> None:
    choice = choose("openai-embeddings-001", embedding_provider=provider)
    assert choice.kind == "static"
    assert choice.note.startswith('embeddingModelID is "openai-embeddings-001": ')
    assert choice.note.endswith('using "static-code-v2" instead')


def test_a_note_names_each_wrong_setting_once() -> None:
    choice = choose_model(Config(embedding_model_id="/none", embedding_fallback="/missing"))
    assert choice.note.count("embeddingModelID is ") == 1
    assert 'embeddingFallback is "/missing", which is neither' in choice.note


@pytest.mark.parametrize(
    "settings",
    [
        {"embedding_api_key": "k"},
        {"embedding_api_key_command": "print-it"},
        {"embedding_endpoint": ENDPOINT},
        {"embedding_provider": "ollama"},
        {"embedding_provider": "azure", "embedding_endpoint": ENDPOINT},
    ],
)
def test_a_server_model_with_a_key_or_an_endpoint_is_chosen_without_a_request(
    settings: dict[str, Any],
) -> None:
    choice = choose(**settings)
    assert (choice.kind, choice.model, choice.note) == ("server", "some-model", "")
    assert isinstance(open_model(choice, Config(**settings)), BatchedEmbedder)


def test_the_fallback_is_used_only_if_the_model_is_not_available(tmp_path: Path) -> None:
    gone = str(tmp_path / "gone")
    with pytest.raises(ConfigError, match="nor a folder"):
        choose(gone)
    choice = choose(gone, embedding_fallback="text-embedding-3-small", embedding_api_key="k")
    assert (choice.kind, choice.model) == ("server", "text-embedding-3-small")
    assert gone in choice.note
    here = make_folder(tmp_path / "here", "model.safetensors", "tokenizer.json")
    assert choose(here, embedding_fallback="text-embedding-3-small").model == here
    assert choose("openai-x", embedding_fallback=here).model == here


def test_the_shipped_model_replaces_an_unavailable_fallback(tmp_path: Path) -> None:
    choice = choose(str(tmp_path / "gone"), embedding_fallback="text-embedding-3-small")
    assert choice.kind == "static"
    assert "gone" in choice.note
    assert "embeddingApiKey" in choice.note


def test_an_unknown_provider_is_an_error_with_the_valid_names() -> None:
    with pytest.raises(ConfigError, match='"opnai", expected one of openai, azure'):
        choose(embedding_provider="opnai", embedding_api_key="k")


def test_the_fingerprint_does_not_depend_on_the_server() -> None:
    here = choose(embedding_endpoint=ENDPOINT, embedding_provider="ollama")
    there = choose(embedding_api_key="k", embedding_provider="openai")
    assert here.fingerprint == there.fingerprint


@pytest.mark.parametrize(
    "settings",
    [
        {"embedding_dimensions": 64},
        {"embedding_query_prefix": "q: "},
        {"embedding_document_prefix": "d: "},
        {"embedding_provider": "voyage"},
        {"embedding_model_id": "another-model"},
    ],
)
def test_a_setting_that_changes_vectors_changes_the_fingerprint(
    settings: dict[str, Any],
) -> None:
    defaults: dict[str, Any] = {"embedding_endpoint": ENDPOINT, "embedding_model_id": "some-model"}
    other = choose_model(Config(**{**defaults, **settings}))
    assert other.fingerprint != choose_model(Config(**defaults)).fingerprint


def test_the_fingerprint_does_not_contain_the_key() -> None:
    assert "secret" not in repr(choose(embedding_api_key="secret"))


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        (("model.safetensors", "tokenizer.json"), "model2vec"),
        (("model.onnx", "tokenizer.json"), "onnx"),
        (("onnx/model.onnx", "model.safetensors", "modules.json"), "onnx"),
    ],
)
def test_the_format_of_a_folder_is_detected(
    tmp_path: Path, names: tuple[str, ...], kind: str
) -> None:
    choice = choose(make_folder(tmp_path, *names))
    assert choice.kind == kind
    assert choice.is_table is (kind == "model2vec")


def test_a_folder_of_model2vec_can_contain_other_formats(tmp_path: Path) -> None:
    where = make_folder(tmp_path, "model.safetensors", "onnx/model.onnx", "modules.json")
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "model2vec"}))
    assert choose(where).kind == "model2vec"


def test_a_folder_without_a_model_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"without model\.safetensors, model\.onnx or modules"):
        choose(make_folder(tmp_path, "readme.md"))


def test_a_missing_package_is_an_error_with_the_install_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    where = make_folder(tmp_path, "model.onnx")
    with pytest.raises(MissingExtraError, match=r"pip install 'rootle\[onnx\]'"):
        choose(where)
    assert choose(where, embedding_fallback="static-code-v2").kind == "static"


_STUB = """
class SentenceTransformer:
    def __init__(self, folder, *, local_files_only):
        assert local_files_only
        self.folder = folder

    def get_sentence_embedding_dimension(self):
        return 3

    def encode(self, texts, *, prompt, convert_to_numpy, show_progress_bar):
        import numpy as np

        assert prompt == "" and convert_to_numpy and not show_progress_bar
        return np.array([[len(text), 3.0, 0.0] for text in texts])
"""


def test_a_folder_of_sentence_transformers_is_opened_by_that_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Use a fake package, because the real one has hundreds of megabytes of dependencies."""
    (tmp_path / "stub").mkdir()
    (tmp_path / "stub" / "sentence_transformers.py").write_text(_STUB)
    monkeypatch.syspath_prepend(str(tmp_path / "stub"))
    where = make_folder(tmp_path / "model", "modules.json", "model.safetensors")
    prompts = {"prompts": {"query": "q: ", "document": ""}}
    (tmp_path / "model" / "config_sentence_transformers.json").write_text(json.dumps(prompts))
    choice = choose(where)
    assert (choice.kind, choice.prefixes.query) == ("sentence-transformers", "q: ")
    embedder = open_model(choice, Config())
    assert isinstance(embedder, BatchedEmbedder)
    assert isinstance(embedder, QueuedEmbedder)
    assert np.allclose(embedder.embed(["four"]), [[0.8, 0.6, 0.0]])
    # The text includes the prefix for queries.
    assert np.allclose(embedder.embed_query("x"), [0.8, 0.6, 0.0])
    assert embedder.dimensions == 3


def test_a_model_name_never_selects_a_subfolder_of_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A subfolder of a cloned repository could contain a model that executes code."""
    monkeypatch.chdir(tmp_path)
    for name in ("openai-embeddings-001", "jinaai/code"):
        make_folder(tmp_path / name, "modules.json")
    assert choose("openai-embeddings-001").kind == "static"
    choice = choose("jinaai/code", embedding_endpoint=ENDPOINT)
    assert (choice.kind, choice.model) == ("server", "jinaai/code")
    with pytest.raises(ConfigError, match=r"as in \./model"):
        choose("jinaai/code")
