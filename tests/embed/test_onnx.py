"""Model folders with ONNX weights, tested with a tiny model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from sample import MakeApp
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

from rootle import Config, SearchQuery
from rootle.embed.factory import choose_model, open_model
from rootle.errors import ConfigError

WORDS = ("[PAD]", "[CLS]", "[UNK]", "retry", "backoff", "socket", "close")
# The embedding table has one row per word; the hidden state of a token is its row.
TABLE = np.eye(len(WORDS), 8, dtype=np.float32)


@pytest.fixture
def model_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    folder.mkdir()
    tokenizer = Tokenizer(WordLevel({w: i for i, w in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(single="[CLS] $A", special_tokens=[("[CLS]", 1)])
    tokenizer.save(str(folder / "tokenizer.json"))
    make_model(folder / "model.onnx")
    return folder


def make_model(path: Path, *, pooled: bool = False) -> None:
    """Save a model that looks up the row of each token. If `pooled`, it also sums the rows."""
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
        for name in ("input_ids", "attention_mask")
    ]
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["states"])]
    shape: list[Any] = ["batch", "tokens", 8]
    if pooled:
        nodes.append(helper.make_node("ReduceSum", ["states", "axis"], ["sums"], keepdims=0))
        shape = ["batch", 8]
    out = helper.make_tensor_value_info("sums" if pooled else "states", TensorProto.FLOAT, shape)
    constants = [numpy_helper.from_array(TABLE, "table")]
    constants.append(numpy_helper.from_array(np.array([1], dtype=np.int64), "axis"))
    graph = helper.make_graph(nodes, "tiny", inputs, [out], constants)
    opset = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=8), str(path))


def embedder(folder: Path, **settings: Any) -> Any:
    config = Config(embedding_model_id=str(folder), **settings)
    return open_model(choose_model(config), config)


def unit(*words: str) -> Any:
    total = sum(TABLE[WORDS.index(word)] for word in words)
    return total / np.linalg.norm(total)


def test_the_vector_of_a_text_is_the_mean_of_its_tokens_in_any_batch(model_folder: Path) -> None:
    model = embedder(model_folder)
    assert model.dimensions == 8
    long = "socket close retry backoff retry"
    found = model.embed(["retry backoff", long])
    assert np.allclose(found[0], unit("[CLS]", "retry", "backoff"), atol=1e-6)
    assert np.allclose(model.embed(["retry backoff"])[0], found[0], atol=1e-6)


def test_the_configuration_of_the_folder_can_select_the_first_token(model_folder: Path) -> None:
    (model_folder / "1_Pooling").mkdir()
    pooling = {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}
    (model_folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    assert np.allclose(embedder(model_folder).embed(["retry"])[0], unit("[CLS]"))


def test_the_output_of_a_pooling_model_is_used_unchanged(model_folder: Path) -> None:
    make_model(model_folder / "model.onnx", pooled=True)
    found = embedder(model_folder).embed(["retry backoff"])[0]
    assert np.allclose(found, unit("[CLS]", "retry", "backoff"), atol=1e-6)


def test_texts_are_truncated_to_the_limit_of_the_model(model_folder: Path) -> None:
    (model_folder / "sentence_bert_config.json").write_text('{"max_seq_length": 2}')
    found = embedder(model_folder).embed(["retry backoff socket"])[0]
    assert np.allclose(found, unit("[CLS]", "retry"), atol=1e-6)


def test_a_lone_surrogate_can_be_embedded(model_folder: Path) -> None:
    assert embedder(model_folder).embed(["retry \ud800", "\udcff"]).any(axis=1).all()


def test_prefixes_come_from_the_folder_and_the_configuration(model_folder: Path) -> None:
    prompts = {"prompts": {"query": "close ", "passage": "socket "}}
    (model_folder / "config_sentence_transformers.json").write_text(json.dumps(prompts))
    model = embedder(model_folder)
    assert np.allclose(model.embed_query("retry"), unit("[CLS]", "close", "retry"), atol=1e-6)
    assert np.allclose(model.embed(["retry"])[0], unit("[CLS]", "socket", "retry"), atol=1e-6)
    model = embedder(model_folder, embedding_query_prefix="backoff ")
    assert np.allclose(model.embed_query("retry"), unit("[CLS]", "backoff", "retry"), atol=1e-6)


def test_a_search_uses_the_vectors_of_a_model_folder(
    model_folder: Path, tmp_path: Path, make_app: MakeApp
) -> None:
    root = tmp_path / "repo"
    root.mkdir()
    (root / "a.txt").write_text("retry backoff\n")
    (root / "b.txt").write_text("socket close\n")
    app = make_app(root, embedding_model_id=str(model_folder))
    report = app.index()
    assert (report.chunks_embedded, report.chunks_pending) == (2, 0)
    response = app.search(SearchQuery("socket"))
    assert (response.results[0].file_path, response.degraded) == ("b.txt", ())
    assert response.results[0].source == "merged"
    assert app._container.indexer().snapshot().dense.dimensions == 8


@pytest.mark.parametrize("part", ["model.onnx", "tokenizer.json"])
def test_an_error_names_a_damaged_folder(model_folder: Path, part: str) -> None:
    (model_folder / part).write_bytes(b"{not this")
    with pytest.raises(ConfigError, match="is not a model folder with ONNX weights") as caught:
        embedder(model_folder)
    assert str(model_folder) in str(caught.value)
