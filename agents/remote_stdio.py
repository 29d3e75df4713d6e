"""Agents of others as child processes: one JSON object a line on their standard input and output.

``{"n": 3, "call": "decide", "body": {…}}`` goes in, ``{"n": 3, "body": {…}}`` or ``{"n": 3, "error": {…}}`` comes out,
in any order. The bodies are those of HTTP. The child gets a process group of its own, which ends with the session; its
standard error is kept apart. Should proact be killed outright, a child that reads its input sees its end; on Linux
the system kills the child itself, also one that does not read. What that one has started is left there.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import itertools
import os
import shlex
import signal
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

from agents.base import agents
from agents.remote import Joined
from agents.remote_protocol import MOST_BYTES, RemoteError, encoded, read_json, unwrapped
from simulator.core.errors import UsageError, quote
from simulator.endpoint.redact import shown

__all__ = ["Stdio", "StdioWire", "argv_of"]

_LEAVE_S = 0.8  # to end by itself at the end of its input, and again after SIGTERM
_DRAIN_S = 0.2  # what a dead process wrote may still be on its way
_TAIL = 4000
_MOST_WAITING = 64_000_000
# Ends of lines for JavaScript and for Python's splitlines, though not for JSON.
_ENDS = ((b"\xe2\x80\xa8", rb"\u2028"), (b"\xe2\x80\xa9", rb"\u2029"), (b"\xc2\x85", rb"\u0085"))


def argv_of(cmd: str) -> list[str]:
    """A command as its words.

    Raises:
        UsageError: none, or an open quotation.
    """
    try:
        words = shlex.split(cmd)
    except ValueError as error:
        raise UsageError(f"agent stdio: the command {quote(cmd)} cannot be read: {error}") from None
    if not words:
        raise UsageError('agent stdio: name a command, as in stdio:cmd="python3 agent.py"')
    return words


class _Child(asyncio.SubprocessProtocol):
    """What a child process says, put together into lines. Callbacks only: no task of ours outlives a call.

    Attributes:
        answers: who waits for which number.
        last_words: the end of its standard error.
        ended: done once the process is gone, with its exit code.
        extra: lines that answered a call that nobody waits for any more.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._line, self._skipping = bytearray(), False
        self._transport: asyncio.SubprocessTransport | None = None
        self._fault: RemoteError | None = None
        self.numbers = itertools.count(1)
        self.asked = 0
        self.extra = 0
        self.answers: dict[int, asyncio.Future[Mapping[str, Any]]] = {}
        self.last_words = bytearray()
        self.ended: asyncio.Future[int] = loop.create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.SubprocessTransport, transport)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 2:
            self.last_words += data
            del self.last_words[:-_TAIL]
            return
        *lines, rest = data.split(b"\n")
        for line in lines:
            self._line += line
            whole, self._line = bytes(self._line), bytearray()
            if self._skipping:
                self._skipping = False
            elif whole.strip():
                self._take(whole)
        if not self._skipping:
            self._line += rest
        if len(self._line) > MOST_BYTES:
            self._line, self._skipping = bytearray(), True
            self._fail(RemoteError("too_large", f"a line of over {MOST_BYTES / 1e6:g} MB on its standard output"))

    def _take(self, line: bytes) -> None:
        try:
            said = read_json(line)
        except RemoteError as error:
            what = "a line on its standard output is no answer (prints belong on standard error)"
            return self._fail(RemoteError("bad_json", f"{what}: {error.sentence}"))
        n = said.get("n") if isinstance(said, dict) else None
        if n is None and isinstance(said, dict) and said.get("error") is not None:
            try:
                unwrapped(said)
            except RemoteError as error:  # what it could not read had no number
                self._fail(error)
        elif type(n) is not int or not 0 < n <= self.asked:
            self._fail(RemoteError("bad_answer", "a line on its standard output has no number 'n' of a call"))
        elif (waiter := self.answers.pop(n, None)) is not None and not waiter.done():
            waiter.set_result(said)
        else:
            self.extra += 1

    def _fail(self, error: RemoteError) -> None:
        """All that wait get it; where nobody waits, the next one does: nothing is passed over in silence."""
        waiting, self.answers = self.answers, {}
        for waiter in waiting.values():
            if not waiter.done():
                waiter.set_exception(error)
        self._fault = None if waiting else error

    def fault(self) -> RemoteError | None:
        """What went wrong while nobody waited; told once."""
        fault, self._fault = self._fault, None
        return fault

    def process_exited(self) -> None:
        transport = self._transport
        assert transport is not None
        kill_group(transport.get_pid(), signal.SIGTERM)  # what it left behind goes with it, and so do its pipes
        if not self.ended.done():
            self.ended.set_result(transport.get_returncode() or 0)
        self._loop.call_later(_DRAIN_S, self._gone)

    def connection_lost(self, exc: Exception | None) -> None:
        self._gone()

    def _gone(self) -> None:
        if self.answers:
            self._fail(self.gone())

    def gone(self) -> RemoteError:
        """That it is gone, with what is known of why."""
        code = self.ended.result() if self.ended.done() else 0
        how = f"exit code {code}" if code >= 0 else f"signal {-code}"
        words = self.last_words.decode("utf-8", "replace").strip().splitlines()
        why = f"; its last words: {shown(words[-1], None)}" if words else ""
        return RemoteError("ended", f"the process has ended ({how}){why}")


def kill_group(pid: int, number: int) -> None:
    """Send a signal to all of a process group, where there are such and some of it lives."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, number)


class StdioWire:
    """A child process, started at the first call.

    Args:
        argv: what to start.
        log: a file that its standard error is added to; else only its end is kept, for the sentence on how it ended.

    Attributes:
        killed: it did not end at the end of its input.
    """

    near = True
    killed = False

    def __init__(self, argv: list[str], log: Path | None = None) -> None:
        self._argv, self._log = argv, log
        self._transport: asyncio.SubprocessTransport | None = None
        self._child: _Child | None = None

    @property
    def pid(self) -> int | None:
        """Of the child, which is that of its group too."""
        return None if self._transport is None else self._transport.get_pid()

    async def _started(self) -> _Child:
        if self._child is None:
            loop = asyncio.get_running_loop()
            errors: Any = asyncio.subprocess.PIPE
            if self._log is not None:
                errors = await asyncio.to_thread(self._log.open, "ab")
            try:
                self._transport, self._child = await loop.subprocess_exec(
                    lambda: _Child(loop), *self._argv, stderr=errors, start_new_session=True, preexec_fn=_bound()
                )
            except OSError as error:
                why = error.strerror or type(error).__name__
                raise RemoteError("ended", f"{quote(self._argv[0])} cannot be started ({why})") from None
            finally:
                if self._log is not None:
                    errors.close()
        return self._child

    async def ask(self, call: str, body: Mapping[str, Any], limit_s: float) -> Mapping[str, Any]:
        """See ``agents.remote.Wire``.

        Raises:
            RemoteError: no answer.
        """
        return await self.send({"call": call, "body": body}, call, limit_s)

    async def send(self, said: Mapping[str, Any] | bytes, call: str, limit_s: float) -> Mapping[str, Any]:
        """The answer to one line; bytes, which have no number, are sent as they are.

        Raises:
            RemoteError: none in time, an error, or the process is gone.
        """
        child = await self._started()
        if (fault := child.fault()) is not None:
            raise fault
        if child.ended.done():
            raise child.gone()
        n = child.asked = next(child.numbers)
        self._write(said if isinstance(said, bytes) else _line({"n": n, **said}))
        waiter = child.answers[n] = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(limit_s):
                answer = await waiter
        except TimeoutError:
            raise RemoteError("timeout", f"no answer to {call} within {limit_s:g} s") from None
        finally:
            child.answers.pop(n, None)
        return unwrapped(answer if answer.get("error") is not None else answer.get("body"))

    def _write(self, line: bytes) -> None:
        assert self._transport is not None
        pipe: Any = self._transport.get_pipe_transport(0)
        if pipe is None or pipe.is_closing():
            raise RemoteError("ended", "the process has closed its standard input")
        if pipe.get_write_buffer_size() > _MOST_WAITING:
            raise RemoteError("timeout", "the process does not read its standard input")
        pipe.write(line)

    async def close(self) -> None:
        """Let it end at the end of its input; else end it, and in any case all that it started."""
        transport, child = self._transport, self._child
        self._transport = self._child = None
        if transport is None or child is None:
            return
        pid = transport.get_pid()
        try:
            pipe: Any = transport.get_pipe_transport(0)
            if pipe is not None:
                pipe.close()
            for number in (signal.SIGTERM, None):
                if await _ends(child):
                    break
                if number is not None:
                    self.killed = True
                    kill_group(pid, number)
        finally:
            if not child.ended.done():
                kill_group(pid, getattr(signal, "SIGKILL", signal.SIGTERM))
                with contextlib.suppress(ProcessLookupError):
                    transport.kill()
            await _ends(child)
            transport.close()


_PR_SET_PDEATHSIG = 1  # of linux/prctl.h


def _bound() -> Callable[[], None] | None:
    """What the child does before it becomes the agent: ask to be killed when we are. None where the system cannot.

    It goes by the thread that starts the child; an agent's thread lives until its session ends. Between fork and exec
    only what is ready is used, since other threads may hold locks.
    """
    if not sys.platform.startswith("linux"):
        return None
    try:
        prctl = ctypes.CDLL(None).prctl
    except (OSError, AttributeError):
        return None
    parent, kill, getppid, leave = os.getpid(), int(signal.SIGKILL), os.getppid, os._exit

    def ask() -> None:
        prctl(_PR_SET_PDEATHSIG, kill, 0, 0, 0)
        if getppid() != parent:  # gone before it was asked
            leave(1)

    return ask


async def _ends(child: _Child) -> bool:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_LEAVE_S):
            await asyncio.shield(child.ended)
    return child.ended.done()


def _line(said: Mapping[str, Any]) -> bytes:
    line = encoded(said)
    for raw, escaped in _ENDS:
        line = line.replace(raw, escaped)
    return line + b"\n"


@agents.register("stdio")
class Stdio(Joined):
    """An agent that is started as a child process and answers on its standard output.

    Args:
        cmd: the command, without commas; its words may be quoted.
        limit_s: how long one decision may take.
        log: a file that its standard error is added to.
        expect: ``name version`` that must answer.
        stateless: it promises that no decision depends on another.
    """

    def __init__(self, cmd: str, limit_s: float = 55.0, log: str | None = None, expect: str | None = None,
                 stateless: bool = False) -> None:  # fmt: skip
        wire = StdioWire(argv_of(cmd), None if log is None else Path(log))
        super().__init__(wire, limit_s, expect, stateless)
