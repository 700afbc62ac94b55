"""A tiny cross-encoder for llama.cpp, to test the protocol. It ranks texts arbitrarily.

    python tests/rerank/tiny_reranker.py make MODEL.gguf
    python tests/rerank/tiny_reranker.py serve MODEL.gguf
    python tests/rerank/tiny_reranker.py embed MODEL.gguf

`serve` prints the address of llama.cpp's own HTTP server and runs until standard input ends.
`embed` does the same, but serves the embeddings that the model computes.
"""

from __future__ import annotations

import string
import sys
from collections.abc import Callable
from typing import Any

import gguf
import numpy as np

# Dimensions of a minimal model of the BERT architecture.
_WIDTH, _INNER, _LAYERS, _HEADS, _CONTEXT = 64, 128, 2, 4, 512
_SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
_WORDS = """def class return import function parse http request token cache retry file open read
write user session query index search sort merge""".split()


def make(path: str) -> None:
    """Write the model file."""
    writer = gguf.GGUFWriter(path, "bert")
    writer.add_name("tiny-random-rank")
    writer.add_block_count(_LAYERS)
    writer.add_context_length(_CONTEXT)
    writer.add_embedding_length(_WIDTH)
    writer.add_feed_forward_length(_INNER)
    writer.add_head_count(_HEADS)
    writer.add_layer_norm_eps(1e-12)
    writer.add_causal_attention(False)
    writer.add_pooling_type(gguf.PoolingType.RANK)
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    _add_tensors(writer.add_tensor, _add_vocabulary(writer))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _add_vocabulary(writer: Any) -> int:
    starts = [*_WORDS, *string.ascii_lowercase, *string.digits, *string.punctuation]
    tokens = [*_SPECIAL, *("\u2581" + word for word in starts)]
    tokens += [*string.ascii_lowercase, *string.digits]
    kinds = [gguf.TokenType.CONTROL] * len(_SPECIAL)
    kinds += [gguf.TokenType.NORMAL] * (len(tokens) - len(kinds))
    writer.add_tokenizer_model("bert")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(tokens)
    writer.add_token_types([int(kind) for kind in kinds])
    writer.add_token_type_count(2)
    writer.add_pad_token_id(0)
    writer.add_unk_token_id(1)
    writer.add_bos_token_id(2)
    writer.add_sep_token_id(3)
    writer.add_eos_token_id(3)
    writer.add_mask_token_id(4)
    writer.add_add_bos_token(True)
    writer.add_add_eos_token(True)
    return len(tokens)


def _add_tensors(add: Callable[[str, Any], None], tokens: int) -> None:
    rng = np.random.default_rng(0)

    def random(name: str, *shape: int, scale: float = 1.0) -> None:
        values = rng.normal(size=shape) * (2.0 / shape[-1]) ** 0.5 * scale
        add(f"{name}.weight", values.astype(np.float32))

    def zero_bias(name: str, size: int) -> None:
        add(f"{name}.bias", np.zeros(size, np.float32))

    def norm(name: str) -> None:
        add(f"{name}.weight", np.ones(_WIDTH, np.float32))
        zero_bias(name, _WIDTH)

    random("token_embd", tokens, _WIDTH, scale=4.0)
    random("position_embd", _CONTEXT, _WIDTH)
    random("token_types", 2, _WIDTH)
    norm("token_embd_norm")
    for layer in range(_LAYERS):
        block = f"blk.{layer}."
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            random(block + name, _WIDTH, _WIDTH)
            zero_bias(block + name, _WIDTH)
        norm(f"{block}attn_output_norm")
        random(f"{block}ffn_up", _INNER, _WIDTH)
        zero_bias(f"{block}ffn_up", _INNER)
        random(f"{block}ffn_down", _WIDTH, _INNER)
        zero_bias(f"{block}ffn_down", _WIDTH)
        norm(f"{block}layer_output_norm")
    random("cls", _WIDTH, _WIDTH)
    zero_bias("cls", _WIDTH)
    random("cls.output", 1, _WIDTH)
    zero_bias("cls.output", 1)


def serve(path: str) -> None:
    """Run llama.cpp's server over the model until standard input ends."""
    _serve(path, "RANK")


def embed(path: str) -> None:
    _serve(path, "MEAN")


def _serve(path: str, pooling: str) -> None:
    import xllamacpp

    settings = xllamacpp.CommonParams()
    settings.model.path = path
    settings.hostnames = ["127.0.0.1"]
    settings.port = 0
    settings.embedding = True
    kinds = xllamacpp.llama_pooling_type
    settings.pooling_type = getattr(kinds, f"LLAMA_POOLING_TYPE_{pooling}")
    settings.n_ctx = settings.n_batch = settings.n_ubatch = _CONTEXT
    settings.n_parallel = settings.cpuparams.n_threads = 1
    settings.ui = settings.warmup = False
    settings.offline = True
    server = xllamacpp.Server(settings)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    {"make": make, "serve": serve, "embed": embed}[sys.argv[1]](sys.argv[2])
