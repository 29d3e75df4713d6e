"""Calls to an agent over HTTP: ``GET /proact/health``, ``POST /proact/open``, ``decide``, ``finish``, ``close``.

No redirect is followed and no proxy of the environment is used, since the screen of a person goes along. The words of a
library are not repeated, and those of the server are blotted of the token.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from agents.remote_protocol import MOST_BYTES, RemoteError, encoded, read_json, unwrapped
from simulator.core.errors import UsageError, quote
from simulator.core.operators import operators
from simulator.endpoint.address import is_here
from simulator.endpoint.redact import shown
from simulator.endpoint.types import shown_url

if TYPE_CHECKING:
    import aiohttp

__all__ = ["HttpWire", "url_of"]

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
_KEEP_S = 1.5  # servers hang up after 2 s (gunicorn), 5 s (uvicorn, Node): to be asked just then would be an error
_CONNECT_S = 10.0
_MOST_OF_AN_ERROR = 65536


def url_of(url: str, token: str | None) -> str:
    """The address, checked; no sentence repeats a token or a user's part of an address.

    Raises:
        UsageError: not an address, one with a secret in it, another machine without a token, or no such variable.
    """
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        parts, host = urlsplit(""), None
    if host is None or parts.scheme not in ("http", "https"):
        raise UsageError(f"agent remote: {quote(shown_url(url))} is no address such as http://127.0.0.1:8900")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise UsageError("agent remote: an address with a user, a '?' or a '#' in it would be written into the log; "
                         "put the token into an environment variable and name it: token=NAME")  # fmt: skip
    if token is not None and (_NAME.fullmatch(token) is None or not os.environ.get(token)):
        raise UsageError("agent remote: token names the environment variable that holds the token, and there is none "
                         "of that name (a token itself would be written into the log)")  # fmt: skip
    if token is None and not is_here(host):
        raise UsageError(f"agent remote: {quote(host)} is another machine, and what is on the screen would go there: "
                         "name a token with token=VARIABLE, or use a server on 127.0.0.1")  # fmt: skip
    return url.rstrip("/")


class HttpWire:
    """The connections to one agent; opened in the loop that first uses them.

    Args:
        url: as ``url_of`` gave it.
        token: name of the variable that holds the token, read at each call and kept nowhere.

    Attributes:
        connections: how many were made.
        content_type: of the last answer.
    """

    def __init__(self, url: str, token: str | None = None) -> None:
        self._url, self._variable = url, token
        self._session: aiohttp.ClientSession | None = None
        self.connections = 0
        self.content_type = ""

    @property
    def near(self) -> bool:
        """See ``agents.remote.Wire``."""
        return is_here(urlsplit(self._url).hostname or "")

    @property
    def _token(self) -> str | None:
        return None if self._variable is None else os.environ.get(self._variable) or None

    def _opened(self) -> aiohttp.ClientSession:
        import aiohttp  # for the sake of those who only list agents

        if self._session is None:
            if self._url.startswith("http://") and not self.near:
                operators().warning("what is on the screen goes to the agent in the clear", agent=self._url)
            trace = aiohttp.TraceConfig()

            async def count(*_: object) -> None:
                self.connections += 1

            trace.on_connection_create_end.append(count)
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=_KEEP_S),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_S),
                trace_configs=[trace],
                auto_decompress=False,  # a small answer cannot become a huge one
                trust_env=False,
            )
        return self._session

    async def ask(self, call: str, body: Mapping[str, Any], limit_s: float) -> Mapping[str, Any]:
        """See ``agents.remote.Wire``.

        Raises:
            RemoteError: no answer.
        """
        data = None if call == "health" else encoded(body)
        said = await self.send("GET" if data is None else "POST", call, data, limit_s)
        return unwrapped(read_json(said), self._token)

    async def send(self, method: str, call: str, data: bytes | None, limit_s: float) -> bytes:
        """The bytes of an answer of status 200.

        Raises:
            RemoteError: another status, a fault of the connection, or no answer in time.
        """
        try:
            async with asyncio.timeout(limit_s):
                return await self._sent(method, f"{self._url}/proact/{call}", data)
        except TimeoutError:
            raise RemoteError("timeout", f"no answer to {call} within {limit_s:g} s") from None

    async def _sent(self, method: str, url: str, data: bytes | None) -> bytes:
        import aiohttp

        headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
        if data is not None:
            headers["Content-Type"] = "application/json"
        if (token := self._token) is not None:
            if not token.isascii() or not token.isprintable() or token != token.strip():
                raise RemoteError("unauthorized", f"the token in {self._variable} cannot stand in a header")
            headers["Authorization"] = f"Bearer {token}"
        began = False
        try:
            async with self._opened().request(method, url, data=data, headers=headers, allow_redirects=False) as answer:
                began = True
                self.content_type = answer.content_type
                if answer.status != 200:
                    raise await self._refusal(answer, token)
                return await _whole(answer, MOST_BYTES)
        except (aiohttp.ClientError, OSError, ValueError) as error:
            if isinstance(error, TimeoutError) and not isinstance(error, aiohttp.ServerTimeoutError):
                raise
            if began:
                raise RemoteError("connection", "it closed in the middle of its answer") from None
            raise RemoteError("connection", _why(error)) from None

    async def _refusal(self, answer: aiohttp.ClientResponse, token: str | None) -> RemoteError:
        status = answer.status
        if status in (401, 403):  # what it says of the token is nobody's business
            said = "the token is not accepted" if token else "it wants a token (token=VARIABLE)"
            return RemoteError("unauthorized", f"{said} (status {status})")
        if 300 <= status < 400:
            return RemoteError("refused", f"it redirects (status {status}); name the server itself")
        try:
            told = await _whole(answer, _MOST_OF_AN_ERROR)
        except RemoteError:
            told = b""
        try:
            unwrapped(read_json(told), token)
        except RemoteError as error:
            if error.kind == "agent":
                return RemoteError("agent", f"{error.sentence} (status {status})")
        return RemoteError(
            "refused", f"it answered with status {status}: {shown(told.decode('utf-8', 'replace'), token)}"
        )

    async def close(self) -> None:
        """See ``agents.remote.Wire``."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()


async def _whole(answer: aiohttp.ClientResponse, most: int) -> bytes:
    got = bytearray()
    async for piece in answer.content.iter_any():
        got += piece
        if len(got) > most:
            answer.close()
            raise RemoteError("too_large", f"the answer is over {most / 1e6:g} MB")
    return bytes(got)


def _why(error: BaseException) -> str:
    """Without the library's own words."""
    import aiohttp

    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return "the name of its machine is not known"
    if isinstance(error, aiohttp.ServerTimeoutError):
        return f"no connection within {_CONNECT_S:g} s"
    if isinstance(error, aiohttp.ServerDisconnectedError):
        return "it closed the connection without an answer"
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return "its certificate is not trusted"
    if isinstance(error, aiohttp.ClientResponseError):
        return "what it answers is not HTTP"
    number = getattr(error, "errno", None) or getattr(getattr(error, "os_error", None), "errno", None)
    if isinstance(number, int) and number > 0:
        return f"it cannot be reached ({os.strerror(number)})"
    return f"it cannot be reached ({type(error).__name__})"
