"""The terminal in front of a person: lines go out, single keys come in, whatever stdin and stdout are used for."""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import os
import select
import sys
import threading
from collections import deque

from simulator.core.errors import ProactError, UsageError

__all__ = ["Terminal", "TerminalLost", "plain"]

_PLACE = "/dev/tty"
_UP = "\x1b[1A"
_CLEAR = "\r\x1b[2K"  # a line of progress may stand there, and is drawn again below


class TerminalLost(ProactError):
    """The terminal was closed: nobody is there any more."""


def plain(text: str, width: int = 200) -> str:
    """A title as one line without control characters: the screen of a recording does not write to this one."""
    kept = "".join(c if c.isprintable() else " " if c.isspace() else "�" for c in text[: width + 1])
    return kept if len(text) <= width else kept[: width - 1] + "…"


class Terminal:
    """Single keys without Enter, until ``close``. Opened and read in one event loop.

    Raises:
        UsageError: there is no terminal.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._keys: deque[str] = deque()
        self._waiter: asyncio.Future[None] | None = None
        self._lost = False
        self._decoder = codecs.getincrementaldecoder("utf-8")("ignore")  # a letter may come in two pieces
        self._stop_r, self._stop_w = os.pipe()
        try:
            self._fd = os.open(_PLACE, os.O_RDWR)
        except OSError as error:
            os.close(self._stop_r)
            os.close(self._stop_w)
            raise UsageError("there is no terminal here to show anything on and to read keys from") from error
        self._undo = _SingleKeys(self._fd)
        self._thread = threading.Thread(target=self._listen, name="terminal", daemon=True)
        self._thread.start()

    @staticmethod
    def check() -> None:
        """Whether there is a terminal.

        Raises:
            UsageError: there is none.
        """
        if sys.platform == "win32":
            raise UsageError("agent human: terminals of Windows are not supported; use it from WSL")
        try:
            os.close(os.open(_PLACE, os.O_RDWR))
        except OSError as error:
            raise UsageError("agent human: it needs a terminal, and there is none here") from error

    def say(self, line: str, *, over: bool = False) -> None:
        """One line for the person; ``over`` the last one."""
        up = f"{_CLEAR}{_UP}" if over else ""
        with contextlib.suppress(OSError):  # closed: the next key is asked for in vain
            os.write(self._fd, f"{up}{_CLEAR}{line}\r\n".encode("utf-8", "replace"))

    async def key(self, limit_s: float | None) -> str | None:
        """The next key, also one pressed before; None if none comes in time.

        Raises:
            TerminalLost: the terminal was closed.
        """
        if not self._keys and not self._lost:
            self._waiter = self._loop.create_future()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(limit_s):
                    await self._waiter
            self._waiter = None
        if self._keys:
            return self._keys.popleft()
        if self._lost:
            raise TerminalLost("the terminal was closed")
        return None

    def _listen(self) -> None:
        """In a thread of its own: not every system's event loop can wait for a terminal."""
        while True:
            ready, _, _ = select.select([self._fd, self._stop_r], [], [])
            if self._stop_r in ready:
                return
            try:
                read = os.read(self._fd, 256)
            except OSError:
                read = b""
            with contextlib.suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._heard, read)
            if not read:
                return

    def _heard(self, read: bytes) -> None:
        self._lost = not read
        if not read.startswith(b"\x1b"):  # arrows and the like send several characters
            self._keys.extend(self._decoder.decode(read))
        if self._waiter is not None and not self._waiter.done() and (self._keys or self._lost):
            self._waiter.set_result(None)

    def close(self) -> None:
        """As it was before."""
        os.write(self._stop_w, b".")
        self._thread.join(1)
        self._undo()
        for fd in (self._fd, self._stop_r, self._stop_w):
            os.close(fd)


class _SingleKeys:
    """Keys come one by one and are not echoed; Ctrl-C stays what it is. Called, it puts things back."""

    def __init__(self, fd: int) -> None:
        import termios
        import tty

        self._fd, self._before = fd, termios.tcgetattr(fd)
        tty.setcbreak(fd, termios.TCSANOW)

    def __call__(self) -> None:
        import termios

        with contextlib.suppress(termios.error):  # closed
            termios.tcsetattr(self._fd, termios.TCSANOW, self._before)
