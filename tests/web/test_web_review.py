"""Privacy review in a real browser: keys, boxes by mouse and keyboard, undo, carrying out, and what is never kept."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageDraw

from simulator.core.lock import FolderLock
from simulator.core.types import SECOND
from simulator.privacy.states import Shelf
from simulator.screen.pixels import decode
from simulator.session.schema import LOCK
from simulator.session.store import Writer
from simulator.web.place import Place, id_of
from tests.replays import HOSTILE

PHONE, PROJECTOR = (360, 740), (1920, 1080)
Served = Callable[..., str]
SIZE = (640, 360)


def _picture(k: int) -> Image.Image:
    image = Image.new("RGB", SIZE, (40 * k % 256, 90, 200 - 30 * k % 200))
    draw = ImageDraw.Draw(image)
    for i in range(12):  # text-like lines, others on each picture
        draw.rectangle((20, 20 + 28 * i, 60 + (k * 97 + i * 53) % 500, 32 + 28 * i), fill=(250, 250, 250))
    return image


@pytest.fixture
def day(tmp_path: Path) -> Path:
    """Six rows of five pictures; the last two are nearly the same."""
    with Writer(tmp_path / "day", session="day", user="sam") as writer:
        for k in range(6):
            image = _picture(min(k, 4))
            if k == 5:
                image.putpixel((600, 350), (1, 2, 3))
            writer.add(image=image, tick=k, captured_ns=k * SECOND, app_name="mail",
                       window_title=HOSTILE[k % len(HOSTILE)])  # fmt: skip
    return tmp_path / "day"


def _open(page: Any, served: Served, day: Path, *, editable: bool = True) -> str:
    url = served(Place([day.parent], editable=editable))
    page.goto(f"{url}/review/{id_of(day)}")
    page.wait_for_selector("#opening", state="detached")
    if editable:
        _shown(page)
    return url


def _shown(page: Any) -> None:
    page.wait_for_function("document.querySelector('#sheet img')?.naturalWidth > 0")


def _press(page: Any, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)
        page.evaluate("review.settled.then(() => review.settled)")


def _decided(day: Path) -> list[tuple[str, list[tuple[int, int, int, int]]]]:
    with Shelf(day) as shelf:
        return [(word, boxes) for _, _, word, boxes in shelf.decisions()]


def _files(day: Path) -> list[str]:
    return sorted(path.name for path in day.rglob("*.webp"))


def _at(page: Any) -> int:
    return int(page.evaluate("review.state.pictures.findIndex((one) => one.key === review.state.at)"))


def test_pictures_are_decided_by_keys_and_every_decision_can_be_undone(page: Any, served: Served, day: Path) -> None:
    _open(page, served, day)
    before = _files(day)
    assert page.text_content("#count") == "0 of 6 decided, 6 still wait"
    _press(page, "r", "d")
    assert (_at(page), page.text_content("#count")) == (2, "2 of 6 decided, 4 still wait")
    _press(page, "u")
    assert (_at(page), [word for word, _ in _decided(day)]) == (1, ["retain"])
    _press(page, "ArrowRight", "ArrowLeft")
    assert _at(page) == 1
    page.keyboard.press("f")
    page.keyboard.press("f")
    assert page.input_value("#filter") == "decided"
    assert page.evaluate("review.list().length") == 1
    page.reload()
    page.wait_for_function("globalThis.review?.state.closing?.n === 1")
    _shown(page)
    _press(page, "u")
    assert _decided(day) == []
    assert _files(day) == before


def test_a_decision_made_elsewhere_meanwhile_is_not_replaced_by_a_page_that_has_not_seen_it(
    page: Any, served: Served, day: Path, watched: Any
) -> None:
    _open(page, served, day)
    with Shelf(day) as shelf:
        pictures = [one.path for one in shelf.pictures()]
        for path in pictures:
            shelf.decide(path, "delete")
    _press(page, "r")
    assert "load the page again" in page.inner_text("#problem")
    watched.forgive("400")
    assert [word for word, _ in _decided(day)] == ["delete"] * len(pictures)
    page.reload()
    page.wait_for_function("globalThis.review?.state.closing?.n > 1")
    _shown(page)
    _press(page, "r")
    assert [word for word, _ in _decided(day)][-1] == "retain", "now it was seen"


def test_undo_on_a_page_that_is_behind_does_not_take_back_what_another_page_decided(
    page: Any, served: Served, day: Path, watched: Any
) -> None:
    _open(page, served, day)
    with Shelf(day) as shelf:
        shelf.decide(shelf.pictures()[2].path, "delete")
    _press(page, "u")
    assert "nothing that this page shows is left to undo" in page.inner_text("main")
    with Shelf(day) as shelf:
        shelf.undo([number for number, *_ in shelf.decisions()])
    _press(page, "r")
    with Shelf(day) as shelf:
        shelf.decide(shelf.pictures()[3].path, "delete")
    _press(page, "u")
    assert "not the newest decision any more; load the page again" in page.inner_text("#problem")
    watched.forgive("400")
    assert [word for word, _ in _decided(day)] == ["retain", "delete"]
    page.reload()
    page.wait_for_function("globalThis.review?.state.closing?.n === 2")
    _shown(page)
    _press(page, "u", "u")
    assert _decided(day) == [], "now both were seen"


def test_boxes_are_drawn_by_mouse_and_adjusted_by_keyboard(page: Any, served: Served, day: Path) -> None:
    _open(page, served, day)
    box = page.locator("#sheet img").bounding_box()
    scale = box["width"] / SIZE[0]
    page.mouse.move(box["x"] + 100 * scale, box["y"] + 50 * scale)
    page.mouse.down()
    page.mouse.move(box["x"] + 200 * scale, box["y"] + 90 * scale, steps=3)
    page.mouse.up()
    ((x, y, w, h),) = page.evaluate("review.state.boxes")
    assert (x, y, w, h) == tuple(pytest.approx(v, abs=2) for v in (100, 50, 100, 40))
    page.keyboard.press("Alt+ArrowRight")
    page.keyboard.press("Alt+Shift+ArrowDown")
    assert page.evaluate("review.state.boxes[0]") == [x + 1, y, w, h + 1]
    page.keyboard.press("n")
    assert page.evaluate("review.state.boxes.length") == 2
    page.keyboard.press("Delete")
    assert page.evaluate("review.state.boxes.length") == 1
    assert page.text_content("#blur-says") == "Blur the box"
    _press(page, "b")
    assert _decided(day) == [("blur", [(x + 1, y, w, h + 1)])]
    _press(page, "u")
    assert page.evaluate("review.state.boxes") == []
    assert page.text_content("#blur-says") == "Blur all of it"


def test_a_box_stays_within_the_picture(page: Any, served: Served, day: Path) -> None:
    _open(page, served, day)
    page.keyboard.press("n")
    ((x, y, _, _),) = page.evaluate("review.state.boxes")
    for _ in range(100):
        page.keyboard.press("Shift+ArrowRight")
    assert page.evaluate("review.state.boxes[0].slice(0, 3)") == [x, y, SIZE[0] - x]
    for _ in range(100):
        page.keyboard.press("ArrowLeft")
    assert page.evaluate("review.state.boxes[0].slice(0, 3)") == [0, y, SIZE[0] - x]
    _press(page, "b")
    assert len(_decided(day)) == 1


def test_pictures_nearly_the_same_are_decided_together(page: Any, served: Served, day: Path) -> None:
    _open(page, served, day)
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    page.wait_for_selector("#alike button")
    assert "1 undecided picture around it is nearly the same" in page.text_content("#alike")
    page.keyboard.press("D")
    page.wait_for_function("review.state.closing.n === 2")
    assert [word for word, _ in _decided(day)] == ["delete", "delete"]
    _press(page, "u")
    assert _decided(day) == []


def test_carrying_out_says_what_it_does_and_does_it(page: Any, served: Served, day: Path, watched: Any) -> None:
    url = _open(page, served, day)
    files = _files(day)
    old = page.evaluate("document.querySelector('#sheet img').src")
    page.evaluate("review.state.boxes.push([100, 50, 100, 40])")
    _press(page, "b", "d", "r")
    page.click("#close")
    page.wait_for_selector("#sure[open]")
    said = page.text_content("#sure-says")
    for words in ("1 picture is deleted for good", "1 picture is filled", "1 picture is kept", "Nothing brings back"):
        assert words in said
    assert page.evaluate("document.activeElement.id") == "no"
    assert _files(day) == files
    page.click("#yes")
    page.wait_for_function("document.getElementById('going').textContent.startsWith('Carried out')")
    assert len(set(_files(day)) & set(files)) == 4
    with sqlite3.connect(day / "session.db") as db:
        rows = db.execute("SELECT file_path, privacy_action FROM screenshots ORDER BY id").fetchall()
    assert [state for _, state in rows[:3]] == ["redacted", "deleted", "passed"]
    assert decode(day / rows[0][0]).getpixel((150, 70)) != _picture(0).getpixel((150, 70))
    assert page.text_content("#count") == "0 of 5 decided, 3 still wait"
    gone = page.evaluate(f"fetch({old!r}).then((r) => r.status)")
    assert gone == 404
    assert url in old
    watched.forgive("404")


def test_no_picture_of_the_page_may_be_kept(page: Any, served: Served, day: Path, watched: Any) -> None:
    heads: list[str] = []
    page.on("response", lambda r: heads.append(r.headers.get("cache-control", "")) if "/picture/" in r.url else None)
    _open(page, served, day)
    assert heads
    assert set(heads) == {"no-store"}


def test_pages_that_only_show_tell_how_to_review_and_show_no_picture(page: Any, served: Served, day: Path) -> None:
    _open(page, served, day, editable=False)
    assert "proact view --edit" in page.text_content("#notes")
    assert page.text_content("#count").startswith("6 pictures wait")
    assert page.locator("#sheet img").count() == 0
    assert not list(day.glob("*-wal"))


def test_a_recording_that_another_program_holds_is_told(page: Any, served: Served, day: Path, watched: Any) -> None:
    _open(page, served, day)
    lock = FolderLock(day / LOCK, "")
    _press(page, "r")
    page.wait_for_selector("#problem .failed")
    assert "another program has this session open" in page.text_content("#problem")
    lock.release()
    watched.forgive("400")
    _press(page, "r")
    assert len(_decided(day)) == 1


@pytest.mark.parametrize(
    ("name", "size", "how"),
    [("desktop", (1280, 800), {}), ("phone", PHONE, {}), ("dark", PROJECTOR, {"color_scheme": "dark"})],
)
def test_it_fits_every_screen_and_axe_finds_nothing(
    new_page: Any, served: Served, day: Path, axe_clean: Any, shot: Any, name: str, size: Any, how: Any
) -> None:
    page = new_page(size, **how)
    _open(page, served, day)
    _press(page, "r")
    _shown(page)
    page.keyboard.press("n")
    page.wait_for_function("review.state.about.size > 0")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.locator("#whole script, #whole img[src=x]").count() == 0
    shot(page, f"review-{name}")
    axe_clean(page)
    page.click("#close")
    axe_clean(page)
