"""A server of models in between that counts: whatever a memory of somebody else's asks of models is measured alike.

It speaks the OpenAI-compatible protocol on this machine only. Embeddings it answers itself where it was given an
embedder, so that memories are compared and not their embedders; everything else is passed on to the model server behind
it, if there is one. What is counted are calls and tokens; no text is kept.
"""

from __future__ import annotations

import base64
import http.client
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from simulator.core.errors import UsageError, quote
from simulator.endpoint.address import check_address

__all__ = ["CountingProxy"]

_MOST = 64 * 2**20  # bytes of one request or answer
_PATIENCE_S = 600.0
_PASSED_ON = ("content-type", "authorization", "accept")
Embed = Callable[[Sequence[str]], NDArray[np.float32]]


class CountingProxy:
    """Counts what goes through it; runs in threads of its own from ``start`` to ``close``.

    Args:
        embed: answers embeddings, float32 rows of shape (n texts, d); None passes them on.
        embedder: the name that stands in its answers.
        upstream: base URL of the model server behind it, such as http://127.0.0.1:8000/v1; None: calls to a model are
            refused with a sentence.
        port: where to listen; 0 takes a free one.

    Raises:
        UsageError: an upstream that is no address, or a port that cannot be had.
    """

    def __init__(self, embed: Embed | None = None, embedder: str = "embedder", upstream: str | None = None,
                 port: int = 0) -> None:  # fmt: skip
        if upstream is not None:
            check_address(upstream, "OPENAI_API_KEY")
        self._embed, self._embedder, self._upstream = embed, embedder, upstream
        self._lock = threading.Lock()
        self._counts = dict.fromkeys(
            ("model_calls", "embedding_calls", "other_calls", "failed_calls", "tokens_in", "tokens_out",
             "embedding_tokens", "estimated_calls"), 0)  # fmt: skip
        handler = type("Handler", (_Handler,), {"proxy": self})
        try:
            self._server = ThreadingHTTPServer(("127.0.0.1", port), handler)
        except OSError as error:
            raise UsageError(f"port {quote(port)} of this machine cannot be had: {error.strerror}") from error
        self._server.daemon_threads = True
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """The base URL to give to whatever is to be counted."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def start(self) -> CountingProxy:
        """Begin to answer."""
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), name="counting", daemon=True)
        self._thread.start()
        return self

    def close(self) -> None:
        """Answer no more."""
        if self._thread is not None:
            self._server.shutdown()
            self._thread = None
        self._server.server_close()

    def counts(self) -> dict[str, int]:
        """Calls and tokens since the start. ``estimated_calls``: those whose tokens no server told."""
        with self._lock:
            return dict(self._counts)

    # What a handler calls.

    def answer(self, path: str, body: bytes, headers: Mapping[str, str]) -> tuple[int, str, bytes]:
        """Status, content type and body of the answer to a call."""
        kind = "embedding" if path.endswith("/embeddings") else "model" if path.endswith("/completions") else "other"
        if kind == "embedding" and self._embed is not None:
            status, type_, said = self._embedded(body)
        elif self._upstream is None:
            words = "no model server stands behind this one: give the adapter an upstream"
            status, type_, said = 404, "application/json", _json({"error": {"message": words, "type": "not_found"}})
        else:
            status, type_, said = self._passed_on(path, body, headers)
        self._count(kind, status, body, said)
        return status, type_, said

    def _embedded(self, body: bytes) -> tuple[int, str, bytes]:
        try:
            asked = json.loads(body)
            texts = asked["input"]
            texts = [texts] if isinstance(texts, str) else [str(text) for text in texts]
        except (ValueError, KeyError, TypeError):
            words = "an embeddings call has the field 'input', a text or a list of texts"
            return 400, "application/json", _json({"error": {"message": words, "type": "bad_request"}})
        assert self._embed is not None
        with self._lock:  # embedders have caches
            rows = np.asarray(self._embed(texts), dtype=np.float32)
        plain = asked.get("encoding_format", "float") != "base64"
        data = [
            {"object": "embedding", "index": i, "embedding": row.tolist() if plain else _base64(row)}
            for i, row in enumerate(rows)
        ]
        n = sum(_estimate(text.encode("utf-8", "replace")) for text in texts)
        usage = {"prompt_tokens": n, "total_tokens": n}
        return 200, "application/json", _json(
            {"object": "list", "model": self._embedder, "data": data, "usage": usage}
        )  # fmt: skip

    def _passed_on(self, path: str, body: bytes, headers: Mapping[str, str]) -> tuple[int, str, bytes]:
        assert self._upstream is not None
        parts = urlsplit(self._upstream)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        link = kind(parts.hostname or "", parts.port, timeout=_PATIENCE_S)
        kept = {name: value for name, value in headers.items() if name.lower() in _PASSED_ON}
        try:
            link.request("POST" if body else "GET", f"{parts.path.rstrip('/')}{path.removeprefix('/v1')}", body, kept)
            answer = link.getresponse()
            return answer.status, answer.getheader("content-type", "application/json"), answer.read(_MOST)
        except (OSError, http.client.HTTPException) as error:
            words = f"the model server behind this one gave no answer ({type(error).__name__})"
            return 502, "application/json", _json({"error": {"message": words, "type": "connection"}})
        finally:
            link.close()

    def _count(self, kind: str, status: int, body: bytes, said: bytes) -> None:
        told = _usage(said) if status == 200 else {}
        read, written = told.get("prompt_tokens"), told.get("completion_tokens", 0 if kind == "embedding" else None)
        estimated = status == 200 and kind != "other" and (read is None or written is None)
        with self._lock:
            c = self._counts
            c[f"{kind}_calls"] += 1
            c["failed_calls"] += status != 200
            c["estimated_calls"] += estimated
            if status == 200 and kind == "embedding":
                c["embedding_tokens"] += _estimate(body) if read is None else read
            elif status == 200 and kind == "model":
                c["tokens_in"] += _estimate(body) if read is None else read
                c["tokens_out"] += _estimate(said) if written is None else written


class _Handler(BaseHTTPRequestHandler):
    proxy: CountingProxy
    protocol_version = "HTTP/1.1"  # kept connections: a memory makes a call an event
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        """Count and answer."""
        length = int(self.headers.get("content-length") or 0)
        if not 0 <= length <= _MOST:
            self.send_error(413)
            return
        self._say(*self.proxy.answer(self.path, self.rfile.read(length), dict(self.headers)))

    def do_GET(self) -> None:
        """The list of models, for those who ask first."""
        self._say(*self.proxy.answer(self.path, b"", dict(self.headers)))

    def _say(self, status: int, type_: str, body: bytes) -> None:
        try:
            self.send_response(status)
            self.send_header("Content-Type", type_)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        except (TimeoutError, BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # whoever asked is gone

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: texts of a person go through here."""


def _usage(said: bytes) -> dict[str, int]:
    """What an answer tells of its tokens; of a streamed one the last that it told."""
    found: Any = None
    try:
        found = json.loads(said).get("usage")
    except (ValueError, AttributeError):
        for line in said.split(b"\n"):
            if line.startswith(b"data:") and b'"usage"' in line:
                try:
                    found = json.loads(line[5:]).get("usage") or found
                except (ValueError, AttributeError):
                    continue
    told = found if isinstance(found, Mapping) else {}
    return {k: v for k, v in told.items() if type(v) is int and v >= 0}


def _estimate(text: bytes) -> int:
    return (len(text) + 3) // 4


def _base64(row: NDArray[np.float32]) -> str:
    return base64.b64encode(row.astype("<f4").tobytes()).decode()


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()
