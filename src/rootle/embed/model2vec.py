"""Static embedding model in the format of model2vec: a table of token vectors and a tokenizer."""

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
        "a model folder requires two more packages: pip install 'rootle[model2vec]'"
    ) from error

_TABLE_NAMES: Final = ("embeddings", "embedding.weight")


class Model2VecEmbedder:
    """Embeds a text as the normalized mean of its token vectors."""

    def __init__(self, folder: str, fingerprint: str, prefixes: Prefixes = NO_PREFIXES) -> None:
        root = Path(folder)
        try:
            tensors = load_file(root / "model.safetensors")
            self._tokenizer = Tokenizer.from_file(str(root / "tokenizer.json"))
        except (OSError, SafetensorError) as error:
            raise ConfigError(_invalid_folder(root, str(error))) from error
        except Exception as error:  # the tokenizers package raises plain Exception
            if type(error) is not Exception:
                raise
            raise ConfigError(_invalid_folder(root, str(error))) from error
        name = next((name for name in _TABLE_NAMES if name in tensors), None)
        if name is None:
            raise ConfigError(_invalid_folder(root, f"no tensor named {' or '.join(_TABLE_NAMES)}"))
        self._rows = _token_rows(tensors[name], tensors.get("mapping"), tensors.get("weights"))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._unknown_id = _unknown_token_id(self._tokenizer)
        self._prefixes = prefixes
        self.fingerprint = fingerprint
        self.dimensions = int(self._rows.shape[1])

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Return unit vectors, shape (len(texts), dimensions); zeros for a text without tokens."""
        return self._embed([encodable(self._prefixes.document + text) for text in texts])

    def embed_query(self, text: str) -> Vector:
        """Return the unit vector of a query."""
        vector: Vector = self._embed([encodable(self._prefixes.query + text)])[0]
        return vector

    def _embed(self, texts: Sequence[str]) -> Matrix:
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        encodings = self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        for row, encoding in enumerate(encodings):
            ids = [token for token in encoding.ids if token != self._unknown_id]
            if ids:
                vectors[row] = self._rows[ids].mean(axis=0)
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        vectors /= np.maximum(norms, 1e-12)
        return vectors


def _token_rows(table: Matrix, mapping: NDArray[np.int64] | None, weights: Matrix | None) -> Matrix:
    """Return one float32 row per token, after applying the optional mapping and weights."""
    rows = table if mapping is None else table[mapping]
    rows = rows.astype(np.float32)
    return rows if weights is None else rows * weights.astype(np.float32)[:, None]


def _unknown_token_id(tokenizer: Tokenizer) -> int | None:
    unknown = getattr(tokenizer.model, "unk_token", None)
    return tokenizer.token_to_id(unknown) if unknown else None


def _invalid_folder(folder: Path, reason: str) -> str:
    return f"{folder} is not a model folder in the format of model2vec: {reason}"
