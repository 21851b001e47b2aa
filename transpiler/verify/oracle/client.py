"""The client of the oracle: one child process, one JSON line a question.

Every answer is Ollama's own, given by its `template`, `openai`, `thinking`, `tools` and `parser` packages.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from transpiler.verify.engines.line_process import LineProcess, NoReply
from transpiler.verify.oracle.build import binary
from transpiler.verify.rendering import Rendering

__all__ = ["FIXED_DATE", "Oracle", "OracleError", "Parsed", "Tags", "TemplateRefused"]

FIXED_DATE = "2025-01-02"
"""What `currentDate` gives unless the caller names another day, or the empty string for today."""


class OracleError(Exception):
    """The oracle died, hung, or did not understand the question."""


class TemplateRefused(Exception):
    """Ollama does not take the template, or the Modelfile, at all; the message is Go's."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """A template that Ollama takes: whether it appends `{{ .Response }}`, and the tree of each named template.

    Trees are nested lists, the kind of node first; `oracle/tree.go` says which. None unless asked for.
    """

    appended: bool
    tree: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Tags:
    """What Ollama infers from a template: the tags around thinking (empty strings where there are none), the text that
    opens a tool call (`{` where there is none), and the lower-cased identifiers that decide the mode."""

    thinking: tuple[str, str]
    tool_call: str
    identifiers: frozenset[str]

    @property
    def thinks(self) -> bool:
        """Whether Ollama's server takes the template for one that can think, and so lets `think` be true by default."""
        return all(self.thinking)


class Oracle:
    """Asks Ollama. A context manager; several threads may share one.

    Args:
        now: the day of `currentDate` as YYYY-MM-DD; the empty string for today.
        timeout: seconds that one answer may take.

    Raises:
        OracleUnavailable: at construction, where there is no Go or the build fails.
    """

    def __init__(self, *, now: str = FIXED_DATE, timeout: float = 60.0) -> None:
        self.now = now
        self._process = LineProcess([str(binary())], timeout=timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the child process; a later question starts another."""
        self._process.close()

    def render(self, template: str, chat: Mapping[str, Any]) -> Rendering:
        """What Ollama renders for one chat; see `render_many`."""
        return self.render_many(template, [chat])[0]

    def render_many(self, template: str, chats: Sequence[Mapping[str, Any]]) -> list[Rendering]:
        """What Ollama's server makes of chats that come to it as OpenAI requests with a field `think`.

        Args:
            template: the text of a Go template.
            chats: `{"messages", "tools", "think"}` with arguments as JSON text (see `chats.to_ollama`), or
                `{"prompt", "suffix", "think"}`.

        Raises:
            TemplateRefused: Ollama does not take the template.
            OracleError: no answer.
        """
        return self._renderings({"template": template, "chats": list(chats), "now": self.now})

    def render_values(
        self, template: str, values: Sequence[Mapping[str, Any]], *, served: bool = False
    ) -> list[Rendering]:
        """What Ollama's `template.Execute` makes of its own values, in the form of the corpus's scenarios.

        With `served`, the three think fields are first set as Ollama's server would set them for such a request.
        """
        return self._renderings({"template": template, "values": list(values), "served": served, "now": self.now})

    def parse(self, template: str, *, tree: bool = False) -> Parsed:
        """Have Ollama parse a template.

        Raises:
            TemplateRefused: with Go's words, such as `template: :1: unclosed action`.
        """
        reply = self._ask({"template": template, "parse": True, "tree": tree})
        return Parsed(reply["appended"], reply.get("tree"))

    def tags(self, template: str) -> Tags:
        """What Ollama infers from a template."""
        reply = self._ask({"template": template, "tags": True})
        opening, closing = reply["thinking"]
        return Tags((opening, closing), reply["tool_call"], frozenset(reply["identifiers"] or ()))

    def modelfile(self, text: str) -> list[tuple[str, str]]:
        """The commands of a Modelfile as Ollama's parser names them (`model` for FROM, a parameter by its own name).

        Raises:
            TemplateRefused: with Ollama's words, such as `no FROM line`.
        """
        return [(name, arguments) for name, arguments in self._ask({"modelfile": text})["commands"]]

    def _renderings(self, request: dict[str, Any]) -> list[Rendering]:
        return [_rendering(result) for result in self._ask(request)["results"]]

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        try:
            # Go would read half of a surrogate pair as U+FFFD and answer for another text.
            json.dumps(request, ensure_ascii=False).encode("utf-8")
            reply = self._process.ask(request)
        except (TypeError, ValueError, RecursionError) as error:
            raise OracleError(f"this can't be asked: {error}") from error
        except NoReply as error:
            raise OracleError(str(error)) from error
        if "error" not in reply:
            return reply
        if reply["phase"] in {"parse", "modelfile"}:
            raise TemplateRefused(reply["error"])
        raise OracleError(f"{reply['phase']}: {reply['error']}")


def _rendering(result: Mapping[str, str]) -> Rendering:
    if "error" in result:
        return Rendering(None, result["error"], result["phase"])
    if "out_base64" in result:  # a cut through a character: no engine can print it, so no text equals it
        return Rendering(base64.b64decode(result["out_base64"]).decode("utf-8", "surrogateescape"))
    return Rendering(result["out"])
