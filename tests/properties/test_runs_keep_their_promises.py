"""The invariants of the time contract on whole runs of the engine.

On made-up logs: ``test_scores_keep_their_promises``; 3 is there only, 4 in ``tests/runs/test_policies``, 10 in
``test_nothing_of_the_future``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from agents.oracle import Oracle
from scorers.base import Unit, score_run
from simulator.core.rng import below
from simulator.core.types import MS, SECOND, SILENT, Decision, Observation, Offer
from simulator.play.assemble import twin
from simulator.runs.gate import Gate
from simulator.runs.records import RunLog
from simulator.session.truth import Opportunity
from simulator.timing.latency import Call, Empirical, LatencyModel
from simulator.timing.mailbox import parse_policy
from tests.worlds import Agent, Notebook, Played, plan, play, replayed, screen, told

quick = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)

WINDOWS = st.lists(st.sampled_from("aab"), min_size=3, max_size=40)
POLICIES = st.sampled_from(
    ["latest_only", "queue_all", "drop_oldest:2", "drop_newest:2", "stride:2", "overlap:3", "cancel_in_flight"]
)
LATENCIES = st.sampled_from(
    ["fixed:0s", "fixed:300ms", "fixed:1s+100ms", "fixed:2300ms+1500ms", "profile:1s", "profile:5s"]
)


@st.composite
def needs(draw: st.DrawFn, least: int = 0) -> tuple[Opportunity, ...]:
    found, free = [], 0
    for i in range(draw(st.integers(least, 3))):
        opens = free + draw(st.integers(0, 80))
        free = opens + draw(st.integers(20, 120))
        acted = free * SECOND // 10
        found.append(Opportunity(str(i), opens * SECOND // 10, acted, draw(st.sampled_from("ab")), acted, "why?"))
    return tuple(found)


def says(seen: Observation) -> Decision:
    """Offers, by a fixed chance, the window it sees; sometimes takes it back."""
    match below(4, 11, "says", seen.snapshot.index):
        case 0:
            return SILENT
        case 1:
            return Decision(retracted=(str(seen.snapshot.app),))
    return Decision((Offer(str(seen.snapshot.app), "", 0.5),))


def scores(log: RunLog, unit: Any, **more: Any) -> dict[str, Any]:
    found: dict[str, Any] = score_run([Unit("u", log, unit.truth)], "stream", Gate.parse("off"), **more)["scores"]
    return found


@given(st.lists(st.sampled_from("aab"), min_size=20, max_size=40), needs(least=1), POLICIES, LATENCIES)
@quick
def test_1_zero_charge_makes_arrival_capture_and_instant_scores_equal(
    tmp_path: Path, windows: list[str], wanted: tuple[Opportunity, ...], policy: str, latency: str
) -> None:
    charged = plan(screen(windows), says, memory=Notebook, needs=wanted, policy=policy, latency=latency)
    free = play(plan(screen(windows), says, memory=Notebook, needs=wanted, policy=policy), tmp_path / "free")
    instant = play(twin(charged), tmp_path / "twin")
    assert instant.body == free.body, "the twin of a charged run is the run of the same agent without a charge"
    assert free.log.actionable_ns.tolist() == free.log.captured_ns.tolist()
    twins = {"u": Unit("u", instant.log, charged.truth)}
    found = scores(free.log, charged, twins=twins)
    assert found["F1_rt"] == found["F1_seen"] == found["F1_instant"] is not None
    assert found["latency_loss"] == found["coverage_loss"] == 0
    slow = scores(play(charged, tmp_path / "charged").log, charged, twins=twins)
    assert slow["F1_instant"] == found["F1_rt"]


@given(needs(least=1), POLICIES)
@quick
def test_an_instant_oracle_reaches_the_printed_ceiling(
    tmp_path: Path, wanted: tuple[Opportunity, ...], policy: str
) -> None:
    """The agent itself, through the engine; under a policy that shows it every snapshot, one after the other."""
    assume(not policy.startswith(("stride", "overlap", "cancel")))
    unit = plan(screen("a" * 60), needs=wanted, policy=policy)
    unit = replace(unit, agent=lambda: Oracle(unit.truth))
    found = scores(play(unit, tmp_path).log, unit)
    assert found["timely_utility"] == pytest.approx(found["timely_utility@ceiling"])
    assert found["R_rt"] == found["P_rt"] == 1


@given(WINDOWS, POLICIES, LATENCIES)
@quick
def test_2_scheduled_latency_is_service_time_exactly_where_nothing_waited(
    tmp_path: Path, windows: list[str], policy: str, latency: str
) -> None:
    log = play(plan(screen(windows), says, memory=Notebook, policy=policy, latency=latency), tmp_path).log
    scheduled, service = log.actionable_ns - log.released_ns, log.actionable_ns - log.started_ns
    assert (scheduled >= service).all()
    assert (service >= 0).all()
    busy = 0
    for at, (released, started) in enumerate(zip(log.released_ns.tolist(), log.started_ns.tolist(), strict=True)):
        assert (scheduled[at] == service[at]) == (released == started)
        busy += released != started
    if latency == "fixed:0s":
        assert busy == 0, "a free agent with a free memory is never busy"


@given(WINDOWS, POLICIES, LATENCIES, st.integers(2, 3))
@quick
def test_5_doubling_all_times_doubles_all_stamps(
    tmp_path: Path, windows: list[str], policy: str, latency: str, factor: int
) -> None:
    class Stretched:
        text = "stretched"

        def __init__(self, by: int) -> None:
            self.by = by

        def charge_ns(self, call: Call, seed: int) -> int:
            return self.by * below(3 * SECOND, seed, call.session, call.snapshot, call.what)

    def stamps(by: int) -> list[list[int]]:
        unit = plan(screen(windows, by * SECOND), says, memory=Notebook, policy=policy, latency=Stretched(by),
                    period_ns=by * SECOND)  # fmt: skip
        log = play(replace(unit, window_ns=by * unit.window_ns), tmp_path).log
        return [(c // by).tolist() for c in (log.captured_ns, log.started_ns, log.actionable_ns)] + [log.kind.tolist()]

    assert stamps(factor) == stamps(1)


@given(st.permutations(range(3)), LATENCIES, POLICIES)
@quick
def test_6_the_order_of_sessions_changes_no_log(
    tmp_path: Path, order: Sequence[int], latency: str, policy: str
) -> None:
    def played(order: Sequence[int]) -> dict[int, list[str]]:
        agents = {i: Agent(says, inline=True, concurrent="stateless") for i in order}
        return {
            i: play(plan(screen("aabab" * (i + 1), session=f"s{i}"), agents[i], memory=Notebook, latency=latency,
                         policy=policy), tmp_path / str(i)).body
            for i in order
        }  # fmt: skip

    assert played(order) == played(range(3))


@given(WINDOWS, POLICIES, LATENCIES, needs())
@quick
def test_7_the_journal_of_a_run_gives_the_same_log(
    tmp_path: Path, windows: list[str], policy: str, latency: str, wanted: tuple[Opportunity, ...]
) -> None:
    unit = plan(screen(windows), says, memory=Notebook, policy=policy, latency=latency, needs=wanted)
    run = play(unit, tmp_path / "run")
    again = play(replayed(unit, run), tmp_path / "journal")
    assert again.body == run.body


@given(st.integers(0, 2**40), st.integers(0, 2**40))
@quick
def test_8_any_changed_seed_changes_an_empirical_run(tmp_path: Path, one: int, two: int) -> None:
    model: LatencyModel = Empirical("run", tuple(range(1, 500 * MS, 7919)), ())

    def body(seed: int) -> list[str]:
        return play(plan(screen("a" * 30), says, latency=model, seed=seed), tmp_path).body

    assert (body(one) == body(two)) == (one == two)


@given(WINDOWS, st.sampled_from(["fixed:300ms", "fixed:1700ms", "profile:2s"]), st.integers(0, 39))
@quick
def test_9_a_call_that_fails_takes_its_time_and_delivers_nothing(
    tmp_path: Path, windows: list[str], latency: str, which: int
) -> None:
    def failing(seen: Observation) -> Decision:
        if seen.snapshot.index == which:
            raise ValueError
        return Decision((Offer("a"),))

    def run(agent: Any) -> Played:
        return play(plan(screen(windows), agent, latency=latency), tmp_path)

    whole, failed = run(lambda seen: Decision((Offer("a"),))), run(failing)
    assert failed.log.actionable_ns.tolist() == whole.log.actionable_ns.tolist(), "its duration is charged all the same"
    assert len(failed.log.offers()) == len(whole.log.offers()) - (which in whole.seen)
    limit = failed.log.header["timeout_ns"]
    needs_ = (Opportunity("n", 0, 10 * SECOND, "a"),)
    unit = plan(screen(windows), failing, latency=latency, needs=needs_)
    with_failure, without = scores(failed.log, unit), scores(whole.log, unit)
    assert limit == 60 * SECOND
    assert (with_failure["R_rt"] or 0) <= (without["R_rt"] or 0)
    assert with_failure["scheduled_latency@p95"] >= without["scheduled_latency@p95"]


@given(WINDOWS, POLICIES, LATENCIES, st.integers(0, 5))
@quick
def test_two_modelled_runs_are_equal_to_the_byte(
    tmp_path: Path, windows: list[str], policy: str, latency: str, seed: int
) -> None:
    unit = plan(screen(windows), says, memory=Notebook, policy=policy, latency=latency, seed=seed)
    assert play(unit, tmp_path / "1").path.read_bytes() == play(unit, tmp_path / "2").path.read_bytes()


@given(WINDOWS, POLICIES, LATENCIES)
@quick
def test_a_log_says_its_own_counts(tmp_path: Path, windows: list[str], policy: str, latency: str) -> None:
    unit = plan(screen(windows), says, memory=Notebook, policy=parse_policy(policy).text, latency=latency)
    run = play(unit, tmp_path)
    end = run.lines[-1]
    kinds = [row["kind"] for row in told(run.log) if "snapshot" in row]
    assert end["decisions"] == len(run.log) == len(kinds)
    for code, name in ((1, "offers"), (2, "errors"), (3, "unparsed"), (4, "superseded"), (5, "cancelled")):
        assert end[name] == kinds.count(code)
    assert end["writes"] == len(run.log.writes)
    assert end["overruns"] == int((run.log.actionable_ns - run.log.started_ns > SECOND).sum())
    assert "NaN" not in json.dumps(run.lines)
