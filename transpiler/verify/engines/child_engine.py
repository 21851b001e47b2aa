"""What the engines in a child process share: the protocol of the pipe, and a clock that stands still.

One request is ``{"template": text, "context": {...}}``, one reply ``{"out": text}`` or ``{"error": text}``.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from datetime import date

from transpiler.verify.engines.base import FIXED_DAY, EngineError
from transpiler.verify.engines.line_process import LineProcess, NoReply

__all__ = ["ChildEngine", "pin_clock"]

# Formats that chat templates ask `strftime_now` for.
_CLOCK_FORMATS = ("%Y-%m-%d", "%d %b %Y", "%d %B %Y", "%B %d, %Y", "%b %d %Y", "%Y", "%m", "%d", "%A", "%B")


def pin_clock(template: str, today: date) -> str:
    """Return `template` with `today` as what ``strftime_now`` tells.

    For engines whose own ``strftime_now`` cannot be replaced from outside: a macro of that name goes in front. A
    template that never asks for the date is returned as it is.
    """
    if "strftime_now" not in template:
        return template
    arms = "".join(
        f"{{%- {'if' if index == 0 else 'elif'} form == '{form}' -%}}{{{{- '{today.strftime(form)}' -}}}}"
        for index, form in enumerate(_CLOCK_FORMATS)
    )
    fallback = "{%- else -%}{{- raise_exception('no fixed date in this format') -}}{%- endif -%}"
    return f"{{%- macro strftime_now(form) -%}}{arms}{fallback}{{%- endmacro -%}}{template}"


class ChildEngine:
    """An engine behind a `LineProcess`.

    Subclasses give `name`, say in `available` what is missing, in `command` what to start, and may change what is sent
    in `prepare`.
    """

    name = ""
    timeout = 60.0
    renew_after: int | None = None

    def __init__(self, today: date = FIXED_DAY) -> None:
        self.today = today
        self._process: LineProcess | None = None
        self._opening = threading.Lock()

    def available(self) -> str | None:
        """Return what is missing here, or None."""
        raise NotImplementedError

    def command(self) -> Sequence[str]:
        """Return the program that answers, with its arguments."""
        raise NotImplementedError

    def prepare(self, template: str, context: Mapping[str, object]) -> tuple[str, dict[str, object]]:
        """Return the template and the context as the child is given them."""
        return pin_clock(template, self.today), dict(context)

    def render(self, template: str, context: Mapping[str, object]) -> str:
        """Render `template`; see `Engine.render`."""
        process = self._open()
        text, values = self.prepare(template, context)
        try:
            reply = process.ask({"template": text, "context": values})
        except NoReply as error:
            raise EngineError(self.name, str(error)) from error
        if "out" in reply:
            return str(reply["out"])
        raise EngineError(self.name, str(reply.get("error")))

    def close(self) -> None:
        """End the child process."""
        with self._opening:
            if self._process is not None:
                self._process.close()
                self._process = None

    def _open(self) -> LineProcess:
        with self._opening:
            if self._process is None:
                reason = self.available()
                if reason is not None:
                    raise EngineError(self.name, reason)
                self._process = LineProcess(self.command(), timeout=self.timeout, renew_after=self.renew_after)
            return self._process
