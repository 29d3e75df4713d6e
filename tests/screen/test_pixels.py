"""Pictures on demand, and those that must not be decoded."""

from __future__ import annotations

import asyncio
import os
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from simulator.core.errors import InputError
from simulator.core.types import ImageRef
from simulator.screen import pixels


def _png_head(width: int, height: int) -> bytes:
    body = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + body + struct.pack(">I", zlib.crc32(body))


def test_a_picture_comes_as_rgb_and_as_an_array(tmp_path: Path) -> None:
    file = tmp_path / "a.png"
    Image.new("RGBA", (4, 3), (10, 20, 30, 40)).save(file)
    image = asyncio.run(pixels.read(ImageRef(file)))
    assert (image.mode, image.size, image.getpixel((1, 1))) == ("RGB", (4, 3), (10, 20, 30))
    array = asyncio.run(pixels.array(ImageRef(file)))
    assert array.shape == (3, 4, 3)
    assert array.dtype == np.dtype(np.uint8)
    assert pixels.size(file) == (4, 3)


@pytest.mark.parametrize("wh", [(65535, 65535), (12000, 10000), (2**31 - 1, 2)])
def test_a_picture_that_claims_gigabytes_is_refused_from_its_head(tmp_path: Path, wh: tuple[int, int]) -> None:
    file = tmp_path / "bomb.png"
    file.write_bytes(_png_head(*wh) + b"\x00" * 99)
    with pytest.raises(pixels.TooLarge, match="claims"):
        asyncio.run(pixels.read(ImageRef(file)))


def test_what_is_missing_torn_or_no_picture_is_told_in_a_sentence(tmp_path: Path) -> None:
    whole = tmp_path / "whole.png"
    Image.effect_noise((64, 64), 50).save(whole)
    torn, empty, text = tmp_path / "torn.png", tmp_path / "empty.png", tmp_path / "text.png"
    torn.write_bytes(whole.read_bytes()[:-900])
    empty.write_bytes(b"")
    text.write_text("hello")
    cases = (
        (tmp_path / "no.png", "there is no such picture"),
        (torn, "is damaged"),
        (empty, "not a picture"),
        (text, "not a picture"),
    )
    for file, said in cases:
        with pytest.raises(InputError, match=said):
            pixels.decode(file)


def test_the_hash_of_pixels_tells_shapes_apart() -> None:
    wide, tall = Image.new("RGB", (4, 2)), Image.new("RGB", (2, 4))
    assert pixels.pixels_hash(wide) != pixels.pixels_hash(tall)
    assert pixels.pixels_hash(wide) == pixels.pixels_hash(Image.new("RGB", (4, 2)))


def test_no_program_is_started_for_a_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pillow hands PostScript to Ghostscript, whatever the file's name."""
    file = tmp_path / "a.png"
    file.write_bytes(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n%%EndComments\nshowpage\n")
    Image.init()
    with Image.open(file) as image:
        assert image.format == "EPS"
    for read in (pixels.decode, pixels.size):
        with pytest.raises(InputError, match="not a picture"):
            read(file)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_a_pipe_is_no_picture_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.png")
    for read in (pixels.decode, pixels.size):
        with pytest.raises(InputError, match="a pipe or a device"):
            read(tmp_path / "a.png")
