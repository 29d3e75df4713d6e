"""``http:URL``: the example server of the documentation, in a process of its own, keeps every rule."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from memory.adapters.http import HttpMemory
from memory.adapters.wire import ServerError, Wire
from memory.base import make_memory
from simulator.core.errors import UsageError
from simulator.core.types import SECOND, Query
from simulator.play import run
from simulator.timing.clock import real_ns
from tests.conformance.memory_conformance import MemoryConformance

ROOT = Path(__file__).resolve().parents[3]
ASKED = Query("ada", "code", "main.py", None, 10**9)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """Where the example answers."""
    command = [sys.executable, str(ROOT / "docs/examples/memory_server.py"), "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        yield child.stdout.readline().strip()
        child.kill()


class TestTheExampleServerConforms(MemoryConformance):
    @pytest.fixture(autouse=True)
    def _where(self, url: str) -> None:
        self.url = url

    def make(self) -> Any:
        return HttpMemory(self.url)


def test_a_run_with_it_comes_to_its_end_and_tells_what_it_cost(url: str, tmp_path: Path) -> None:
    played = run(ROOT / "docs/examples/desk.yaml", memory=f"http:{url}", out=tmp_path / "run")
    assert played.code == 0
    told = json.loads((tmp_path / "run/run.json").read_text())
    (stats,) = [unit["memory_stats"] for unit in told["units"].values()]
    assert stats["events_written"] > 0
    assert stats["model_calls_per_event"] == 0.0


class _Poor:
    """A server that answers what a test says."""

    def __init__(self, answers: dict[str, Any], status: int = 200) -> None:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.do_POST()

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length") or 0))
                call = self.path.rpartition("/")[2]
                said = answers.get(call, {})
                body = said if isinstance(said, bytes) else json.dumps(said).encode()
                self.send_response(status if call == "recall" else 200)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None: ...

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def __enter__(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()


HEALTH = {"protocol": 1, "name": "poor"}


@pytest.mark.parametrize(
    ("recalled", "sentence"),
    [
        ({}, "no list 'items'"),
        ({"items": [1]}, "no list 'items' of objects"),
        ({"items": [{}]}, "no 'text'"),
        ({"items": [{"text": "x", "score": "high"}]}, "'score' that is no number"),
        ({"items": [{"text": "x", "intention": 3}]}, "'intention' that is no text"),
        ({"items": [{"text": "x", "source_event_ids": "s/1"}]}, "no list of texts"),
        (b"<html>", "is no JSON"),
    ],
)
def test_an_answer_that_is_none_is_named(recalled: Any, sentence: str) -> None:
    with _Poor({"health": HEALTH, "recall": recalled}) as url:
        memory = HttpMemory(url)
        with pytest.raises(ServerError, match=sentence):
            memory.recall(ASKED, 5, None)
        memory.close()


def test_a_status_and_a_server_that_is_none_are_told() -> None:
    with _Poor({"health": HEALTH, "recall": {"error": "full"}}, status=500) as url:
        memory = HttpMemory(url)
        with pytest.raises(ServerError, match=r"recall has status 500: .*full"):
            memory.recall(ASKED, 5, None)
        memory.close()
        assert vars(memory)["forget"] is None  # it did not say that it can
    with pytest.raises(ServerError, match="did not come"):
        HttpMemory("http://127.0.0.1:9")
    with _Poor({"health": {"name": "something else"}}) as url, pytest.raises(ServerError, match="no memory protocol 1"):
        HttpMemory(url)


@pytest.mark.parametrize("first", [b"HTTP/1.1 200 OK\r\n\r\n", b""], ids=["body", "head"])
def test_a_server_that_dribbles_is_no_answer_when_the_limit_is_over(first: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as door:
        ended = threading.Event()

        def serve() -> None:
            link, _ = door.accept()
            with link, suppress(OSError):
                link.recv(65_536)
                link.sendall(first)
                while not ended.wait(0.02):
                    link.sendall(b" ")

        server = threading.Thread(target=serve)
        server.start()
        wire = Wire(f"http://127.0.0.1:{door.getsockname()[1]}", limit_s=0.2)
        begun = real_ns()
        with pytest.raises(ServerError, match="did not come in time"):
            wire.call("GET", "/health")
        assert real_ns() - begun < 10 * SECOND
        wire.close()
        ended.set()
        server.join()


@pytest.mark.parametrize("limit_s", ["-1", "0", "1e308"])
def test_a_limit_that_is_none_is_refused(limit_s: str) -> None:
    with pytest.raises(UsageError, match="limit_s must be above 0 s and below a day"):
        make_memory(f"http:http://127.0.0.1:9,limit_s={limit_s}")


def test_another_machine_wants_a_token_and_no_secret_stands_in_an_address() -> None:
    with pytest.raises(UsageError, match="is another machine"):
        make_memory("http:http://192.0.2.1:8901")
    with pytest.raises(UsageError, match="there is none of that name"):
        make_memory("http:http://192.0.2.1:8901,token=NO_SUCH_VARIABLE")
    with pytest.raises(UsageError, match="password"):
        make_memory("http:http://me:secret@127.0.0.1:8901")
    with pytest.raises(UsageError, match="needs the parameter 'url'"):
        make_memory("http")
