"""A model server that misbehaves on purpose, in a thread and loop of its own; also one that behaves.

::

    with FaultServer() as server:
        ModelChoice("m", server.url("stall"))      # http://127.0.0.1:PORT/stall/v1

The first part of the path names what it does (``FAULTS``). ``server.asked["stall"]`` holds what it was sent.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from email.utils import format_datetime
from typing import Any

from simulator.core.types import MS
from simulator.timing.clock import pause, utc_now

__all__ = ["FAULTS", "Asked", "FaultServer", "chunk", "sse"]


@dataclass(frozen=True)
class Asked:
    """A request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Wire:
    """What a fault writes to: HTTP by hand, since libraries refuse to misbehave."""

    def __init__(self, server: FaultServer, writer: asyncio.StreamWriter, asked: Asked, nth: int) -> None:
        self.server, self.writer, self.asked, self.nth = server, writer, asked, nth

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def whole(self, body: bytes | str, status: int = 200, kind: str = "application/json", **headers: str) -> None:
        body = body.encode() if isinstance(body, str) else body
        more = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
        head = f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n{more}\r\n"
        await self.send(head.encode() + body)

    async def begin(self, kind: str = "text/event-stream") -> None:
        await self.send(f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nTransfer-Encoding: chunked\r\n\r\n".encode())

    async def piece(self, data: bytes) -> None:
        await self.send(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    async def end(self) -> None:
        await self.send(b"0\r\n\r\n")

    async def stream(self, *pieces: bytes, gap_ns: int = 0) -> None:
        """A whole stream, with a gap before each piece."""
        await self.begin()
        for data in pieces:
            if gap_ns:
                await pause(gap_ns)
            await self.piece(data)
        await self.end()

    async def until_told(self) -> None:
        """Nothing more, until the test is over."""
        await self.server.over.wait()


def sse(said: Any) -> bytes:
    return b"data: " + (said if isinstance(said, bytes) else json.dumps(said).encode()) + b"\n\n"


def chunk(text: str | None = None, finish: str | None = None, **delta: Any) -> bytes:
    said = {**delta, **({} if text is None else {"content": text})}
    choice = {"index": 0, "delta": said, "finish_reason": finish}
    return sse({"id": "c", "object": "chat.completion.chunk", "model": "served", "choices": [choice]})


USAGE = {"prompt_tokens": 100, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 40}}
DONE = sse(b"[DONE]")
LAST = (sse({"model": "served", "choices": [], "usage": USAGE}), DONE)
HELLO = (chunk(role="assistant"), chunk("Hel"), chunk("lo"), chunk(finish="stop"), *LAST)

Fault = Callable[[Wire], Awaitable[None]]
FAULTS: dict[str, Fault] = {}


def fault(does: Fault) -> Fault:
    FAULTS[does.__name__] = does
    return does


@fault
async def ok(wire: Wire) -> None:
    await wire.stream(*HELLO)


@fault
async def slowly(wire: Wire) -> None:
    """20 ms to the first token, 10 ms to each other piece."""
    await pause(10 * MS)
    await wire.stream(*HELLO, gap_ns=10 * MS)


@fault
async def counting(wire: Wire) -> None:
    """Each answer is another one."""
    await wire.stream(chunk(f"answer {wire.nth}"), chunk(finish="stop"), *LAST)


@fault
async def no_usage(wire: Wire) -> None:
    await wire.stream(chunk("Hello"), chunk(finish="stop"), DONE)


@fault
async def no_done(wire: Wire) -> None:
    """Finished, without [DONE] and without a last blank line."""
    await wire.stream(chunk("Hello"), chunk(finish="stop").rstrip())


@fault
async def not_streamed(wire: Wire) -> None:
    message = {"role": "assistant", "content": "Hello", "reasoning_content": "hm"}
    said = {"model": "served", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": USAGE}
    await wire.whole(json.dumps(said))


@fault
async def open_after_done(wire: Wire) -> None:
    """The answer is whole, and the connection stays open."""
    await wire.begin()
    for data in HELLO:
        await wire.piece(data)
    await wire.until_told()


@fault
async def reasons(wire: Wire) -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 30, "completion_tokens_details": {"reasoning_tokens": 20}}
    await wire.stream(chunk(reasoning_content="Let me "), chunk(reasoning_content="think"), chunk("Yes"),
                      chunk(finish="stop"), sse({"choices": [], "usage": usage}), DONE)  # fmt: skip


@fault
async def thinks(wire: Wire) -> None:
    await wire.stream(chunk("<thi"), chunk("nk>No, no</think>"), chunk("\nYes"), chunk(finish="stop"), *LAST)


@fault
async def only_thinks(wire: Wire) -> None:
    await wire.stream(chunk("<think>No, no"), chunk(finish="stop"), *LAST)


@fault
async def length(wire: Wire) -> None:
    await wire.stream(chunk("Need help: Y"), chunk(finish="length"), *LAST)


@fault
async def filtered(wire: Wire) -> None:
    await wire.stream(chunk("I"), chunk(finish="content_filter"), *LAST)


@fault
async def stall(wire: Wire) -> None:
    """Two pieces, then silence."""
    await wire.begin()
    await wire.piece(chunk("Hel"))
    await wire.piece(chunk("lo"))
    await wire.until_told()


@fault
async def mute(wire: Wire) -> None:
    """Not even a head."""
    await wire.until_told()


@fault
async def drip(wire: Wire) -> None:
    """One byte at a time, which is never silence."""
    await wire.begin()
    for byte in b"".join(HELLO):
        if wire.server.over.is_set():
            return
        await wire.piece(bytes([byte]))
        await pause(5 * MS)


@fault
async def half_json(wire: Wire) -> None:
    await wire.stream(chunk("Hel"), b'data: {"choices": [{"index": 0, "del\n\n', DONE)


@fault
async def not_an_object(wire: Wire) -> None:
    await wire.stream(sse([1, 2]), DONE)


@fault
async def wrong_types(wire: Wire) -> None:
    await wire.stream(sse({"choices": [{"delta": {"content": 7}}]}), DONE)


@fault
async def not_utf8(wire: Wire) -> None:
    await wire.stream(b'data: {"choices": [{"delta": {"content": "\xff\xfe\xe9"}}]}\n\n', DONE)


@fault
async def lone_surrogate(wire: Wire) -> None:
    await wire.stream(chunk("a\ud800b \ud83d"), chunk("\ude00"), chunk(finish="stop"), *LAST)


@fault
async def empty(wire: Wire) -> None:
    await wire.stream(DONE)


@fault
async def nothing(wire: Wire) -> None:
    await wire.stream()


@fault
async def blank(wire: Wire) -> None:
    await wire.stream(chunk("  \n"), chunk(finish="stop"), *LAST)


@fault
async def no_finish(wire: Wire) -> None:
    """[DONE], though no reason to finish was given: a proxy whose server died."""
    await wire.stream(chunk("Hel"), DONE)


@fault
async def closes_early(wire: Wire) -> None:
    await wire.begin()
    await wire.piece(chunk("Hel"))
    wire.writer.close()


@fault
async def closes_at_once(wire: Wire) -> None:
    wire.writer.close()


@fault
async def closes_once(wire: Wire) -> None:
    if wire.nth == 0:
        wire.writer.close()
    else:
        await ok(wire)


@fault
async def breaks_off(wire: Wire) -> None:
    await wire.stream(chunk("Hel"), sse({"error": {"message": "the engine died", "code": 500}}))


@fault
async def long_line(wire: Wire) -> None:
    """A line of over 10 MB."""
    await wire.begin()
    with suppress(ConnectionError):
        await wire.piece(b"data: ")
        for _ in range(11):
            await wire.piece(b"x" * 1_000_000)
        await wire.until_told()


@fault
async def long_reply(wire: Wire) -> None:
    """Over 50 MB of lines that are not long."""
    await wire.begin()
    line = sse({"choices": [], "padding": "x" * 1_000_000})
    with suppress(ConnectionError):
        for _ in range(52):
            await wire.piece(line)
        await wire.until_told()


@fault
async def wrong_type(wire: Wire) -> None:
    await wire.whole("<html>Welcome to the hotel's network</html>", kind="text/html")


@fault
async def limited_once(wire: Wire) -> None:
    if wire.nth == 0:
        await wire.whole('{"error": {"message": "slow down"}}', 429, Retry_After="0.03")
    else:
        await ok(wire)


@fault
async def limited_ms(wire: Wire) -> None:
    if wire.nth == 0:
        await wire.whole("slow down", 429, "text/plain", Retry_After_Ms="20", Retry_After="60")
    else:
        await ok(wire)


@fault
async def limited_until(wire: Wire) -> None:
    """A date, of a second that has passed."""
    if wire.nth == 0:
        await wire.whole("{}", 429, Retry_After=format_datetime(utc_now(), usegmt=True))
    else:
        await ok(wire)


@fault
async def limited(wire: Wire) -> None:
    await wire.whole('{"error": {"message": "slow down"}}', 429, Retry_After="0.001")


@fault
async def limited_long(wire: Wire) -> None:
    await wire.whole('{"error": {"message": "come back tomorrow"}}', 429, Retry_After="86400")


@fault
async def limited_for_ever(wire: Wire) -> None:
    await wire.whole('{"error": {"message": "never"}}', 429, Retry_After="1e400")


@fault
async def limited_oddly(wire: Wire) -> None:
    """A time that is none, once."""
    if wire.nth == 0:
        await wire.whole('{"error": {"message": "slow down"}}', 429, Retry_After="-5")
    else:
        await ok(wire)


@fault
async def names_models_after_the_key(wire: Wire) -> None:
    key = wire.asked.headers["authorization"].removeprefix("Bearer ")
    await wire.whole(json.dumps({"data": [{"id": f"model-{key}"}, {"id": "b"}]}))


@fault
async def fails_twice(wire: Wire) -> None:
    if wire.nth < 2:
        await wire.whole('{"error": "busy"}', 503, Retry_After="0.001")
    else:
        await ok(wire)


@fault
async def fails(wire: Wire) -> None:
    await wire.whole('{"error": {"message": "out of memory"}}', 500, Retry_After="0.001")


@fault
async def not_there(wire: Wire) -> None:
    await wire.whole('{"error": {"message": "the model `m` does not exist"}}', 404)


@fault
async def bad_request(wire: Wire) -> None:
    await wire.whole('{"error": {"message": "temperature must be below 2"}}', 400)


@fault
async def too_long_a_question(wire: Wire) -> None:
    await wire.whole('{"error": {"code": "context_length_exceeded", "message": "maximum context length is 2048"}}', 400)


@fault
async def redirects(wire: Wire) -> None:
    await wire.whole("", 307, Location="http://127.0.0.1:9/ok/v1/chat/completions")


@fault
async def echoes_key_401(wire: Wire) -> None:
    await wire.whole(json.dumps({"error": {"message": f"bad key: {wire.asked.headers['authorization']}"}}), 401)


@fault
async def echoes_key_500(wire: Wire) -> None:
    """Also cut short, and in capitals of the header's name."""
    key = wire.asked.headers["authorization"].removeprefix("Bearer ")
    await wire.whole(
        json.dumps({"error": {"message": f"no {key}, nor {key[:-6]}…, x{key[5:20]}x"}}), 500, Retry_After="0"
    )


@fault
async def echoes_key_in_stream(wire: Wire) -> None:
    await wire.stream(sse({"error": {"message": f"denied: {wire.asked.headers['authorization']}"}}))


@fault
async def echoes_key_as_answer(wire: Wire) -> None:
    key = wire.asked.headers["authorization"].removeprefix("Bearer ")
    await wire.stream(chunk(f"Offer: {key[:9]}"), chunk(key[9:]), chunk(finish="stop"), *LAST)


@fault
async def no_schema(wire: Wire) -> None:
    if "response_format" in wire.asked.json:
        await wire.whole('{"error": {"message": "response_format of type json_schema is not supported"}}', 400)
    else:
        await ok(wire)


@fault
async def no_stream_options(wire: Wire) -> None:
    if "stream_options" in wire.asked.json:
        await wire.whole('{"detail": [{"msg": "extra field not permitted", "loc": ["stream_options"]}]}', 422)
    else:
        await no_usage(wire)


@fault
async def many_models(wire: Wire) -> None:
    await wire.whole('{"data": [{"id": "a"}, {"id": "b"}]}')


@fault
async def embeds(wire: Wire) -> None:
    """Backwards: a server may answer in any order."""
    texts = wire.asked.json["input"]
    data = [{"index": i, "embedding": [len(t), 1.5, -i]} for i, t in reversed(list(enumerate(texts)))]
    await wire.whole(json.dumps({"data": data, "usage": {"prompt_tokens": 5}}))


@fault
async def embeds_ragged(wire: Wire) -> None:
    await wire.whole('{"data": [{"index": 0, "embedding": [1, 2]}, {"index": 1, "embedding": [1]}]}')


@fault
async def embeds_too_few(wire: Wire) -> None:
    await wire.whole('{"data": [{"index": 0, "embedding": [1, 2]}]}')


@fault
async def embeds_nan(wire: Wire) -> None:
    await wire.whole('{"data": [{"index": 0, "embedding": [NaN]}, {"index": 1, "embedding": [1]}]}')


class FaultServer:
    """Serves ``FAULTS`` (and what a test adds to ``faults``) on this machine."""

    def __init__(self, **faults: Fault) -> None:
        self.faults = {**FAULTS, **faults}
        self.asked: dict[str, list[Asked]] = defaultdict(list)
        self.in_flight = self.most_in_flight = 0
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self.port = 0
        self._writers: set[asyncio.StreamWriter] = set()
        self._clients: set[asyncio.Task[None]] = set()

    def __enter__(self) -> FaultServer:
        self._thread.start()
        assert self._ready.wait(5)
        return self

    def __exit__(self, *error: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(5)

    def url(self, name: str) -> str:
        assert name in self.faults
        return f"http://127.0.0.1:{self.port}/{name}/v1"

    async def _serve(self) -> None:
        self._loop, self._stop, self.over = asyncio.get_running_loop(), asyncio.Event(), asyncio.Event()
        server = await asyncio.start_server(self._client, "127.0.0.1", 0, limit=2**24)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        self.over.set()
        server.close()
        for writer in list(self._writers):
            writer.transport.abort()
        if self._clients:
            await asyncio.wait(self._clients, timeout=2)

    async def _client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._clients.add(task)
        self._writers.add(writer)
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            async for asked in _requests(reader):
                await self._answer(asked, writer)
                if writer.is_closing():
                    break
        writer.transport.abort() if self.over.is_set() else writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()
        self._writers.discard(writer)
        self._clients.discard(task)

    async def _answer(self, asked: Asked, writer: asyncio.StreamWriter) -> None:
        name = asked.path.split("/")[1]
        nth = len(self.asked[name])
        wire = Wire(self, writer, asked, nth)
        self.asked[name].append(asked)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            if asked.path.endswith("/models") and name not in ("many_models", "names_models_after_the_key"):
                await wire.whole('{"object": "list", "data": [{"id": "the-only-one"}]}')
            else:
                await self.faults[name](wire)
        finally:
            self.in_flight -= 1


async def _requests(reader: asyncio.StreamReader) -> AsyncIterator[Asked]:
    while True:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, path, _ = head[0].split(" ", 2)
        headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in head[1:] if line)}
        body = await _body(reader, headers)
        yield Asked(method, path, headers, body)


async def _body(reader: asyncio.StreamReader, headers: dict[str, str]) -> bytes:
    if "chunked" in headers.get("transfer-encoding", ""):
        pieces: Sequence[bytes] = ()
        while size := int(await reader.readline(), 16):
            pieces = (*pieces, await reader.readexactly(size))
            await reader.readline()
        await reader.readline()
        return b"".join(pieces)
    return await reader.readexactly(int(headers.get("content-length", 0)))
