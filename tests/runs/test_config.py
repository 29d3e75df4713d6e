"""What cannot be played honestly is refused, with the reason; what can is not."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from simulator.core.errors import UsageError
from simulator.core.types import SILENT, Decision, Observation
from simulator.runs.config import CLOCKS, PROTOCOLS, Settings, check
from simulator.timing.latency import parse_latency
from simulator.timing.mailbox import parse_policy


class Plain:
    async def decide(self, seen: Observation) -> Decision:
        return SILENT


class Stateless(Plain):
    concurrent = "stateless"


class Background(Plain):
    background = True


class Both(Plain):
    concurrent = "stateless"
    background = True


MODEL = parse_latency("fixed:1s")


def settings(clock: str, policy: str = "latest_only", **more: Any) -> Settings:
    latency = MODEL if clock == "modelled" else None
    return Settings(**{"clock": clock, "policy": parse_policy(policy), "latency": latency, **more})


@pytest.mark.parametrize(
    ("rules", "agent", "says"),
    [
        (settings("measured", "overlap:2"), Plain, "cannot play policy overlap:2: use clock wall, elastic"),
        (settings("measured", "overlap:2"), Stateless, "cannot play policy overlap:2"),
        (settings("measured", "cancel_in_flight"), Stateless, "cannot play policy cancel_in_flight"),
        (settings("measured"), Background, "work in the background"),
        (settings("modelled", "overlap:2"), Plain, "concurrent = 'stateless'"),
        (settings("modelled", "cancel_in_flight"), Plain, "concurrent = 'stateless'"),
        (settings("modelled"), Background, "work in the background"),
        (settings("modelled"), Both, "work in the background"),
        (settings("modelled", latency=None), Plain, "needs a latency model"),
        (settings("wall", latency=MODEL), Plain, "--latency goes with --clock modelled"),
        (settings("journal", latency=MODEL), Plain, "--latency goes with --clock modelled"),
        (settings("wall", protocol="moments"), Plain, "out of the stream's time"),
        (settings("elastic", protocol="trajectory"), Plain, "out of the stream's time"),
        (settings("measured", "stride:2", protocol="moments"), Plain, "drops nothing"),
        (settings("wall", speed=2), Plain, "--speed goes with --clock elastic"),
        (settings("elastic", speed=0), Plain, "a whole number from 1"),
        (settings("elastic", speed=-1), Plain, "a whole number from 1"),
        (settings("measured", max_gap_ns=1), Plain, "--max-gap goes with --clock wall"),
        (settings("elastic", max_gap_ns=1), Plain, "--max-gap goes with --clock wall"),
        (settings("weekly"), Plain, "clock 'weekly' is unknown"),
        (settings("measured", protocol="streams"), Plain, "did you mean 'stream'"),
        (settings("measured", memory_mode="off"), Plain, "memory mode 'off' is unknown"),
    ],
)
def test_an_impossible_combination_is_refused_with_its_reason(rules: Settings, agent: type, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        check(rules, agent())


@pytest.mark.parametrize(
    ("rules", "agent"),
    [
        (settings("measured"), Plain),
        (settings("measured", "overlap:1"), Plain),
        (settings("measured", "queue_all"), Plain),
        (settings("modelled", "overlap:4"), Stateless),
        (settings("modelled", "cancel_in_flight"), Stateless),
        (settings("journal", "overlap:4"), None),
        (settings("journal", "cancel_in_flight"), None),
        *((settings(c, p), a) for c, p, a in itertools.product(
            ("wall", "elastic"), ("overlap:4", "cancel_in_flight", "stride:3"), (Plain, Stateless, Background))),
        (settings("wall", max_gap_ns=10**9), Plain),
        (settings("elastic", speed=8), Plain),
        (settings("modelled", protocol="moments"), Plain),
        (settings("journal", protocol="trajectory"), None),
    ],
)  # fmt: skip
def test_a_possible_combination_is_played(rules: Settings, agent: Any) -> None:
    check(rules, None if agent is None else agent())


def test_each_clock_names_the_source_of_its_latencies() -> None:
    sources = {clock: settings(clock).latency_source for clock in CLOCKS}
    assert sources == {"wall": "measured", "elastic": "measured", "measured": "measured", "journal": "journal",
                       "modelled": "modelled"}  # fmt: skip
    assert [c for c in CLOCKS if settings(c).reproducible] == ["journal", "modelled"]
    assert set(PROTOCOLS) == {"stream", "moments", "trajectory"}
