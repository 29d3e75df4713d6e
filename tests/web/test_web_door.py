"""Who uses up connections, and who speaks no HTTP."""

from __future__ import annotations

import asyncio
import errno
import gc
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager, suppress
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web

from simulator.timing.clock import pause, yield_once
from simulator.web import server
from simulator.web.door import Door
from simulator.web.place import Place
from simulator.web.server import Web

TOKEN = "a-word-of-mine-1"


@asynccontextmanager
async def running(folder: Path, token: str | None = TOKEN, **how: object) -> AsyncIterator[Web]:
    pages = Web(Place([folder]), token=token, **how)  # type: ignore[arg-type]
    await pages.start()
    try:
        yield pages
    finally:
        await pages.stop()
        pages.place.close()


async def said(pages: Web, request: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", pages.port)
    try:
        writer.write(request)
        async with asyncio.timeout(5):
            with suppress(ConnectionResetError):
                return await reader.read()
            return b""
    finally:
        writer.close()


async def test_idle_connections_do_not_use_up_files_and_keep_nobody_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Door.__init__, "__defaults__", (8,))
    async with running(tmp_path) as pages, aiohttp.ClientSession() as session:
        url = f"http://127.0.0.1:{pages.port}/"
        async with session.get(f"{url}api/events", headers={"X-Proact-Token": TOKEN}) as events:
            assert b"hello" in await events.content.read(100)
            with ExitStack() as stack:
                for _ in range(40):
                    _, writer = await asyncio.open_connection("127.0.0.1", pages.port)
                    stack.callback(writer.close)
                await pause(10_000_000)
                assert pages._runner is not None
                assert pages._runner.server is not None
                assert len(pages._runner.server.connections) <= 8
                async with session.get(f"{url}api/about", headers={"X-Proact-Token": TOKEN}) as answer:
                    assert answer.status == 200
            pages.place.hub.publish("word", {})
            assert b"word" in await events.content.read(100)  # who may ask stayed


@pytest.mark.parametrize("turns", range(6))
async def test_connections_that_come_while_the_server_stops_are_closed(tmp_path: Path, turns: int) -> None:
    with ExitStack() as stack:
        async with running(tmp_path) as pages:
            await yield_once()
            ends = [
                stack.enter_context(socket.create_connection(("127.0.0.1", pages.port), timeout=5)) for _ in range(3)
            ]
            for _ in range(turns):  # asyncio takes some to accept them and to announce them
                await yield_once()
        for end in ends:
            end.setblocking(False)
            with suppress(ConnectionResetError):
                assert end.recv(1) == b""


def test_whoever_does_not_fetch_an_answer_keeps_no_connection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def large(request: web.Request) -> web.Response:
        return web.Response(body=bytes(10_000_000))

    monkeypatch.setattr(server, "UNDONE_S", 0.05)
    left: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda found: left.append(found.exc_value))
    pages = Web(Place([tmp_path]), more=[web.get("/large", large)])
    with ExitStack() as stack, pages.in_thread():
        end = stack.enter_context(socket.create_connection(("127.0.0.1", pages.port), timeout=5))
        end.sendall(b"GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n")
        end.recv(1)
    gc.collect()
    assert left == []


async def test_connections_without_a_file_are_told_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async with running(tmp_path):
        loop = asyncio.get_running_loop()
        for _ in range(3):
            loop.call_exception_handler({"message": "socket.accept() out of system resource", "exception": OSError(24)})
    assert capsys.readouterr().err.count("no more files can be opened") == 1


@pytest.mark.parametrize(
    "request_",
    [
        b"GET / HTTP/1.1\r\nHost: local\0host\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"GET /live?token=SECRETSECRET" + b"x" * 20_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"\x16\x03\x01\x02",
        b"nonsense\r\n\r\n",
    ],
)
async def test_what_is_no_http_is_refused_in_a_sentence_and_not_told(
    tmp_path: Path, request_: bytes, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    async with running(tmp_path) as pages:
        answer = await said(pages, request_)
    assert answer.startswith(b"HTTP/1.1 4") or answer.startswith(b"HTTP/1.0 4") or answer == b""
    assert b"aiohttp" not in answer
    assert b"SECRET" not in answer
    if answer:
        assert b"this is no request that can be read" in answer
        assert b"default-src 'self'" in answer
    assert capsys.readouterr().err == caplog.text == ""


async def test_nothing_is_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "WRONG_NS", 0)
    headers = {"X-Proact": "1", "Content-Type": "application/json", "Content-Encoding": "gzip", "X-Proact-Token": TOKEN}
    async with (
        running(tmp_path) as pages,
        aiohttp.ClientSession() as session,
        session.post(f"http://127.0.0.1:{pages.port}/api/x", data=b"no gzip", headers=headers) as answer,
    ):
        assert (answer.status, "not compressed" in await answer.text()) == (415, True)


async def test_a_disk_that_is_full_is_said_where_something_was_to_be_written(tmp_path: Path) -> None:
    async def full(request: web.Request) -> web.Response:
        raise OSError(errno.ENOSPC, "no space")

    headers = {"X-Proact": "1", "Content-Type": "application/json"}
    async with (
        running(tmp_path, None, more=[web.post("/api/x", full)]) as pages,
        aiohttp.ClientSession() as session,
        session.post(f"http://127.0.0.1:{pages.port}/api/x", data=b"{}", headers=headers) as answer,
    ):
        assert (await answer.json())["error"] == "this cannot be written now (the disk is full)"


def test_a_recorder_can_tell_a_fault_when_no_file_can_be_opened(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib, unittest.mock as mock; from simulator.recorder.saving import Saver\n"
        "saver = Saver(mock.MagicMock(folder=pathlib.Path(sys.argv[1])))\n"
        "assert 'structlog' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True, timeout=30)
