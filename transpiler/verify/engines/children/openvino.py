"""Run as a script with an empty folder: answers JSON lines with prompts of OpenVINO GenAI, which contains google/minja.

It stands alone. The tokenizer that the library wants is made on the spot: a vocabulary of bytes.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from typing import Any

_PACKAGES = ("openvino", "openvino_genai", "openvino_tokenizers", "tokenizers", "transformers")

# What the library says about a template that renders to nothing.
_EMPTY_RESULT = "resulted in an empty string"


def make_tokenizer(folder: str) -> Any:
    """Write a byte-level tokenizer in OpenVINO's form to `folder` and load it."""
    openvino, openvino_genai, openvino_tokenizers, tokenizers, transformers = map(importlib.import_module, _PACKAGES)
    alphabet = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {symbol: index for index, symbol in enumerate([*alphabet, "<s>", "</s>"])}
    plain = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=vocabulary, merges=[]))
    plain.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    plain.decoder = tokenizers.decoders.ByteLevel()
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=plain, bos_token="<s>", eos_token="</s>")
    encoder, decoder = openvino_tokenizers.convert_tokenizer(fast, with_detokenizer=True)
    openvino.save_model(encoder, os.path.join(folder, "openvino_tokenizer.xml"))
    openvino.save_model(decoder, os.path.join(folder, "openvino_detokenizer.xml"))
    return openvino_genai.Tokenizer(folder)


def minja_message(text: str) -> str:
    """Return the first line of what minja says, without the library's advice around it."""
    return text.rpartition("Minja's error: ")[2].partition("\n")[0]


def main(folder: str) -> None:
    """Answer every line of stdin; what the libraries print is kept away from the pipe."""
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    tokenizer = make_tokenizer(folder)
    history_of = importlib.import_module("openvino_genai").ChatHistory
    for line in sys.stdin:
        question = json.loads(line)
        context = question["context"]
        prompt = bool(context.get("add_generation_prompt"))
        # The extra context replaces messages and tools, and keeps minja from rewriting them.
        history = history_of([{"role": "user", "content": "x"}])
        try:
            reply = {"out": tokenizer.apply_chat_template(history, prompt, question["template"], extra_context=context)}
        except RuntimeError as error:
            reply = {"out": ""} if _EMPTY_RESULT in str(error) else {"error": minja_message(str(error))}
        replies.write(json.dumps(reply) + "\n")
        replies.flush()


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    finally:
        os._exit(0)
