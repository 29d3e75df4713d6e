"""Whatever an agent does becomes records in the log; the run goes on and ends."""

from __future__ import annotations

import asyncio
import contextlib
import re
import threading
import time
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memory.base import as_memory
from simulator.core.errors import UsageError
from simulator.core.operators import operators
from simulator.core.types import MS, SECOND, SILENT, Decision, Event, MemoryItem, Observation, Offer, Setup
from simulator.runs import lanes, seam
from simulator.runs.engine import Interrupt
from simulator.runs.lanes import ThreadLane
from simulator.runs.records import Flag, Kind
from simulator.timing.clock import pause, real_ns
from tests.worlds import Agent, Notebook, Played, names, plan, play, screen, silent, takes

LIMIT = 100 * MS


@pytest.fixture(autouse=True)
def _short_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lanes, "GRACE_NS", 60 * MS)
    monkeypatch.setattr(seam, "CLOSE_LIMIT_NS", 60 * MS)


def once(
    answer: Callable[[Observation], Any], then: Callable[[Observation], Any] = names
) -> Callable[[Observation], Any]:
    """Misbehaves at snapshot 1 only."""
    return lambda seen: (answer if seen.snapshot.index == 1 else then)(seen)


def measured(agent: Any, folder: Path, windows: str = "aaaa", **more: Any) -> Played:
    more = {"clock": "measured", "timeout_ns": LIMIT, **more}
    run = play(plan(screen(windows), agent, **more), folder)
    assert run.result.error is None
    assert run.log.complete
    return run


def raises(error: BaseException | type[BaseException]) -> Callable[[Observation], Any]:
    def answer(seen: Observation) -> Any:
        raise error

    return answer


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("not even this")


ERRORS: list[Any] = [
    ValueError("bad"), SystemExit(3), asyncio.CancelledError(), TimeoutError("mine"), StopIteration(7), GeneratorExit(),
    StopAsyncIteration(), MemoryError(), BaseExceptionGroup("all", [ValueError(), SystemExit()]), Mute(),
    RecursionError(), UnicodeError("\ud800"),
]  # fmt: skip


@pytest.mark.parametrize("error", ERRORS, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("inline", [False, True], ids=["thread", "inline"])
def test_whatever_an_agent_raises_is_a_record(error: BaseException, inline: bool, tmp_path: Path) -> None:
    run = measured(Agent(once(raises(error)), inline=inline), tmp_path)
    assert run.log.kind.tolist() == [Kind.OFFER, Kind.ERROR, Kind.OFFER, Kind.OFFER]
    assert run.errors == ["agent_error"]
    said = run.log.full[1]["error"]["text"]
    assert said.startswith((type(error).__name__, "RuntimeError")), "a coroutine turns StopIteration into RuntimeError"
    assert "timeout" not in run.errors, "its own TimeoutError is its error, not a timeout"


def test_an_agents_keyboard_interrupt_in_its_own_thread_is_its_own(tmp_path: Path) -> None:
    run = measured(Agent(once(raises(KeyboardInterrupt))), tmp_path)
    assert run.errors == ["agent_error"]


def test_a_keyboard_interrupt_in_the_simulators_thread_is_the_users(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        play(plan(screen("aaaa"), once(raises(KeyboardInterrupt))), tmp_path)


# ---------------------------------------------------------------- agents that do not come back


def blocks(seen: Observation) -> Decision:
    time.sleep(0.3)  # noqa: TID251 - what is tested
    return SILENT


def spins(seen: Observation) -> Decision:
    until = real_ns() + 300 * MS
    while real_ns() < until:
        pass
    return SILENT


async def swallows(seen: Observation) -> Decision:
    until = real_ns() + 300 * MS
    while real_ns() < until:
        with contextlib.suppress(asyncio.CancelledError):
            await pause(20 * MS)
    return SILENT


@pytest.mark.parametrize("answer", [blocks, spins, swallows])
def test_an_agent_that_does_not_come_back_is_lost_and_the_run_ends(
    answer: Callable[[Observation], Any], tmp_path: Path
) -> None:
    begun = real_ns()
    run = measured(Agent(once(answer)), tmp_path)
    assert real_ns() - begun < 2 * SECOND
    assert run.log.kind.tolist() == [Kind.OFFER, Kind.ERROR, Kind.ERROR, Kind.ERROR]
    assert run.errors == ["agent_lost"] * 3
    assert run.result.lost
    assert run.result.audit is not None
    assert run.result.audit.guarded == 1
    assert not run.result.audit.reproducible
    assert LIMIT <= run.log.actionable_ns[1] - run.log.started_ns[1] < LIMIT + 190 * MS, (
        "charged what it took until it was stopped"
    )


def test_an_agent_that_obeys_cancellation_times_out_and_goes_on(tmp_path: Path) -> None:
    run = measured(Agent(once(takes(SECOND))), tmp_path)
    assert run.errors == ["timeout"]
    assert run.log.kind.tolist() == [Kind.OFFER, Kind.ERROR, Kind.OFFER, Kind.OFFER]
    assert not run.result.lost
    assert run.log.actionable_ns[1] - run.log.started_ns[1] >= LIMIT


def test_an_agent_that_turns_its_cancellation_into_an_answer_has_timed_out_all_the_same(tmp_path: Path) -> None:
    async def pretends(seen: Observation) -> Decision:
        try:
            await pause(SECOND)
        except asyncio.CancelledError:
            return names(seen)
        return SILENT

    run = measured(Agent(once(pretends)), tmp_path)
    assert run.errors == ["timeout"]


def test_a_late_answer_times_out_by_its_charge_though_no_guard_fired(tmp_path: Path) -> None:
    run = play(plan(screen("aaa"), names, latency="fixed:2s", timeout_ns=SECOND), tmp_path)
    assert run.errors == ["timeout"] * 3
    assert (run.log.actionable_ns - run.log.started_ns).tolist() == [SECOND] * 3, "cut where a real call would be"
    assert run.result.audit is not None
    assert run.result.audit.reproducible


def test_a_charge_of_exactly_the_limit_is_in_time(tmp_path: Path) -> None:
    assert play(plan(screen("aaa"), names, latency="fixed:1s", timeout_ns=SECOND), tmp_path).errors == []
    assert play(plan(screen("a"), names, latency="fixed:1000000001ns", timeout_ns=SECOND), tmp_path).errors == [
        "timeout"
    ]


def test_where_charges_are_modelled_a_guard_that_fires_is_no_timeout_and_marks_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seam, "GUARD_NS", LIMIT)
    unit = plan(screen("aaa"), Agent(once(takes(SECOND))), latency="fixed:1ms", timeout_ns=20 * MS)
    run = play(unit, tmp_path)
    assert run.errors == ["guarded"]
    assert run.result.audit is not None
    assert not run.result.audit.reproducible


def test_a_slow_machine_is_no_reason_to_stop_a_modelled_call(tmp_path: Path) -> None:
    run = play(plan(screen("aa"), Agent(takes(30 * MS)), latency="fixed:1ms", timeout_ns=10 * MS), tmp_path)
    assert run.errors == []


# ---------------------------------------------------------------- nonsense


class Liar(tuple):  # type: ignore[type-arg]
    def __iter__(self) -> Any:
        raise RuntimeError("no")


class Moody(Decision):
    @property
    def offers(self) -> Any:
        raise RuntimeError("not today")


class MoodyOffer(Offer):
    @property
    def intention(self) -> Any:
        raise RuntimeError("not today")


class Shout(str):
    def __str__(self) -> str:
        raise RuntimeError("no")


def offer(**fields: Any) -> Decision:
    return Decision((Offer(**{"intention": "x", **fields}),))


NONSENSE: dict[str, Any] = {
    "none": None,
    "text": "help!",
    "dict": {"offers": []},
    "offer alone": Offer("x"),
    "class": Decision,
    "nan": offer(confidence=float("nan")),
    "inf": offer(confidence=float("inf")),
    "over one": offer(confidence=1.5),
    "negative": offer(confidence=-0.1),
    "huge": offer(confidence=10**5000),
    "word": offer(confidence="high"),
    "odd object": offer(confidence=Mute()),
    "no intention": offer(intention=""),
    "intention none": offer(intention=None),
    "text none": offer(text=None),
    "text bytes": offer(text=b"x"),
    "thread int": offer(thread=3),
    "offers none": Decision(None),  # type: ignore[arg-type]
    "offers text": Decision("ab"),  # type: ignore[arg-type]
    "offers of dicts": Decision(({"intention": "x"},)),  # type: ignore[arg-type]
    "offers that lie": Decision(Liar((Offer("x"),))),
    "generator": Decision(Offer(c) for c in "ab"),  # type: ignore[arg-type]
    "retracted text": Decision(retracted="ab"),  # type: ignore[arg-type]
    "retracted ints": Decision(retracted=(1,)),  # type: ignore[arg-type]
    "rule object": Decision(parse_rule=object()),  # type: ignore[arg-type]
    "unparsed text": Decision(unparsed="yes"),  # type: ignore[arg-type]
    "raising property": Moody.__new__(Moody),
    "raising offer": Decision((MoodyOffer.__new__(MoodyOffer),)),
    "half made": Decision.__new__(Decision),
    "half made offer": Decision((Offer.__new__(Offer),)),
}


@pytest.mark.parametrize("value", NONSENSE.values(), ids=NONSENSE.keys())
@pytest.mark.parametrize("inline", [False, True], ids=["thread", "inline"])
def test_nonsense_is_a_record(value: Any, inline: bool, tmp_path: Path) -> None:
    run = measured(Agent(once(lambda seen: value), inline=inline), tmp_path, timeout_ns=5 * SECOND)
    assert run.log.kind.tolist() == [Kind.OFFER, Kind.ERROR, Kind.OFFER, Kind.OFFER]
    assert run.errors == ["nonsense"]


class Category(StrEnum):
    CODE = "Coding/Programming"


def test_kinds_of_text_and_numbers_that_mean_well_are_taken(tmp_path: Path) -> None:
    said = [
        offer(intention=Category.CODE),
        offer(confidence=np.float32(0.5)),
        offer(confidence=np.float64(0.5)),
        offer(confidence=1),
        offer(text=Shout("quiet")),
        Decision([Offer("x")], ["y"]),  # type: ignore[arg-type]
        offer(text="half a pair \ud83d, a null \x00 and a line\u2028end"),
    ]
    run = measured(Agent(lambda seen: said[seen.snapshot.index]), tmp_path, "a" * len(said))
    assert run.errors == []
    offers = run.log.offers()
    assert offers[0].intention == "Coding/Programming"
    assert type(offers[0].intention) is str
    assert [o.confidence for o in offers[1:4]] == [0.5, 0.5, 1]
    assert offers[4].text == "quiet"
    assert offers[6].text == "half a pair \ud83d, a null \x00 and a line\u2028end", "kept, and the file is UTF-8"


def test_a_plain_decide_is_an_agent_and_something_without_it_is_refused(tmp_path: Path) -> None:
    class Plain:
        def decide(self, seen: Observation) -> Decision:
            return names(seen)

    class PlainInline(Plain):
        inline = True

    class Without:
        pass

    assert len(measured(Plain, tmp_path / "1").log.offers()) == 4
    assert len(measured(PlainInline, tmp_path / "2").log.offers()) == 4
    with pytest.raises(UsageError, match="Without has no method decide"):
        measured(Without, tmp_path / "3")


def test_an_error_names_the_agents_own_line_and_its_traceback_lies_beside_the_log(tmp_path: Path) -> None:
    def crash(seen: Observation) -> Decision:
        raise KeyError("no such thing")

    played = measured(crash, tmp_path)
    (text,) = {r["error"]["text"] for r in played.log.full.values()}
    assert re.fullmatch(r"KeyError: 'no such thing' \(test_agents_that_misbehave.py:\d+\)", text)
    told = (tmp_path / "errors.txt").read_text()
    assert told.count("Traceback") == 1
    assert "in crash" in told


METER_NONSENSE: dict[str, Callable[[Any], Any]] = {
    "negative": lambda m: m.usage(tokens_in=-1),
    "float": lambda m: m.usage(tokens_in=1.5),
    "text": lambda m: m.usage(tokens_out="many"),
    "nan cost": lambda m: m.usage(cost=float("nan")),
    "infinite cost": lambda m: m.usage(cost=float("inf")),
    "negative cost": lambda m: m.usage(cost=-1),
    "unknown stage": lambda m: m.stage("thinking").__enter__(),
    "stage none": lambda m: m.stage(None).__enter__(),
    "negative wait": lambda m: m.waited(-1),
    "wait of nan": lambda m: m.waited(float("nan")),
    "note of an object": lambda m: m.note(object()),
}


@pytest.mark.parametrize("tell", METER_NONSENSE.values(), ids=METER_NONSENSE.keys())
@pytest.mark.parametrize("clock", ["measured", "modelled"])
def test_nonsense_told_to_the_meter_is_the_agents_error(tell: Callable[[Any], Any], clock: str, tmp_path: Path) -> None:
    def answer(seen: Observation) -> Decision:
        tell(seen.meter)
        return SILENT

    run = play(plan(screen("aaaa"), once(answer), clock=clock), tmp_path)
    assert run.errors == ["agent_error"]
    assert run.log.kind.tolist() == [Kind.OFFER, Kind.ERROR, Kind.OFFER, Kind.OFFER]


@pytest.mark.parametrize("value", [None, "x", Offer("", "no intention"), Offer("x", confidence=float("nan"))])
def test_what_is_emitted_is_checked_like_what_is_returned(value: Any, tmp_path: Path) -> None:
    def answer(seen: Observation) -> Decision:
        seen.meter.emit(value)
        return SILENT

    assert measured(Agent(once(answer)), tmp_path).errors == ["nonsense"]


def test_numbers_of_numpy_told_to_the_meter_are_plain_in_the_log(tmp_path: Path) -> None:
    def answer(seen: Observation) -> Decision:
        seen.meter.usage(tokens_in=np.int64(3), cost=np.float32(0.25))  # type: ignore[arg-type]
        return SILENT

    run = measured(Agent(answer), tmp_path)
    assert run.log.full[0]["tokens"]["in"] == 3
    assert run.log.full[0]["cost"] == 0.25


# ---------------------------------------------------------------- tasks, threads, loops


def leaves(work: Callable[[], Any]) -> Callable[[Observation], Any]:
    async def answer(seen: Observation) -> Decision:
        task = asyncio.get_running_loop().create_task(work())
        await pause(0)
        await pause(0)
        del task
        return names(seen)

    return answer


async def sleeps_for_ever() -> None:
    while True:
        try:
            await pause(SECOND)
        except asyncio.CancelledError:
            raise ValueError("woken") from None


async def exits_later() -> None:
    try:
        await pause(SECOND)
    finally:
        raise SystemExit(4)


async def raises_later() -> None:
    try:
        await pause(SECOND)
    finally:
        raise ValueError("later")


@pytest.mark.parametrize("work", [sleeps_for_ever, exits_later, raises_later])
def test_tasks_left_behind_are_an_error_and_ended(work: Callable[[], Any], tmp_path: Path) -> None:
    run = measured(Agent(once(leaves(work))), tmp_path)
    assert run.errors == ["tasks_left"]
    assert run.log.kind.tolist() == [Kind.OFFER, Kind.ERROR, Kind.OFFER, Kind.OFFER]


def test_a_task_left_behind_is_cancelled(tmp_path: Path) -> None:
    ended: list[str] = []

    async def lingers() -> None:
        try:
            await pause(60 * SECOND)
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    assert measured(Agent(once(leaves(lingers))), tmp_path).errors == ["tasks_left"]
    assert ended == ["cancelled"]


async def exits_now() -> None:
    raise SystemExit(5)


def test_a_task_that_exits_meanwhile_does_not_end_the_lane(tmp_path: Path) -> None:
    run = measured(Agent(once(leaves(exits_now))), tmp_path)
    assert run.errors == []
    assert len(run.log) == 4


def test_tasks_of_an_agent_that_declares_background_work_go_on(tmp_path: Path) -> None:
    done: list[int] = []

    class Background:
        background = True

        async def decide(self, seen: Observation) -> Decision:
            async def later() -> None:
                await pause(5 * MS)
                done.append(seen.snapshot.index)

            self.task = asyncio.get_running_loop().create_task(later())
            return SILENT

    unit = plan(screen("aaa", 20 * MS), Background, clock="wall", period_ns=20 * MS)
    run = play(unit, tmp_path)
    assert run.errors == []
    assert done[:2] == [0, 1]


def test_an_agent_that_stops_its_loop_gets_it_back(tmp_path: Path) -> None:
    async def stops(seen: Observation) -> Decision:
        asyncio.get_running_loop().stop()
        await pause(5 * MS)
        return names(seen)

    run = measured(Agent(stops), tmp_path)
    assert run.log.kind.tolist() == [Kind.OFFER] * 4


def test_an_agent_that_closes_its_loop_errs_or_is_lost(tmp_path: Path) -> None:
    def closes(seen: Observation) -> Decision:
        asyncio.get_running_loop().close()
        return SILENT

    assert measured(Agent(once(closes)), tmp_path / "1").errors == ["agent_error"], "a running loop cannot be closed"

    async def insists(seen: Observation) -> Decision:
        loop = asyncio.get_running_loop()
        loop.run_forever = loop.close  # type: ignore[method-assign]
        loop.stop()
        await pause(SECOND)
        return SILENT

    assert measured(Agent(once(insists)), tmp_path / "2").errors == ["agent_lost"] * 3


def test_threads_an_agent_starts_do_not_hold_the_run(tmp_path: Path) -> None:
    gate = threading.Event()

    def starts(seen: Observation) -> Decision:
        threading.Thread(target=gate.wait, daemon=seen.snapshot.index % 2 == 0).start()
        return names(seen)

    try:
        assert measured(Agent(starts), tmp_path).log.kind.tolist() == [Kind.OFFER] * 4
    finally:
        gate.set()


def test_what_is_told_after_the_end_is_not_heard(tmp_path: Path) -> None:
    meters: list[Any] = []

    def answer(seen: Observation) -> Decision:
        for meter in meters:
            meter.emit(Offer("late"))
            meter.usage(tokens_in=1)
            meter.waited(5)
            meter.note("late")
            meter.first_token()
            with meter.stage("model"):
                pass
        meters.append(seen.meter)
        return SILENT

    run = measured(Agent(answer), tmp_path)
    assert run.log.full == {}, "four plain silences"


def test_a_stop_before_the_first_step_of_a_call_is_not_lost() -> None:
    async def main() -> tuple[bool, Any]:
        lane = ThreadLane()
        lane._loop.call_soon_threadsafe(time.sleep, 0.03)  # noqa: TID251 - both words come while the lane is busy
        call = asyncio.ensure_future(lane.run(lambda: pause(SECOND), 5 * SECOND))
        await pause(5 * MS)
        lane.stop_running()
        outcome = await asyncio.wait_for(call, 1)
        await lane.close()
        return outcome.stopped, outcome.error

    stopped, error = asyncio.run(main())
    assert stopped
    assert error is not None


# ---------------------------------------------------------------- inline


def test_an_inline_agent_that_suspends_is_in_error(tmp_path: Path) -> None:
    run = measured(Agent(once(takes(MS)), inline=True), tmp_path)
    assert run.errors == ["agent_error"]
    assert "suspended" in run.log.full[1]["error"]["text"]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_inline_agent_that_refuses_to_be_closed_is_in_error(tmp_path: Path) -> None:
    async def stubborn(seen: Observation) -> Decision:
        for _ in range(2):
            with contextlib.suppress(GeneratorExit):
                await pause(0)
        return SILENT

    assert measured(Agent(once(stubborn), inline=True), tmp_path).errors == ["agent_error"]


def test_an_inline_agent_that_blocks_is_moved_to_a_thread(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    threads: list[str] = []

    def answer(seen: Observation) -> Decision:
        threads.append(threading.current_thread().name)
        if seen.snapshot.index == 1:
            time.sleep(0.11)  # noqa: TID251 - what is tested
        return names(seen)

    run = measured(Agent(answer, inline=True), tmp_path, timeout_ns=SECOND)
    assert run.log.kind.tolist() == [Kind.OFFER] * 4
    main = threading.main_thread().name
    assert threads[:2] == [main, main]
    assert threads[2:] == ["lane-agent"] * 2


def test_an_inline_agent_may_take_its_time_to_open(tmp_path: Path) -> None:
    threads: set[str] = set()

    class Loads:
        inline = True

        async def open(self, setup: Any) -> None:
            until = real_ns() + 110 * MS
            while real_ns() < until:
                pass

        async def decide(self, seen: Observation) -> Decision:
            threads.add(threading.current_thread().name)
            return SILENT

    run = measured(Loads, tmp_path)
    assert threads == {threading.main_thread().name}
    assert run.result.cold_start_ns is not None
    assert run.result.cold_start_ns >= 110 * MS
    assert run.log.actionable_ns[0] < 50 * MS, "and it is not charged"


# ---------------------------------------------------------------- what surrounds decisions


def test_an_agent_that_fails_to_open_is_an_errored_unit_and_no_silence(tmp_path: Path) -> None:
    for error in (ValueError("no key"), SystemExit(1), asyncio.CancelledError(), KeyboardInterrupt()):

        class Broken:
            async def open(self, setup: Any, error: BaseException = error) -> None:
                raise error

            async def decide(self, seen: Observation) -> Decision:
                return SILENT

        run = play(plan(screen("aa"), Broken, clock="measured"), tmp_path)
        assert run.result.error is not None
        assert type(error).__name__ in run.result.error
        assert not run.log.complete


def test_an_agent_that_hangs_in_open_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seam, "PREPARE_LIMIT_NS", LIMIT)

    class Hangs:
        async def open(self, setup: Any) -> None:
            await pause(5 * SECOND)

        async def decide(self, seen: Observation) -> Decision:
            return SILENT

    run = play(plan(screen("aa"), Hangs, clock="measured"), tmp_path)
    assert run.result.error is not None
    assert run.result.cold_start_ns is not None
    assert run.result.cold_start_ns >= LIMIT


@pytest.mark.parametrize("inline", [False, True])
def test_an_agent_that_fails_to_close_is_noted(inline: bool, tmp_path: Path) -> None:
    class Sticky:
        async def decide(self, seen: Observation) -> Decision:
            return SILENT

        async def close(self) -> None:
            raise SystemExit(9)

    Sticky.inline = inline  # type: ignore[attr-defined]
    run = measured(Sticky, tmp_path)
    assert run.lines[-1]["notes"] == {"close_failed": 1}


def test_an_agent_that_hangs_in_close_does_not_hold_the_run(tmp_path: Path) -> None:
    class Sticky:
        async def decide(self, seen: Observation) -> Decision:
            return SILENT

        async def close(self) -> None:
            await pause(5 * SECOND)

    assert measured(Sticky, tmp_path).lines[-1]["notes"] == {"close_failed": 1}


def test_an_agent_that_fails_when_told_of_a_cancelled_decision_is_noted(tmp_path: Path) -> None:
    class Deaf:
        async def decide(self, seen: Observation) -> Decision:
            await pause(SECOND if seen.snapshot.index == 0 else 0)
            return SILENT

        async def cancel(self) -> None:
            raise ValueError

    unit = plan(screen("aaa", 20 * MS), Deaf, clock="wall", policy="cancel_in_flight", period_ns=20 * MS)
    run = play(unit, tmp_path)
    assert run.log.kind[0] == Kind.CANCELLED
    assert run.lines[-1]["notes"] == {"cancel_failed": 1}


def test_a_final_question_that_fails_is_a_record(tmp_path: Path) -> None:
    class Unfinished:
        async def decide(self, seen: Observation) -> Decision:
            return SILENT

        async def finish(self, seen: Observation) -> Decision:
            raise SystemExit(2)

    run = measured(Unfinished, tmp_path, protocol="trajectory")
    assert run.errors == ["agent_error"]
    assert run.lines[-2]["what"] == "finish"


def test_a_rehearsal_that_fails_is_an_errored_unit(tmp_path: Path) -> None:
    from simulator.core.types import Event, Label

    class Nervous:
        async def decide(self, seen: Observation) -> Decision:
            return SILENT

        async def rehearse(self, seen: Observation, label: Any) -> None:
            raise ValueError("stage fright")

    past = Event("old/1", "u", -20 * SECOND, -10 * SECOND, "a")
    history = [(past, Label("old/1", "u", False, -10 * SECOND))]
    run = play(plan(screen("aa"), Nervous, clock="measured", history=history), tmp_path)
    assert run.result.error is not None
    assert "stage fright" in run.result.error


# ---------------------------------------------------------------- memories


class Cracked(Notebook):
    inline = True
    fails: BaseException = ValueError("full")

    async def observe(self, event: Any) -> None:
        raise self.fails


@pytest.mark.parametrize("error", [ValueError("full"), SystemExit(1), asyncio.CancelledError()])
def test_a_memory_that_fails_to_write_is_a_record(error: BaseException, tmp_path: Path) -> None:
    def make() -> Any:
        memory = Cracked()
        memory.fails = error
        return memory

    run = measured(silent, tmp_path, "aabb", memory=make)
    (write, feedback) = run.log.writes
    assert write["error"]["kind"] == "agent_error"
    assert "error" not in feedback
    assert len(run.log) == 4


@pytest.mark.parametrize("call", ["observe", "feedback"])
def test_a_write_that_fails_is_told_as_the_memorys(call: str, tmp_path: Path) -> None:
    async def fails(*_: Any) -> None:
        raise RuntimeError("no write")

    run = measured(silent, tmp_path, "aabb", memory=type("Full", (Notebook,), {call: fails}))
    (told,) = [write["error"]["text"].partition(" (")[0] for write in run.log.writes if "error" in write]
    assert told == f"the memory's {call}(): RuntimeError: no write"


def test_a_memory_that_hangs_while_it_writes_is_bounded(tmp_path: Path) -> None:
    class Hangs(Notebook):
        def __init__(self) -> None:
            super().__init__(inline=False)

        async def observe(self, event: Any) -> None:
            await pause(5 * SECOND)

    run = measured(names, tmp_path, "aabb", memory=Hangs)
    assert run.log.writes[0]["error"]["kind"] == "guarded"
    assert run.log.writes[0]["done_ns"] - run.log.writes[0]["started_ns"] >= LIMIT
    assert run.log.kind.tolist() == [Kind.OFFER] * 4


def test_a_memory_that_fails_to_recall_fails_the_agent_that_asked(tmp_path: Path) -> None:
    class Amnesia(Notebook):
        async def recall(self, *args: Any) -> Any:
            raise ValueError("lost")

    async def asks(seen: Observation) -> Decision:
        await seen.memory.recall(3)
        return SILENT

    class Asks:
        inline = True

        async def decide(self, seen: Observation) -> Decision:
            return await asks(seen)

    assert measured(Asks, tmp_path, memory=Amnesia).errors == ["agent_error"] * 4


@pytest.mark.parametrize("call", ["recall()", "render()"])
def test_what_a_memory_raises_is_not_told_as_the_agents_own_fault(call: str, tmp_path: Path) -> None:
    class Wordless(Notebook):
        async def recall(self, *_: Any) -> list[MemoryItem]:
            if call == "recall()":
                raise KeyError("gone")
            return [MemoryItem("x", 1.0, latest_source_ns=-1)]

        def render(self, items: Sequence[MemoryItem]) -> str:
            raise KeyError("gone")

    async def asks(seen: Observation) -> Decision:
        seen.memory.render(await seen.memory.recall(3))
        return SILENT

    run = measured(Agent(asks), tmp_path, memory=Wordless)
    told = {r["error"]["text"].partition(" (")[0] for r in run.log.full.values() if "error" in r}
    assert told == {f"the memory's {call}: KeyError: 'gone'"}


def test_a_memory_whose_stats_are_no_json_does_not_spoil_the_run(tmp_path: Path) -> None:
    class Odd(Notebook):
        def stats(self) -> Any:
            return {"index": object()}

    assert measured(silent, tmp_path, memory=Odd).result.memory_stats == {
        "recalls": 0, "empty_return": 0, "short_return": 0,
    }  # fmt: skip


def test_the_first_decision_is_flagged_cold_also_when_it_fails(tmp_path: Path) -> None:
    run = measured(Agent(raises(ValueError)), tmp_path)
    assert [bool(f & Flag.COLD) for f in run.log.flags] == [True, False, False, False]


def test_an_interrupt_is_heard_while_an_agent_hangs_in_open(tmp_path: Path) -> None:
    interrupt = Interrupt()

    class Hangs(Agent):
        async def open(self, setup: Setup) -> None:
            asyncio.get_running_loop().call_later(0.02, setattr, interrupt, "asked", True)
            await asyncio.Event().wait()

    begun = real_ns()
    played = play(plan(screen("aa"), Hangs(silent)), tmp_path, interrupt)
    assert played.result.error == "interrupted"
    assert real_ns() - begun < 5 * SECOND


def test_an_agent_is_closed_once_also_where_there_is_no_memory(tmp_path: Path) -> None:
    closed: list[int] = []

    class Tidy(Agent):
        async def close(self) -> None:
            closed.append(1)

    measured(Tidy(silent), tmp_path)
    assert closed == [1]


TRAITS = ("inline", "background", "decide", "finish", "close", "cancel")


@pytest.mark.parametrize("name", TRAITS)
@pytest.mark.parametrize("error", [ValueError("no"), SystemExit(3)], ids=lambda e: type(e).__name__)
def test_a_trait_that_cannot_be_read_is_one_sentence(name: str, error: BaseException, tmp_path: Path) -> None:
    def fails(self: Any) -> Any:
        raise error

    odd = type("Odd", (), {"decide": lambda self, seen: SILENT, name: property(fails)})
    with pytest.raises(UsageError, match=f"'Odd': its '{name}' cannot be read: it raises {type(error).__name__}"):
        measured(odd, tmp_path)


@pytest.mark.parametrize("name", ["inert", "inline", "close", "stats"])
def test_a_memorys_trait_that_cannot_be_read_is_one_sentence(name: str, tmp_path: Path) -> None:
    def fails(self: Any) -> Any:
        raise RuntimeError("no")

    odd = type("Odd", (Notebook,), {"__init__": lambda self: None, name: property(fails)})
    with pytest.raises(UsageError, match=f"'Odd': its '{name}' cannot be read"):
        measured(silent, tmp_path, memory=odd)


@pytest.mark.parametrize("name", ["open", "rehearse"])
def test_a_method_of_the_beginning_that_cannot_be_read_is_an_errored_unit(name: str, tmp_path: Path) -> None:
    def fails(self: Any) -> Any:
        raise SystemExit(3)

    odd = type("Odd", (Agent,), {"__init__": lambda self: Agent.__init__(self, silent), name: property(fails)})
    run = play(plan(screen("aa"), odd), tmp_path)
    assert "before time 0: SystemExit" in (run.result.error or "")


def test_a_plain_memory_that_blocks_is_lost_and_later_calls_do_not_wait_for_it(tmp_path: Path) -> None:
    free = threading.Event()

    class Blocks:
        def observe(self, event: Any) -> None:
            free.wait(5)

        def recall(self, *args: Any) -> Any:
            return []

    async def asks(seen: Observation) -> Decision:
        await seen.memory.recall(3)
        return SILENT

    begun = real_ns()
    run = measured(asks, tmp_path, "aabbcc", memory=lambda: as_memory(Blocks()))
    assert real_ns() - begun < 2 * SECOND
    assert run.log.writes[0]["error"]["kind"] == "guarded"
    assert {w["error"]["kind"] for w in run.log.writes[1:] if w["what"] == "observe"} <= {"agent_lost"}
    errors = [r["error"] for r in run.log.full.values() if "error" in r]
    lost = [e["text"] for e in errors if e["kind"] == "agent_lost"]
    assert lost
    assert set(lost) == {"an earlier call to the memory never came back"}
    free.set()


def test_a_memory_that_blocks_before_time_0_is_named_while_it_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seam, "LONG_NS", 20 * MS)
    monkeypatch.setattr(seam, "PREPARE_LIMIT_NS", 400 * MS)
    free = threading.Event()

    class Blocks:
        def observe(self, event: Any) -> None:
            free.wait(5)

        def recall(self, *args: Any) -> Any:
            return []

    past = [(Event("h/1", "u", -2 * SECOND, -SECOND, "code", "a"), None)]
    run = play(plan(screen("aa"), silent, clock="measured", memory=lambda: as_memory(Blocks()), history=past), tmp_path)
    free.set()
    assert "the memory's observe failed before time 0" in (run.result.error or "")
    told = [line for line in capsys.readouterr().err.splitlines() if "has not come back for" in line]
    assert len(told) == 1
    assert "before time 0: the memory's observe has not come back for 0.02 s" in told[0]


def test_a_memory_whose_stats_raise_is_told_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    class Counts:
        def observe(self, event: Any) -> None: ...

        def recall(self, *args: Any) -> Any:
            return []

        def stats(self) -> Any:
            raise OSError("disk gone")

    measured(silent, tmp_path, "aabb", memory=lambda: as_memory(Counts()))
    assert "the memory's stats() are left out" in capsys.readouterr().err


def test_a_plain_memory_that_was_only_slow_comes_back(tmp_path: Path) -> None:
    naps = [0.15]

    class Slow:
        def observe(self, event: Any) -> None:
            threading.Event().wait(naps.pop() if naps else 0)

        def recall(self, *args: Any) -> Any:
            return []

    async def waits(seen: Observation) -> Decision:
        await pause(45 * MS)
        return SILENT

    run = measured(waits, tmp_path, "aabbccddee", memory=lambda: as_memory(Slow()))
    assert run.log.writes[0]["error"]["kind"] == "guarded"
    assert "error" not in run.log.writes[-1]


@pytest.mark.parametrize("early", [False, True])
def test_more_offers_than_anybody_reads_are_nonsense(early: bool, tmp_path: Path) -> None:
    def many(n: int) -> Callable[[Observation], Decision]:
        def answer(seen: Observation) -> Decision:
            offers = tuple(Offer(f"x{i}") for i in range(n))
            for offer in offers if early else ():
                seen.meter.emit(offer)
            return SILENT if early else Decision(offers)

        return answer

    run = measured(Agent(once(many(1001), many(1000))), tmp_path, timeout_ns=SECOND)
    assert run.errors == ["nonsense"]
    assert "at most 1000" in run.log.full[1]["error"]["text"]
    assert len(run.log.full[0]["offers"]) == 1000


def test_what_was_emitted_and_returned_is_compared_in_no_time(tmp_path: Path) -> None:
    def answer(seen: Observation) -> Decision:
        offers = tuple(Offer(f"x{i}") for i in range(1000))
        for offer in offers:
            seen.meter.emit(offer)
        return Decision(offers)

    assert len(measured(Agent(answer), tmp_path, "a", timeout_ns=SECOND).log.full[0]["offers"]) == 1000


def test_the_guard_tells_operators_once_and_how_often_at_the_end(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    operators.cache_clear()  # it holds the stderr of whoever asked first
    measured(Agent(takes(SECOND)), tmp_path, "aaa")
    told = [line for line in capsys.readouterr().err.splitlines() if "real-time guard" in line]
    operators.cache_clear()
    assert len(told) == 2
    assert "times" not in told[0]
    assert "times=3" in re.sub(r"\x1b\[[0-9;]*m", "", told[1])


def test_a_traceback_is_kept_of_each_kind_of_error_up_to_a_cap_that_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seam, "TRACES", 2)

    def fails(seen: Observation) -> Decision:
        word = ("one", "one", "two", "three", "four")[seen.snapshot.index]
        raise ValueError(f"{word} {seen.snapshot.index}")

    measured(Agent(fails), tmp_path, "aaaaa")
    told = (tmp_path / "errors.txt").read_text()
    assert told.count("Traceback") == 2
    assert "ValueError: one 1" not in told
    assert "only the first 2 kinds of error have a traceback here" in told
