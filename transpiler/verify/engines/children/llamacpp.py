"""Run as a script with the path of a GGUF: answers JSON lines with prompts of llama.cpp's own server.

It stands alone (nothing of this package is imported). A server is never destroyed, since destroying one deadlocks now
and then: they are kept, one a template, and the process leaves without cleaning up.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import sys
import tempfile
import urllib.error
import urllib.request
from typing import Any, BinaryIO

IN_EARNEST = "rendered_in_earnest"

_REFUSAL = re.compile(rb"chat template parsing error: (.*)")
_NO_PARSER = "parser generation failed: [json.exception"


def start(model: str, template: str) -> Any:
    """Return a server whose chat template is `template`; it refuses one that fails on its own test chats."""
    xllamacpp = importlib.import_module("xllamacpp")
    parameters = xllamacpp.CommonParams()
    parameters.model.path = model
    parameters.n_ctx = 256
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = 1
    parameters.warmup = False
    parameters.port = 0
    parameters.use_jinja = True
    parameters.prefill_assistant = False
    parameters.chat_template = template
    return xllamacpp.Server(parameters)


def start_anyway(model: str, template: str, log: BinaryIO) -> Any:
    """Return a server for `template`, also where only the reading of answers fails.

    From what a template makes of its test chats the server works out a parser for the model's answers, and refuses to
    start where it finds none (a prompt that is one JSON document, say). That is no fault of the prompt: such a template
    is shown to the server as an empty one until it is asked in earnest.

    Raises:
        RuntimeError: the server does not start; its own words are the message.
    """
    log.seek(0, os.SEEK_END)
    try:
        return start(model, template)
    except RuntimeError as error:
        log.seek(0)
        said = _REFUSAL.findall(log.read())
        log.truncate(0)
        if not said:
            raise
        reason = said[-1].decode(errors="replace")
        if _NO_PARSER not in reason:
            raise RuntimeError(reason) from error
    return start(model, f"{{%- if {IN_EARNEST} -%}}{template}{{%- endif -%}}")


def apply_template(server: Any, context: dict[str, Any]) -> str:
    """Render `context`: all of it goes as template variables, which replace the request's own messages and tools."""
    body: dict[str, Any] = {
        "messages": [{"role": "user", "content": "x"}],
        "chat_template_kwargs": {**context, IN_EARNEST: True},
        # Variables cannot turn this one off; a false one is undefined to the template.
        "add_generation_prompt": bool(context.get("add_generation_prompt")),
    }
    request = urllib.request.Request(
        server.listening_address + "/apply-template", json.dumps(body).encode(), {"content-type": "application/json"}
    )
    with urllib.request.urlopen(request) as response:
        return str(json.load(response)["prompt"])


def explain(error: urllib.error.HTTPError) -> str:
    """Return the server's message, whatever form its body has."""
    text = error.read().decode(errors="replace")
    try:
        return str(json.loads(text)["error"]["message"])
    except (ValueError, LookupError, TypeError):
        return f"HTTP {error.code}: {text}"


def main(model: str) -> None:
    """Answer every line of stdin; llama.cpp's own log goes to a file of its own instead of the pipe."""
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    log = tempfile.TemporaryFile()  # noqa: SIM115 (open as long as the process lives)
    os.dup2(log.fileno(), 1)
    os.dup2(log.fileno(), 2)
    servers: dict[str, Any] = {}
    for line in sys.stdin:
        question = json.loads(line)
        template = question["template"]
        try:
            if template not in servers:
                servers[template] = start_anyway(model, template, log)
            reply = {"out": apply_template(servers[template], question["context"])}
        except urllib.error.HTTPError as error:
            reply = {"error": explain(error)}
        except RuntimeError as error:
            reply = {"error": f"the server does not start with this template: {error}"}
        replies.write(json.dumps(reply) + "\n")
        replies.flush()


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    finally:
        os._exit(0)
