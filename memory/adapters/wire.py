"""JSON over HTTP to a memory server, in plain calls: an adapter lives in a thread of its own.

No redirect is followed and no proxy of the environment is used, since titles of a person's windows go along; another
machine wants a token. What a server says is cut, and blotted of the token.
"""

from __future__ import annotations

import http.client
import io
import json
import os
import re
import socket
from collections.abc import Mapping
from functools import partial
from typing import Any
from urllib.parse import urlencode, urlsplit

from simulator.core.errors import Exit, ProactError, UsageError, quote
from simulator.core.types import SECOND
from simulator.endpoint.address import check_address, is_here
from simulator.endpoint.redact import shown
from simulator.timing.clock import real_ns

__all__ = ["ServerError", "Wire", "own_name"]

_MOST = 16 * 2**20
_KEEP_NS = 1_500_000_000  # servers hang up after 2 s and more: to be asked just then would be an error
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
_made = 0


class ServerError(ProactError):
    """A memory server gave no answer, or one that says no; ``status`` is that of HTTP, None without an answer."""

    exit_code = Exit.USAGE

    def __init__(self, sentence: str, status: int | None = None) -> None:
        super().__init__(sentence)
        self.status = status


def own_name() -> str:
    """A name that no other memory has, here or in another process: each begins empty."""
    global _made
    _made += 1
    return f"proact-{os.getpid():x}-{real_ns():x}-{_made}"


class Wire:
    """The connection to one server.

    Args:
        url: such as http://127.0.0.1:8900.
        token: name of the environment variable that holds the token; read at each call, kept nowhere.
        limit_s: how long a call may take, from the first byte sent to the last one read.

    Raises:
        UsageError: no such limit, no address, a secret in it, another machine without a token, or no such variable.
    """

    def __init__(self, url: str, token: str | None = None, limit_s: float = 30.0) -> None:
        if not 0 < limit_s < 86_400:
            raise UsageError(f"memory: limit_s must be above 0 s and below a day, not {limit_s:g}")
        check_address(url, "a variable of the environment, named with token=NAME", "the memory server", "")
        self._parts, self._token, self._limit_s = urlsplit(url.rstrip("/")), token, limit_s
        if token is not None and (_NAME.fullmatch(token) is None or not os.environ.get(token)):
            raise UsageError("memory: token names the environment variable that holds the token, and there is none of "
                             "that name (a token itself would be written into the log)")  # fmt: skip
        if token is None and not is_here(self._parts.hostname or ""):
            raise UsageError(f"memory: {quote(self._parts.hostname)} is another machine, and what the user did would "
                             "go there: name a token with token=VARIABLE, or use a server on 127.0.0.1")  # fmt: skip
        self._link: http.client.HTTPConnection | None = None
        self._used_ns = 0

    def call(self, method: str, path: str, body: Any = None, query: Mapping[str, Any] | None = None) -> Any:
        """The JSON of an answer with status 200 to 204; None where it has no body.

        Raises:
            ServerError: no answer, another status, or no JSON.
        """
        target = self._parts.path + path + (f"?{urlencode(query, doseq=True)}" if query else "")
        data = None if body is None else json.dumps(body).encode()
        headers = {"Accept": "application/json", **({} if data is None else {"Content-Type": "application/json"})}
        secret = None if self._token is None else os.environ.get(self._token)
        if secret:
            headers["Authorization"] = f"Bearer {secret}"
        what = f"the memory server's answer to {method} {path.partition('?')[0]}"
        try:
            link = self._opened()
            link.request(method, target, data, headers)
            answer = link.getresponse()  # and its body, too, by the deadline
            said = answer.read(_MOST + 1)
        except (OSError, http.client.HTTPException) as error:
            self.close()
            why = "did not come in time" if isinstance(error, TimeoutError) else f"did not come ({_why(error)})"
            raise ServerError(f"{what} {why}") from None
        if len(said) > _MOST:
            self.close()
            raise ServerError(f"{what} is over {_MOST / 1e6:g} MB", answer.status)
        if not 200 <= answer.status <= 204:
            words = shown(said.decode("utf-8", "replace"), secret)
            raise ServerError(f"{what} has status {answer.status}: {words}", answer.status)
        if not said.strip():
            return None
        try:
            return json.loads(said)
        except ValueError:
            raise ServerError(f"{what} is no JSON", answer.status) from None

    def _opened(self) -> http.client.HTTPConnection:
        now = real_ns()
        if self._link is not None and now - self._used_ns > _KEEP_NS:
            self.close()
        if self._link is None:
            kind = http.client.HTTPSConnection if self._parts.scheme == "https" else http.client.HTTPConnection
            self._link = kind(self._parts.hostname or "", self._parts.port, timeout=self._limit_s)
        elif self._link.sock is not None:
            self._link.sock.settimeout(self._limit_s)
        deadline_ns = now + round(self._limit_s * SECOND)
        answer: Any = partial(_Answer, deadline_ns)
        self._link.response_class = answer
        self._used_ns = now
        return self._link

    def close(self) -> None:
        """Close the connection; the next call opens another."""
        if self._link is not None:
            self._link.close()
            self._link = None


class _Answer(http.client.HTTPResponse):
    """An answer that has to be there by an instant; the library's limit is one of each read."""

    def __init__(self, deadline_ns: int, sock: socket.socket, *given: Any, **named: Any) -> None:
        super().__init__(sock, *given, **named)
        self.fp = io.BufferedReader(_By(deadline_ns, sock, self.fp.detach()))


class _By(io.RawIOBase):
    def __init__(self, deadline_ns: int, sock: socket.socket, raw: io.RawIOBase) -> None:
        super().__init__()
        self._deadline_ns, self._sock, self._raw = deadline_ns, sock, raw

    def readable(self) -> bool:
        return True

    def readinto(self, room: Any) -> int | None:
        left_ns = self._deadline_ns - real_ns()
        if left_ns <= 0:
            raise TimeoutError
        self._sock.settimeout(left_ns / SECOND)
        return self._raw.readinto(room)

    def close(self) -> None:
        self._raw.close()
        super().close()


def _why(error: BaseException) -> str:
    number = getattr(error, "errno", None)
    return os.strerror(number) if isinstance(number, int) and number > 0 else type(error).__name__
