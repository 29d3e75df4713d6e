"""Agents in other processes for tests: the documented example, one that says what it is told, one that breaks HTTP."""

from __future__ import annotations

import importlib.util
import json
import shlex
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).resolve().parents[1] / "docs" / "examples"
STDIO = f"{shlex.quote(sys.executable)} {shlex.quote(str(EXAMPLES / 'stdio_agent.py'))}"
HEALTH = {"protocol": 1, "name": "told", "version": "7", "needs": {"images": "none", "memory": 2}}


def python(code: str) -> str:
    """The command of a child that runs this code."""
    return f"{shlex.quote(sys.executable)} -c {shlex.quote(code)}"


@contextmanager
def served(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """The address at which requests are handled."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def example() -> Iterator[str]:
    """The address of the documented example."""
    spec = importlib.util.spec_from_file_location("example_remote_agent", EXAMPLES / "remote_agent.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    class Quiet(module.Handler):  # type: ignore[misc, name-defined]
        def log_message(self, *_: object) -> None:
            """Nothing on stderr."""

    with served(Quiet) as url:
        yield url


class Told:
    """An agent that answers each call with what stands in ``answers``, and keeps what it was asked.

    An answer is a value, bytes, a pair (status, value), or a function of the body.
    """

    def __init__(self, **answers: Any) -> None:
        self.answers: dict[str, Any] = {"health": HEALTH, "open": {}, "decide": {"offers": []}, "close": {}, **answers}
        self.asked: list[tuple[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.connections: set[int] = set()

    def bodies(self, call: str) -> list[Any]:
        return [body for name, body in self.asked if name == call]

    @contextmanager
    def served(self) -> Iterator[str]:
        told = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version, wbufsize = "HTTP/1.1", -1

            def do_POST(self) -> None:
                read = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                call = self.path.removeprefix("/proact/")
                body = json.loads(read) if read else None
                told.connections.add(self.client_address[1])
                told.headers.append(dict(self.headers))
                told.asked.append((call, body))
                answer = told.answers[call]
                answer = answer(body) if callable(answer) else answer
                status, answer = answer if isinstance(answer, tuple) else (200, answer)
                data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST

            def log_message(self, *_: object) -> None:
                """Nothing on stderr."""

        with served(Handler) as url:
            yield url


@contextmanager
def raw(talk: Callable[[socket.socket, bytes], None]) -> Iterator[str]:
    """A server that answers health and open well, and leaves the connection of ``decide`` to ``talk``."""
    listener = socket.create_server(("127.0.0.1", 0))
    stopped = threading.Event()

    def handle(connection: socket.socket) -> None:
        with connection:
            read = connection.recv(1_000_000)
            if b" /proact/decide " in read.split(b"\r\n", 1)[0]:
                talk(connection, read)
                return
            data = json.dumps(HEALTH if b"/health" in read else {}).encode()
            head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(data)}\r\nConnection: close\r\n\r\n"
            connection.sendall(head.encode() + data)

    def serve() -> None:
        while not stopped.is_set():
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=handle, args=(connection,), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        stopped.set()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
