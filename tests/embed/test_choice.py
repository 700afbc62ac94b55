"""Which model serves: the one that is asked for, the fallback, or the shipped one; and its mark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rootle import Config
from rootle.embed.adapter import ModelAdapter
from rootle.embed.factory import choose_model, open_model
from rootle.embed.model_choice import ModelChoice
from rootle.errors import ConfigError, MissingExtraError
from rootle.protocols import QueuedEmbedder

ENDPOINT = "http://127.0.0.1:1/v1"


def chosen(model: str = "some-model", **settings: Any) -> ModelChoice:
    return choose_model(Config(embedding_model_id=model, **settings))


def folder(path: Path, *names: str) -> str:
    for name in names:
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text("{}")
    return str(path)


def test_the_shipped_model_is_the_default_and_needs_no_word():
    choice = choose_model(Config())
    assert (choice.kind, choice.model, choice.remark) == ("static", "static-code-v1", "")
    assert choice.is_table


@pytest.mark.parametrize("provider", ["openai", "mistral", "jina", "voyage", "cohere", "azure"])
def test_a_cloud_model_without_a_key_gives_way_to_the_shipped_one_and_says_so(provider):
    choice = chosen("openai-embeddings-001", embedding_provider=provider)
    assert choice.kind == "static"
    assert choice.remark.startswith('embeddingModelID is "openai-embeddings-001": ')
    assert choice.remark.endswith('"static-code-v1" serves in its place')


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
def test_a_key_or_an_endpoint_makes_it_serve_without_any_request(settings):
    choice = chosen(**settings)
    assert (choice.kind, choice.model, choice.remark) == ("cloud", "some-model", "")
    assert isinstance(open_model(choice, Config(**settings)), ModelAdapter)


def test_the_fallback_serves_where_a_model_cannot_and_only_then(tmp_path):
    gone = str(tmp_path / "gone")
    with pytest.raises(ConfigError, match="nor a folder"):
        chosen(gone)
    choice = chosen(gone, embedding_fallback="text-embedding-3-small", embedding_api_key="k")
    assert (choice.kind, choice.model) == ("cloud", "text-embedding-3-small")
    assert gone in choice.remark
    here = folder(tmp_path / "here", "model.safetensors", "tokenizer.json")
    assert chosen(here, embedding_fallback="text-embedding-3-small").model == here
    assert chosen("openai-x", embedding_fallback=here).model == here


def test_where_the_fallback_cannot_serve_either_the_shipped_model_does(tmp_path):
    choice = chosen(str(tmp_path / "gone"), embedding_fallback="text-embedding-3-small")
    assert choice.kind == "static"
    assert "gone" in choice.remark
    assert "embeddingApiKey" in choice.remark


def test_an_unknown_provider_is_refused_with_those_there_are():
    with pytest.raises(ConfigError, match='"opnai", expected one of openai, azure'):
        chosen(embedding_provider="opnai", embedding_api_key="k")


def test_the_mark_of_a_model_is_the_same_wherever_it_is_served():
    here = chosen(embedding_endpoint=ENDPOINT, embedding_provider="ollama")
    there = chosen(embedding_api_key="k", embedding_provider="openai")
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
def test_what_changes_vectors_changes_the_mark(settings):
    given: dict[str, Any] = {"embedding_endpoint": ENDPOINT, "embedding_model_id": "some-model"}
    other = choose_model(Config(**{**given, **settings}))
    assert other.fingerprint != choose_model(Config(**given)).fingerprint


def test_the_mark_does_not_hold_the_key():
    assert "secret" not in repr(chosen(embedding_api_key="secret"))


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        (("model.safetensors", "tokenizer.json"), "model2vec"),
        (("model.onnx", "tokenizer.json"), "onnx"),
        (("onnx/model.onnx", "model.safetensors", "modules.json"), "onnx"),
    ],
)
def test_a_folder_tells_what_it_is(tmp_path, names, kind):
    choice = chosen(folder(tmp_path, *names))
    assert choice.kind == kind
    assert choice.is_table is (kind == "model2vec")


def test_a_folder_of_model2vec_stays_one_with_other_formats_beside(tmp_path):
    where = folder(tmp_path, "model.safetensors", "onnx/model.onnx", "modules.json")
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "model2vec"}))
    assert chosen(where).kind == "model2vec"


def test_a_folder_with_no_model_is_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"without model\.safetensors, model\.onnx and modules"):
        chosen(folder(tmp_path, "readme.md"))


def test_a_package_that_is_missing_is_named_with_its_extra(tmp_path, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    where = folder(tmp_path, "model.onnx")
    with pytest.raises(MissingExtraError, match=r"pip install 'rootle\[onnx\]'"):
        chosen(where)
    assert chosen(where, embedding_fallback="static-code-v1").kind == "static"


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


def test_a_folder_of_sentence_transformers(tmp_path, monkeypatch):
    """With a stand-in for the package, which brings hundreds of megabytes along."""
    (tmp_path / "stub").mkdir()
    (tmp_path / "stub" / "sentence_transformers.py").write_text(_STUB)
    monkeypatch.syspath_prepend(str(tmp_path / "stub"))
    where = folder(tmp_path / "model", "modules.json", "model.safetensors")
    prompts = {"prompts": {"query": "q: ", "document": ""}}
    (tmp_path / "model" / "config_sentence_transformers.json").write_text(json.dumps(prompts))
    choice = chosen(where)
    assert (choice.kind, choice.prefixes.query) == ("sentence-transformers", "q: ")
    embedder = open_model(choice, Config())
    assert isinstance(embedder, ModelAdapter)
    assert isinstance(embedder, QueuedEmbedder)
    assert np.allclose(embedder.embed(["four"]), [[0.8, 0.6, 0.0]])
    assert np.allclose(embedder.embed_query("x"), [0.8, 0.6, 0.0])  # with its prefix
    assert embedder.dimensions == 3


def test_a_folder_of_the_current_one_is_never_taken_for_a_name(tmp_path, monkeypatch):
    """Whoever searches a clone would otherwise open, and for some formats run, what lies in it."""
    monkeypatch.chdir(tmp_path)
    for name in ("openai-embeddings-001", "jinaai/code"):
        folder(tmp_path / name, "modules.json")
    assert chosen("openai-embeddings-001").kind == "static"
    served = chosen("jinaai/code", embedding_endpoint=ENDPOINT)
    assert (served.kind, served.model) == ("cloud", "jinaai/code")
    with pytest.raises(ConfigError, match=r"as in \./model"):
        chosen("jinaai/code")
