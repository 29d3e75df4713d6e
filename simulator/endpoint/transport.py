"""One HTTP request to a model server: what it answered, or why it did not, as one of the kinds of ``EndpointError``.

No redirect is followed and no proxy of the environment is used, since the screen of a person and a key go along. What a
server says is blotted of the key; what a library says is not repeated at all: it may hold anything.
"""

from __future__ import annotations

import asyncio
import os
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from io import BytesIO
from urllib.parse import urlsplit

import aiohttp

from simulator.core.errors import UsageError
from simulator.core.operators import operators
from simulator.endpoint.address import check_address
from simulator.endpoint.answer import error_text, parsed
from simulator.endpoint.redact import shown
from simulator.endpoint.retry import asks_to_wait, is_again, retry_after_ns
from simulator.endpoint.sse import MOST_OF_A_REPLY
from simulator.endpoint.types import EndpointError, ErrorKind, ModelChoice, shown_url

__all__ = ["Transport", "base_url_of", "only_model"]

_HERE = ("localhost", "127.0.0.1", "::1")
_MOST_OF_AN_ERROR = 65536  # bytes of what a server says about it
_CONNECT_S = 10.0
_TOO_MUCH = ("context_length", "context length", "context size", "maximum context", "too many tokens", "too large")
_KINDS: Mapping[int, ErrorKind] = {401: "unauthorized", 403: "unauthorized", 404: "not_found", 413: "too_large",
                                   429: "rate_limited"}  # fmt: skip


def base_url_of(choice: ModelChoice) -> str:
    """Where the server is, by the choice or by ``OPENAI_BASE_URL``; nothing is ever sent where nobody said.

    Raises:
        UsageError: neither says, or it is no address, or one with a password in it.
    """
    url = choice.base_url or os.environ.get("OPENAI_BASE_URL")
    if not url:
        raise UsageError(
            "no model server is named: give --base-url or OPENAI_BASE_URL (such as http://127.0.0.1:8000/v1)"
        )
    check_address(url, choice.key_variable)
    return url.rstrip("/")


class Transport:
    """The connections to one server. For one event loop.

    Args:
        choice: whom to ask, and with what patience.
    """

    def __init__(self, choice: ModelChoice) -> None:
        self._choice, self._url = choice, base_url_of(choice)
        self._session: aiohttp.ClientSession | None = None

    @property
    def key(self) -> str | None:
        """The key, read from the environment at each call and kept nowhere."""
        return os.environ.get(self._choice.key_variable) or None

    @property
    def where(self) -> str:
        """The server, as it may be shown."""
        return shown_url(self._url) or ""

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None or self._session.closed:
            self._warn_in_the_clear()
            self._session = aiohttp.ClientSession(
                # Places are given by ``limit``; a second limit here would queue out of sight.
                connector=aiohttp.TCPConnector(limit=0),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_S),
                read_bufsize=2**20,  # the usual 64 KB made a client pause at long answers
                trust_env=False,
                auto_decompress=True,
            )
        return self._session

    def _warn_in_the_clear(self) -> None:
        parts = urlsplit(self._url)
        if parts.scheme == "http" and parts.hostname not in _HERE:
            operators().warning("texts and pictures of the screen go to the model in the clear", server=self.where)

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    @asynccontextmanager
    async def post(self, path: str, body: bytes) -> AsyncIterator[aiohttp.ClientResponse]:
        """The response to a body of JSON, once its status says that an answer follows.

        Raises:
            EndpointError: no answer follows, or the connection failed inside the body.
        """
        headers = {"Content-Type": "application/json"}
        async with self._request("POST", path, headers, BytesIO(body)) as response:
            yield response

    async def get(self, path: str) -> bytes:
        """A whole answer.

        Raises:
            EndpointError: see ``post``.
        """
        async with self._request("GET", path, {}, None) as response:
            return await self.whole(response)

    @asynccontextmanager
    async def _request(self, method: str, path: str, headers: dict[str, str], body: BytesIO | None
                       ) -> AsyncIterator[aiohttp.ClientResponse]:  # fmt: skip
        key, began = self.key, False
        if key is not None:
            headers["Authorization"] = _authorization(key, self._choice.key_variable)
        try:
            async with self._opened().request(
                method, self._url + path, data=body, headers=headers, allow_redirects=False
            ) as response:
                began = True
                if response.status != 200:
                    raise await self._refusal(response, key)
                yield response
        except EndpointError:
            raise
        except aiohttp.ClientConnectorCertificateError:
            raise EndpointError("connection", f"the certificate of {self.where} is not trusted") from None
        except (aiohttp.ClientError, ssl.SSLError, OSError, ValueError) as error:
            # A socket's time limit on connecting is a TimeoutError, and an OSError; our own limits pass as such.
            if isinstance(error, TimeoutError) and not isinstance(error, aiohttp.ServerTimeoutError):
                raise
            if began:
                raise EndpointError("truncated", f"{self.where} closed in the middle of its answer") from None
            said = f"{self.where} cannot be reached ({_why(error)})"
            raise EndpointError("connection", said, again=not isinstance(error, aiohttp.InvalidURL)) from None

    async def _refusal(self, response: aiohttp.ClientResponse, key: str | None) -> EndpointError:
        """What a status other than 200 means."""
        status = response.status
        if 300 <= status < 400:
            return EndpointError("refused", f"{self.where} redirects (status {status}); name the server itself",
                                 status=status)  # fmt: skip
        if status in (401, 403):  # what it says of the key is nobody's business
            name = self._choice.key_variable
            said = (
                f"{self.where} does not accept the key of {name}"
                if key
                else f"{self.where} wants a key; {name} is not set"
            )
            return EndpointError("unauthorized", f"{said} (status {status})", status=status)
        told = await self._told(response)
        kind: ErrorKind = _KINDS.get(status, "server" if is_again(status) or status >= 500 else "refused")
        if kind == "refused" and any(word in told.casefold() for word in _TOO_MUCH):
            kind = "too_large"
        words = shown(told, key)
        said = f"{self.where} answered with status {status}" + (f": {words}" if words else "")
        wait_ns = retry_after_ns(response.headers)
        return EndpointError(kind, said, status=status, again=is_again(status), retry_after_ns=wait_ns,
                             odd_wait=wait_ns is None and asks_to_wait(response.headers), told=told)  # fmt: skip

    async def _told(self, response: aiohttp.ClientResponse) -> str:
        """The server's own words, for a second at most."""
        got = bytearray()
        try:
            async with asyncio.timeout(1):
                async for piece in response.content.iter_any():
                    got += piece
                    if len(got) >= _MOST_OF_AN_ERROR:
                        break
        except (TimeoutError, aiohttp.ClientError, OSError):
            pass
        try:
            return error_text(parsed(bytes(got)))
        except EndpointError:
            return bytes(got).decode("utf-8", "replace")

    async def whole(self, response: aiohttp.ClientResponse) -> bytes:
        """The body of an answer that does not stream.

        Raises:
            EndpointError: ``too_large``, or see ``post``.
        """
        got = bytearray()
        async for piece in response.content.iter_any():
            got += piece
            if len(got) > MOST_OF_A_REPLY:
                raise EndpointError("too_large", f"the answer is over {MOST_OF_A_REPLY // 1_000_000} MB")
        return bytes(got)


def only_model(payload: bytes, where: str, key: str | None) -> str:
    """The name of the one model that a server lists; ``key`` is what no sentence may show.

    Raises:
        EndpointError: it lists none, or several.
    """
    data = parsed(payload).get("data")
    listed = [item.get("id") for item in data if isinstance(item, Mapping)] if isinstance(data, list) else []
    names = [name for name in listed if isinstance(name, str) and name]
    if len(names) == 1:
        return names[0]
    some = "; name one with --model: " + ", ".join(f"'{shown(name, key, 60)}'" for name in names[:8]) if names else ""
    raise EndpointError("not_found", f"{where} serves {len(names) or 'no'} models{some}")


def _authorization(key: str, variable: str) -> str:
    if not key.isascii() or not key.isprintable() or key != key.strip():
        raise EndpointError("unauthorized", f"the key in {variable} holds blanks or characters that no header can hold")
    return f"Bearer {key}"


def _why(error: BaseException) -> str:
    """Without the library's own words."""
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return "its name is not known"
    if isinstance(error, aiohttp.ServerTimeoutError):
        return f"no connection within {_CONNECT_S:g} s"
    if isinstance(error, aiohttp.ServerDisconnectedError):
        return "it closed the connection without an answer"
    number = getattr(error, "errno", None) or getattr(getattr(error, "os_error", None), "errno", None)
    return os.strerror(number) if isinstance(number, int) and number > 0 else type(error).__name__
