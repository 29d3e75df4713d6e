"""What is to be played, in which order it is handed out, and what it is said to take."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.endpoint.prices import Price
from simulator.endpoint.types import ModelChoice
from simulator.sweep.cell_facts import CellFacts
from simulator.sweep.data import DataSet, Session
from simulator.sweep.estimate import estimate
from simulator.sweep.planning import Feed, Plan, Run
from simulator.sweep.types import Cell, Done, Needs, Task

HOUR = 3600 * 10**9
FACTS = CellFacts("f", Needs(), "stream", "modelled", 2 * 10**9, 0, 0, False, False)


def plan(*missing: int, n_sessions: int = 3, n_past: int = 0, facts: CellFacts = FACTS, **choice: object) -> Plan:
    """Runs of one cell: of each so many units are missing."""
    sessions = tuple(
        Session(f"s{i}", Path("s"), 0, f"s{i}", f"u{i}", f"i{i}", None, HOUR, 10**9, 0, n_past)
        for i in range(n_sessions)
    )
    cell = Cell((("agent", "a"),), {"agent": "silent", "memory": "none", **choice}, "d")
    runs = [Run(f"r{i}", 0, i, list(range(n)), is_scored=n == 0) for i, n in enumerate(missing)]
    first = object()
    return Plan(Path("x"), (cell,), (facts,), {"d": DataSet("d", (), sessions, first)}, runs)  # type: ignore[arg-type]


def kinds(feed: Feed, n: int) -> list[str | None]:
    taken = [next(feed) for _ in range(n)]
    return [None if t is None else f"{t.run}/{t.key}" for t in taken]


def test_a_run_is_scored_behind_the_last_of_its_units() -> None:
    feed = Feed(plan(2, 1))
    assert kinds(feed, 4) == ["r0/s0", "r0/s1", "r1/s0", None], "nothing is ready until something has ended"
    feed.done(Done("r0", "s0"))
    assert kinds(feed, 1) == [None]
    feed.done(Done("r0", "s1", "no", "erred"))
    assert kinds(feed, 2) == ["r0/", None], "a run with an erred unit is scored too"
    feed.done(Done("r1", "s0", "gone", "lost"))
    assert kinds(feed, 1) == ["r1/"]
    feed.done(Done("r0", ""))
    feed.done(Done("r1", ""))
    with pytest.raises(StopIteration):
        next(feed)


def test_a_run_with_an_interrupted_unit_is_not_scored() -> None:
    feed = Feed(plan(1))
    next(feed)
    feed.done(Done("r0", "s0", "stopped", "interrupted"))
    with pytest.raises(StopIteration):
        next(feed)


def test_a_run_whose_units_are_there_and_whose_scores_are_not_is_scored_first() -> None:
    made = plan(0, 1)
    made.runs[0].is_scored = False
    assert kinds(Feed(made), 2) == ["r0/", "r1/s0"]


@given(st.lists(st.integers(0, 3), min_size=1, max_size=6), st.data())
def test_every_unit_is_handed_out_once_and_every_run_scored_once(missing: list[int], data: st.DataObject) -> None:
    feed, out, seen = Feed(plan(*missing)), list[Task](), list[Task]()
    while True:
        try:
            task = next(feed)
        except StopIteration:
            break
        if task is not None:
            out.append(task)
            seen.append(task)
        if out and (task is None or data.draw(st.booleans())):
            ended = out.pop(data.draw(st.integers(0, len(out) - 1)))
            feed.done(Done(ended.run, ended.key))
    assert not out
    units = [(t.run, t.key) for t in seen if t.key]
    assert len(units) == len(set(units)) == sum(missing)
    assert sorted(t.run for t in seen if not t.key) == [f"r{i}" for i, n in enumerate(missing) if n]


def test_inputs_differ_by_cell_seed_session_and_where_others_are_read_by_all_sessions() -> None:
    made = plan(1, 1)
    (one, other), sessions = made.runs, made.sessions(made.runs[0])
    assert len({made.inputs(r, s) for r in (one, other) for s in sessions}) == 6
    alike = plan(1, n_sessions=2)
    assert alike.inputs(alike.runs[0], sessions[0]) == made.inputs(one, sessions[0])
    others = replace(FACTS, wants_others=True)
    few, many = plan(1, n_sessions=2, facts=others), plan(1, facts=others)
    assert few.inputs(few.runs[0], sessions[0]) != many.inputs(many.runs[0], sessions[0])


def test_an_estimate_counts_decisions_by_what_a_decision_takes() -> None:
    found = estimate(plan(2), 1, 1)
    assert (found.units, found.missing, found.decisions, found.calls) == (3, 2, 2 * 1800, 0)
    assert (found.cost, found.tokens_in) == ((0.0, 0.0), (0.0, 0.0))
    assert found.seconds[0] < found.seconds[1]


def test_what_nobody_can_know_is_none_and_never_0() -> None:
    asking = replace(FACTS, asks=3)
    assert estimate(plan(1, facts=asking), 1, 1).cost is None
    unknown = estimate(plan(1, facts=replace(FACTS, asks=None)), 1, 1)
    assert (unknown.calls, unknown.cost) == (None, None)


def test_what_is_asked_once_a_session_is_not_counted_at_each_frame() -> None:
    found = estimate(plan(2, facts=replace(FACTS, protocol="trajectory", asks=1, asks_once=True)), 1, 1)
    assert (found.decisions, found.calls) == (2 * 3600, 2)


@pytest.mark.parametrize(("moments", "decisions"), [(None, 80), (0, 0), (6, 12)])
def test_moments_are_those_of_the_sessions_and_guessed_only_of_what_is_yet_to_be_made(
    moments: int | None, decisions: int
) -> None:
    made = plan(2, facts=replace(FACTS, protocol="moments"))
    of = made.sets["d"]
    made.sets["d"] = replace(of, sessions=tuple(replace(s, n_moments=moments) for s in of.sessions))  # type: ignore[index]
    assert estimate(made, 1, 1).decisions == decisions


def test_a_cost_is_that_of_the_tokens_at_the_prices_given() -> None:
    asking = replace(FACTS, asks=2)
    found = estimate(plan(1, facts=asking, model=ModelChoice(model="m")), 1, 1, {"m": Price(2.0, 10.0, 1.0)})
    calls = 1800 * 2
    assert found.calls == calls
    assert found.cost == pytest.approx((calls * (500 * 2 + 30 * 10) / 1e6, calls * (4000 * 2 + 400 * 10) / 1e6))


def test_what_is_alone_is_not_divided_among_workers() -> None:
    alone = replace(FACTS, needs=Needs(alone=True))
    assert estimate(plan(2, facts=alone), 4, 1).seconds == estimate(plan(2, facts=alone), 1, 1).seconds
    told, fresh = estimate(plan(2, n_past=10_000), 1, 1).seconds, estimate(plan(2), 1, 1).seconds
    assert told[1] - fresh[1] == pytest.approx(20), "two units, to each of which a past is told first"
    assert estimate(plan(2), 4, 1).seconds[1] == pytest.approx(estimate(plan(2), 1, 1).seconds[1] / 4)
