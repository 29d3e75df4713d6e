"""A live source under the engine: snapshots come late and of their own accord, and the log is that of a recording."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PIL import Image

from simulator.core.types import MS, SILENT, Decision, Observation, Offer
from simulator.runs import runlog
from simulator.runs.engine import Interrupt
from simulator.runs.records import Kind, RunLog
from simulator.runs.unit import LOG, UnitResult, play_unit
from simulator.screen import pixels
from simulator.session.truth import Truth
from simulator.sources.live import LiveScreen
from simulator.timing.clock import boot_ns, pause
from tests.worlds import Agent, Notebook, names, plan, silent, takes

PERIOD = 60 * MS  # long enough for a busy machine
LATE = 8 * MS  # how long a snapshot is on its way


class Filmed:
    """A live source and what feeds it: one snapshot a period of the given apps; ``-`` is a tick that was missed."""

    def __init__(self, windows: str, folder: Path, *, late_ns: int = LATE, tail_ns: int = PERIOD) -> None:
        self._zero = 0
        self.windows, self.late_ns, self.tail_ns = windows, late_ns, tail_ns
        self.source = LiveScreen("s", "u", folder, self.now, period_ns=PERIOD)

    def now(self) -> int:
        return boot_ns() - self._zero

    async def film(self) -> None:
        await self.source.asked_for.wait()
        self._zero = boot_ns() - 5 * PERIOD  # the recording's clock has its own beginning
        missed = None
        for i, app in enumerate(self.windows):
            due = (5 + i) * PERIOD
            await pause(due + self.late_ns - self.now())
            if app == "-":
                missed = due if missed is None else missed
                continue
            if missed is not None:
                self.source.gap(missed, due, "locked")
                missed = None
            self.source.snapshot(due, app, f"{app} title", None, None, None, late_ns=i)
        end = (5 + len(self.windows)) * PERIOD
        await pause(end + self.tail_ns - PERIOD - self.now())
        self.source.finish(end)


def live(filmed: Filmed, agent: Any, folder: Path, *, memory: Any = None, interrupt: Interrupt | None = None,
         beside: Callable[[], Any] | None = None, **more: Any) -> tuple[UnitResult, RunLog]:  # fmt: skip
    truth = Truth("s", "u", 0, PERIOD, known=False)
    given = {} if memory is None else {"memory": lambda: memory}
    unit = plan(filmed.source, agent, clock="wall", truth=truth, period_ns=PERIOD, **given, **more)  # type: ignore[arg-type]

    async def both() -> UnitResult:
        async with asyncio.TaskGroup() as group:
            filming = group.create_task(filmed.film())
            if beside is not None:
                group.create_task(beside())
            result = await play_unit(unit, folder, interrupt or Interrupt())
            filming.cancel()
            return result

    result = asyncio.run(both())
    return result, runlog.read(folder / LOG)


def test_a_snapshot_counts_from_its_capture_and_its_way_here_is_charged(tmp_path: Path) -> None:
    result, log = live(Filmed("aaaaaaaa", tmp_path), Agent(silent), tmp_path / "unit")
    assert result.error is None
    assert log.complete
    assert log.snapshot.tolist() == list(range(8))
    assert log.captured_ns.tolist() == [i * PERIOD for i in range(8)], "0 is the first snapshot"
    assert (log.released_ns == log.captured_ns).all()
    assert (log.actionable_ns - log.captured_ns >= LATE).all(), "it was on its way that long"


def test_the_world_goes_on_while_an_agent_thinks(tmp_path: Path) -> None:
    _, log = live(Filmed("aaaaaaaa", tmp_path), Agent(takes(150 * MS)), tmp_path / "unit")
    assert log.snapshot.tolist()[0] == 0
    assert log.dropped_before.tolist()[1] >= 1
    assert (log.actionable_ns - log.started_ns > 150 * MS - MS).all()


def test_the_run_ends_when_the_recording_does_and_a_late_answer_is_marked(tmp_path: Path) -> None:
    _, log = live(Filmed("aa", tmp_path), Agent(takes(4 * PERIOD)), tmp_path / "unit")
    assert log.complete
    assert log.full[0]["flags"] == ["cold", "after_end"]


def test_what_a_gap_ends_is_known_to_the_memory_when_the_stream_goes_on(tmp_path: Path) -> None:
    memory = Notebook(inline=False)
    _, log = live(Filmed("aa--bbcc", tmp_path), Agent(silent), tmp_path / "unit", memory=memory)
    events = [event for what, event in memory.heard if what == "observe"]
    assert [(e.app, e.start_ns // PERIOD, e.end_ns // PERIOD) for e in events] == [("a", 0, 2), ("b", 4, 6)]
    assert log.complete
    assert [w["event"] for w in log.writes if w["what"] == "observe"] == ["s/0", "s/1"]


def test_a_request_to_stop_ends_it_soon_without_an_end_line(tmp_path: Path) -> None:
    interrupt = Interrupt()

    async def soon() -> None:
        await pause(3 * PERIOD)
        interrupt.asked = True

    result, log = live(Filmed("a" * 500, tmp_path), Agent(silent), tmp_path / "unit", interrupt=interrupt, beside=soon)
    assert result.error == "interrupted"
    assert not log.complete


def test_a_recording_of_nothing_ends_at_once(tmp_path: Path) -> None:
    result, log = live(Filmed("", tmp_path), Agent(silent), tmp_path / "unit")
    assert result.error is None
    assert len(log) == 0
    assert log.complete


def test_how_late_the_captures_were_is_what_the_audit_judges(tmp_path: Path) -> None:
    result, _ = live(Filmed("aaaaa", tmp_path), Agent(silent), tmp_path / "unit")
    assert result.audit is not None
    assert result.audit.release_jitter_p99_ns == 4, "the source's own figures: 0 to 4"


def test_offers_are_logged_as_of_a_recording(tmp_path: Path) -> None:
    _, log = live(Filmed("ab", tmp_path), Agent(names), tmp_path / "unit")
    assert [o.intention for o in log.offers()] == ["a", "b"]
    assert (log.kind == Kind.OFFER).all()


def test_an_agent_sees_the_pixels_before_the_file_is_there(tmp_path: Path) -> None:
    seen: list[tuple[int, int, int]] = []

    async def look(observation: Observation) -> Decision:
        assert observation.snapshot.image is not None
        picture = await pixels.read(observation.snapshot.image)
        seen.append(picture.getpixel((1, 1)))  # type: ignore[arg-type]
        return Decision((Offer("x"),)) if seen else SILENT

    class Coloured(Filmed):
        async def film(self) -> None:
            await self.source.asked_for.wait()
            picture = Image.new("RGB", (4, 3), (9, 8, 7))
            self._zero = boot_ns()
            self.source.snapshot(0, "a", "t", "screenshots/not-there-yet.webp", "h", picture)
            self.source.finish(PERIOD)

    result, _ = live(Coloured("", tmp_path), Agent(look), tmp_path / "unit")
    assert result.error is None
    assert seen == [(9, 8, 7)]
