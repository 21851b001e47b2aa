"""A model of some hundred kilobytes that llama.cpp loads: one layer of noise, and a vocabulary of single bytes.

Only its chat template is ever used, so nothing in it has to make sense; it has to be complete.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

__all__ = ["write_tiny_gguf"]

_WIDTH = 32
_HEADS = 2
_FEED_FORWARD = 64
_CONTEXT = 256


def _add_vocabulary(writer: Any, gguf: Any, *, add_bos: bool) -> int:
    """Write a SentencePiece vocabulary of three special tokens, all bytes and two pieces; return its size."""
    kinds = gguf.TokenType
    entries: list[tuple[bytes, float, Any]] = [
        (b"<unk>", 0.0, kinds.UNKNOWN),
        (b"<s>", 0.0, kinds.CONTROL),
        (b"</s>", 0.0, kinds.CONTROL),
        *((f"<0x{byte:02X}>".encode(), 0.0, kinds.BYTE) for byte in range(256)),
        ("▁".encode(), -1.0, kinds.NORMAL),
        (b"e", -1.0, kinds.NORMAL),
    ]
    writer.add_tokenizer_model("llama")
    writer.add_token_list([text for text, _, _ in entries])
    writer.add_token_scores([score for _, score, _ in entries])
    writer.add_token_types([kind for _, _, kind in entries])
    writer.add_unk_token_id(0)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    # The server strips a leading BOS and a trailing EOS from the prompt where the vocabulary adds them.
    writer.add_add_bos_token(add_bos)
    writer.add_add_eos_token(False)
    return len(entries)


def _tensor_shapes(vocabulary: int) -> dict[str, tuple[int, ...]]:
    layer = {
        **{f"attn_{part}": (_WIDTH, _WIDTH) for part in ("q", "k", "v", "output")},
        "attn_norm": (_WIDTH,),
        "ffn_norm": (_WIDTH,),
        "ffn_gate": (_FEED_FORWARD, _WIDTH),
        "ffn_up": (_FEED_FORWARD, _WIDTH),
        "ffn_down": (_WIDTH, _FEED_FORWARD),
    }
    return {
        "token_embd.weight": (vocabulary, _WIDTH),
        "output.weight": (vocabulary, _WIDTH),
        "output_norm.weight": (_WIDTH,),
        **{f"blk.0.{name}.weight": shape for name, shape in layer.items()},
    }


def write_tiny_gguf(path: Path, *, add_bos: bool = False) -> None:
    """Write the model to `path`; needs the packages ``gguf`` and ``numpy``.

    `add_bos`: whether its tokenizer puts a BOS token in front of every text.
    """
    gguf = importlib.import_module("gguf")
    numpy = importlib.import_module("numpy")
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("tiny")
    writer.add_context_length(_CONTEXT)
    writer.add_embedding_length(_WIDTH)
    writer.add_block_count(1)
    writer.add_feed_forward_length(_FEED_FORWARD)
    writer.add_head_count(_HEADS)
    writer.add_head_count_kv(_HEADS)
    writer.add_rope_dimension_count(_WIDTH // _HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    vocabulary = _add_vocabulary(writer, gguf, add_bos=add_bos)
    writer.add_vocab_size(vocabulary)
    noise = numpy.random.default_rng(0)
    for name, shape in _tensor_shapes(vocabulary).items():
        writer.add_tensor(name, noise.normal(scale=0.02, size=shape).astype(numpy.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
