"""A private title of the window in front is on the picture where its title bar is, whether OCR reads it or not."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from simulator.core.types import SECOND
from simulator.privacy.picture import FILL, grey
from simulator.privacy.rules import load_rules
from simulator.privacy.scan import Options, Report, scan
from simulator.privacy.states import Shelf, State
from simulator.privacy.titles import STRIP, Titled, bars, strip
from simulator.screen.ocr import Word
from simulator.screen.pixels import decode
from simulator.session.check import check
from simulator.session.reader import Reader
from simulator.session.store import Writer
from tests.privacy.desk import CLEAN, EMAIL, Exact, readings, record

RULES = load_rules()
SIZE = (640, 360)
FRAME = (40, 60, 500, 200)
PRIVATE, PUBLIC = f"{EMAIL} - Editor", "shopping list - Editor"
ACTIVE, INACTIVE = ((70, 110, 160), (255, 255, 255)), ((222, 222, 222), (100, 100, 160))


def shot(title: str, look: tuple[tuple[int, int, int], tuple[int, int, int]] = ACTIVE) -> Image.Image:
    """A window with a title bar from light to dark, 22 pixels high, that no reading reads, and some text."""
    image = Image.new("RGB", SIZE, (30, 50, 60))
    draw = ImageDraw.Draw(image)
    x, y, width, height = FRAME
    draw.rectangle((x, y, x + width - 1, y + height - 1), fill=(250, 250, 250))
    for row in range(22):
        draw.rectangle((x, y + row, x + width - 1, y + row), fill=tuple(c + 22 - 2 * row for c in look[0]))
    draw.text((x + 150, y + 3), title, fill=look[1], font=ImageFont.load_default(13))
    draw.text((x + 8, y + 26), "File  Edit  Search  View  Document  Help", fill=(20, 20, 90))
    draw.text((x + 8, y + 80), "bread and butter, tea, apples, soap, candles", fill=(20, 20, 90))
    return image


def session(folder: Path, *shots: tuple[Image.Image, str], scale: float | None = None, monitors: int = 1) -> Path:
    x, y, width, height = FRAME
    with Writer(folder) as writer:
        for tick, (image, title) in enumerate(shots):
            for monitor in range(1, monitors + 1):
                writer.add(
                    image=image, tick=tick, captured_ns=tick * SECOND, app_name="Editor", window_title=title,
                    monitor=monitor, window_x=x, window_y=y, window_w=width, window_h=height, scale=scale,
                )  # fmt: skip
    return folder


class OfMore(Exact):
    """Reads the menu and the line as well."""

    def words(self, image: Image.Image) -> list[Word]:
        more = [Word("File", FRAME[0] + 8, FRAME[1] + top, 260, 14, top, top, 90.0) for top in (26, 80)]
        return [*super().words(image), *more]


def scanned(folder: Path, options: Options | None = None) -> Report:
    return scan(folder, [OfMore("first"), OfMore("second")], RULES, options)


def shown(folder: Path) -> list[tuple[str, np.ndarray, str]]:
    with sqlite3.connect(folder / "session.db") as db:
        found = db.execute("SELECT privacy_action, file_path, window_title FROM screenshots ORDER BY id").fetchall()
    return [(state, np.asarray(decode(folder / path)), title) for state, path, title in found]


def filled(pixels: np.ndarray) -> np.ndarray:
    mask: np.ndarray = (pixels == FILL).all(axis=2)
    return mask


def test_the_title_bar_is_filled_where_rules_find_something_in_the_title(tmp_path: Path) -> None:
    folder = session(tmp_path / "s", (shot(PRIVATE), PRIVATE), (shot(PUBLIC), PUBLIC))
    report = scanned(folder)
    (state, pixels, title), (other, clean, _) = shown(folder)
    assert (state, title, other) == (State.REDACTED, "[email] - Editor", State.PASSED)
    x, y, width, _ = FRAME
    assert filled(pixels)[y : y + 48, x : x + width].all(), "as high as header bars are"
    assert not filled(pixels)[y + 48 :].any()
    assert not filled(clean).any(), "the menu is the same, the title is not"
    assert dict(report.found) == {"title": 1}
    assert (report.n_redacted, report.n_passed, report.n_waiting) == (1, 1, 0)


def test_a_title_bar_that_lost_the_focus_is_known_by_its_letters(tmp_path: Path) -> None:
    folder = session(tmp_path / "s", (shot(PRIVATE), PRIVATE), (shot(PRIVATE, INACTIVE), "another window"))
    assert scanned(folder).n_spread == 1
    (_, pixels, _) = shown(folder)[1]
    x, y, width, _ = FRAME
    assert filled(pixels)[y : y + 22, x : x + width].all()
    assert not filled(pixels)[y + 23 :].any()


def test_a_dry_run_finds_the_title_bar_and_the_next_scan_fills_it_once(tmp_path: Path) -> None:
    folder = session(tmp_path / "s", (shot(PRIVATE), PRIVATE))
    dry = scanned(folder, Options(dry=True))
    assert (dict(dry.found), dry.n_texts) == ({"title": 1}, 1)
    assert not filled(shown(folder)[0][1]).any()
    scanned(folder)
    with Shelf(folder) as shelf:
        ((path, boxes),) = shelf.boxes(filled=True).items()
    assert [box.kind for box in boxes] == [STRIP, "title"]
    scanned(folder, Options(again=True))
    with Shelf(folder) as shelf:
        assert shelf.boxes(filled=True) == {path: boxes}


@pytest.mark.parametrize("place", [None, (0, 500, 960, 480), (-400, 0, 404, 480)], ids=["unknown", "below", "beside"])
def test_a_private_title_of_which_nobody_knows_where_it_stands_waits_for_a_person(
    tmp_path: Path, place: tuple[int, int, int, int] | None
) -> None:
    folder = record(tmp_path / "s", place=place)
    report = scanned(folder)
    assert report.waiting == {"title: email": 1}
    state, pixels, title = shown(folder)[5]
    assert (state, title) == (State.UNREVIEWED, "Inbox of [email]")
    assert filled(pixels).any(), "what was read is filled all the same"
    assert scanned(folder, Options(again=True)).waiting == {"title: email": 1}, "also once the title is cleaned"
    with Shelf(folder) as shelf:
        (picture,) = [p for p in shelf.pictures() if p.state is State.UNREVIEWED]
        shelf.settle(picture.path, State.PASSED, by_person=True)
    assert scanned(folder, Options(again=True)).n_waiting == 0


def test_where_a_monitor_begins_on_the_desktop_is_unknown_so_pictures_of_several_wait(tmp_path: Path) -> None:
    two = session(tmp_path / "two", (shot(PRIVATE), PRIVATE), monitors=2)
    assert scanned(two).waiting == {"title: email": 1}
    assert scanned(record(tmp_path / "second", monitor=2)).waiting == {"title: email": 1}


BESIDE = ((0, 0), (640, 0))
BELOW = ((0, 0), (0, 360))


def desktop(folder: Path, place: tuple[int, int, int, int], origins: tuple[tuple[int, int], ...]) -> Path:
    """One tick of several monitors, each showing other colours, with a window in front of a private title."""
    with Writer(folder) as writer:
        for number, (left, top) in enumerate(origins, 1):
            writer.add(
                image=Image.new("RGB", SIZE, (40 * number, 90, 90)), tick=0, captured_ns=0, app_name="Editor",
                window_title=PRIVATE, monitor=number, window_x=place[0], window_y=place[1], window_w=place[2],
                window_h=place[3], monitor_x=left, monitor_y=top, scale=1.0,
            )  # fmt: skip
    return folder


@pytest.mark.parametrize(
    ("place", "origins", "strips"),
    [
        ((700, 60, 300, 200), BESIDE, [None, (60, 60, 300, 48)]),
        ((600, 60, 300, 200), BESIDE, [(600, 60, 40, 48), (0, 60, 260, 48)]),
        ((40, 400, 300, 200), BELOW, [None, (40, 40, 300, 48)]),
        ((40, 200, 300, 400), BELOW, [(40, 200, 300, 48), None]),
        ((-900, 60, 300, 200), ((0, 0), (-1000, 0)), [None, (100, 60, 300, 48)]),
    ],
    ids=["second", "both", "below", "title above", "left of the first"],
)
def test_on_several_monitors_the_title_bar_is_filled_on_those_that_show_it(
    tmp_path: Path, place: tuple[int, int, int, int], origins: tuple[tuple[int, int], ...],
    strips: list[tuple[int, int, int, int] | None],
) -> None:  # fmt: skip
    folder = desktop(tmp_path / "s", place, origins)
    report = scanned(folder)
    assert report.n_waiting == 0
    for (state, pixels, _), strip_ in zip(shown(folder), strips, strict=True):
        wanted = np.zeros(pixels.shape[:2], bool)
        if strip_ is not None:
            x, y, width, height = strip_
            wanted[y : y + height, x : x + width] = True
        assert (filled(pixels) == wanted).all()
        assert state == (State.PASSED if strip_ is None else State.REDACTED)


def test_a_window_on_a_monitor_that_is_not_recorded_waits_for_a_person(tmp_path: Path) -> None:
    folder = desktop(tmp_path / "s", (700, 60, 300, 200), ((0, 0),))
    assert scanned(folder).waiting == {"title: email": 1}


def test_a_recording_of_an_earlier_version_is_read_scanned_and_gone_on_with(tmp_path: Path) -> None:
    folder = session(tmp_path / "two", (shot(PRIVATE), PRIVATE), monitors=2)
    with sqlite3.connect(folder / "session.db") as db:
        for column in ("monitor_x", "monitor_y"):
            db.execute(f"ALTER TABLE screenshots DROP COLUMN {column}")
        db.execute("UPDATE meta SET value = 'recording' WHERE key = 'state'")
    db.close()
    with Reader(folder) as reader:
        assert [row[-1] for row in reader.rows(("monitor", "monitor_x"))] == [None]
    assert [f.kind for f in check(folder) if f.severity == "damage"] == []
    with Writer(folder) as writer:  # as the recorder goes on with what a crash left
        writer.add(tick=1, captured_ns=SECOND, monitor=1, monitor_x=0, monitor_y=0)
    with sqlite3.connect(folder / "session.db") as db:
        for column in ("monitor_x", "monitor_y"):
            db.execute(f"ALTER TABLE screenshots DROP COLUMN {column}")
    db.close()
    assert scanned(folder).waiting == {"title: email": 1}


def test_a_picture_that_had_passed_counts_when_other_rules_find_something_in_its_title(tmp_path: Path) -> None:
    folder = record(tmp_path / "s", titles={7: "the Roe family", 8: "the Roe family"})
    scanned(folder)
    own = tmp_path / "own.yaml"
    own.write_text("words: [Roe family]")
    assert scan(folder, readings(), load_rules(own)).found["title"] == 1
    state, pixels, title = shown(folder)[7]
    assert (state, title) == (State.REDACTED, "the [word]")
    assert filled(pixels)[:48].all()
    assert CLEAN in " ".join(word.text for word in Exact().words(Image.fromarray(pixels)))


def test_a_strip_grows_with_the_scale_and_with_large_pictures_and_ends_with_window_and_picture() -> None:
    window = Titled("t", 1, 10, 20, 300, 400)
    assert strip(window, (1920, 1080)).height == 49  # type: ignore[union-attr]
    large = strip(window, (3840, 2160))
    assert large is not None
    assert (large.x, large.y, large.width, large.height) == (10, 20, 300, 97)
    twice = strip(Titled("t", 1, 10, 20, 300, 400, 2.0), (1280, 800))
    assert twice is not None
    assert (twice.x, twice.y, twice.width, twice.height) == (20, 40, 600, 96)
    small = strip(Titled("t", 1, -5, -4, 300, 30), (200, 800))
    assert small is not None
    assert (small.x, small.y, small.width, small.height) == (0, 0, 200, 26)


def test_the_lower_edge_of_a_title_bar_is_where_most_of_a_row_is_of_another_grey() -> None:
    x, y, width, height = FRAME
    place = strip(Titled("t", 1, x, y, width, height), SIZE)
    assert place is not None
    (bar,) = bars(grey(shot(PRIVATE)), [place])
    assert (bar.x, bar.y, bar.width, bar.height) == (x, y, width, 22)
    flat = Image.new("RGB", SIZE, (200, 200, 200))
    assert bars(grey(flat), [place])[0].height == place.height
