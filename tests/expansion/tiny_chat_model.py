"""A tiny language model for llama.cpp, to test the protocol. It writes random words.

    python tests/expansion/tiny_chat_model.py make MODEL.gguf
    python tests/expansion/tiny_chat_model.py serve MODEL.gguf

`serve` prints the address of llama.cpp's own HTTP server and runs until standard input ends.
"""

from __future__ import annotations

import sys
from typing import Any

import gguf
import numpy as np

# Dimensions of a minimal model of the Llama architecture.
_WIDTH, _INNER, _LAYERS, _HEADS, _CONTEXT = 64, 128, 1, 4, 4096
_CONTROL = ["<unk>", "<s>", "</s>"]
_WORDS = """evict oldest entry cache retry backoff token query index search parse request read write
file open session merge sort policy""".split()
_TEMPLATE = "{% for m in messages %}{{ m['content'] }}\n{% endfor %}"


def make(path: str) -> None:
    """Write the model file."""
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("tiny-random-chat")
    writer.add_block_count(_LAYERS)
    writer.add_context_length(_CONTEXT)
    writer.add_embedding_length(_WIDTH)
    writer.add_feed_forward_length(_INNER)
    writer.add_head_count(_HEADS)
    writer.add_rope_dimension_count(_WIDTH // _HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    writer.add_chat_template(_TEMPLATE)
    _add_tensors(writer, _add_vocabulary(writer))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _add_vocabulary(writer: Any) -> int:
    """Add control tokens, one token per byte, and the words; return the number of tokens."""
    kind = gguf.TokenType
    tokens = [*_CONTROL, *(f"<0x{byte:02X}>" for byte in range(256))]
    tokens += ["\u2581" + word for word in _WORDS]
    kinds = [kind.UNKNOWN, kind.CONTROL, kind.CONTROL, *[kind.BYTE] * 256]
    kinds += [kind.NORMAL] * len(_WORDS)
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores([0.0] * len(tokens))
    writer.add_token_types([int(one) for one in kinds])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    return len(tokens)


def _add_tensors(writer: Any, tokens: int) -> None:
    rng = np.random.default_rng(0)

    def random(name: str, *shape: int) -> None:
        values = rng.normal(size=shape) * (2.0 / shape[-1]) ** 0.5
        writer.add_tensor(f"{name}.weight", values.astype(np.float32))

    def norm(name: str) -> None:
        writer.add_tensor(f"{name}.weight", np.ones(_WIDTH, np.float32))

    random("token_embd", tokens, _WIDTH)
    for layer in range(_LAYERS):
        block = f"blk.{layer}."
        norm(f"{block}attn_norm")
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            random(block + name, _WIDTH, _WIDTH)
        norm(f"{block}ffn_norm")
        random(f"{block}ffn_gate", _INNER, _WIDTH)
        random(f"{block}ffn_up", _INNER, _WIDTH)
        random(f"{block}ffn_down", _WIDTH, _INNER)
    norm("output_norm")
    # Every token that is not a word gets the score 0, so that the answer consists of words.
    output = rng.normal(size=(tokens, _WIDTH)).astype(np.float32)
    output[: -len(_WORDS)] = 0.0
    writer.add_tensor("output.weight", output)


def serve(path: str) -> None:
    """Run llama.cpp's server over the model until standard input ends."""
    import xllamacpp

    settings = xllamacpp.CommonParams()
    settings.model.path = path
    settings.hostnames = ["127.0.0.1"]
    settings.port = 0
    settings.n_ctx = settings.n_batch = settings.n_ubatch = _CONTEXT
    settings.n_parallel = settings.cpuparams.n_threads = 1
    settings.ui = settings.warmup = False
    settings.offline = True
    server = xllamacpp.Server(settings)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    {"make": make, "serve": serve}[sys.argv[1]](sys.argv[2])
