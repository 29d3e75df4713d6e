"""A journal replays the run it is of, for every clock and policy, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memory.view import RECALLS
from simulator.core.errors import InputError, JournalMiss, UsageError
from simulator.core.types import MS, SECOND, SILENT, Decision, Observation, Offer
from simulator.runs import runlog
from simulator.runs.journal import empirical, unit_logs
from simulator.runs.records import Kind
from simulator.timing.clock import pause, real_ns
from simulator.timing.mailbox import parse_policy
from tests.worlds import PERIOD, Agent, Notebook, names, plan, play, replayed, screen, takes, told


def uneven(seen: Observation) -> Any:
    """Takes 1, 12, 23, 34, 45 ms in turn; offers, is silent, retracts, fails and meters."""
    i = seen.snapshot.index

    async def answer() -> Decision:
        await pause((1 + 11 * (i % 5)) * MS)
        if i % 5 == 3:
            raise ValueError("no")
        if i % 5 == 2:
            return Decision(retracted=("x",), parse_rule="json")
        if i % 7 == 4:
            with seen.meter.stage("model"):
                seen.meter.first_token()
                seen.meter.usage(tokens_in=3, cost=0.5)
                seen.meter.emit(Offer("early", "e", 0.25, "t"))
                seen.meter.note("odd")
        return names(seen) if i % 2 else SILENT

    return answer()


CLOCKS = [
    ("measured", "latest_only"), ("measured", "queue_all"), ("measured", "drop_newest:2"), ("measured", "stride:2"),
    ("wall", "latest_only"), ("wall", "overlap:3"), ("wall", "cancel_in_flight"), ("wall", "queue_all"),
    ("elastic", "latest_only"), ("elastic", "overlap:2"), ("elastic", "cancel_in_flight"),
]  # fmt: skip


@pytest.mark.parametrize(("clock", "policy"), CLOCKS)
def test_the_journal_of_a_run_gives_the_same_log(clock: str, policy: str, tmp_path: Path) -> None:
    source = screen("aabbbcaaddab", PERIOD)
    unit = plan(source, Agent(uneven), clock=clock, policy=policy, period_ns=PERIOD, memory=Notebook)
    run = play(unit, tmp_path / "run")
    again = play(replayed(unit, run), tmp_path / "journal")
    assert told(again.log) == told(run.log)
    assert again.body == run.body
    assert {k for k, v in run.lines[0].items() if again.lines[0][k] != v} == {"clock", "latency_source"}
    assert again.lines[0]["latency_source"] == "journal"
    assert again.result.audit is not None
    assert again.result.audit.reproducible


@pytest.mark.parametrize("clock", ["measured", "modelled"])
@pytest.mark.parametrize("protocol", ["moments", "trajectory"])
def test_the_journal_of_questions_asked_alone_gives_the_same_log(clock: str, protocol: str, tmp_path: Path) -> None:
    from simulator.session.truth import Moment

    class Finishing(Agent):
        async def finish(self, seen: Observation) -> Decision:
            return Decision((Offer("all"),))

    source = screen("aabbbcaaddab", PERIOD)
    unit = plan(source, Finishing(uneven), clock=clock, protocol=protocol, period_ns=PERIOD)
    moments = tuple(Moment(t * MS, False) for t in (5, 30, 30 + 1, 100))
    unit = replace(unit, truth=replace(unit.truth, moments=moments))
    run = play(unit, tmp_path / "run")
    assert len(run.log) == (4 if protocol == "moments" else 13)
    again = play(replayed(unit, run), tmp_path / "journal")
    assert again.body == run.body


def test_a_cancelled_decision_that_was_slow_to_stop_holds_its_place_in_the_replay_too(tmp_path: Path) -> None:
    async def stubborn(seen: Observation) -> Decision:
        try:
            await pause(SECOND)
        finally:
            until = real_ns() + 50 * MS
            while real_ns() < until:
                pass
        return SILENT

    def answer(seen: Observation) -> Any:
        return stubborn(seen) if seen.snapshot.index == 1 else names(seen)

    unit = plan(screen("a" * 8, PERIOD), Agent(answer), clock="wall", policy="cancel_in_flight", period_ns=PERIOD)
    run = play(unit, tmp_path / "run")
    assert run.log.kind[1] == Kind.CANCELLED
    assert run.seen[2] >= 4, "the lane was busy for 50 ms after the cancellation"
    again = play(replayed(unit, run), tmp_path / "journal")
    assert again.body == run.body


def test_a_journal_calls_nobody(tmp_path: Path) -> None:
    calls: list[int] = []

    def answer(seen: Observation) -> Decision:
        calls.append(seen.snapshot.index)
        return names(seen)

    unit = plan(screen("aaaa"), answer, clock="measured")
    run = play(unit, tmp_path / "run")
    play(replayed(unit, run), tmp_path / "journal")
    assert calls == [0, 1, 2, 3]


def test_a_miss_names_what_is_missing_and_never_falls_through(tmp_path: Path) -> None:
    unit = plan(screen("aaaa"), Agent(takes(MS)), clock="measured", policy="stride:2")
    run = play(unit, tmp_path / "run")
    other = replayed(unit, run)
    other = replace(other, settings=replace(other.settings, policy=parse_policy("latest_only")))
    with pytest.raises(JournalMiss, match="no decision for snapshot 1"):
        play(other, tmp_path / "journal")


@pytest.mark.parametrize(("clock", "policy"), CLOCKS)
def test_the_journal_of_a_killed_run_is_replayed_as_far_as_it_goes(clock: str, policy: str, tmp_path: Path) -> None:
    source = screen("aabbbcaaddab", PERIOD)
    unit = plan(source, Agent(uneven), clock=clock, policy=policy, period_ns=PERIOD, memory=Notebook)
    whole = play(unit, tmp_path / "run")
    lines = whole.path.read_text().splitlines(keepends=True)
    for n in range(1, len(lines)):
        run = tmp_path / f"cut-{n}"
        run.mkdir()
        (run / whole.path.name).write_text("".join(lines[:n]))
        again = play(replace(replayed(unit, whole), journal=run / whole.path.name), tmp_path / "journal")
        assert again.result.error is None
        if again.result.cut is None:  # nothing that is needed was lost: at most the end line
            *decided, end = told(whole.log)
            known = {name: value for name, value in end.items() if name not in RECALLS}  # these the end line alone told
            assert told(again.log) == [*decided, known]
            continue
        assert "the journal ends at" in again.result.cut
        assert not again.log.complete
        kept = told(runlog.read(run / whole.path.name))
        played = told(again.log)
        assert [row for row in played if row not in kept] == [], "nothing else, and all of it as it was"
        if "overlap" not in policy and "cancel" not in policy:
            assert len(played) == len(kept)


def test_what_a_killed_run_did_not_decide_under_another_policy_is_a_miss(tmp_path: Path) -> None:
    unit = plan(screen("aaaa"), Agent(takes(MS)), clock="measured", policy="stride:2")
    run = play(unit, tmp_path / "run")
    run.path.write_text("".join(run.path.read_text().splitlines(keepends=True)[:-1]))
    other = replayed(unit, run)
    other = replace(other, settings=replace(other.settings, policy=parse_policy("latest_only")))
    with pytest.raises(JournalMiss, match="no decision for snapshot 1"):
        play(other, tmp_path / "journal")


def test_a_missing_memory_write_is_named(tmp_path: Path) -> None:
    unit = plan(screen("aabb"), names, clock="measured", memory=Notebook)
    run = play(unit, tmp_path / "run")
    kept = [line for line in run.path.read_text().splitlines(keepends=True) if '"feedback"' not in line]
    run.path.write_text("".join(kept))
    with pytest.raises(JournalMiss, match="no memory write feedback of event s/0"):
        play(replayed(unit, run), tmp_path / "journal")


def test_a_cancelled_decision_that_nothing_cancels_is_a_miss(tmp_path: Path) -> None:
    unit = plan(
        screen("a" * 4, PERIOD), Agent(takes(25 * MS)), clock="wall", policy="cancel_in_flight", period_ns=PERIOD
    )
    run = play(unit, tmp_path / "run")
    assert Kind.CANCELLED in run.log.kind
    other = replayed(unit, run)
    other = replace(other, settings=replace(other.settings, policy=parse_policy("latest_only")))
    with pytest.raises(JournalMiss, match="only a cancelled decision for snapshot 0"):
        play(other, tmp_path / "journal")


@pytest.mark.parametrize("field", ["agent_text", "memory_text", "segmentation", "window_ns"])
def test_a_journal_of_something_else_is_refused_by_name(field: str, tmp_path: Path) -> None:
    unit = plan(screen("aa"), names, clock="measured")
    run = play(unit, tmp_path / "run")
    value: Any = {"segmentation": "app", "window_ns": 7}.get(field, "other")
    with pytest.raises(UsageError, match=f"its {field.removesuffix('_text')} is"):
        play(replace(replayed(unit, run), **{field: value}), tmp_path / "journal")


def test_a_journal_of_a_scenario_that_changed_since_says_so_and_how_it_is_scored(tmp_path: Path) -> None:
    unit = plan(screen("aa"), names, clock="measured")
    run = play(unit, tmp_path / "units" / "u")
    with pytest.raises(UsageError, match="is of the scenario as it was") as told:
        play(replace(replayed(unit, run), dataset="f00ba7"), tmp_path / "journal")
    assert f"proact score {tmp_path} --truth SCENARIO" in str(told.value)
    assert "f00ba7" not in str(told.value), "a hash tells nobody anything"


@pytest.mark.parametrize("change", [{"seed": 9}, {"timeout_ns": 5}, {"memory_mode": "frozen"}])
def test_a_journal_under_other_rules_is_refused(change: dict[str, Any], tmp_path: Path) -> None:
    unit = plan(screen("aa"), names, clock="measured")
    run = play(unit, tmp_path / "run")
    other = replayed(unit, run)
    with pytest.raises(UsageError, match="this journal is of another run"):
        play(replace(other, settings=replace(other.settings, **change)), tmp_path / "journal")


def test_resampling_reads_finished_decisions_and_writes_apart(tmp_path: Path) -> None:
    unit = plan(screen("aabb"), Agent(takes(20 * MS)), memory=Notebook, clock="measured")
    run = play(unit, tmp_path / "units" / "u")
    model = empirical(tmp_path)
    assert len(model.decide_ns) == 4
    assert min(model.decide_ns) >= 20 * MS
    assert len(model.write_ns) == 2
    assert max(model.write_ns) < 20 * MS
    assert unit_logs(run.path) == [run.path]
    with pytest.raises(InputError, match="there is no such file or folder"):
        unit_logs(tmp_path / "nowhere")


def test_a_run_without_decisions_cannot_be_resampled(tmp_path: Path) -> None:
    play(plan(screen(""), names, clock="measured"), tmp_path / "units" / "u")
    with pytest.raises(InputError, match="no finished decision"):
        empirical(tmp_path)


def test_latencies_that_were_modelled_are_not_resampled_as_if_measured(tmp_path: Path) -> None:
    play(plan(screen("aa"), names), tmp_path / "units" / "u")
    with pytest.raises(InputError, match="were modelled"):
        empirical(tmp_path)


def test_what_a_lost_agent_did_not_answer_is_no_latency(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import time

    from simulator.runs import lanes

    monkeypatch.setattr(lanes, "GRACE_NS", 10 * MS)

    def answer(seen: Observation) -> Decision:
        if seen.snapshot.index == 1:
            time.sleep(0.15)  # noqa: TID251 - what is tested
        return SILENT

    run = play(plan(screen("aaaa"), Agent(answer), clock="measured", timeout_ns=30 * MS), tmp_path / "units" / "u")
    assert run.errors == ["agent_lost"] * 3
    assert len(empirical(tmp_path).decide_ns) == 1
