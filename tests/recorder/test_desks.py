"""The desktop that other tests stand on does what it says."""

from __future__ import annotations

from pathlib import Path

import mss
import numpy as np
import pytest
from PIL import Image

from tests.desks import Desk, until


def shot(desk: Desk) -> Image.Image:
    with mss.MSS(display=desk.display) as screen:
        grabbed = screen.grab(screen.monitors[0])
        return Image.frombytes("RGB", grabbed.size, bytes(grabbed.bgra), "raw", "BGRX")


def test_a_window_is_where_it_was_put_in_its_colour() -> None:
    with Desk(320, 200) as desk:
        desk.background(0x010203)
        desk.window(x=20, y=30, width=100, height=50, colour=0xFF8000)
        seen = shot(desk)
        assert seen.size == (320, 200)
        assert seen.getpixel((0, 0)) == (1, 2, 3)
        assert seen.getpixel((20, 30)) == (255, 128, 0)
        assert seen.getpixel((119, 79)) == (255, 128, 0)
        assert seen.getpixel((120, 80)) == (1, 2, 3)


def test_a_picture_in_a_window_is_the_same_pixels_and_outlives_being_covered() -> None:
    noise = np.arange(300 * 260 * 3, dtype=np.uint32) * 2654435761 >> 24
    picture = Image.fromarray(noise.astype(np.uint8).reshape(260, 300, 3), "RGB")
    with Desk(400, 300) as desk:
        window = desk.window(x=10, y=5, width=300, height=260)
        window.picture(picture)
        cover = desk.window(x=0, y=0, width=400, height=300)
        assert shot(desk).crop((10, 5, 310, 265)).tobytes() != picture.tobytes()
        cover.close()
        assert shot(desk).crop((10, 5, 310, 265)).tobytes() == picture.tobytes()


def test_with_a_window_manager_windows_come_to_the_front_and_are_minimised() -> None:
    with Desk(400, 300, manager=True) as desk:
        first = desk.window("one", x=20, y=40, colour=0xFF0000)
        second = desk.window("two", x=20, y=40, colour=0x00FF00)
        first.front()
        until(lambda: shot(desk).getpixel((120, 120)) == (255, 0, 0), "the first in front")
        second.front()
        until(lambda: shot(desk).getpixel((120, 120)) == (0, 255, 0), "the second in front")
        second.iconify()
        until(lambda: shot(desk).getpixel((120, 120)) == (255, 0, 0), "the first uncovered")


def test_a_killed_server_comes_back_at_its_display_at_another_size() -> None:
    with Desk(320, 200) as desk:
        display = desk.display
        desk.window()
        desk.kill()
        with pytest.raises(mss.ScreenShotError):
            shot(desk)
        desk.restart(400, 240)
        assert desk.display == display
        assert shot(desk).size == (400, 240)


def test_whatever_was_started_ends_with_the_desk_and_leaves_nothing() -> None:
    with Desk(320, 200) as desk:
        child = desk.start(["sh", "-c", "sleep 100 & wait"])
        home, server, number = desk.home, desk.server, desk.display[1:]
        assert server is not None
        with Desk(320, 200) as other:
            assert other.display != desk.display
    assert child.returncode is not None
    assert server.returncode is not None
    assert not home.exists()
    assert not Path(f"/tmp/.X{number}-lock").exists()
    assert not Path(f"/tmp/.X11-unix/X{number}").exists()
