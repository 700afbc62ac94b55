"""Model folders in the format of model2vec."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file
from sample import MakeApp
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from rootle import Config, SearchQuery
from rootle.embed.factory import choose_model, open_model
from rootle.embed.model2vec import Model2VecEmbedder
from rootle.errors import ConfigError

WORDS = ("[UNK]", "retry", "backoff", "socket", "close")


def open_embedder(model: str, **settings: Any) -> Model2VecEmbedder:
    config = Config(embedding_model_id=model, **settings)
    embedder = open_model(choose_model(config), config)
    assert isinstance(embedder, Model2VecEmbedder)
    return embedder


@pytest.fixture
def model_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    folder.mkdir()
    tokenizer = Tokenizer(WordLevel({w: i for i, w in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    save_file({"embeddings": np.eye(5, 8, dtype=np.float32)}, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps({"normalize": True}))
    return folder


def test_the_vector_of_a_text_is_the_mean_of_its_known_tokens(model_folder: Path) -> None:
    vectors = open_embedder(str(model_folder)).embed(["retry backoff", "nothing known", "close"])
    assert vectors.shape == (3, 8)
    assert np.allclose(vectors[0][[1, 2]], np.sqrt(0.5))
    assert not vectors[1].any()
    assert np.allclose(vectors[2], np.eye(8)[4])


def test_tokens_may_share_rows_and_have_weights(model_folder: Path) -> None:
    save_file(
        {
            "embeddings": np.eye(2, 8, dtype=np.float32),
            "mapping": np.array([0, 1, 1, 0, 0]),
            "weights": np.array([1, 3, 1, 4, 1], dtype=np.float32),
        },
        model_folder / "model.safetensors",
    )
    vector = open_embedder(str(model_folder)).embed(["retry socket"])[0]
    assert np.allclose(vector[:2], [4 / 5, 3 / 5])


def test_a_search_uses_the_vectors_of_a_model_folder(
    model_folder: Path, tmp_path: Path, make_app: MakeApp
) -> None:
    root = tmp_path / "repo"
    root.mkdir()
    (root / "a.txt").write_text("retry backoff\n")
    (root / "b.txt").write_text("socket close\n")
    app = make_app(root, embedding_model_id=str(model_folder))
    assert app.search(SearchQuery("socket")).results[0].file_path == "b.txt"
    assert app.status().model == str(model_folder)


def test_different_weights_have_different_fingerprints(model_folder: Path) -> None:
    before = choose_model(Config(embedding_model_id=str(model_folder))).fingerprint
    os.utime(model_folder / "model.safetensors", ns=(1, 1))
    assert choose_model(Config(embedding_model_id=str(model_folder))).fingerprint != before


@pytest.mark.parametrize("part", ["model.safetensors", "tokenizer.json"])
def test_an_error_names_a_damaged_folder(model_folder: Path, part: str) -> None:
    (model_folder / part).write_bytes(b"{not this")
    with pytest.raises(
        ConfigError, match="is not a model folder in the format of model2vec"
    ) as caught:
        open_embedder(str(model_folder))
    assert str(model_folder) in str(caught.value)


def test_an_unknown_model_is_an_error_with_a_remedy(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"static-code-v9.*neither.*remove this setting"):
        open_embedder("static-code-v9")


def test_a_lone_surrogate_can_be_embedded(model_folder: Path) -> None:
    embedder = open_embedder(str(model_folder))
    assert embedder.embed(["retry \ud800"])[0].any()
    assert embedder.embed_query("retry \udcff").any()
