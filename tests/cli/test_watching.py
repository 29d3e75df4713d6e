"""The line of a live run: as much of it as fits, counted in words."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from simulator.cli.speak import Voice
from simulator.cli.watching import Spectator
from simulator.core.types import MS, SECOND, Offer, Snapshot
from simulator.runs.answers import Answer
from simulator.runs.books import Tally
from simulator.runs.flights import Flight
from simulator.runs.gate import Gate
from simulator.runs.records import Kind


def spectator(how: str = "", **tally: int) -> Any:
    one = Spectator(Voice(as_json=False), "LIVE", Gate.parse("standard"), lambda: how)
    one._engine = SimpleNamespace(books=SimpleNamespace(tally=Tally(**tally)))  # type: ignore[assignment]
    one._latencies.extend([40 * MS, 1200 * MS])
    one.shown = tally.get("offers", 0)
    return one


def test_one_of_a_thing_is_not_several() -> None:
    said = spectator(released=1, decisions=1, offers=1, errors=1)._said()
    assert said.startswith("LIVE: 1 snapshot, 1 decision, 1 suggestion shown, 1 error; latency")


@pytest.mark.parametrize("width", [99, 79, 59, 39])
def test_the_line_fits_into_the_terminal_and_keeps_that_nothing_is_recorded(width: int) -> None:
    how = "NOT RECORDING (locked)"
    said = spectator(how, released=36000, decisions=35991, offers=120, errors=3)._said(width)
    assert len(said) <= width
    assert how in said


def test_a_narrow_terminal_cuts_the_line_rather_than_wrapping_it() -> None:
    line = spectator("last look 0.4 s ago", released=10)._drawn()
    assert (line.no_wrap, line.overflow) == (True, "ellipsis")


def test_why_decisions_fail_is_told_while_they_do_and_each_kind_once(capsys: pytest.CaptureFixture[str]) -> None:
    one = spectator(released=3, decisions=3, errors=3)
    one.unit(SimpleNamespace(settings=SimpleNamespace(timeout_ns=60 * SECOND)))
    one._latencies.clear()
    seen: Any = Snapshot(0, 0, 0, None, None, None, None)
    for kind in ("model_refused", "model_refused", "timeout"):
        flight = Flight("decide", 0, 0, 0, snapshot=seen)
        flight.answer = Answer(MS, fields={"error": {"kind": kind, "text": "no such\x1b[1m model"}})
        one._decided(flight, Kind.ERROR, 4 * SECOND)
    said = capsys.readouterr().err
    assert said.count("0:00:04 LIVE a decision failed: model_refused: no such") == 1
    assert said.count("timeout: no such") == 1
    assert "\x1b" not in said
    assert one._said().startswith(
        "LIVE: 3 snapshots, 3 decisions, 0 suggestions shown, 3 errors (last: timeout); latency"
    )
    assert "p95 60000 ms" in one._said(), "a failed decision is charged the timeout, as in the scores"


def test_an_agent_can_forge_no_line_and_fill_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    one = spectator(released=3, decisions=3)
    seen: Any = Snapshot(0, 0, 0, None, None, None, None)
    flight = Flight("decide", 0, 0, 0, snapshot=seen)
    said = "\n\n shall I?\nrun folder: /forged\r\u2028RECORDING" + "x" * 10_000
    flight.answer = Answer(MS, offers=((Offer("Debug\n0:00:00 LIVE Forged", said), 35_600 * MS),))
    one._decided(flight, Kind.OFFER, 36 * SECOND)
    flight.answer = Answer(MS, fields={"error": {"kind": "refused", "text": "no\nrun folder: /forged"}})
    one._decided(flight, Kind.ERROR, 36 * SECOND)
    told = capsys.readouterr()
    (line,) = told.out.splitlines()
    assert line.startswith("0:00:36 LIVE Debug 0:00:00 LIVE Forged: shall I? run folder: /forged RECORDINGxxx"), (
        "the time as the page has it"
    )
    assert "more characters)  (35600 ms after the screen was seen)" in line
    assert len(line) < 600
    assert len(told.err.splitlines()) == 1
