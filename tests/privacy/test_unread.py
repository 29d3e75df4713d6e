"""A picture whose text OCR does not read waits for a person: that nothing was found there says nothing."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from simulator.core.types import SECOND
from simulator.privacy.picture import grey
from simulator.privacy.rules import load_rules
from simulator.privacy.scan import UNREAD, readings, scan
from simulator.privacy.states import Shelf, State
from simulator.privacy.unread import has_unread_text
from simulator.screen.ocr import Word
from simulator.session.store import Writer

XTERM = Path(__file__).with_name("xterm_6x13.png")  # 80x24, xterm's default font: mail, IBAN and password of nobody
FONT = ImageFont.load_default(14)
LINES = [f"line {n} of a page that says a thing or two about nothing" for n in range(12)]


def page() -> tuple[Image.Image, list[Word]]:
    """A page of text, and all of its words."""
    image = Image.new("RGB", (800, 400), (255, 255, 255))
    draw, words = ImageDraw.Draw(image), []
    for n, line in enumerate(LINES):
        draw.text((20, 20 + 28 * n), line, fill=(0, 0, 0), font=FONT)
        left, top, right, bottom = map(int, draw.textbbox((20, 20 + 28 * n), line, font=FONT))
        words.append(Word(line, left, top, right - left, bottom - top, n, n, 90.0))
    return image, words


def test_text_without_words_is_unread_and_with_them_it_is_not() -> None:
    image, words = page()
    assert has_unread_text(grey(image), [])
    assert not has_unread_text(grey(image), words)
    assert not has_unread_text(grey(image), words[:8]), "the smaller part of a page is often an icon or a photograph"


def test_words_that_the_reader_itself_doubts_count_for_nothing() -> None:
    image, words = page()
    doubted = [Word(w.text, w.x, w.y, w.width, w.height, w.line, w.paragraph, 30.0) for w in words]
    assert has_unread_text(grey(image), doubted)


def test_a_long_unread_part_counts_beside_much_that_was_read() -> None:
    image, words = page()
    tall = Image.new("RGB", (800, 2000), (255, 255, 255))
    for n in range(5):
        tall.paste(image, (0, 400 * n))
    read = [Word(w.text, w.x, w.y + 400 * n, w.width, w.height, 0, 0, 90.0) for n in range(1, 5) for w in words]
    assert has_unread_text(grey(tall), read)


def test_what_is_no_text_is_not_unread() -> None:
    ramp = np.tile(np.linspace(0, 255, 800).astype(np.uint8), (400, 1))
    frames = Image.new("L", (800, 400), 255)
    for n in range(12):
        ImageDraw.Draw(frames).rectangle((10 + 60 * n, 20, 50 + 60 * n, 380), outline=0)
    for picture in (np.full((400, 800), 7, np.uint8), ramp, np.asarray(frames), np.zeros((5, 9), np.uint8)):
        assert not has_unread_text(picture, [])


@dataclass
class Fixed:
    name: str
    said: list[Word]
    asked: int = 0

    def words(self, image: Image.Image) -> list[Word]:
        self.asked += 1
        return self.said


def record(folder: Path, image: Image.Image) -> Path:
    with Writer(folder, session="desk", user="sam") as writer:
        writer.add(image=image, tick=0, captured_ns=SECOND, app_name="xterm", window_title="t")
    return folder


def test_such_a_picture_waits_and_what_the_third_reading_finds_is_filled(tmp_path: Path) -> None:
    image, _ = page()
    folder = record(tmp_path / "s", image)
    third = Fixed("third", [Word("jane.roe@example.com", 20, 20, 300, 14, 0, 0, 90.0)])
    report = scan(folder, [Fixed("a", []), Fixed("b", []), third], load_rules())
    assert report.waiting == {UNREAD: 1}
    assert (report.n_passed, dict(report.found)) == (0, {"email": 1})
    with Shelf(folder) as shelf:
        (picture,) = shelf.pictures()
        assert picture.state is State.UNREVIEWED
        assert shelf.boxes(filled=True)[picture.path]
    assert scan(folder, [Fixed("a", []), Fixed("b", []), third], load_rules()).n_looked == 0, "it waits for a person"


def test_a_page_that_was_read_passes_and_is_not_read_a_third_time(tmp_path: Path) -> None:
    image, words = page()
    third = Fixed("third", [])
    report = scan(record(tmp_path / "s", image), [Fixed("a", words), Fixed("b", []), third], load_rules())
    assert (report.n_passed, third.asked) == (1, 0)


@pytest.mark.skipif(shutil.which("tesseract") is None, reason="tesseract is not installed")
def test_a_terminal_with_a_bitmap_font_does_not_pass(tmp_path: Path) -> None:
    report = scan(record(tmp_path / "s", Image.open(XTERM).convert("RGB")), readings(), load_rules())
    assert report.waiting == {UNREAD: 1}
    assert report.found["iban"] == 1
    assert report.n_passed == 0
