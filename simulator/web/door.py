"""The door of the pages' server: how many connections it holds, and what is said to those that speak no HTTP.

A process has a limited number of open files, and a live run needs some of them to write what it records: nobody may
use them up by connecting. Where there are too many connections, the oldest of those that have not shown that they may
ask is let go of, or else the newest.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, cast

from aiohttp import web

from simulator.core.operators import operators
from simulator.timing.clock import yield_once

__all__ = ["MOST", "Door"]

MOST = 128
"""Connections at once, far below the usual 1024 open files of a process."""
BACKLOG = 64
TURNS = 5
"""Of the loop, after which nothing is left of a connection: asyncio takes two to announce one that was accepted, one to
close it, and what answered on it ends in two more."""
_NO_FILES = "socket.accept()"


class Door:
    """Where connections come in.

    Args:
        server: what answers on them.
        headers: what every answer carries.
        most: how many there may be at once.
    """

    def __init__(self, server: web.Server, headers: Mapping[str, str], most: int = MOST) -> None:
        self._server, self._most = server, most
        self.headers = headers
        self._open: dict[web.RequestHandler, asyncio.Transport] = {}
        self._known = set[web.RequestHandler]()
        self._listening: asyncio.Server | None = None
        self._closed = False

    async def listen(self, host: str, port: int) -> int:
        """Take connections from now on; gives the port.

        Raises:
            OSError: the address cannot be had.
        """
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(_told_once(loop.get_exception_handler()))
        self._listening = await loop.create_server(self._connection, host, port, backlog=BACKLOG)
        return int(self._listening.sockets[0].getsockname()[1])

    async def close(self) -> None:
        """Take no more of them; what was accepted before and comes only now goes at once."""
        self._closed = True
        listening, self._listening = self._listening, None
        if listening is None:
            return
        for socket in listening.sockets:
            with suppress(NotImplementedError):  # Windows, where nothing comes between accepting and what follows
                asyncio.get_running_loop().remove_reader(socket.fileno())
        await yield_once()  # asyncio loses the sockets of those that it accepted a turn before its server closes
        listening.close()

    async def end(self) -> None:
        """Let go of all of them, also of those whose other end does not fetch what was sent."""
        for connection in list(self._open):
            self._let_go(connection)
        for _ in range(TURNS):
            await yield_once()

    def known(self, connection: object) -> None:
        """Who is at its other end may ask: it stays."""
        if connection in self._open:
            self._known.add(connection)

    def came(self, connection: web.RequestHandler, transport: asyncio.Transport) -> None:
        """One more; where that is one too many, one goes."""
        self._open[connection] = transport
        if self._closed:
            self._let_go(connection)
        elif len(self._open) > self._most:
            self._let_go(next(one for one in self._open if one not in self._known))  # the new one at the latest

    def went(self, connection: web.RequestHandler) -> None:
        """One less."""
        self._open.pop(connection, None)
        self._known.discard(connection)

    def _let_go(self, connection: web.RequestHandler) -> None:
        transport = self._open[connection]
        self.went(connection)
        transport.abort()

    def _connection(self) -> _Connection:
        loop = asyncio.get_running_loop()
        return _Connection(self, self._server, loop=loop, access_log=None, keepalive_timeout=30, auto_decompress=False)


class _Connection(web.RequestHandler):
    """One connection; what is no HTTP gets a sentence, and the terminal hears nothing of it: it may hold a token."""

    __slots__ = ("_door",)

    def __init__(self, door: Door, manager: web.Server, **how: Any) -> None:
        super().__init__(manager, **how)
        self._door = door

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._door.came(self, cast(asyncio.Transport, transport))

    def connection_lost(self, exc: BaseException | None) -> None:
        self._door.went(self)
        super().connection_lost(exc)

    def handle_error(
        self, request: web.BaseRequest, status: int = 500, exc: BaseException | None = None, message: str | None = None
    ) -> web.StreamResponse:
        if request.writer.output_size > 0:
            raise ConnectionError("an answer has begun, there is no other one")
        if status >= 500:
            operators().error("page failed", page="?", kind=type(exc).__name__)
        said = "this is a fault of proact's own" if status >= 500 else "this is no request that can be read"
        refused = web.Response(status=status, text=json.dumps({"error": said}), content_type="application/json")
        refused.headers.update({**self._door.headers, "Server": "proact"})  # else aiohttp would name its version
        refused.force_close()
        return refused


def _told_once(before: Callable[[asyncio.AbstractEventLoop, dict[str, Any]], object] | None) -> Callable[..., object]:
    """A loop tells each connection that it has no file for; once is enough."""
    told: list[bool] = []

    def tell(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        if _NO_FILES not in context.get("message", ""):
            before(loop, context) if before is not None else loop.default_exception_handler(context)
        elif not told:
            told.append(True)
            operators().warning("no more files can be opened: pages wait")

    return tell
