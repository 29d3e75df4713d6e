"""Frames: raw pixels, masked by rectangles of the desktop, looked at for one colour only."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from simulator.recorder.frames import MASK_COLOUR, Frame, Monitor, ScreenLost
from simulator.session.schema import GAP_REASONS


def frame(width: int, height: int, monitor: Monitor | None = None, colour: tuple[int, int, int] = (1, 2, 3)) -> Frame:
    raw = bytearray(bytes([colour[2], colour[1], colour[0], 0]) * (width * height))
    return Frame(monitor or Monitor(1, 0, 0, width, height), raw, width, height)


def test_an_image_has_the_pixels_in_the_right_order() -> None:
    one = Frame(Monitor(1, 0, 0, 2, 1), bytearray([3, 2, 1, 99, 30, 20, 10, 0]), 2, 1)
    assert one.image().mode == "RGB"
    assert [one.image().getpixel((x, 0)) for x in (0, 1)] == [(1, 2, 3), (10, 20, 30)]


def test_a_frame_of_the_wrong_length_is_refused() -> None:
    with pytest.raises(ValueError, match="2 x 2 pixels has 16 bytes, not 15"):
        Frame(Monitor(1, 0, 0, 2, 2), bytearray(15), 2, 2)


@given(
    st.integers(-30, 30), st.integers(-30, 30), st.integers(-5, 60), st.integers(-5, 60),
    st.integers(-10, 10), st.integers(-10, 10),
)  # fmt: skip
def test_a_mask_covers_its_rectangle_of_this_monitor_and_nothing_else(
    x: int, y: int, width: int, height: int, at_x: int, at_y: int
) -> None:
    one = frame(20, 15, Monitor(1, at_x, at_y, 20, 15))
    one.fill(x, y, width, height)
    seen = np.asarray(one.image())
    for row in range(15):
        for column in range(20):
            inside = x <= at_x + column < x + width and y <= at_y + row < y + height
            assert tuple(seen[row, column]) == (MASK_COLOUR if inside else (1, 2, 3))


def test_a_mask_on_a_scaled_frame_is_rounded_outwards() -> None:
    one = frame(15, 15, Monitor(1, 100, 0, 10, 10, scale=1.5))
    one.fill(101, 1, 1, 1)  # 1.5 to 3.0 in pixels of the frame
    masked = (np.asarray(one.image()) == MASK_COLOUR).all(axis=2)
    assert masked[1:3, 1:3].all()
    assert masked.sum() == 4


def test_one_colour_is_told_from_one_pixel_of_another() -> None:
    for colour in ((0, 0, 0), (255, 255, 255), (7, 8, 9)):
        one = frame(64, 48, colour=colour)
        one.raw[3] = 200  # the byte without a meaning
        assert one.constant()
        one.raw[4 * 1500] ^= 1
        assert not one.constant()


def test_a_mask_on_a_black_screen_is_seen_as_a_second_colour() -> None:
    one = frame(64, 48, colour=(0, 0, 0))
    one.fill(0, 0, 5, 5)
    assert not one.constant()


@pytest.mark.parametrize("reason", ["display_lost", "permission", "blank"])
def test_a_lost_screen_gives_a_reason_that_a_gap_may_have(reason: str) -> None:
    lost = ScreenLost(reason, "the server went away")
    assert lost.reason in GAP_REASONS
    assert str(lost) == f"{reason}: the server went away"


def test_pixels_survive_the_way_through_a_frame() -> None:
    noise = (np.arange(40 * 30 * 3, dtype=np.uint32) * 2654435761 >> 24).astype(np.uint8).reshape(30, 40, 3)
    picture = Image.fromarray(noise)
    one = Frame(Monitor(1, 0, 0, 40, 30), bytearray(picture.tobytes("raw", "BGRX")), 40, 30)
    assert one.image().tobytes() == picture.tobytes()
