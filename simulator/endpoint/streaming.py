"""An answer from the wire, read to its end: as a stream of events, or whole from a server that does not stream."""

from __future__ import annotations

import asyncio

import aiohttp

from simulator.core.types import SECOND
from simulator.endpoint.answer import Gathered, apart, parsed
from simulator.endpoint.call import Call
from simulator.endpoint.redact import holds_key, shown
from simulator.endpoint.sse import Events, TooLong
from simulator.endpoint.transport import Transport
from simulator.endpoint.types import EndpointError
from simulator.timing.clock import real_ns

__all__ = ["read_answer"]

_AFTER_THE_END_S = 0.02  # for the connection to be handed back; a server that keeps it open after [DONE] loses it


async def read_answer(response: aiohttp.ClientResponse, call: Call, transport: Transport, idle_ns: int) -> None:
    """Fill ``call.gathered``, and stamp the call's end.

    The limit on silence holds from the first byte on: how long a server thinks before is bounded by the whole limit,
    since on a slow machine it is long and honest.

    Raises:
        EndpointError: no whole answer came.
    """
    key = transport.key
    got = call.gathered = Gathered(lambda words: shown(words, key))
    try:
        await _read(response, call, transport, idle_ns)
    finally:  # also of what came of an answer that broke off
        leaks = _thrown_away(got, key)
    if leaks:
        said = "the answer repeats the key that was sent with the question, or a piece of it: it is thrown away"
        raise EndpointError("refused", said)
    got.check()


async def _read(response: aiohttp.ClientResponse, call: Call, transport: Transport, idle_ns: int) -> None:
    got, kind, key = call.gathered, response.content_type, transport.key
    if kind == "application/json":
        got.add(parsed(await transport.whole(response)), real_ns() - call.began_ns)
        call.notes.append("not_streamed")
        _first_token(call)
    elif kind in ("text/event-stream", "application/octet-stream", "application/x-ndjson", "text/plain"):
        await _stream(response, call, idle_ns / SECOND)
    else:
        raise EndpointError("bad_json", f"{transport.where} answered with {shown(kind, key, 40)}, not with events")
    call.done_ns = call.done_ns or real_ns() - call.began_ns


def _thrown_away(got: Gathered, key: str | None) -> bool:
    """Whether the answer told the key or a piece of it; nothing of it is then left."""
    if key is None:
        return False
    raw = ("".join(said for _, kind, said in got.pieces if kind == which) for which in "tr")
    if not holds_key("\n".join([*raw, *apart(got.pieces), f"{got.model}\n{got.finish}"]), key):
        return False
    got.pieces, got.model, got.finish = [], None, None
    return True


async def _stream(response: aiohttp.ClientResponse, call: Call, idle_s: float) -> None:
    got, events, loop = call.gathered, Events(), asyncio.get_running_loop()
    try:
        async with asyncio.timeout(None) as silence:
            async for piece in response.content.iter_any():
                _take(events.feed(piece), call)
                silence.reschedule(loop.time() + (_AFTER_THE_END_S if got.ended else idle_s))
            _take(events.end(), call)
    except TimeoutError:
        if not silence.expired():
            raise
        if not got.ended:
            raise EndpointError("idle_timeout", f"the stream fell silent for {idle_s:g} s") from None
    except TooLong as error:
        raise EndpointError("too_large", f"the answer holds {error}") from None


def _take(payloads: list[bytes], call: Call) -> None:
    got = call.gathered
    if not payloads or got.ended:
        return
    now = real_ns() - call.began_ns
    for payload in payloads:
        begun = bool(got.pieces)
        ended = got.take(payload, now)
        if not begun:
            _first_token(call)
        if ended:
            call.done_ns = now
            return


def _first_token(call: Call) -> None:
    if call.gathered.pieces and call.meter is not None:
        call.meter.first_token()
