"""A desktop that does what a test says, and a clock that jumps: for recorders without a screen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from simulator.core.types import SECOND
from simulator.recorder.frames import Frame, Monitor
from simulator.recorder.recorder import Recorder
from simulator.recorder.shots import Budget, Shot, Summary
from simulator.recorder.ticks import Clocks
from simulator.recorder.windows import Window
from simulator.timing.clock import pause

__all__ = ["ANCHOR", "FakeClock", "FakeScreen", "FakeWindows", "Recorded", "plain_frame", "record"]

ANCHOR = 1_790_000_000 * SECOND
NO_FLOOR = Budget(free_floor=0)


def plain_frame(colour: int, *, number: int = 1, size: tuple[int, int] = (64, 48), x: int = 0, spot: int = 0) -> Frame:
    """A picture of one colour but for its first pixel, so that it is not blank."""
    width, height = size
    raw = bytearray(colour.to_bytes(4, "little") * (width * height))
    raw[:4] = (spot or colour ^ 0xFF).to_bytes(4, "little")
    return Frame(Monitor(number, x, 0, width, height), raw, width, height)


@dataclass
class FakeClock:
    """Moves only while somebody waits, and as a test says: ``jumps`` are (at boot ns, clock, by ns), each done once
    when a wait passes that instant. A wait lets the recorder's threads finish first.
    """

    now: int = 5_000 * SECOND
    asleep: int = 0
    wall_ahead: int = ANCHOR - 5_000 * SECOND
    jumps: list[tuple[int, str, int]] = field(default_factory=list)
    until_quiet: Callable[[], bool] = lambda: True

    def clocks(self) -> Clocks:
        return Clocks(
            boot=lambda: self.now,
            real=lambda: self.now - self.asleep,
            wall=lambda: self.now + self.wall_ahead,
            sleep=self.sleep,
        )

    async def sleep(self, ns: int) -> None:
        while not self.until_quiet():
            await pause(200_000)
        self.now += max(0, ns)
        for jump in [j for j in self.jumps if self.now >= j[0]]:
            self.jumps.remove(jump)
            _, kind, by = jump
            if kind == "wall":
                self.wall_ahead += by
            else:  # late, or a suspend
                self.now += by
                self.asleep += by if kind == "suspend" else 0
        await pause(0)


@dataclass
class FakeScreen:
    """Shows what ``show`` returns for the number of the look (-1: the one before the first tick, which is dropped); an
    exception in its place is raised.
    """

    show: Callable[[int], Any] = lambda n: [plain_frame(0x336699)]
    fits_windows: bool = True
    changed: bool = False
    n: int = -1
    closed: bool = False

    def look(self) -> Sequence[Frame]:
        shown = self.show(self.n)
        self.n += 1
        if isinstance(shown, Exception):
            raise shown
        return list(shown)

    def close(self) -> None:
        self.closed = True


@dataclass
class FakeWindows:
    """In front is what ``front`` returns for the number of the question (-1: before the first tick)."""

    front: Callable[[int], Window | None] = lambda n: Window(
        "xterm", "proj: bash", x=0, y=0, width=64, height=48, key=1
    )
    seen: Callable[[int], list[Window] | None] = lambda n: []
    is_locked: Callable[[int], bool | None] = lambda n: None
    name: str = "fake"
    n: int = -1
    n_visible: int = -1
    n_locked: int = -1

    def foreground(self) -> Window | None:
        self.n += 1
        return self.front(self.n - 1)

    def visible(self) -> list[Window] | None:
        self.n_visible += 1
        return self.seen(self.n_visible - 1)

    def locked(self) -> bool | None:
        self.n_locked += 1
        return self.is_locked(self.n_locked - 1)

    def close(self) -> None:
        pass


@dataclass
class Recorded:
    """What came of it."""

    summary: Summary
    shots: list[Shot]
    gaps: list[tuple[int, int, str]]
    recorder: Recorder
    clock: FakeClock


async def record(
    folder: Path,
    n_ticks: int,
    *,
    screen: FakeScreen | None = None,
    windows: FakeWindows | None = None,
    clock: FakeClock | None = None,
    at: Callable[[int, Recorder], None] | None = None,
    **options: Any,
) -> Recorded:
    """Record until ``n_ticks`` have come due. ``at`` is called after each tick that was dealt with."""
    clock = clock or FakeClock()
    shots: list[Shot] = []
    gaps: list[tuple[int, int, str]] = []

    def dealt(last: int) -> None:
        if at is not None:
            at(last, recorder)
        if last >= n_ticks - 1:
            recorder.stop()

    def on_shot(shot: Shot) -> None:
        shots.append(shot)
        dealt(shot.tick)

    def on_gap(start: int, end: int, reason: str) -> None:
        gaps.append((start, end, reason))
        dealt(end // recorder.period_ns - 1)

    options = {"budget": NO_FLOOR, **options}
    recorder = Recorder(
        folder,
        screen or FakeScreen(),
        windows or FakeWindows(),
        on_shot=on_shot,
        on_gap=on_gap,
        clocks=clock.clocks(),
        **options,
    )
    clock.until_quiet = lambda: recorder.facts.queue == 0
    return Recorded(await recorder.run(), shots, gaps, recorder, clock)
