"""An embedding model in a folder with ONNX weights and a tokenizer, run on the CPU."""

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
        "a model folder with ONNX weights needs two more packages: pip install 'rootle[onnx]'"
    ) from error

_MAX_TOKENS: Final = 512
# "model_max_length" of a tokenizer that knows no limit.
_NO_LIMIT: Final = 100_000


class OnnxModel:
    """A TextModel: tokens to the vectors of their model, one of them or their mean to a text's."""

    def __init__(self, where: Path, weights: Path) -> None:
        onnxruntime.disable_telemetry_events()
        try:
            self._tokenizer = Tokenizer.from_file(str(where / "tokenizer.json"))
            self._session = onnxruntime.InferenceSession(
                str(weights), providers=["CPUExecutionProvider"]
            )
        except Exception as error:
            # tokenizers raises Exception itself, onnxruntime a dozen classes of its own.
            if type(error) is not Exception and "onnxruntime" not in type(error).__module__:
                raise
            raise ConfigError(_unusable(where, str(error))) from error
        self._tokenizer.enable_truncation(_max_tokens(where))
        self._tokenizer.enable_padding(**_padding(self._tokenizer))
        self._inputs = {taken.name for taken in self._session.get_inputs()}
        self._takes_first = _pooling(where).get("pooling_mode_cls_token") is True
        self.dimensions = self.vectors(["a"], is_query=False, timeout_s=0).shape[1]

    def vectors(
        self,
        texts: Sequence[str],
        *,
        is_query: bool,  # noqa: ARG002 - both are said to every TextModel
        timeout_s: float,  # noqa: ARG002
    ) -> Matrix:
        """One row a text; the model cannot be interrupted."""
        encodings = self._tokenizer.encode_batch(list(texts))
        mask = np.array([encoding.attention_mask for encoding in encodings], dtype=np.int64)
        given = {
            "input_ids": np.array([encoding.ids for encoding in encodings], dtype=np.int64),
            "attention_mask": mask,
            "token_type_ids": np.array([e.type_ids for e in encodings], dtype=np.int64),
        }
        taken = {name: value for name, value in given.items() if name in self._inputs}
        found: Any = self._session.run(None, taken)[0]  # Any: onnxruntime has no types
        return self._pooled(np.asarray(found, dtype=np.float32), mask)

    def _pooled(self, states: Matrix, mask: NDArray[np.int64]) -> Matrix:
        if states.ndim == 2:  # the model does it by itself
            return states
        if self._takes_first:
            return states[:, 0]
        weights = mask[:, :, None].astype(np.float32)
        total: Matrix = (states * weights).sum(axis=1)
        total /= np.maximum(weights.sum(axis=1), 1e-9)
        return total


def _max_tokens(folder: Path) -> int:
    """How long a text the model was made for; sentence-transformers says it best."""
    for name, key in (
        ("sentence_bert_config.json", "max_seq_length"),
        ("tokenizer_config.json", "model_max_length"),
    ):
        limit = _json(folder / name).get(key)
        if isinstance(limit, int | float) and 0 < limit < _NO_LIMIT:
            return int(limit)
    return _MAX_TOKENS


def _pooling(folder: Path) -> dict[str, Any]:
    return _json(folder / "1_Pooling" / "config.json")


def _padding(tokenizer: Tokenizer) -> dict[str, Any]:
    """What the tokenizer's file says of padding, but as short as a batch allows."""
    stated = tokenizer.padding or {}
    kept = {name: stated[name] for name in ("pad_id", "pad_token", "direction") if name in stated}
    return {**kept, "length": None}


def _json(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}


def _unusable(folder: Path, why: str) -> str:
    return f"{folder} is no model folder with ONNX weights: {why}"
