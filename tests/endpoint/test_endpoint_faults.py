"""Each way in which a server can misbehave has a kind of its own, and none of them is taken for an answer."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import pytest

from simulator.core.types import MS, SECOND
from simulator.endpoint.chat import Endpoint
from simulator.endpoint.types import ERROR_KINDS, EndpointError
from simulator.timing.clock import real_ns
from simulator.timing.meter import CallMeter
from tests.endpoint.asks import HI, ask, choice, refused
from tests.endpoint.faults import FaultServer


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("half_json", "bad_json", "not JSON"),
        ("not_an_object", "bad_json", "no object"),
        ("wrong_types", "bad_json", "neither text"),
        ("not_utf8", "bad_json", "not UTF-8"),
        ("wrong_type", "bad_json", "text/html"),
        ("empty", "empty", "nothing was in it"),
        ("nothing", "empty", "nothing was in it"),
        ("blank", "empty", "holds no text"),
        ("only_thinks", "empty", "only reasoning"),
        ("no_finish", "truncated", "before the answer did"),
        ("closes_early", "truncated", "in the middle"),
        ("breaks_off", "server", "the engine died"),
        ("length", "length", "cut at the limit"),
        ("filtered", "refused", "content_filter"),
        ("long_line", "too_large", "a line of over 10 MB"),
        ("too_long_a_question", "too_large", "2048"),
        ("not_there", "not_found", "does not exist"),
        ("bad_request", "refused", "temperature must be below 2"),
        ("redirects", "refused", "redirects"),
        ("closes_at_once", "connection", "closed the connection without an answer"),
        ("limited", "rate_limited", "slow down"),
        ("fails", "server", "out of memory"),
    ],
)
def test_a_fault_is_an_error_of_its_kind(name: str, kind: str, words: str, server: FaultServer) -> None:
    error = refused(choice(server.url(name), max_retries=0))
    assert (error.kind, words in error.sentence) == (kind, True), error
    assert len(server.asked[name]) == 1, "max_retries=0 means none"
    assert error.kind in ERROR_KINDS


def test_a_reply_without_end_is_not_kept_in_memory(server: FaultServer) -> None:
    assert refused(choice(server.url("long_reply"))).kind == "too_large"


def test_a_stream_that_falls_silent_is_given_up(server: FaultServer) -> None:
    begun = real_ns()
    error = refused(choice(server.url("stall"), idle_timeout_ns=40 * MS))
    assert (error.kind, error.partial) == ("idle_timeout", "Hello")
    assert real_ns() - begun < SECOND


@pytest.mark.parametrize("name", ["mute", "drip", "stall"])
def test_the_whole_call_has_a_limit_also_where_bytes_keep_coming(name: str, server: FaultServer) -> None:
    begun = real_ns()
    error = refused(choice(server.url(name), timeout_ns=60 * MS, idle_timeout_ns=40 * SECOND))
    assert (error.kind, error.sentence) == ("timeout", "no whole answer within 0.06 s")
    assert real_ns() - begun < SECOND


def test_nobody_listening_is_a_fault_of_the_connection() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    error = refused(choice(f"http://127.0.0.1:{port}/v1", max_retries=0))
    assert error.kind == "connection"
    assert "Connection refused" in error.sentence


def test_what_passes_is_asked_again_and_its_waits_are_told_apart(server: FaultServer) -> None:
    meter = CallMeter()
    reply = ask(choice(server.url("limited_once")), meter)
    assert (reply.text, reply.stamps.retries) == ("Hello", 1)
    assert 30 * MS <= reply.stamps.waited_ns < 500 * MS
    assert (meter.throttle_ns, meter.retries) == (reply.stamps.waited_ns, 1)
    assert 25 * MS <= meter.stages_ns["wait"] < 500 * MS, "back-off is no time of the model"
    assert len(server.asked["limited_once"]) == 2


@pytest.mark.parametrize(("name", "calls"), [("fails_twice", 3), ("limited_ms", 2), ("limited_until", 2),
                                             ("closes_once", 2)])  # fmt: skip
def test_it_is_asked_again_as_often_as_needed(name: str, calls: int, server: FaultServer) -> None:
    assert ask(choice(server.url(name))).text == "Hello"
    assert len(server.asked[name]) == calls


def test_no_more_often_than_allowed(server: FaultServer) -> None:
    error = refused(choice(server.url("fails"), max_retries=3))
    assert (error.retries, len(server.asked["fails"])) == (3, 4)


def test_what_will_not_pass_is_not_asked_again(server: FaultServer) -> None:
    for name in ("bad_request", "not_there", "length", "half_json", "closes_early", "redirects", "empty"):
        refused(choice(server.url(name), max_retries=5))
        assert len(server.asked[name]) == 1, name


def test_a_wait_beyond_the_time_limit_is_not_begun(server: FaultServer) -> None:
    begun = real_ns()
    error = refused(choice(server.url("limited_long")))
    assert error.kind == "rate_limited"
    assert "asks to wait 86400 s" in error.sentence
    assert real_ns() - begun < SECOND


def test_a_failed_call_tells_what_it_used(server: FaultServer) -> None:
    meter = CallMeter()
    refused(choice(server.url("length")), meter)
    assert meter.tokens["out"] == 7
    assert meter.first_token_ns is not None


def test_one_bad_call_costs_the_next_one_nothing(server: FaultServer) -> None:
    """A connection that was broken off, or left open, is not used again."""

    async def main() -> list[Any]:
        said: list[Any] = []
        async with Endpoint(choice(server.url("turns"), idle_timeout_ns=30 * MS, max_retries=0)) as endpoint:
            for _ in range(8):
                try:
                    said.append((await endpoint.chat(HI)).text)
                except EndpointError as error:
                    said.append(error.kind)
        return said

    turns = ["stall", "ok", "closes_early", "ok", "half_json", "ok", "open_after_done", "ok"]

    async def turn(wire: Any) -> None:
        await server.faults[turns[wire.nth]](wire)

    server.faults["turns"] = turn
    said = asyncio.run(main())
    assert said == ["idle_timeout", "Hello", "truncated", "Hello", "bad_json", "Hello", "Hello", "Hello"]


def test_a_call_that_is_cancelled_lets_go_of_its_connection(server: FaultServer) -> None:
    async def main() -> None:
        async with Endpoint(choice(server.url("mute"))) as endpoint:
            for _ in range(3):
                with pytest.raises(TimeoutError):
                    async with asyncio.timeout(0.02):
                        await endpoint.chat(HI)
            server.faults["mute"] = server.faults["ok"]
            assert (await endpoint.chat(HI)).text == "Hello"

    asyncio.run(main())


def test_who_asks_to_be_left_alone_for_ever_is_and_a_time_that_is_none_is_on_record(server: FaultServer) -> None:
    error = refused(choice(server.url("limited_for_ever")))
    assert error.kind == "rate_limited"
    assert "longer than the time limit" in error.sentence
    assert len(server.asked["limited_for_ever"]) == 1
    meter = CallMeter()
    assert ask(choice(server.url("limited_oddly")), meter).notes == ("retry_after_unread",)
    assert meter.notes == {"retry_after_unread": 1}
