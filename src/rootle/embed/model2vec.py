"""Any static embedding in a folder of model2vec's format: a table of token vectors, a tokenizer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from rootle.embed.prefixes import NO_PREFIXES, Prefixes
from rootle.errors import ConfigError, MissingExtraError
from rootle.protocols import Matrix, Vector
from rootle.text.terms import encodable

try:
    from safetensors import SafetensorError
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer
except ImportError as error:
    raise MissingExtraError(
        "a model folder needs two more packages: pip install 'rootle[model2vec]'"
    ) from error

_TABLE_NAMES: Final = ("embeddings", "embedding.weight")


class Model2VecEmbedder:
    """Embeds a text as the mean of its tokens' vectors, made unit length."""

    def __init__(self, folder: str, fingerprint: str, prefixes: Prefixes = NO_PREFIXES) -> None:
        where = Path(folder)
        try:
            tensors = load_file(where / "model.safetensors")
            self._tokenizer = Tokenizer.from_file(str(where / "tokenizer.json"))
        except (OSError, SafetensorError) as error:
            raise ConfigError(_unusable(where, str(error))) from error
        except Exception as error:  # the tokenizers package raises Exception itself
            if type(error) is not Exception:
                raise
            raise ConfigError(_unusable(where, str(error))) from error
        name = next((name for name in _TABLE_NAMES if name in tensors), None)
        if name is None:
            raise ConfigError(_unusable(where, f"no tensor named {' or '.join(_TABLE_NAMES)}"))
        self._rows = _token_rows(tensors[name], tensors.get("mapping"), tensors.get("weights"))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._unknown = _unknown_token(self._tokenizer)
        self._prefixes = prefixes
        self.fingerprint = fingerprint
        self.dimensions = int(self._rows.shape[1])

    def embed(self, texts: Sequence[str]) -> Matrix:
        """One unit vector a text, shape (len(texts), dimensions); zeros for a text of no token."""
        return self._means([encodable(self._prefixes.document + text) for text in texts])

    def embed_query(self, text: str) -> Vector:
        """The same for a question."""
        vector: Vector = self._means([encodable(self._prefixes.query + text)])[0]
        return vector

    def _means(self, texts: Sequence[str]) -> Matrix:
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        found = self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        for row, encoding in enumerate(found):
            ids = [token for token in encoding.ids if token != self._unknown]
            if ids:
                vectors[row] = self._rows[ids].mean(axis=0)
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        vectors /= np.maximum(norms, 1e-12)
        return vectors


def _token_rows(table: Matrix, mapping: NDArray[np.int64] | None, weights: Matrix | None) -> Matrix:
    """One float32 row a token: tokens may share rows of the table and have weights."""
    rows = table if mapping is None else table[mapping]
    rows = rows.astype(np.float32)
    return rows if weights is None else rows * weights.astype(np.float32)[:, None]


def _unknown_token(tokenizer: Tokenizer) -> int | None:
    unknown = getattr(tokenizer.model, "unk_token", None)
    return tokenizer.token_to_id(unknown) if unknown else None


def _unusable(folder: Path, why: str) -> str:
    return f"{folder} is no model folder in model2vec's format: {why}"
