"""The screen through a command: real grim on a real sway, and programs that misbehave."""

from __future__ import annotations

import io
import json
import os
import shlex
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from simulator.core.types import MS, SECOND
from simulator.recorder.frames import Monitor, ScreenLost
from simulator.recorder.screen_command import ScreenCommand, _layout, picture, run, sway_place
from simulator.recorder.screen_mss import ScreenMss, Xwayland
from simulator.timing.clock import real_ns
from tests.desks import needs, until
from tests.sways import Sway


def noise(width: int, height: int) -> Image.Image:
    values = np.arange(width * height * 3, dtype=np.uint32) * 2654435761 >> 24
    return Image.fromarray(values.astype(np.uint8).reshape(height, width, 3))


def encoded(image: Image.Image, kind: str) -> bytes:
    stream = io.BytesIO()
    image.save(stream, kind)
    return stream.getvalue()


def shell(text: str) -> list[str]:
    return ["sh", "-c", text]


def lost(act: Callable[[], object]) -> str:
    with pytest.raises(ScreenLost) as caught:
        act()
    assert caught.value.reason == "display_lost"
    return caught.value.detail


@pytest.mark.parametrize("kind", ["PPM", "PNG", "BMP"])
def test_pixels_of_every_format_come_through(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "shot"
    file.write_bytes(encoded(noise(33, 21), kind))
    screen = ScreenCommand(["cat", str(file)])
    (monitor,) = screen.monitors()
    assert monitor == Monitor(1, 0, 0, 33, 21)
    assert screen.grab(monitor).image().tobytes() == noise(33, 21).tobytes()
    assert not screen.fits_windows
    screen.close()


def test_a_screen_of_another_size_is_a_monitor_of_another_size(tmp_path: Path) -> None:
    file = tmp_path / "shot"
    file.write_bytes(encoded(noise(8, 6), "PNG"))
    screen = ScreenCommand(["cat", str(file)])
    (before,) = screen.monitors()
    file.write_bytes(encoded(noise(6, 8), "PNG"))
    frame = screen.grab(before)
    assert (frame.monitor.width, frame.monitor.height) == (6, 8)
    assert list(screen.monitors()) == [frame.monitor]


def test_what_is_no_picture_is_told_without_its_content() -> None:
    assert lost(lambda: picture(b"secret words")) == "12 bytes that are no PPM, PNG or BMP (UnidentifiedImageError)"
    assert "no PPM, PNG or BMP" in lost(lambda: picture(b""))
    assert "no PPM, PNG or BMP" in lost(lambda: picture(encoded(noise(9, 9), "PPM")[:-1]))
    assert "no PPM, PNG or BMP" in lost(lambda: picture(encoded(noise(9, 9), "GIF")))


def test_a_head_that_claims_gigabytes_is_refused_before_decoding() -> None:
    for head in (b"P6 60000 60000 255\n", b"P6 20000 5001 255\n"):
        assert "no PPM, PNG or BMP" in lost(partial(picture, head + bytes(100)))


def test_a_command_that_fails_says_why() -> None:
    said = lost(lambda: run(shell("echo no such output >&2; exit 3"), os.environ, SECOND))
    assert said == "sh ended with code 3: no such output"
    assert lost(lambda: run(["/no/such/program"], os.environ, SECOND)) == (
        "program cannot be started (FileNotFoundError)"
    )


def test_a_command_that_complains_at_length_is_cut() -> None:
    said = lost(lambda: run(shell(r"yes '\033[31m words' | head -c 300000 >&2; exit 1"), os.environ, 5 * SECOND))
    assert len(said) < 300
    assert said.isprintable()


def test_a_command_that_takes_too_long_is_ended_with_its_children(tmp_path: Path) -> None:
    started = real_ns()
    mark = tmp_path / "pid"
    said = lost(lambda: run(shell(f"sleep 60 & echo $! > {mark}; wait"), os.environ, 300 * MS))
    assert said == "sh takes too long"
    assert real_ns() - started < 5 * SECOND
    child = int(mark.read_text())
    until(lambda: not Path(f"/proc/{child}").exists() or "Z" in Path(f"/proc/{child}/stat").read_text(), "its end")


def test_a_command_that_closes_its_output_and_stays_is_ended() -> None:
    program = "import os, signal; os.close(1); os.close(2); signal.pause()"
    assert lost(lambda: run([sys.executable, "-S", "-c", program], os.environ, 500 * MS)) in (
        f"{Path(sys.executable).name} does not end",
        f"{Path(sys.executable).name} takes too long",
    )


def test_a_command_that_never_stops_writing_is_ended() -> None:
    assert lost(lambda: run(["cat", "/dev/zero"], os.environ, 20 * SECOND, 10_000)) == "cat writes over 10000 bytes"


OUTPUTS = [
    {"name": "eDP-1", "active": True, "scale": 2.0, "rect": {"x": 0, "y": 0, "width": 800, "height": 600}},
    {"name": "DP-1", "active": True, "scale": 1.0, "rect": {"x": -1024, "y": 100, "width": 1024, "height": 768}},
    {"name": "DP-2", "active": False, "rect": {"x": 0, "y": 0, "width": 0, "height": 0}},
]


def test_the_whole_layout_of_sway_lies_around_all_outputs_that_are_on() -> None:
    told = json.dumps(OUTPUTS).encode()
    assert _layout(told, None) == Monitor(1, -1024, 0, 1824, 868, None, 2.0)
    assert _layout(told, "eDP-1") == Monitor(1, 0, 0, 800, 600, "eDP-1", 2.0)
    for output in ("DP-2", "DP-9"):
        assert lost(partial(_layout, told, output)) == "sway lists no such output"
    for bad in (b"", b"{}", b"[1]", b'[{"active": true}]'):
        assert lost(partial(_layout, bad, None)) == "sway lists no such output"


@pytest.mark.parametrize(
    ("command", "sock", "known"),
    [
        ("grim -t ppm -", "/x", True),
        ("/usr/bin/grim -o eDP-1 -t ppm -", "/x", True),
        ("grim -oeDP-1 -", "/x", False),
        ("grim -g '0,0 10x10' -", "/x", False),
        ("grim -t ppm -", "", False),
        ("cat file", "/x", False),
    ],
)
def test_windows_are_looked_for_only_on_pictures_whose_place_is_known(command: str, sock: str, known: bool) -> None:
    assert (sway_place(shlex.split(command), {"SWAYSOCK": sock}) is not None) is known


def test_grim_on_sway_shows_the_desktop_and_masks_lie_where_the_windows_are() -> None:
    needs("grim", "foot")
    with Sway(500, 400, x=100, y=50, scale=2) as sway:
        argv = ["grim", "-t", "ppm", "-"]
        screen = ScreenCommand(argv, place=sway_place(argv, sway.env), env=sway.env)
        assert screen.fits_windows
        until(lambda: screen.grab(screen.monitors()[0]).image().getpixel((9, 9)) == (0x20, 0x40, 0x60), "a background")
        (monitor,) = screen.monitors()
        assert monitor == Monitor(1, 100, 50, 250, 200, "HEADLESS-1", 2.0)
        sway.start(["foot", "-o", "colors.background=ff0000", "-T", "private", "sleep", "100"])

        def windows() -> list[dict[str, dict[str, int]]]:
            (output,) = [o for o in sway.message("-t", "get_tree")["nodes"] if o["name"] == "HEADLESS-1"]
            return [window for space in output["nodes"] for window in space["nodes"]]

        until(lambda: len(windows()) == 1, "a window")
        red = (255, 0, 0)
        until(lambda: screen.grab(monitor).image().getpixel((250, 200)) == red, "its pixels")
        place = windows()[0]["rect"]
        frame = screen.grab(monitor)
        assert (frame.width, frame.height) == (500, 400)
        frame.fill(place["x"], place["y"], place["width"], place["height"])
        colours = {colour for _, colour in frame.image().getcolors(1 << 20) or []}
        assert red not in colours
        screen.close()


def test_the_same_desktop_through_xwayland_is_black_and_refused() -> None:
    needs("xhost")
    with Sway(300, 200) as sway, pytest.raises(Xwayland):
        ScreenMss(sway.env["DISPLAY"])


def test_a_desktop_that_ended_is_lost() -> None:
    needs("grim")
    with Sway(300, 200) as sway:
        argv = ["grim", "-t", "ppm", "-"]
        screen = ScreenCommand(argv, place=sway_place(argv, sway.env), env=sway.env)
        (monitor,) = screen.monitors()
    assert "grim ended with code" in lost(lambda: screen.grab(monitor))
    assert lost(screen.monitors)
