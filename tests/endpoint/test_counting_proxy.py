"""The counting proxy: embeddings of ours, everything else passed on, and every call and token counted."""

from __future__ import annotations

import base64
import json
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.error import HTTPError

import numpy as np
import pytest

from memory.embed import HashEmbedder
from simulator.core.errors import UsageError
from simulator.endpoint.counting import CountingProxy

CHAT = {"choices": [{"message": {"content": "yes"}}], "usage": {"prompt_tokens": 321, "completion_tokens": 12}}


def post(url: str, body: Any) -> Any:
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request) as answer:
        return json.loads(answer.read())


@contextmanager
def proxy(**given: Any) -> Iterator[CountingProxy]:
    made = CountingProxy(**given).start()
    try:
        yield made
    finally:
        made.close()


@contextmanager
def model(answer: bytes, seen: list[Any]) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            seen.append((self.path, self.headers.get("Authorization"), json.loads(body)))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize("format_", ["float", "base64"])
def test_embeddings_are_those_of_our_embedder(format_: str) -> None:
    ours = HashEmbedder()
    with proxy(embed=ours.embed, embedder=ours.identity) as p:
        said = post(f"{p.url}/embeddings", {"input": ["main.py", "", "会议"], "encoding_format": format_})
        rows = [d["embedding"] for d in said["data"]]
        if format_ == "base64":
            rows = [np.frombuffer(base64.b64decode(row), "<f4") for row in rows]
        np.testing.assert_array_equal(np.array(rows, np.float32), ours.embed(["main.py", "", "会议"]))
        assert said["model"] == "hash512-v1"
        post(f"{p.url}/embeddings", {"input": "one text", "encoding_format": format_})
        counts = p.counts()
    assert (counts["embedding_calls"], counts["model_calls"], counts["failed_calls"]) == (2, 0, 0)
    assert counts["embedding_tokens"] == 2 + 0 + 2 + 2  # a quarter of a token a byte, rounded up


def test_calls_to_a_model_are_passed_on_and_their_tokens_counted() -> None:
    seen: list[Any] = []
    with model(json.dumps(CHAT).encode(), seen) as upstream, proxy(upstream=upstream) as p:
        assert post(f"{p.url}/chat/completions", {"model": "m", "messages": []}) == CHAT
        counts = p.counts()
    assert seen == [("/v1/chat/completions", None, {"model": "m", "messages": []})]
    assert (counts["model_calls"], counts["tokens_in"], counts["tokens_out"]) == (1, 321, 12)
    assert counts["estimated_calls"] == 0


def test_a_streamed_answer_counts_by_its_last_usage_and_one_without_by_its_length() -> None:
    stream = (
        b'data: {"choices": []}\n\ndata: {"usage": {"prompt_tokens": 9, "completion_tokens": 4}}\n\ndata: [DONE]\n\n'
    )
    for answer, expected in ((stream, (9, 4, 0)), (b'{"choices": []}', (6, 4, 1))):
        seen: list[Any] = []
        with model(answer, seen) as upstream, proxy(upstream=upstream) as p:
            request = urllib.request.Request(f"{p.url}/chat/completions", b'{"stream": true, "m": 1}')
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request) as said:
                assert said.read() == answer
            c = p.counts()
        assert (c["tokens_in"], c["tokens_out"], c["estimated_calls"]) == expected


def test_without_a_model_server_a_call_is_refused_and_counted_as_failed() -> None:
    with proxy() as p, pytest.raises(HTTPError) as refused:
        post(f"{p.url}/chat/completions", {})
    assert refused.value.code == 404
    assert "no model server stands behind" in refused.value.read().decode()
    assert p.counts()["failed_calls"] == 1


def test_a_port_that_is_taken_and_an_address_with_a_password_are_refused() -> None:
    with proxy() as p, pytest.raises(UsageError, match="cannot be had"):
        CountingProxy(port=int(p.url.rsplit(":", 1)[1].partition("/")[0]))
    with pytest.raises(UsageError, match="password"):
        CountingProxy(upstream="http://me:secret@127.0.0.1:1/v1")
