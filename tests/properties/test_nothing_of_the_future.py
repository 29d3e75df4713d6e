"""A marker planted in the future never reaches an agent or its memory, on any clock, not even through kept views."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simulator.core.errors import ProactError
from simulator.core.types import MS, SECOND, SILENT, Decision, Event, Label, Observation
from simulator.session.truth import Assist, Opportunity
from simulator.timing.clock import pause
from tests.worlds import PERIOD, Notebook, Screen, plan, play, screen

CLOCKS = [("measured", "latest_only"), ("modelled", "latest_only"), ("modelled", "overlap:3"), ("wall", "latest_only"),
          ("wall", "overlap:3"), ("wall", "cancel_in_flight"), ("elastic", "overlap:2")]  # fmt: skip


async def everything(seen: Observation) -> list[str]:
    """All that an agent can read in an observation, as text, piece by piece."""
    history = seen.history
    pieces = [repr(history.events), repr(history.current), repr(history.snapshots(1000)), repr(seen.snapshot)]
    pieces += [repr(list(seen.memory.labels)), repr(dict(seen.profile))]
    try:
        items = await seen.memory.recall(1000)
        pieces += [repr(items), seen.memory.render(items)]
        pieces += [repr(await seen.memory.recall(1000, text="anything"))]
    except ProactError as error:  # a view that has ended, a memory caught looking ahead; nothing else may hide here
        pieces.append(f"refused: {error}")
    return pieces


def marks(pieces: list[str]) -> list[int]:
    """The instants of all markers in them."""
    return [int(t) for piece in pieces for t in re.findall(r"FUTURE(-?\d+)", piece)]


class Reader:
    """Reads everything at once, a little later, and again through every observation it ever got."""

    concurrent = "stateless"
    wait_ns = 3 * MS
    kept: list[tuple[Observation, list[str]]]
    leaks: list[str]

    def __init__(self) -> None:
        self.kept, self.leaks = [], []
        Reader.last = self

    async def decide(self, seen: Observation) -> Decision:
        first = await everything(seen)
        self.check(seen, first)
        await pause(self.wait_ns)
        self.check(seen, await everything(seen))
        for old, before in self.kept:
            after = await everything(old)
            self.check(old, after)
            if after[:6] != before[:6]:
                self.leaks.append(f"a view of {old.now_ns} changed")
            if not after[-1].startswith("refused"):
                self.leaks.append("a memory view outlived its decision")
        self.kept.append((seen, first))
        return SILENT

    def check(self, seen: Observation, pieces: list[str]) -> None:
        self.leaks += [f"{t} at {seen.now_ns}" for t in marks(pieces) if t > seen.now_ns]

    last: Reader


def marked(windows: list[str], period_ns: int) -> Screen:
    """Each snapshot carries the instant at which it is captured in all its texts."""
    source = screen(windows, period_ns)
    rows = [
        row._replace(title=f"{row.app} FUTURE{row.captured_ns}", text=f"FUTURE{row.captured_ns}") for row in source.rows
    ]
    source.rows = rows
    return source


def needs_of(source: Screen, ticks: list[int], period_ns: int) -> list[Opportunity]:
    return [
        Opportunity(
            f"n{t}", t * period_ns, t * period_ns + 1, f"FUTURE{t * period_ns}", t * period_ns, f"FUTURE{t * period_ns}"
        )
        for t in ticks
    ]


@pytest.mark.parametrize(("clock", "policy"), CLOCKS)
@pytest.mark.parametrize("blind", [False, True], ids=["memory that knows times", "memory that knows text only"])
def test_no_marker_of_the_future_is_read_at_any_time(clock: str, policy: str, blind: bool, tmp_path: Path) -> None:
    windows = list("aabbbcaadda")
    source = marked(windows, PERIOD)
    needs = needs_of(source, [1, 3, 6, 9], PERIOD)
    assists = [Assist(5 * PERIOD, 6 * PERIOD, f"FUTURE{5 * PERIOD}", f"FUTURE{5 * PERIOD}")]
    past = Event("old/1", "u", -20 * SECOND, -10 * SECOND, "a", "old")
    unit = plan(
        source, Reader, memory=lambda: Notebook(blind=blind, inline=False), clock=clock, policy=policy,
        period_ns=PERIOD, latency="fixed:45ms+3ms" if clock == "modelled" else None, needs=needs, assists=assists,
        history=[(past, Label("old/1", "u", True, -10 * SECOND, "x", "y"))],
    )  # fmt: skip
    run = play(unit, tmp_path)
    assert run.result.error is None
    assert Reader.last.leaks == []
    assert set(run.errors) <= {"agent_error"}, run.errors
    assert len(Reader.last.kept) >= 2
    assert run.log.writes


@given(
    st.lists(st.sampled_from("aab"), min_size=2, max_size=25),
    st.sets(st.integers(1, 24), max_size=4).map(sorted),
    st.sampled_from(["fixed:0s", "fixed:1500ms+400ms", "profile:2s"]),
    st.sampled_from(["latest_only", "queue_all", "overlap:3", "cancel_in_flight", "stride:2"]),
    st.booleans(),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
def test_an_agent_asked_at_t_sees_nothing_stamped_later_than_t(
    tmp_path: Path, windows: list[str], ticks: list[int], latency: str, policy: str, blind: bool
) -> None:
    class Inline(Reader):
        inline = True

        async def decide(self, seen: Observation) -> Decision:
            self.check(seen, await everything(seen))
            for old, _ in self.kept:
                self.check(old, await everything(old))
            self.kept.append((seen, []))
            history = seen.history
            assert all(e.end_ns <= seen.now_ns for e in history.events)
            assert all(s.captured_ns <= seen.now_ns for s in history.snapshots(99))
            assert history.current is None or history.current.end_ns <= seen.now_ns
            assert all(lb.available_ns <= seen.now_ns and e.end_ns <= seen.now_ns for e, lb in seen.memory.labels)
            return SILENT

    source = marked(windows, SECOND)
    needs = needs_of(source, [t for t in ticks if t < len(windows)], SECOND)
    unit = plan(source, Inline, memory=lambda: Notebook(blind=blind), latency=latency, policy=policy, needs=needs)
    run = play(unit, tmp_path)
    assert run.errors == []
    assert Reader.last.leaks == []


@pytest.mark.parametrize("memory_mode", ["online", "frozen"])
def test_moments_see_nothing_later_than_themselves(memory_mode: str, tmp_path: Path) -> None:
    from dataclasses import replace

    from simulator.session.truth import Moment

    source = marked(list("aabbbcaadda"), SECOND)
    unit = plan(source, Reader, memory=lambda: Notebook(inline=False), protocol="moments", latency="fixed:5s+1s",
                memory_mode=memory_mode, needs=needs_of(source, [1, 3, 6, 9], SECOND))  # fmt: skip
    moments = tuple(Moment(t * SECOND // 10, False) for t in (5, 20, 24, 25, 69, 90))
    run = play(replace(unit, truth=replace(unit.truth, moments=moments)), tmp_path)
    assert Reader.last.leaks == []
    assert [o.now_ns for o, _ in Reader.last.kept] == [m.t_ns for m in moments]
    assert len(run.log) == 6


def test_a_rehearsal_sees_the_past_of_its_own_moment_only(tmp_path: Path) -> None:
    seen: list[tuple[int, list[str]]] = []
    kept: list[Observation] = []

    class Rehearsing:
        async def rehearse(self, observation: Observation, label: Any) -> None:
            seen.append((observation.now_ns, await everything(observation)))
            kept.append(observation)

        async def decide(self, observation: Observation) -> Decision:
            for old in kept:
                seen.append((old.now_ns, await everything(old)))  # noqa: PERF401
            return SILENT

    history = []
    for i in range(4):
        start = -100 * SECOND + i * 20 * SECOND
        event = Event(
            f"old/{i}", "u", start, start + 20 * SECOND, "a", f"FUTURE{start}", summary=f"FUTURE{start + 20 * SECOND}"
        )
        known = start + 20 * SECOND
        history.append((event, Label(event.id, "u", True, known, f"FUTURE{known}", f"FUTURE{known}")))
    unit = plan(
        screen("a"), Rehearsing, memory=lambda: Notebook(blind=True, inline=False), history=history, clock="measured"
    )
    run = play(unit, tmp_path)
    assert run.errors == []
    assert len(seen) == 8
    for now, pieces in seen:
        assert all(t <= now for t in marks(pieces)), now
        assert now < 0
