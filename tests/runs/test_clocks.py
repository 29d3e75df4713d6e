"""What each clock promises, on whole runs. Real waits only where the matter is real time, and then short."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from simulator.core.operators import operators
from simulator.core.types import MS, SECOND, SILENT, Decision, Observation, Offer
from simulator.runs.engine import Engine, Interrupt
from simulator.runs.records import Kind
from simulator.timing.clock import pause, real_ns
from simulator.timing.pace import Paced
from tests.worlds import PERIOD, Agent, Notebook, Screen, names, plan, play, screen, silent, takes, told

ROOT = Path(__file__).resolve().parents[2]


def paced(windows: str, agent: Any, clock: str = "wall", **more: Any) -> Any:
    return plan(screen(windows, PERIOD), agent, clock=clock, period_ns=PERIOD, **more)


# ---------------------------------------------------------------- wall


def test_wall_keeps_an_absolute_schedule(tmp_path: Path) -> None:
    engines: list[Engine] = []
    begun = real_ns()
    run = play(paced("a" * 20, Agent(takes(2 * MS, silent))), tmp_path, watch=engines.append)
    took = real_ns() - begun
    assert run.seen == list(range(20))
    assert run.log.released_ns.tolist() == [i * PERIOD for i in range(20)], "the scheduled time, not when the loop woke"
    assert 19 * PERIOD <= took < 30 * PERIOD
    pace = engines[0].pace
    assert isinstance(pace, Paced)
    assert len(pace.lateness_ns) == 20, "one figure a release"
    late = sorted(pace.lateness_ns)
    assert late[10] < 10 * MS, "half of them come within 10 ms even on a busy machine"
    audit = run.result.audit
    assert audit is not None
    assert audit.release_jitter_p99_ns == late[-1]
    assert audit.loop_lag_p99_ns is not None
    assert audit.harness_share is None
    assert not audit.reproducible


def test_wall_goes_on_while_an_agent_thinks(tmp_path: Path) -> None:
    run = play(paced("a" * 8, Agent(takes(50 * MS))), tmp_path)
    assert run.seen[:2] == [0, 2]
    assert run.log.dropped_before.tolist()[1] == 1
    assert (run.log.actionable_ns - run.log.started_ns >= 50 * MS).all()


def test_where_nothing_waited_scheduled_latency_is_service_time_also_in_wall_time(tmp_path: Path) -> None:
    run = play(paced("a" * 5, Agent(takes(MS))), tmp_path)
    assert run.log.started_ns.tolist() == run.log.released_ns.tolist(), "hand-over is charged, it is not waiting"


def test_a_blocking_agent_does_not_hold_the_world(tmp_path: Path) -> None:
    import time

    def blocks(seen: Observation) -> Decision:
        time.sleep(0.045)  # noqa: TID251 - what is tested
        return SILENT

    run = play(paced("a" * 6, Agent(blocks)), tmp_path)
    assert run.lines[-1]["released"] == 6
    assert run.log.dropped_before.sum() > 0


def test_a_gap_is_waited_for_no_longer_than_asked_and_stamps_stay_true(tmp_path: Path) -> None:
    rows = [r._replace(captured_ns=t, content_ns=t) for r, t in zip(screen("ab").rows, (0, 3600 * SECOND), strict=True)]
    source = Screen(rows, 3601 * SECOND, gaps=[(SECOND, 3600 * SECOND, "suspend")])
    begun = real_ns()
    run = play(plan(source, Agent(silent), clock="wall", max_gap_ns=30 * MS), tmp_path)
    assert real_ns() - begun < 2 * SECOND
    assert run.log.captured_ns.tolist() == [0, 3600 * SECOND]


# ---------------------------------------------------------------- elastic


def test_elastic_jumps_while_idle_and_stamps_exactly(tmp_path: Path) -> None:
    begun = real_ns()
    run = play(plan(screen("a" * 600), Agent(lambda s: takes(20 * MS)(s) if s.snapshot.index == 300 else SILENT),
                    clock="elastic"), tmp_path)  # fmt: skip
    assert real_ns() - begun < 5 * SECOND, "ten minutes"
    assert run.log.started_ns.tolist() == [i * SECOND for i in range(600)]
    service = run.log.actionable_ns - run.log.started_ns
    assert 20 * MS <= service[300] < 60 * MS
    assert sorted(service.tolist())[300] < 20 * MS, "no idle second is charged to anyone"


def test_elastic_runs_one_to_one_while_something_is_in_flight(tmp_path: Path) -> None:
    run = play(paced("a" * 6, Agent(takes(50 * MS)), clock="elastic"), tmp_path)
    assert run.seen[:2] == [0, 2]


def test_elastic_with_a_speed_waits_a_share_of_idle_time(tmp_path: Path) -> None:
    begun = real_ns()
    play(plan(screen("a" * 11), Agent(silent), clock="elastic", speed=200), tmp_path)
    assert 50 * MS <= real_ns() - begun < SECOND


# ---------------------------------------------------------------- measured


def blocking(ns: int) -> Callable[[Observation], Decision]:
    import time

    def answer(seen: Observation) -> Decision:
        time.sleep(ns / 1e9)  # noqa: TID251 - what is tested
        return names(seen)

    return answer


@pytest.mark.parametrize("agent", [takes(50 * MS), blocking(50 * MS)], ids=["async", "thread"])
def test_measured_charges_a_real_answer_as_it_is_on_a_stream_that_plays_faster(agent: Any, tmp_path: Path) -> None:
    begun = real_ns()
    run = play(plan(screen("a" * 20), Agent(agent), clock="measured"), tmp_path)
    assert real_ns() - begun < 4 * SECOND, "20 s"
    service = sorted((run.log.actionable_ns - run.log.started_ns).tolist())
    assert service[0] >= 50 * MS
    assert service[10] < 60 * MS
    assert run.seen == list(range(20))


def test_measured_charges_an_answer_over_http(tmp_path: Path) -> None:
    class Remote:
        async def open(self, setup: Any) -> None:
            async def answer(request: web.Request) -> web.Response:
                await pause(50 * MS)
                return web.json_response({"intention": "x"})

            app = web.Application()
            app.router.add_get("/", answer)
            self.runner = web.AppRunner(app)
            await self.runner.setup()
            site = web.TCPSite(self.runner, "127.0.0.1", 0)
            await site.start()
            self.url = f"http://127.0.0.1:{self.runner.addresses[0][1]}/"

        async def decide(self, seen: Observation) -> Decision:
            async with aiohttp.ClientSession() as client, client.get(self.url) as response:
                return Decision((Offer((await response.json())["intention"]),))

        async def close(self) -> None:
            await self.runner.cleanup()

    run = play(plan(screen("a" * 6), Remote, clock="measured"), tmp_path)
    service = sorted((run.log.actionable_ns - run.log.started_ns).tolist())
    assert run.log.kind.tolist() == [Kind.OFFER] * 6
    assert service[0] >= 50 * MS
    assert service[3] < 60 * MS


def test_measured_holds_the_world_so_that_nothing_newer_is_seen(tmp_path: Path) -> None:
    newest: list[int] = []

    async def looks(seen: Observation) -> Decision:
        await pause(5 * MS)
        newest.append(seen.history.snapshots(1)[-1].index)
        return SILENT

    run = play(plan(screen("aaaa"), Agent(looks), clock="measured"), tmp_path)
    assert newest == run.seen == [0, 1, 2, 3]


def test_a_meter_tells_stages_first_token_and_early_offers(tmp_path: Path) -> None:
    async def answer(seen: Observation) -> Decision:
        with seen.meter.stage("build"):
            await pause(5 * MS)
        with seen.meter.stage("model"):
            await pause(5 * MS)
            seen.meter.first_token()
            early = Offer("early")
            seen.meter.emit(early)
            await pause(20 * MS)
        seen.meter.usage(tokens_in=10, tokens_out=3)
        seen.meter.waited(2 * MS, retries=1)
        return Decision((Offer("early"), Offer("late")))

    for clock in ("measured", "elastic"):
        run = play(plan(screen("a"), Agent(answer), clock=clock), tmp_path)
        record = run.log.full[0]
        start, end = record["started_ns"], record["actionable_ns"]
        assert record["stages_ns"]["build"] >= 5 * MS
        assert record["stages_ns"]["model"] >= 25 * MS
        assert sum(record["stages_ns"].values()) <= end - start
        assert start + 10 * MS <= record["first_token_ns"] <= end - 20 * MS
        assert [o["intention"] for o in record["offers"]] == ["early", "late"], "emitted and returned counts once"
        assert record["offers"][0]["actionable_ns"] <= end - 20 * MS
        assert record["offers"][1]["actionable_ns"] == end
        assert record["tokens"]["in"] == 10
        assert record["cost"] is None, "unknown, which is never 0"
        assert record["throttle_ns"] == 2 * MS
        assert record["retries"] == 1


# ---------------------------------------------------------------- modelled


SCRIPT = """
import sys
from pathlib import Path
from tests.worlds import *
source = screen("aabbbcadddab" * 20)
def answer(seen):
    known = {seen.snapshot.app, "x", "y", "z"}
    return Decision((Offer(min(known), str(len(seen.history.events))),)) if seen.snapshot.index % 7 == 0 else SILENT
run = play(plan(source, answer, memory=Notebook, latency=sys.argv[2], policy=sys.argv[3], seed=5), Path(sys.argv[1]))
"""


@pytest.mark.parametrize(("latency", "policy"), [("profile:2s", "latest_only"), ("profile:5s", "overlap:3")])
def test_modelled_twice_gives_the_same_bytes_in_any_process(latency: str, policy: str, tmp_path: Path) -> None:
    logs = []
    for seed in ("0", "1", "4242"):
        folder = tmp_path / seed
        env = {"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT), "PATH": ""}
        subprocess.run([sys.executable, "-c", SCRIPT, str(folder), latency, policy], env=env, check=True, timeout=60)
        logs.append((folder / "decisions.jsonl").read_bytes())
    assert logs[0] == logs[1] == logs[2]
    assert logs[0].count(b"\n") > 50


def test_nothing_real_enters_a_modelled_log(tmp_path: Path) -> None:
    async def answer(seen: Observation) -> Decision:
        with seen.meter.stage("model"):
            await pause(2 * MS)
        seen.meter.first_token()
        seen.meter.emit(Offer("early"))
        seen.meter.waited(123)
        return SILENT

    runs = [play(plan(screen("aaa"), Agent(answer), latency="fixed:350ms"), tmp_path / n) for n in "12"]
    assert runs[0].body == runs[1].body
    assert runs[0].log.full[0]["offers"][0]["actionable_ns"] == 350 * MS
    assert not {"stages_ns", "first_token_ns", "throttle_ns"} & set(runs[0].log.full[0])


def test_a_charge_without_a_duration_is_an_error_and_not_zero(tmp_path: Path) -> None:
    from simulator.core.errors import TimeError

    class Vague:
        text = "vague"

        def charge_ns(self, call: object, seed: int) -> Any:
            return None

    for vague in (None, 0.5, -1):
        Vague.charge_ns = lambda self, call, seed, vague=vague: vague  # type: ignore[method-assign,misc]
        with pytest.raises(TimeError, match="duration"):
            play(plan(screen("a"), names, latency=Vague()), tmp_path)


def test_a_long_run_lets_other_tasks_live(tmp_path: Path) -> None:
    import asyncio

    from simulator.runs.unit import play_unit

    async def main() -> list[int]:
        beats, seen = 0, []

        async def beat() -> None:
            nonlocal beats
            while True:
                await pause(0)
                beats += 1

        def answer(observation: Observation) -> Decision:
            seen.append(beats)
            return SILENT

        task = asyncio.ensure_future(beat())
        await play_unit(plan(screen("a" * 5000), answer), tmp_path, Interrupt())
        task.cancel()
        return seen

    beats = asyncio.run(main())
    assert beats[-1] - beats[0] >= 4, "the loop is yielded to every 1,024 events"


# ---------------------------------------------------------------- interrupts, all clocks


@pytest.mark.parametrize("clock", ["wall", "elastic", "measured", "modelled"])
def test_an_interrupt_lets_what_is_in_flight_end_and_leaves_the_log_without_end(clock: str, tmp_path: Path) -> None:
    interrupt = Interrupt()

    async def answer(seen: Observation) -> Decision:
        if seen.snapshot.index == 3:
            interrupt.asked = True
            await pause(30 * MS)
        return names(seen)

    unit = plan(screen("a" * 10, PERIOD), Agent(answer), clock=clock, period_ns=PERIOD)
    run = play(unit, tmp_path, interrupt)
    assert run.result.error == "interrupted"
    assert not run.log.complete
    assert run.seen == [0, 1, 2, 3], "the one in flight is recorded, nothing starts after it"
    assert run.log.kind.tolist() == [Kind.OFFER] * 4


def test_memory_and_agent_share_one_thread(tmp_path: Path) -> None:
    import threading

    where: set[str] = set()

    class Watched(Notebook):
        async def observe(self, event: Any) -> None:
            where.add(threading.current_thread().name)

    def answer(seen: Observation) -> Decision:
        where.add(threading.current_thread().name)
        return SILENT

    run = play(plan(screen("aabb"), Agent(answer), memory=Watched, clock="measured"), tmp_path)
    assert where == {"lane-agent"}
    assert [row["kind"] for row in told(run.log)[:4]] == [Kind.SILENT] * 4


def test_an_interrupt_in_a_long_gap_is_heard_at_once(tmp_path: Path) -> None:
    interrupt = Interrupt()
    rows = [r._replace(captured_ns=t, content_ns=t) for r, t in zip(screen("ab").rows, (0, 3600 * SECOND), strict=True)]

    def answer(seen: Observation) -> Decision:
        interrupt.asked = True
        return SILENT

    begun = real_ns()
    run = play(plan(Screen(rows, 3601 * SECOND), Agent(answer), clock="wall"), tmp_path, interrupt)
    assert real_ns() - begun < 2 * SECOND
    assert run.seen == [0]
    assert not run.log.complete


def test_the_source_is_closed_also_when_a_run_stops_before_its_end(tmp_path: Path) -> None:
    closed: list[bool] = []

    class Held(Screen):
        async def snapshots(self) -> Any:
            try:
                for row in self.rows:
                    yield row
            finally:
                closed.append(True)

    class Bare(Screen):
        """An iterator of its own, which cannot be closed."""

        def snapshots(self) -> Any:
            rows = iter(self.rows)

            class Rows:
                def __aiter__(self) -> Any:
                    return self

                async def __anext__(self) -> Any:
                    for row in rows:
                        return row
                    raise StopAsyncIteration

            return Rows()

    interrupt = Interrupt()

    def answer(seen: Observation) -> Decision:
        interrupt.asked = True
        return SILENT

    rows = screen("aaa").rows
    play(plan(Held(rows, 3 * SECOND), answer), tmp_path, interrupt)
    assert closed == [True]
    assert play(plan(Bare(rows, 3 * SECOND), silent), tmp_path).seen == [0, 1, 2]


def test_one_decision_is_one_task_so_that_scopes_and_context_hold(tmp_path: Path) -> None:
    import asyncio
    from contextvars import ContextVar

    import anyio

    var: ContextVar[int] = ContextVar("var", default=-1)

    class Asks:
        async def decide(self, seen: Observation) -> Decision:
            task = asyncio.current_task()
            assert var.get() == -1, "nothing of the last decision"
            var.set(seen.snapshot.index)
            with anyio.fail_after(5):
                await seen.memory.recall(1)
                async with anyio.create_task_group() as group:
                    group.start_soon(pause, MS)
            with anyio.move_on_after(0.001):
                await pause(SECOND)
            assert asyncio.current_task() is task
            assert var.get() == seen.snapshot.index
            return SILENT

    for clock in ("measured", "elastic"):
        memory = lambda: Notebook(inline=False)  # noqa: E731
        assert play(plan(screen("aab"), Asks, memory=memory, clock=clock), tmp_path).errors == []


def test_the_header_ties_time_0_to_the_calendar_where_that_is_known(tmp_path: Path) -> None:
    from simulator.sources.recording import Recording

    source = screen("a")
    assert play(plan(source, silent), tmp_path).lines[0]["utc_anchor_ns"] is None
    source.utc_anchor_ns = 1_760_000_000 * SECOND  # type: ignore[attr-defined]
    assert play(plan(source, silent), tmp_path).lines[0]["utc_anchor_ns"] == 1_760_000_000 * SECOND
    recorded = Recording(ROOT / "scenarios" / "desktop" / "session")
    assert recorded.utc_anchor_ns == recorded.header.utc_anchor_ns


@pytest.mark.parametrize(
    ("clock", "inline"), [("wall", False), ("elastic", False), ("measured", True), ("modelled", True)]
)
def test_an_inline_agent_runs_on_the_spot_only_where_the_world_waits(clock: str, inline: bool, tmp_path: Path) -> None:
    import threading

    where: set[str] = set()

    def answer(seen: Observation) -> Decision:
        where.add(threading.current_thread().name)
        return SILENT

    play(plan(screen("aa", PERIOD), answer, clock=clock, period_ns=PERIOD), tmp_path)
    assert where == {threading.main_thread().name if inline else "lane-agent"}


@pytest.mark.parametrize(("clock", "said"), [("measured", 1), ("modelled", 0)])
def test_a_slow_inline_agent_is_named_only_where_its_time_is_charged(
    clock: str, said: int, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("simulator.runs.lanes.INLINE_LIMIT_NS", 0)
    operators.cache_clear()
    try:
        played = play(plan(screen("aaa", PERIOD), lambda seen: SILENT, clock=clock, period_ns=PERIOD), tmp_path)
    finally:
        operators.cache_clear()
    assert capsys.readouterr().err.count("an inline agent took over 100 ms") == said
    assert played.result.audit is not None
    assert played.result.audit.moved


@pytest.mark.parametrize("clock", ["measured", "wall"])
def test_what_cannot_be_computed_again_is_on_disk_while_the_run_goes_on(
    clock: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from simulator.runs import runlog, unit

    monkeypatch.setattr(unit, "_SYNC_NS", 5 * MS)
    found: list[int] = []

    async def answer(seen: Observation) -> Decision:
        if seen.snapshot.index == 2:
            await pause(40 * MS)
            found.append(len(runlog.read(tmp_path / unit.LOG)))
        return SILENT

    run = play(plan(screen("aaaa", PERIOD), Agent(answer), clock=clock, period_ns=PERIOD), tmp_path)
    assert found == [2], "plain silences too, though their block is not full"
    assert run.log.complete


def test_the_event_open_at_the_start_is_the_sessions_own_though_a_past_was_rehearsed(tmp_path: Path) -> None:
    from simulator.core.types import Event, Label

    current: list[Any] = []

    class Rehearsing:
        async def rehearse(self, seen: Observation, label: Label) -> None:
            current.append(seen.history.current)

        async def decide(self, seen: Observation) -> Decision:
            current.append(seen.history.current)
            return SILENT

    past = Event("old/1", "u", -20 * SECOND, -10 * SECOND, "z", "old", summary="the end")
    history = [(past, Label("old/1", "u", False, -10 * SECOND))]
    play(plan(screen("a"), Rehearsing, clock="measured", memory=Notebook, history=history), tmp_path)
    before, now = current
    assert (before.app, before.end_ns, before.summary) == ("z", -20 * SECOND, None)
    assert (now.app, now.start_ns, now.end_ns) == ("a", 0, 0)
