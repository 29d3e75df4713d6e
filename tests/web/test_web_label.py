"""Labelling in a real browser: keys, mouse, undo, a reload, hostile words, and who may change anything."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from simulator.annotate.labelling import Labels
from simulator.annotate.marks import Mark, case_of, standing
from simulator.core.types import SECOND
from simulator.session.scenario import plays
from simulator.web.place import Place, id_of
from tests.replays import HOSTILE, SAID, play, record

PHONE, PROJECTOR = (360, 740), (1920, 1080)
Served = Callable[..., str]


@pytest.fixture
def day(tmp_path: Path) -> Path:
    return record(tmp_path / "day", needs=(), truth="recorded") / "session"


def _open(page: Any, served: Served, day: Path, by: str = "ann", *, editable: bool = True, link: str = "") -> str:
    url = served(Place([day.parent.parent], editable=editable))
    page.add_init_script(f"try {{ localStorage.setItem('proact-by', {by!r}) }} catch {{}}")
    page.goto(f"{url}/label/{id_of(day)}{link}")
    page.wait_for_selector("#whole:not([hidden])")
    page.wait_for_function("globalThis.label?.state.data")
    return url


def _settle(page: Any) -> None:
    page.evaluate("label.settled.then(() => label.settled)")


def _press(page: Any, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)
    _settle(page)


def _seek(page: Any, t: float) -> None:
    page.evaluate(f"label.seek({t})")


def _marks(day: Path, by: str = "ann") -> list[tuple[float, float, float | None, str | None]]:
    return [
        (m.opens_ns / SECOND, m.closes_ns / SECOND, None if m.acted_ns is None else m.acted_ns / SECOND, m.intention)
        for m in standing(case_of(day), by).marks
    ]


def test_a_window_is_marked_by_keys_and_is_in_the_recording_at_once(page: Any, served: Served, day: Path) -> None:
    _open(page, served, day)
    _seek(page, 10)
    _press(page, "o")
    assert _marks(day) == [(10, 20, None, None)]
    _seek(page, 26)
    _press(page, "c", "x")
    assert _marks(day) == [(10, 26, 26, None)]
    _seek(page, 12)
    _press(page, "[", "i")
    page.keyboard.type("translation")
    _press(page, "Escape")
    assert _marks(day) == [(12, 26, 26, "Translation")]
    assert page.evaluate("document.activeElement.id") == "base"
    assert page.text_content("#saved") == "✓ saved"
    _press(page, "u", "u")
    assert _marks(day) == [(10, 26, 26, None)]
    _press(page, "y")
    assert _marks(day) == [(12, 26, 26, None)]
    _press(page, "j", "Delete")
    assert _marks(day) == []
    _press(page, "Control+z")
    assert _marks(day) == [(12, 26, 26, None)]


def test_every_key_that_moves_goes_where_it_says(page: Any, served: Served, day: Path) -> None:
    _open(page, served, day)
    for key, t in [("ArrowRight", 1), ("ArrowLeft", 0), ("Alt+ArrowRight", 10), ("Alt+ArrowRight", 20),
                   ("Alt+ArrowLeft", 10), ("End", 59), ("Home", 0)]:  # fmt: skip
        page.keyboard.press(key)
        assert (key, page.evaluate("label.state.t")) == (key, t)
    page.keyboard.press("w")
    assert page.evaluate("label.drawing.to - label.drawing.from") == 30
    page.keyboard.press("0")
    assert page.evaluate("label.drawing.to - label.drawing.from") == 60
    page.keyboard.press("3")
    page.keyboard.press("Space")
    page.wait_for_function("label.state.t > 0")
    page.keyboard.press("Space")
    assert page.evaluate("label.state.playing") is False
    page.keyboard.press("?")
    assert "the selected window closes here" in page.text_content("dialog.help")


def test_a_window_is_drawn_and_its_edge_dragged_by_mouse(page: Any, served: Served, day: Path) -> None:
    _open(page, served, day)
    box = page.locator("#base").bounding_box()
    lane = page.evaluate("label.drawing.lanes.find((lane) => lane.kind === 'needs')")
    y = box["y"] + lane["top"] + lane["inner"] / 2

    def x(t: float) -> float:
        return float(box["x"] + page.evaluate(f"label.drawing.x({t})"))

    def drag(a: float, b: float) -> None:
        page.mouse.move(x(a), y)
        page.mouse.down()
        page.mouse.move(x((a + b) / 2), y)
        page.mouse.move(x(b), y)
        page.mouse.up()
        _settle(page)

    drag(15, 30)
    ((opens, closes, _, _),) = _marks(day)
    assert opens == pytest.approx(15, abs=0.2)
    assert closes == pytest.approx(30, abs=0.2)
    drag(closes, 36)
    ((same, moved, _, _),) = _marks(day)
    assert same == opens
    assert moved == pytest.approx(36, abs=0.2)
    page.mouse.click(x(50), y)
    assert page.evaluate("label.state.t") == pytest.approx(50, abs=0.2)
    assert len(_marks(day)) == 1


def test_what_was_marked_survives_a_reload_and_is_undone_after_it(page: Any, served: Served, day: Path) -> None:
    _open(page, served, day)
    _press(page, "o")
    page.locator("#query").fill("still being typed")
    page.wait_for_function("label.state.data.windows[0].query !== null")
    page.reload()
    page.wait_for_function("globalThis.label?.state.data?.windows.length === 1")
    assert page.evaluate("label.state.data.windows[0].query") == "still being typed"
    _press(page, "u")
    _press(page, "u")
    assert _marks(day) == []


def test_undo_of_a_page_that_is_behind_takes_nothing_back_that_another_page_changed(
    page: Any, served: Served, day: Path, watched: Any
) -> None:
    _open(page, served, day)
    _press(page, "o")
    with Labels(case_of(day), "ann") as labels:  # as another page does
        labels.add(Mark(30 * SECOND, 40 * SECOND, "Translation"))
    _press(page, "u")
    page.wait_for_selector("#problem .failed")
    assert "changed elsewhere; load the page again" in page.text_content("#problem")
    assert len(_marks(day)) == 2
    page.reload()
    page.wait_for_function("globalThis.label?.state.data?.windows.length === 2")
    _press(page, "u")
    assert [opens for opens, *_ in _marks(day)] == [0]
    watched.forgive("400")


def test_a_text_that_is_cut_is_cut_with_a_word(page: Any, served: Served, day: Path) -> None:
    _open(page, served, day)
    _press(page, "o")
    page.locator("#query").fill("x" * 5000)
    assert "the question was cut: 4\u202f000 characters are kept, 1\u202f000 were left out" in page.text_content(
        "#said"
    )
    page.wait_for_function("label.state.data.windows[0].query?.length === 4000")


def test_closing_says_what_it_does_and_makes_the_truth(page: Any, served: Served, day: Path) -> None:
    _open(page, served, day)
    assert page.is_disabled("#close")
    _press(page, "o")
    assert "no intention yet" in page.text_content("#close-why")
    assert page.is_disabled("#close")
    page.locator("#intention").fill("Translation")
    page.keyboard.press("Escape")
    _settle(page)
    page.click("#close")
    page.wait_for_selector("#sure[open]")
    assert "1 window becomes the truth of this session, marked by ann" in page.text_content("#sure-says")
    assert page.evaluate("document.activeElement.id") == "no"
    page.click("#no")
    assert plays([day.parent])[0].truth.opportunities == ()
    page.click("#close")
    page.click("#yes")
    page.wait_for_function("label.state.data.closed")
    (need,) = plays([day.parent])[0].truth.opportunities
    assert (need.opens_ns, need.intention, need.origin) == (0, "Translation", "label")
    assert page.is_disabled("#begin")
    look = "(id) => getComputedStyle(document.getElementById(id)).backgroundColor"
    assert page.evaluate(look, "begin") == page.evaluate(look, "end"), "nothing invites to it any more"
    assert "has closed" in page.text_content("#notes")


def test_others_windows_are_counted_and_not_shown(page: Any, served: Served, day: Path) -> None:
    _open(page, served, day)
    _press(page, "o")
    page.fill("#by", "bo")
    page.keyboard.press("Enter")
    page.wait_for_function("label.state.data.by === 'bo'")
    assert page.evaluate("label.state.data.windows") == []
    assert "ann: 1 windows" in page.text_content("#others")
    _seek(page, 30)
    _press(page, "o")
    assert len(_marks(day, "ann")) == len(_marks(day, "bo")) == 1


def test_nothing_is_changed_by_pages_that_only_show(page: Any, served: Served, day: Path, watched: Any) -> None:
    _open(page, served, day, editable=False)
    assert "proact view --edit" in page.text_content("#notes")
    _press(page, "o")
    assert _marks(day) == []
    said = page.evaluate(
        """fetch(location.pathname.replace('label', 'api/label') + '/windows', {method: 'POST',
            headers: {'X-Proact': '1', 'Content-Type': 'application/json'},
            body: JSON.stringify({by: 'ann', do: 'add', opens_s: 1, closes_s: 5})}).then((r) => r.json())"""
    )
    assert "proact view --edit" in said["error"]
    assert _marks(day) == []
    watched.forgive("400")


def test_without_a_pseudonym_nothing_is_marked(page: Any, served: Served, day: Path) -> None:
    _open(page, served, day, by="")
    _press(page, "o")
    assert page.evaluate("document.activeElement.id") == "by"
    page.keyboard.type("ann")
    page.keyboard.press("Enter")
    page.wait_for_function("label.state.data.by === 'ann'")
    _press(page, "o")
    assert len(_marks(day)) == 1


def test_a_change_that_is_refused_is_told_and_shown_as_it_is(
    page: Any, served: Served, day: Path, watched: Any
) -> None:
    _open(page, served, day)
    _press(page, "o")
    page.fill("#closes", "-5")
    page.keyboard.press("Escape")
    _settle(page)
    page.wait_for_selector("#problem .failed")
    assert page.text_content("#saved") == "✕ not saved"
    assert page.input_value("#closes") == "10"
    assert _marks(day) == [(0, 10, None, None)]
    watched.forgive("400")


def test_agents_offers_are_shown_only_when_asked_for(page: Any, served: Served, day: Path) -> None:
    play(day.parent, day.parent.parent / "runs/scripted", SAID)
    _open(page, served, day)
    assert "offer" not in page.evaluate("label.drawing.lanes.map((lane) => lane.kind).join()")
    page.check("#offers")
    page.wait_for_function("label.session.offered?.length === 4")
    assert page.evaluate("label.drawing.lanes.at(-1).kind") == "offered"
    page.uncheck("#offers")
    page.wait_for_function("label.session.offered === null")


def test_hostile_words_are_shown_as_words(page: Any, served: Served, tmp_path: Path) -> None:
    day = record(tmp_path / "day", needs=(), truth="recorded", titles=HOSTILE) / "session"
    _open(page, served, day)
    for n, words in enumerate(HOSTILE):
        _seek(page, n * 10)
        _press(page, "o")
        page.fill("#note", words[:3000])
        page.fill("#query", words[:3000])
        page.keyboard.press("Escape")
        _settle(page)
    assert page.title().startswith("Label day")
    assert page.locator("#whole img[src=x]").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    with sqlite3.connect(day / "session.db") as db:
        kept = [note for (note,) in db.execute("SELECT note FROM labels WHERE note IS NOT NULL ORDER BY id")]
    assert HOSTILE[0] in kept
    assert HOSTILE[2] in kept


@pytest.mark.parametrize(
    ("name", "size", "how"),
    [("desktop", (1280, 800), {}), ("phone", PHONE, {}), ("dark", PROJECTOR, {"color_scheme": "dark"})],
)
def test_it_fits_every_screen_and_axe_finds_nothing(
    new_page: Any, served: Served, day: Path, axe_clean: Any, shot: Any, name: str, size: Any, how: Any
) -> None:
    page = new_page(size, **how)
    url = _open(page, served, day)
    for t, word in [(5, "Translation"), (22, "")]:
        _seek(page, t)
        _press(page, "o")
        page.fill("#intention", word)
        page.keyboard.press("Escape")
        _settle(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    shot(page, f"label-{name}")
    axe_clean(page)
    page.evaluate("document.getElementById('sure').showModal()")
    axe_clean(page)
    page.goto(f"{url}/recordings")
    page.wait_for_selector("#list table")
    shot(page, f"recordings-{name}")
    axe_clean(page)
