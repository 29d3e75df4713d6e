"""What is left of a value beside a mask is found by where it stands and by what it looks like."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from simulator.core.types import SECOND
from simulator.privacy.cut import CUT, cut_off
from simulator.privacy.rules import load_rules
from simulator.privacy.scan import Options, scan
from simulator.privacy.states import State
from simulator.screen.ocr import Word
from simulator.screen.pixels import decode
from simulator.session.store import Writer
from tests.privacy.desk import Exact

LETTER, HEIGHT, EDGE = 9, 16, 400
MASK = (EDGE, 50, 200, 200)


def line(text: str, *, right: int | None = None, left: int | None = None, y: int = 100) -> list[Word]:
    """The words of a text that ends, or begins, at a place."""
    at = left if left is not None else (right or 0) - LETTER * len(text)
    words = []
    for word in text.split():
        words.append(Word(word, at, y, LETTER * len(word), HEIGHT, 1, 1, 90.0))
        at += LETTER * (len(word) + 1)
    return words


def found(words: list[Word]) -> str:
    """The words that boxes touch."""
    boxes = list(cut_off(words, [MASK]))
    assert all((box.kind, box.sure) == (CUT, False) for box in boxes)
    assert all(box.x + box.width == EDGE or box.x == EDGE + 200 for box in boxes), "up to the mask"
    return " ".join(w.text for w in words if any(b.x < w.x + w.width and w.x < b.x + b.width for b in boxes))


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("mail: jane.roe@", "jane.roe@"),
        ("mail: jane.roe@exam", "jane.roe@exam"),
        ("card 4111 1111", "4111 1111"),
        ("card 4111 11l1 |", "4111 11l1 |"),
        ("call +49 (30) 1234", "+49 (30) 1234"),
        ("to DE89 3704 00", "DE89 3704 00"),
        ("to DE89", "DE89"),
        ("nothing to see", ""),
        ("in 2026", ""),
        ("page 12 of 48", ""),
        ("see ISO 9001", ""),
    ],
)
def test_the_beginning_of_a_value_before_a_mask(text: str, rest: str) -> None:
    assert found(line(text, right=EDGE - 4)) == rest
    assert found(line(text, right=EDGE - 100)) == "", "it does not reach up to the mask"
    assert found(line(text, right=EDGE - 4, y=300)) == "", "it stands below the mask"


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("roe@example.com is it", "roe@example.com"),
        ("1111 1111 expires", "1111 1111"),
        ("| 1111 1111", "| 1111 1111"),
        ("nothing to see", ""),
        ("of 48 pages", ""),
    ],
)
def test_the_end_of_a_value_behind_a_mask(text: str, rest: str) -> None:
    assert found(line(text, left=EDGE + 204)) == rest
    assert found(line(text, left=EDGE + 300)) == ""


class Reader(Exact):
    """Reads half a mail address unless it is filled."""

    def words(self, image: Image.Image) -> list[Word]:
        words = line("mail: jane.roe@", right=EDGE - 4)
        return [w for w in words if image.getpixel((w.x + 2, w.y + 2)) != (128, 128, 128)]


def recorded(folder: Path, *, masked: bool = True) -> Path:
    with Writer(folder) as writer:
        writer.add(image=Image.new("RGB", (640, 300), (250, 250, 250)), tick=3, captured_ns=3 * SECOND, monitor=1)
    if masked:
        with sqlite3.connect(folder / "session.db") as db:
            db.execute(
                "INSERT INTO masks (tick, monitor, x, y, w, h, reason) VALUES (3, 1, ?, ?, ?, ?, 'banking')", MASK
            )
    return folder


def state(folder: Path) -> tuple[str, np.ndarray]:
    with sqlite3.connect(folder / "session.db") as db:
        ((action, path),) = db.execute("SELECT privacy_action, file_path FROM screenshots").fetchall()
    return action, np.asarray(decode(folder / path))


def test_a_scan_fills_what_a_mask_has_cut(tmp_path: Path) -> None:
    folder = recorded(tmp_path / "s")
    assert dict(scan(folder, [Reader("a"), Reader("b")], load_rules()).found) == {CUT: 1}
    action, pixels = state(folder)
    assert action == State.REDACTED
    assert (pixels[100:116, EDGE - 4 - 9 * LETTER : EDGE] == 128).all()


def test_without_a_mask_the_same_words_pass_and_when_only_the_sure_is_filled_they_wait(tmp_path: Path) -> None:
    folder = recorded(tmp_path / "bare", masked=False)
    scan(folder, [Reader("a"), Reader("b")], load_rules())
    assert state(folder)[0] == State.PASSED
    folder = recorded(tmp_path / "s")
    report = scan(folder, [Reader("a"), Reader("b")], load_rules(), Options(only_sure=True))
    assert report.waiting == {"doubtful": 1}


def test_a_session_without_a_table_of_masks_is_scanned(tmp_path: Path) -> None:
    folder = recorded(tmp_path / "s")
    with sqlite3.connect(folder / "session.db") as db:
        db.execute("DROP TABLE masks")
    assert scan(folder, [Reader("a"), Reader("b")], load_rules()).n_passed == 1
