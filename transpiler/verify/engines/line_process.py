"""A child process that answers one JSON line for each JSON line, restarted when it dies or hangs."""

from __future__ import annotations

import json
import queue
import subprocess
import threading
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

__all__ = ["LineProcess", "NoReply"]


class NoReply(Exception):
    """The process died, hung, or wrote something that is not a JSON line, twice in a row."""


def _pump(process: subprocess.Popen[bytes], lines: queue.SimpleQueue[bytes]) -> None:
    """Move the lines of `process` into `lines`; an empty one says that it has ended."""
    assert process.stdout is not None
    with process.stdout as stream:
        for line in stream:
            lines.put(line)
    lines.put(b"")


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    if process.stdin is not None:
        with suppress(OSError):  # what was still buffered has no reader any more
            process.stdin.close()


class LineProcess:
    """Asks a child process, one question at a time; safe to use from several threads.

    Args:
        command: the program and its arguments.
        timeout: seconds that one answer may take, the start of the program included.
        renew_after: answers after which a fresh process is taken (for a server that only ever grows).
    """

    def __init__(self, command: Sequence[str], *, timeout: float = 60.0, renew_after: int | None = None) -> None:
        self.command = tuple(command)
        self.timeout = timeout
        self.renew_after = renew_after
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._answers = 0
        self._finalizer: weakref.finalize[Any, Any] | None = None

    def ask(self, question: Mapping[str, object]) -> dict[str, Any]:
        """Send `question` and return the reply; a process that fails is replaced and asked once more.

        Raises:
            NoReply: the second process failed as well.
        """
        line = json.dumps(question).encode() + b"\n"
        with self._lock:
            if self.renew_after is not None and self._answers >= self.renew_after:
                self._stop()
            try:
                return self._attempt(line)
            except NoReply:
                self._stop()
            try:
                return self._attempt(line)
            except NoReply:
                self._stop()
                raise

    def close(self) -> None:
        """End the process, if there is one."""
        with self._lock:
            self._stop()

    def _start(self) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self._lines = queue.SimpleQueue()
        self._answers = 0
        threading.Thread(target=_pump, args=(process, self._lines), daemon=True).start()
        self._finalizer = weakref.finalize(self, _end, process)
        return process

    def _stop(self) -> None:
        if self._finalizer is not None:
            self._finalizer()
        self._process = None

    def _attempt(self, line: bytes) -> dict[str, Any]:
        if self._process is None:
            self._process = self._start()
        stdin = self._process.stdin
        assert stdin is not None
        try:
            stdin.write(line)
            stdin.flush()
        except OSError as error:
            raise NoReply(f"{self.command[0]} has ended") from error
        try:
            reply = self._lines.get(timeout=self.timeout)
        except queue.Empty:
            raise NoReply(f"no answer within {self.timeout:g} seconds") from None
        if not reply:
            raise NoReply(f"{self.command[0]} ended with code {self._process.wait()}")
        try:
            answer = json.loads(reply)
        except ValueError as error:
            raise NoReply(f"not a JSON line: {reply[:80]!r}") from error
        if not isinstance(answer, dict):
            raise NoReply(f"not a JSON object: {reply[:80]!r}")
        self._answers += 1
        return answer
