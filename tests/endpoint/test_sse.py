from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.endpoint.sse import MOST_OF_A_LINE, Events, TooLong

STREAM = (
    b'\xef\xbb\xbf: hi\ndata: {"a": 1}\n\nevent: x\r\nid: 3\r\ndata:two\r\ndata: lines\r\n\r\n\n\n'
    b"retry: 5\ndata: [DONE]\n\n"
)
PAYLOADS = [b'{"a": 1}', b"two\nlines", b"[DONE]"]


def cut(stream: bytes, cuts: list[int]) -> list[bytes]:
    events, found, last = Events(), list[bytes](), 0
    for at in [*sorted(cuts), len(stream)]:
        found += events.feed(stream[last:at])
        last = at
    return found + events.end()


@given(st.lists(st.integers(0, len(STREAM)), max_size=20))
def test_events_are_the_same_however_the_bytes_come(cuts: list[int]) -> None:
    assert cut(STREAM, cuts) == PAYLOADS


def test_byte_by_byte_too() -> None:
    assert cut(STREAM, list(range(len(STREAM)))) == PAYLOADS


def test_a_last_event_needs_no_blank_line() -> None:
    assert cut(b"data: a\n\ndata: b", []) == [b"a", b"b"]
    assert cut(b"data: a\n\ndata: b\n", []) == [b"a", b"b"]


@given(st.binary(max_size=300), st.lists(st.integers(0, 300), max_size=5))
def test_any_bytes_are_survived(noise: bytes, cuts: list[int]) -> None:
    assert all(isinstance(payload, bytes) for payload in cut(noise, [min(c, len(noise)) for c in cuts]))


def fed(piece: bytes, times: int) -> None:
    events = Events()
    for _ in range(times):
        events.feed(piece)


def test_a_long_line_is_refused_while_it_comes_and_when_it_is_there() -> None:
    with pytest.raises(TooLong, match="a line of over 10 MB"):
        fed(b"x" * 1_000_000, 11)
    with pytest.raises(TooLong):
        Events().feed(b"x" * (MOST_OF_A_LINE + 1) + b"\n")


def test_an_event_of_many_lines_is_no_way_around() -> None:
    with pytest.raises(TooLong):
        fed(b"data:" + b"x" * 1_000_000 + b"\n", 11)


def test_a_reply_of_many_events_is_refused_in_the_end() -> None:
    with pytest.raises(TooLong, match="over 50 MB"):
        fed(b"data: " + b"x" * 1_000_000 + b"\n\n", 51)
