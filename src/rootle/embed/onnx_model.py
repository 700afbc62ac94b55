"""Embedding model in a folder with ONNX weights and a tokenizer, run on the CPU."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rootle.errors import ConfigError, MissingExtraError
from rootle.protocols import Matrix

try:
    import onnxruntime
    from tokenizers import Tokenizer
except ImportError as error:
    raise MissingExtraError(
        "a model folder with ONNX weights requires two more packages: pip install 'rootle[onnx]'"
    ) from error

_MAX_TOKENS: Final = 512
# A "model_max_length" above this means that the tokenizer has no limit.
_NO_LIMIT: Final = 100_000


class OnnxModel:
    """A TextModel that pools token vectors by taking the first one or their mean."""

    def __init__(self, folder: Path, weights: Path) -> None:
        onnxruntime.disable_telemetry_events()
        try:
            self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
            self._session = onnxruntime.InferenceSession(
                str(weights), providers=["CPUExecutionProvider"]
            )
        except Exception as error:
            # The package tokenizers raises plain Exception, and onnxruntime raises a dozen classes.
            if type(error) is not Exception and "onnxruntime" not in type(error).__module__:
                raise
            raise ConfigError(_invalid_folder(folder, str(error))) from error
        self._tokenizer.enable_truncation(_max_tokens(folder))
        self._tokenizer.enable_padding(**_padding_options(self._tokenizer))
        self._inputs = {node.name for node in self._session.get_inputs()}
        self._uses_first_token = _pooling_config(folder).get("pooling_mode_cls_token") is True
        self.dimensions = self.vectors(["a"], is_query=False, timeout_s=0).shape[1]

    def vectors(
        self,
        texts: Sequence[str],
        *,
        is_query: bool,  # noqa: ARG002 - part of the interface of TextModel
        timeout_s: float,  # noqa: ARG002
    ) -> Matrix:
        """Return one vector per text. A local model cannot be interrupted."""
        encodings = self._tokenizer.encode_batch(list(texts))
        mask = np.array([encoding.attention_mask for encoding in encodings], dtype=np.int64)
        available = {
            "input_ids": np.array([encoding.ids for encoding in encodings], dtype=np.int64),
            "attention_mask": mask,
            "token_type_ids": np.array([e.type_ids for e in encodings], dtype=np.int64),
        }
        inputs = {name: value for name, value in available.items() if name in self._inputs}
        states: Any = self._session.run(None, inputs)[0]  # Any: onnxruntime has no types
        return self._pool(np.asarray(states, dtype=np.float32), mask)

    def _pool(self, states: Matrix, mask: NDArray[np.int64]) -> Matrix:
        if states.ndim == 2:  # the model has already pooled them
            return states
        if self._uses_first_token:
            return states[:, 0]
        weights = mask[:, :, None].astype(np.float32)
        total: Matrix = (states * weights).sum(axis=1)
        total /= np.maximum(weights.sum(axis=1), 1e-9)
        return total


def _max_tokens(folder: Path) -> int:
    """Return the maximum length of a text, in tokens, for which the model was trained."""
    # The limit of sentence-transformers is more accurate than the limit of the tokenizer.
    for name, key in (
        ("sentence_bert_config.json", "max_seq_length"),
        ("tokenizer_config.json", "model_max_length"),
    ):
        limit = _read_json(folder / name).get(key)
        if isinstance(limit, int | float) and 0 < limit < _NO_LIMIT:
            return int(limit)
    return _MAX_TOKENS


def _pooling_config(folder: Path) -> dict[str, Any]:
    return _read_json(folder / "1_Pooling" / "config.json")


def _padding_options(tokenizer: Tokenizer) -> dict[str, Any]:
    """Return the tokenizer's padding options, with padding to the longest text of a batch."""
    options = tokenizer.padding or {}
    names = ("pad_id", "pad_token", "direction")
    return {**{name: options[name] for name in names if name in options}, "length": None}


def _read_json(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}


def _invalid_folder(folder: Path, reason: str) -> str:
    return f"{folder} is not a model folder with ONNX weights: {reason}"
