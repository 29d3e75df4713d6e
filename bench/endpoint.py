"""The client of model servers against aiohttp alone, on a server (another process) that thinks for no time at all.

* ``plain``: aiohttp posts the same body (a question with a 1080p picture) and reads the same events, with nothing kept.
* ``client``: ``Endpoint.chat`` with a meter, the picture encoded before (so the second sample of a question finds it).
* ``…_new_picture``: the same two with the picture read, scaled down and encoded in a thread each time.
* ``lag``: lateness of a timer in the loop of 20 streams of 50 tokens a second, each answer asked with a new picture;
  ``idle_lag`` that of the same timer with nothing beside it: what the machine does by itself.

Calls alternate, so that whatever else the machine does meets both.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import aiohttp
import anyio
from PIL import Image, ImageDraw

from simulator.core.types import MS, SECOND, ImageRef
from simulator.endpoint.asking import body_of
from simulator.endpoint.chat import Endpoint
from simulator.endpoint.images import data_url
from simulator.endpoint.types import Message, ModelChoice
from simulator.timing.audit import percentile
from simulator.timing.clock import pause, real_ns
from simulator.timing.meter import CallMeter
from simulator.timing.tasks import beside, task_group

ROUNDS = 300
STREAMS, TOKENS, GAP_NS, LAG_S = 20, 50, 20 * MS, 6
PROBE_NS = 10 * MS


# ------------------------------------------------------------------ the server, in a process of its own


def _chunk(**said: object) -> bytes:
    body = b"data: " + json.dumps({"object": "chat.completion.chunk", "model": "m", **said}).encode() + b"\n\n"
    return f"{len(body):x}\r\n".encode() + body + b"\r\n"


def _token(text: str | None, finish: str | None = None) -> bytes:
    delta = {} if text is None else {"content": text}
    return _chunk(choices=[{"index": 0, "delta": delta, "finish_reason": finish}])


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
TAIL = (
    _token(None, "stop")
    + _chunk(choices=[], usage={"prompt_tokens": 1000, "completion_tokens": 2})
    + b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n"
)


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            (length,) = [int(line[15:]) for line in head.split("\r\n") if line.lower().startswith("content-length:")]
            await reader.readexactly(length)
            if "/slow/" in head.split("\r\n", 1)[0]:
                writer.write(HEAD)
                for i in range(TOKENS):
                    await pause(GAP_NS)
                    writer.write(_token(f" word{i}"))
                writer.write(TAIL)
            else:
                writer.write(HEAD + _token("No") + _token(".") + TAIL)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def _serve() -> None:
    server = await asyncio.start_server(_answer, "127.0.0.1", 0, limit=2**22)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


@contextmanager
def _server() -> Iterator[str]:
    child = subprocess.Popen([sys.executable, "-m", "bench.endpoint"], stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout is not None
        yield f"http://127.0.0.1:{child.stdout.readline().strip()}"
    finally:
        child.kill()
        child.wait()
        assert child.stdout is not None
        child.stdout.close()


# ------------------------------------------------------------------ the two clients


def _screen(path: Path, seed: int) -> ImageRef:
    """A picture as heavy as a screen full of text: some 200 kB of JPEG at 1280 pixels."""
    image = Image.new("RGB", (1920, 1080), (250, 250, 248))
    draw = ImageDraw.Draw(image)
    for y in range(8, 1080, 14):
        for x in range(8, 1900, 158):
            draw.text((x, y), f"{(x * 31 + y * 17 + seed * 7919) % 10**9:09d} word", fill=(20, 30, (x + y) % 160))
    image.save(path, "PNG", compress_level=1)
    return ImageRef(path, f"screen {path.name}", 1920, 1080)


def _question(ref: ImageRef) -> list[Message]:
    return [Message("system", ("You watch a screen.",)), Message("user", ("Recent activity: " + "editor; " * 200, ref))]


async def _read(response: aiohttp.ClientResponse) -> str:
    text = ""
    async for line in response.content:
        if line.startswith(b"data: ") and line != b"data: [DONE]\n":
            for choice in json.loads(line[6:])["choices"]:
                text += choice["delta"].get("content", "")
    return text


async def _plain(session: aiohttp.ClientSession, url: str, body: bytes) -> None:
    headers = {"Content-Type": "application/json"}
    async with session.post(f"{url}/v1/chat/completions", data=body, headers=headers) as response:
        assert await _read(response) == "No."


async def _plain_new(session: aiohttp.ClientSession, url: str, ref: ImageRef) -> None:
    picture = await asyncio.to_thread(data_url, ref, 1280, 80)
    body = json.dumps(body_of("m", _question(ref), [picture], {})).encode()
    await _plain(session, url, body)


async def _client(endpoint: Endpoint, ref: ImageRef) -> None:
    assert (await endpoint.chat(_question(ref), meter=CallMeter())).text == "No."


Call = Callable[[], Awaitable[None]]


async def _alternate(rounds: int, **calls: Iterator[Call]) -> AsyncIterator[tuple[str, int]]:
    for _ in range(rounds):
        for name, coming in calls.items():
            call = next(coming)
            begun = real_ns()
            await call()
            yield name, real_ns() - begun


def _always(call: Call) -> Iterator[Call]:
    while True:
        yield call


async def _latencies(url: str, folder: Path) -> dict[str, float]:
    ref = _screen(folder / "one.png", 0)
    others = [ImageRef(ref.path, f"copy {i}") for i in range(ROUNDS)]  # one file, a picture of its own each time
    picture = data_url(ref, 1280, 80)
    body = json.dumps(body_of("m", _question(ref), [picture], {})).encode()
    times: dict[str, list[int]] = {}
    async with Endpoint(ModelChoice("m", f"{url}/v1")) as endpoint, aiohttp.ClientSession() as session:
        await _client(endpoint, ref)
        await _plain(session, url, body)
        cached: dict[str, Iterator[Call]] = {
            "plain": _always(partial(_plain, session, url, body)),
            "client": _always(partial(_client, endpoint, ref)),
        }
        fresh: dict[str, Iterator[Call]] = {
            "plain_new_picture": (partial(_plain_new, session, url, other) for other in others),
            "client_new_picture": (partial(_client, endpoint, other) for other in others),
        }
        for rounds, calls in ((ROUNDS, cached), (ROUNDS // 4, fresh)):
            async for name, ns in _alternate(rounds, **calls):
                times.setdefault(name, []).append(ns)
    medians = {f"{name}_p50_ms": statistics.median(values) / 1e6 for name, values in times.items()}
    return {
        "picture_kB": len(picture) * 3 / 4 / 1000,
        **medians,
        "overhead_p50_ms": medians["client_p50_ms"] - medians["plain_p50_ms"],
        "overhead_new_picture_p50_ms": medians["client_new_picture_p50_ms"] - medians["plain_new_picture_p50_ms"],
    }


async def _lag(url: str, folder: Path) -> dict[str, float]:
    refs = [_screen(folder / f"{i}.png", i) for i in range(4)]
    idle: list[int] = []
    async with beside(partial(_probe, idle)):
        await pause(2 * SECOND)
    lags: list[int] = []
    answers = 0
    end = real_ns() + LAG_S * SECOND

    async def stream(endpoint: Endpoint, i: int) -> None:
        nonlocal answers
        await pause(i * TOKENS * GAP_NS // STREAMS)  # people do not ask in step
        n = 0
        while real_ns() < end:
            n += 1
            await endpoint.chat(_question(ImageRef(refs[i % 4].path, f"{i} {n}")), meter=CallMeter())
            answers += 1

    choice = ModelChoice("m", f"{url}/slow/v1", concurrency=STREAMS)
    async with Endpoint(choice) as endpoint, beside(partial(_probe, lags)), task_group() as group:
        for i in range(STREAMS):
            group.start_soon(stream, endpoint, i)
    p50, p99 = (percentile(lags, q) / 1e6 for q in (50, 99))
    return {"idle_lag_p99_ms": percentile(idle, 99) / 1e6, "lag_p50_ms": p50, "lag_p99_ms": p99,
            "lag_max_ms": max(lags) / 1e6, "answers": answers, "tokens_per_s": answers * TOKENS / LAG_S}  # fmt: skip


async def _probe(lags: list[int]) -> None:
    while True:
        due = real_ns() + PROBE_NS
        await pause(PROBE_NS)
        lags.append(real_ns() - due)


def measure() -> dict[str, float]:
    with tempfile.TemporaryDirectory() as name, _server() as url:

        async def main() -> dict[str, float]:
            return {**await _latencies(url, Path(name)), **await _lag(url, Path(name))}

        return anyio.run(main)


if __name__ == "__main__":
    asyncio.run(_serve())
