from __future__ import annotations

import asyncio
from contextvars import Context, copy_context

import pytest

from simulator.core.types import MS, Offer
from simulator.timing.clock import pause, rest
from simulator.timing.meter import STAGES, CallMeter, SilentMeter


def test_time_in_nested_spans_counts_once_for_the_innermost() -> None:
    async def main() -> CallMeter:
        meter = CallMeter()
        with meter.stage("build"):
            await pause(5 * MS)
            with meter.stage("retrieve"):
                await pause(20 * MS)
            await pause(5 * MS)
        return meter

    meter = asyncio.run(main())
    assert 10 * MS <= meter.stages_ns["build"] < 20 * MS
    assert 20 * MS <= meter.stages_ns["retrieve"] < 30 * MS


def test_parallel_spans_take_the_longest_and_sequential_ones_add_up() -> None:
    async def main() -> tuple[CallMeter, CallMeter]:
        together, after = CallMeter(), CallMeter()

        async def sample(meter: CallMeter, ns: int) -> None:
            with meter.stage("model"):
                await pause(ns)

        async with asyncio.TaskGroup() as group:
            for ns in (10 * MS, 30 * MS, 20 * MS):
                group.create_task(sample(together, ns))
        for ns in (10 * MS, 20 * MS):
            await sample(after, ns)
        return together, after

    together, after = asyncio.run(main())
    assert 30 * MS <= together.stages_ns["model"] < 45 * MS
    assert 30 * MS <= after.stages_ns["model"] < 45 * MS


def test_a_span_that_is_left_by_an_error_is_booked() -> None:
    meter = CallMeter()
    with pytest.raises(KeyError), meter.stage("parse"):
        raise KeyError
    assert meter.stages_ns["parse"] >= 0


def test_a_span_of_a_left_call_can_be_cleared_away_elsewhere() -> None:
    meter = CallMeter()
    with meter.stage("build"):
        left = meter.stage("model")
        copy_context().run(left.__enter__)
        left.__exit__(None, None, None)  # in another context, as by the garbage collector
        with meter.stage("parse"):
            pass
    assert set(meter.stages_ns) == {"build", "model", "parse"}
    other = meter.stage("wait")
    Context().run(other.__enter__)
    assert not Context().run(other.__exit__, None, None, None)


def test_instants_are_relative_to_the_hand_over_and_the_first_token_counts() -> None:
    meter = CallMeter(started_ns=0)
    meter.first_token()
    first = meter.first_token_ns
    meter.first_token()
    meter.emit(Offer("x"))
    assert first is not None
    assert first > 0
    assert meter.first_token_ns == first
    assert meter.emitted[0][1] is not None
    assert meter.emitted[0][1] >= first


def test_a_meter_that_is_not_used_keeps_no_books() -> None:
    assert not CallMeter().touched
    assert not SilentMeter().touched


def test_a_silent_meter_counts_and_times_nothing() -> None:
    meter = SilentMeter()
    with meter.stage("model"):
        meter.first_token()
    meter.usage(tokens_in=3, cost=0.5)
    meter.usage(tokens_in=4, cost=0.0)
    meter.emit(Offer("x"))
    assert meter.tokens["in"] == 7
    assert meter.cost == 0.5
    assert meter.stages_ns == {}
    assert meter.first_token_ns is None
    assert meter.emitted == [(Offer("x"), None)]


def test_unknown_cost_stays_unknown() -> None:
    meter = SilentMeter()
    meter.usage(tokens_in=3)
    assert meter.cost is None


@pytest.mark.parametrize("meter", [SilentMeter(), CallMeter()])
def test_the_published_stages_exist_and_no_others(meter: SilentMeter) -> None:
    for name in STAGES:
        with meter.stage(name):
            pass
    with pytest.raises(ValueError, match="stage must be one of wait, ocr"):
        meter.stage("think")


def test_one_call_without_a_price_makes_the_cost_unknown() -> None:
    meter = SilentMeter()
    meter.usage(tokens_in=1, cost=0.01)
    assert meter.cost == 0.01
    meter.usage(tokens_in=5000)
    meter.usage(tokens_in=1, cost=0.01)
    assert meter.cost is None


def test_what_another_process_tells_divides_a_stage_and_adds_nothing() -> None:
    meter = CallMeter()
    with meter.stage("model"):
        rest(2 * MS)
    booked = meter.stages_ns["model"]
    meter.reported("model", {"retrieve": 400_000, "ocr": 600_000, "model": 1000})
    assert meter.stages_ns == {"model": booked - 1_000_000, "retrieve": 400_000, "ocr": 600_000}
    assert sum(meter.stages_ns.values()) == booked


def test_more_than_was_booked_is_not_believed() -> None:
    meter = CallMeter()
    with meter.stage("model"):
        pass
    before = dict(meter.stages_ns)
    meter.reported("model", {"ocr": 10**12})
    assert meter.stages_ns == before
    assert meter.notes == {"stages_over_charge": 1}


@pytest.mark.parametrize("meter", [SilentMeter(), CallMeter()])
@pytest.mark.parametrize("told", [{"think": 1}, {"ocr": -1}])
def test_a_report_of_nonsense_is_refused(meter: SilentMeter, told: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="stage"):
        meter.reported("model", told)
