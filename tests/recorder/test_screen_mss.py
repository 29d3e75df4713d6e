"""The screen through mss: a real X server that is watched, changed and killed; faults of other platforms by hand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
from PIL import Image

from simulator.recorder import screen_mss
from simulator.recorder.frames import Monitor, ScreenLost
from simulator.recorder.screen_mss import ScreenMss, Xwayland
from tests.desks import Desk, needs


@pytest.fixture
def desk() -> Iterator[Desk]:
    with Desk(400, 300) as opened:
        yield opened


def noise(width: int, height: int) -> Image.Image:
    values = np.arange(width * height * 3, dtype=np.uint32) * 2654435761 >> 24
    return Image.fromarray(values.astype(np.uint8).reshape(height, width, 3))


def test_captured_pixels_are_the_pixels_shown(desk: Desk) -> None:
    picture = noise(400, 300)
    desk.window(width=400, height=300).picture(picture)
    screen = ScreenMss(desk.display)
    (monitor,) = screen.monitors()
    assert (monitor.number, monitor.x, monitor.y, monitor.width, monitor.height) == (1, 0, 0, 400, 300)
    frame = screen.grab(monitor)
    assert frame.image().tobytes() == picture.tobytes()
    assert not frame.constant()
    assert frame.raw == screen.grab(monitor).raw
    screen.close()


def test_one_instance_stays_open_while_nothing_changes(desk: Desk) -> None:
    opened: list[Any] = []

    def make(display: str | None) -> Any:
        opened.append(screen_mss.open_mss(display))
        return opened[-1]

    screen = ScreenMss(desk.display, make=make)
    for _ in range(3):
        screen.grab(screen.monitors()[0])
    assert len(opened) == 4
    assert screen._open is opened[0]
    screen.close()


def test_logical_monitors_are_captured_each_by_itself(desk: Desk) -> None:
    needs("xrandr")
    screen = ScreenMss(desk.display)
    assert len(screen.monitors()) == 1
    for name, place, output in (("left", "100/26x300/79+0+0", "screen"), ("right", "300/79x300/79+100+0", "none")):
        assert desk.start(["xrandr", "--setmonitor", name, place, output]).wait() == 0
    desk.window(x=100, y=0, width=300, height=300, colour=0x112233)
    one, two = screen.monitors()
    assert [(m.number, m.x, m.width, m.height) for m in (one, two)] == [(1, 0, 100, 300), (2, 100, 300, 300)]
    assert screen.grab(one).image().getpixel((99, 0)) == (0, 0, 0)
    frame = screen.grab(two)
    assert frame.image().getcolors() == [(300 * 300, (0x11, 0x22, 0x33))]
    assert frame.constant()
    frame.fill(90, 10, 20, 5)
    assert frame.image().getpixel((9, 10)) == (128, 128, 128)
    assert frame.image().getpixel((10, 10)) == (0x11, 0x22, 0x33)
    screen.close()


def test_a_dead_server_is_a_lost_display_and_closing_is_quiet(desk: Desk) -> None:
    screen = ScreenMss(desk.display)
    (monitor,) = screen.monitors()
    desk.kill()
    for act in (lambda: screen.grab(monitor), screen.monitors, lambda: ScreenMss(desk.display)):
        with pytest.raises(ScreenLost) as caught:
            act()
        assert caught.value.reason == "display_lost"
    screen.close()


def test_a_server_that_is_back_is_opened_at_its_new_size(desk: Desk) -> None:
    ScreenMss(desk.display).close()
    desk.restart(640, 350)
    screen = ScreenMss(desk.display)
    frame = screen.grab(screen.monitors()[0])
    assert (frame.width, frame.height) == (640, 350)
    assert frame.constant()  # an empty desktop is black
    screen.close()


class Shot(NamedTuple):
    """As of mss 11: no ``raw``."""

    bgra: memoryview
    size: tuple[int, int]


class Fake:
    """An ``mss.MSS`` that lists what it is told, or raises it."""

    def __init__(self, listed: list[dict[str, Any]] | Exception, shot: Shot | Exception | None = None) -> None:
        self.listed, self.shot, self.closed = listed, shot, 0

    @property
    def monitors(self) -> list[dict[str, Any]]:
        if isinstance(self.listed, Exception):
            raise self.listed
        return self.listed

    def grab(self, region: tuple[int, int, int, int]) -> Shot:
        if isinstance(self.shot, Exception):
            raise self.shot
        assert self.shot is not None
        return self.shot

    def close(self) -> None:
        self.closed += 1
        raise AssertionError


DESKTOP = {"left": 0, "top": 0, "width": 2, "height": 1}


def test_frames_of_mss_11_are_read_too() -> None:
    shot = Shot(memoryview(bytes(range(8))), (2, 1))
    screen = ScreenMss(make=lambda _: Fake([DESKTOP, DESKTOP], shot))
    assert screen.grab(screen.monitors()[0]).raw == bytearray(range(8))
    screen.close()


def test_black_frames_of_xwayland_are_refused_by_the_name_of_its_output() -> None:
    fake = Fake([DESKTOP, {**DESKTOP, "output": "XWAYLAND0"}])
    with pytest.raises(Xwayland) as caught:
        ScreenMss(make=lambda _: fake)
    assert caught.value.reason == "blank"
    assert fake.closed == 1


def test_a_desktop_without_monitors_is_taken_whole_only_where_that_was_said() -> None:
    def make(_: str | None) -> Fake:
        return Fake([{**DESKTOP, "width": 9}])

    assert not ScreenMss(make=make).lists_monitors
    with pytest.raises(ScreenLost, match="lists no monitor"):
        ScreenMss(make=make).monitors()
    assert ScreenMss(make=make, whole=True).monitors() == [Monitor(1, 0, 0, 9, 1)]


def test_another_arrangement_replaces_the_instance() -> None:
    made = [Fake([DESKTOP, DESKTOP]), Fake([DESKTOP, DESKTOP]), Fake([DESKTOP, DESKTOP, {**DESKTOP, "left": 2}])]
    left = list(made)
    screen = ScreenMss(make=lambda _: left.pop(0))
    assert len(screen.monitors()) == 1
    assert len(screen.monitors()) == 2
    assert [fake.closed for fake in made] == [1, 1, 0]


@pytest.mark.parametrize(
    ("error", "platform", "reason"),
    [
        (AssertionError(), "linux", "display_lost"),
        (RuntimeError("GetWindowDC: Access is denied."), "win32", "permission"),
        (RuntimeError("CoreGraphics.CGWindowListCreateImage() failed."), "darwin", "permission"),
        (RuntimeError("BitBlt failed"), "win32", "display_lost"),
    ],
)
def test_errors_of_a_grab_become_reasons(
    error: Exception, platform: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = ScreenMss(make=lambda _: Fake([DESKTOP, DESKTOP], error))
    monkeypatch.setattr("sys.platform", platform)
    with pytest.raises(ScreenLost) as caught:
        screen.grab(Monitor(1, 0, 0, 2, 1))
    assert caught.value.reason == reason


def test_an_instance_that_cannot_list_is_closed() -> None:
    fake = Fake(AssertionError())
    with pytest.raises(ScreenLost):
        ScreenMss(make=lambda _: fake)
    assert fake.closed == 1
