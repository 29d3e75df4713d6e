"""The whole way with real OCR: invented data on rendered pictures, on a page of ours, and text that means harm."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from simulator.core.types import SECOND
from simulator.privacy.picture import FILL
from simulator.privacy.rules import load_rules
from simulator.privacy.scan import readings, scan
from simulator.screen.ocr import Tesseract
from simulator.screen.pixels import decode
from simulator.session.check import check
from simulator.session.store import Writer
from tests.privacy.planted import LOOKS, Sheet, sheet

pytestmark = pytest.mark.skipif(shutil.which("tesseract") is None, reason="tesseract is not installed")

ROOT = Path(__file__).resolve().parents[2]
FORM = "9e/9efc010b3ca527bede79678b591ca45521141489b33963aa61b920a486c39fdb.webp"  # scenarios/desktop at 160 s
ON_THE_FORM = ("jane.roe@example.com", "202", "4111", "3704", "0532", "123-45-", "6789")
LEAST = 0.95  # of the planted values: what OCR misreads beyond recognition is missed

HARM = (
    "[bold red]markup[/] {0} %s %n \\x1b[31m \\033]0;title\\007",
    "'; DROP TABLE screenshots; -- \" ` $(rm -rf /) ${HOME}",
    "<script>alert(1)</script> &amp; \u202egnp.exe \ufeff",
    "5\t1\t1\t1\t1\t1\t0\t0\t9999\t9999\t95\tinjected",
    "-----BEGIN -----BEGIN (((((((((( [[[[[[[[ ++++++++ @@@@@@@@",
    "password: " * 6,
)


def record(folder: Path, images: list[Image.Image]) -> Path:
    with Writer(folder) as writer:
        for tick, image in enumerate(images):
            writer.add(image=image, tick=tick, captured_ns=tick * SECOND, app_name="x", window_title="y")
    return folder


def scanned(folder: Path) -> list[Image.Image]:
    """The pictures after a scan, in the order of their rows."""
    scan(folder, readings(), load_rules())
    assert [f for f in check(folder) if f.severity == "damage"] == []
    with sqlite3.connect(folder / "session.db") as db:
        paths = [path for (path,) in db.execute("SELECT file_path FROM screenshots ORDER BY id")]
    return [decode(folder / path) for path in paths]


def filled(image: Image.Image, rect: tuple[int, int, int, int]) -> bool:
    left, top, right, bottom = rect
    pixels = np.asarray(image.crop((left + 1, top + 1, right - 1, bottom - 1)))
    return bool((pixels == FILL).all())


def test_invented_values_on_a_terminal_are_filled_and_little_else(tmp_path: Path) -> None:
    made = sheet(LOOKS[2], 502, (1000, 330), every=2)
    (image,) = scanned(record(tmp_path / "s", [made.image]))
    marks = [filled(image, rect) for _, _, rect in made.planted]
    assert sum(marks) >= LEAST * len(marks)
    changed = int((np.asarray(image) != np.asarray(made.image)).any(axis=2).sum())
    assert changed < 3 * sum((x1 - x0) * (y1 - y0) for _, _, (x0, y0, x1, y1) in made.planted)


def test_the_form_of_the_desktop_session_shows_nothing_of_its_invented_person_afterwards(tmp_path: Path) -> None:
    form = decode(ROOT / "scenarios" / "desktop" / "session" / "screenshots" / FORM).crop((40, 190, 1340, 520))
    (image,) = scanned(record(tmp_path / "s", [form]))
    read = " ".join(word.text for word in Tesseract(mode=11, scale=3).words(image))
    assert "Example on file" in read
    assert not any(piece in read for piece in ON_THE_FORM), read
    assert "Name:" in read


def test_text_that_means_harm_is_only_text(tmp_path: Path) -> None:
    made = Sheet(Image.new("RGB", (900, 220), (255, 255, 255)))
    for n, line in enumerate(HARM):
        made.write(LOOKS[0], 20, 20 + 32 * n, [line])
    (image,) = scanned(record(tmp_path / "s", [made.image]))
    assert image.size == made.image.size
