"""A screen kept open through faults, the choice of a way to capture it, and the look at the start."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from simulator.core.errors import UsageError
from simulator.core.types import MS, SECOND
from simulator.recorder.frames import Frame, Monitor, ScreenLost
from simulator.recorder.screen_command import ScreenCommand
from simulator.recorder.screen_mss import ScreenMss
from simulator.recorder.screens import KeptScreen, choose, self_test
from simulator.session.schema import GAP_REASONS
from tests.desks import Desk, needs
from tests.sways import Sway


class World:
    """A desktop by hand: monitors that come and go, a fault that stays till it is taken away, a clock to turn."""

    def __init__(self, *monitors: Monitor) -> None:
        self.monitors = list(monitors) or [Monitor(1, 0, 0, 4, 3, "DP-1")]
        self.fault: Exception | None = None
        self.slow_ns = 0
        self.now_ns = 0
        self.opened = self.closed = self.listed = self.grabbed = 0

    def open(self) -> FakeScreen:
        self.opened += 1
        self.fail()
        return FakeScreen(self)

    def fail(self) -> None:
        if self.fault is not None:
            self.now_ns += self.slow_ns
            raise self.fault

    def now(self) -> int:
        return self.now_ns


class FakeScreen:
    name = "fake"
    fits_windows = True
    reread_ns = 10 * SECOND

    def __init__(self, world: World) -> None:
        self.world = world

    def monitors(self) -> list[Monitor]:
        self.world.listed += 1
        self.world.fail()
        return list(self.world.monitors)

    def grab(self, monitor: Monitor) -> Frame:
        self.world.grabbed += 1
        self.world.fail()
        if all(replace(known, number=0) != replace(monitor, number=0) for known in self.world.monitors):
            raise AssertionError  # as mss on geometry out of date
        return Frame(monitor, bytearray(range(monitor.width * monitor.height * 4)), monitor.width, monitor.height)

    def close(self) -> None:
        self.world.closed += 1
        raise RuntimeError("close raises too")


ONE = Monitor(1, 0, 0, 4, 3, "eDP-1")
TWO = Monitor(2, 4, 0, 2, 2, "DP-1")
THREE = Monitor(3, 6, 0, 3, 2, "DP-2")


def numbers(frames: list[Frame]) -> list[int]:
    return [frame.monitor.number for frame in frames]


def test_one_screen_is_opened_once_and_its_monitors_are_read_again_every_ten_seconds() -> None:
    world = World(ONE, TWO)
    kept = KeptScreen(world.open, now=world.now)
    for second in range(21):
        world.now_ns = second * SECOND
        assert numbers(kept.look()) == [1, 2]
        assert not kept.changed
    assert (world.opened, world.listed) == (1, 3)
    assert kept.fits_windows
    kept.close()
    assert world.closed == 1
    assert not kept.fits_windows


def test_only_the_monitors_asked_for_are_looked_at() -> None:
    world = World(ONE, TWO, THREE)
    kept = KeptScreen(world.open, monitors=[3, 2, 9], now=world.now)
    assert numbers(kept.look()) == [2, 3]
    assert world.grabbed == 2


def test_monitors_that_are_not_there_at_all_are_a_lost_display() -> None:
    world = World(ONE)
    kept = KeptScreen(world.open, monitors=[2], now=world.now)
    with pytest.raises(ScreenLost, match="none of the monitors to record is there") as caught:
        kept.look()
    assert caught.value.reason == "display_lost"
    world.monitors.append(TWO)
    world.now_ns += SECOND
    assert numbers(kept.look()) == [2]


def test_a_monitor_keeps_its_number_when_another_is_unplugged_and_comes_back() -> None:
    world = World(ONE, TWO, THREE)
    kept = KeptScreen(world.open, now=world.now)
    kept.look()
    for there, expected in [
        ([TWO, THREE], [2, 3]),
        ([THREE], [3]),
        ([Monitor(1, 0, 0, 2, 2, "HDMI-1"), THREE], [3, 4]),
        ([ONE, TWO, THREE], [1, 2, 3]),
        ([Monitor(1, 0, 0, 2, 2), Monitor(2, 2, 0, 2, 2)], [5, 6]),  # without names
    ]:
        world.monitors = [replace(monitor, number=n) for n, monitor in enumerate(there, 1)]
        world.now_ns += 11 * SECOND
        assert numbers(kept.look()) == expected
        assert kept.changed
        kept.look()
        assert not kept.changed


def test_another_resolution_costs_no_tick() -> None:
    world = World(ONE)
    kept = KeptScreen(world.open, now=world.now)
    kept.look()
    world.monitors = [replace(ONE, width=3)]
    (frame,) = kept.look()  # the grab by the old geometry fails, and everything is opened anew
    assert (frame.width, kept.changed) == (3, True)
    assert (world.opened, world.closed) == (2, 1)


def test_while_the_screen_is_lost_it_is_tried_ever_more_seldom() -> None:
    world = World(ONE)
    kept = KeptScreen(world.open, now=world.now)
    kept.look()
    world.fault = AssertionError()
    tried = []
    before = world.opened
    for tick in range(0, 200 * 4):  # four looks a second
        world.now_ns = tick * SECOND // 4
        with pytest.raises(ScreenLost) as caught:
            kept.look()
        assert caught.value.reason == "display_lost"
        if world.opened > before:
            tried.append(world.now_ns / SECOND)
            before = world.opened
    assert tried == [0, 0.5, 1.5, 3.5, 7.5, 15.5, 31.5, 61.5, 91.5, 121.5, 151.5, 181.5]
    world.fault = None
    world.now_ns = 212 * SECOND
    assert numbers(kept.look()) == [1]
    assert not kept.changed
    world.fault = AssertionError()  # after good times the first wait is short again
    with pytest.raises(ScreenLost):
        kept.look()
    world.fault = None
    world.now_ns += 500 * MS
    assert numbers(kept.look()) == [1]


def test_a_fault_that_took_long_is_not_tried_again_in_the_same_look() -> None:
    world = World(ONE)
    world.fault, world.slow_ns = ScreenLost("display_lost", "the command takes too long"), 5 * SECOND
    kept = KeptScreen(world.open, now=world.now)
    with pytest.raises(ScreenLost, match="takes too long"):
        kept.look()
    assert world.opened == 1


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (ScreenLost("permission", "refused"), "permission"),
        (ScreenLost("blank", "Xwayland"), "blank"),
        (UsageError("gone"), "display_lost"),
        (OSError(28, "a title"), "display_lost"),
    ],
)
def test_faults_become_reasons_of_gaps_and_stay_while_waiting(fault: Exception, reason: str) -> None:
    world = World(ONE)
    world.fault = fault
    kept = KeptScreen(world.open, now=world.now)
    for _ in range(2):
        with pytest.raises(ScreenLost) as caught:
            kept.look()
        assert caught.value.reason == reason
        assert caught.value.reason in GAP_REASONS
        assert "a title" not in str(caught.value)
    assert world.opened == 2  # the second look did not try


def test_what_no_exception_should_hide_is_not_hidden() -> None:
    def stop() -> FakeScreen:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        KeptScreen(stop).look()


def test_a_real_server_that_is_killed_and_comes_back_at_another_size_is_captured_again() -> None:
    now_ns = 0
    with Desk(400, 300) as desk:
        kept = KeptScreen(choose(env=desk.env), now=lambda: now_ns)
        (frame,) = kept.look()
        assert (frame.width, frame.height) == (400, 300)
        desk.kill()
        for _ in range(3):
            with pytest.raises(ScreenLost) as caught:
                kept.look()
            assert caught.value.reason == "display_lost"
            now_ns += 31 * SECOND
        desk.restart(640, 350)
        desk.background(0x102030)
        (frame,) = kept.look()
        assert kept.changed
        assert (frame.width, frame.height) == (640, 350)
        assert frame.image().getpixel((639, 349)) == (0x10, 0x20, 0x30)
        kept.close()


def test_a_real_monitor_that_is_plugged_in_is_seen_within_a_second() -> None:
    needs("xrandr")
    now_ns = 0
    with Desk(400, 300) as desk:
        kept = KeptScreen(choose(env=desk.env), now=lambda: now_ns)
        assert numbers(kept.look()) == [1]
        for name, place, output in (("l", "100/26x300/79+0+0", "screen"), ("r", "300/79x300/79+100+0", "none")):
            assert desk.start(["xrandr", "--setmonitor", name, place, output]).wait() == 0
        now_ns += SECOND
        assert [frame.width for frame in kept.look()] == [100, 300]
        assert kept.changed
        kept.close()


def refusal(env: Mapping[str, str], **options: str | bool | None) -> str:
    with pytest.raises(UsageError) as caught:
        choose(env=env, platform="linux", **options)  # type: ignore[arg-type]
    return str(caught.value)


@pytest.mark.parametrize("sign", [{"WAYLAND_DISPLAY": "wayland-0"}, {"XDG_SESSION_TYPE": "wayland"}])
def test_wayland_is_refused_with_the_ways_out(sign: dict[str, str]) -> None:
    said = refusal({"DISPLAY": ":0", **sign})
    assert "Wayland" in said
    assert '--screen-command "grim -t ppm -"' in said
    assert "--portal" in said


def test_xwayland_is_refused_even_where_nothing_but_the_server_tells() -> None:
    needs("xhost")
    with Sway(300, 200) as sway:
        said = refusal({"DISPLAY": sway.env["DISPLAY"]})
    assert "Xwayland" in said
    assert "--portal" in said


def test_a_display_that_is_not_set_or_does_not_answer_is_refused() -> None:
    assert "DISPLAY is not set" in refusal({})
    with Desk(300, 200) as desk:
        env = dict(desk.env)
    assert f"the X server '{env['DISPLAY']}' does not let itself be recorded" in refusal(env)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("", "is empty"),
        ("grim '", "cannot be read: no closing quotation"),
        ("no-such-program -t ppm -", "no program 'no-such-program'"),
    ],
)
def test_a_command_that_cannot_be_run_is_refused(command: str, words: str) -> None:
    assert words in refusal({"PATH": os.environ["PATH"]}, command=command)


def test_two_ways_at_once_are_refused() -> None:
    assert "two ways" in refusal({}, command="grim -", portal=True)


def test_a_command_is_taken_also_on_wayland_and_without_its_place_fits_no_windows() -> None:
    env = {"PATH": os.environ["PATH"], "WAYLAND_DISPLAY": "wayland-0"}
    screen = choose(command="cat some-file", env=env)()
    assert isinstance(screen, ScreenCommand)
    assert not screen.fits_windows


@pytest.mark.parametrize("platform", ["win32", "darwin"])
def test_other_platforms_are_not_asked_for_a_display(platform: str) -> None:
    assert choose(env={}, platform=platform) is ScreenMss


def test_a_good_screen_leaves_nothing_to_say_and_a_blank_one_a_sentence() -> None:
    with Desk(300, 200) as desk:
        screen = choose(env=desk.env)()
        assert self_test(screen) == ["monitor 1 shows one single colour: it is off or locked, or may not be captured"]
        desk.window(x=10, y=10)
        assert self_test(screen) == []
        desk.kill()
        with pytest.raises(UsageError, match="the screen cannot be captured: "):
            self_test(screen)
        screen.close()


def answer(value: bool | None) -> Callable[[], bool | None]:
    return lambda: value


def test_macos_without_the_permission_is_told_before_a_wallpaper_is_recorded() -> None:
    screen = FakeScreen(World(ONE))
    (said,) = self_test(screen, platform="darwin", granted=answer(False))
    assert "Screen Recording" in said
    assert self_test(screen, platform="darwin", granted=answer(True)) == []
    assert self_test(screen, platform="darwin", granted=answer(None)) == []
    assert self_test(screen, platform="darwin") == []  # not to be asked on this system
    assert self_test(screen, platform="linux", granted=answer(False)) == []
