"""Buttons, wheel and the lane of the whole session, on both pages that move over the time of a session."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from simulator.web.place import Place, id_of
from tests.replays import play, record

Served = Callable[..., str]


@pytest.fixture(params=["timeline", "label"])
def name(request: pytest.FixtureRequest, page: Any, served: Served, tmp_path: Path) -> str:
    """The name of a page's script, with a recording of 60 s open in it."""
    record(tmp_path / "day")
    if request.param == "timeline":
        play(tmp_path / "day", tmp_path / "run", "silent")
        page.goto(f"{served(Place([tmp_path / 'run']))}/run/{id_of(tmp_path / 'run')}/day")
    else:
        page.goto(f"{served(Place([tmp_path]))}/label/{id_of(tmp_path / 'day/session')}")
    page.wait_for_selector("#whole:not([hidden])")
    return str(request.param)


def _is(page: Any, name: str, what: str) -> Any:
    return page.evaluate(f"(({{ state, drawing }}) => {what})({name})")


def test_buttons_wheel_and_overview_move_where_they_say(page: Any, name: str) -> None:
    view = "[drawing.from, drawing.to]"
    page.click("#forth")
    page.click("#forth")
    page.click("#back")
    assert _is(page, name, "state.t") == 1
    page.click("#closer")
    assert _is(page, name, "drawing.to - drawing.from") == 30
    page.click("#farther")
    page.click("#closer")
    page.click("#closer")
    assert _is(page, name, view) == pytest.approx([0.25, 15.25], abs=1)

    box = page.locator("#base").bounding_box()
    lane = _is(page, name, "drawing.lanes.find((lane) => lane.kind === 'overview')")
    y = box["y"] + lane["top"] + lane["inner"] / 2
    page.mouse.click(box["x"] + box["width"] / 2, y)
    assert _is(page, name, "state.t") == pytest.approx(30, abs=0.5)
    assert _is(page, name, view) == pytest.approx([22.5, 37.5], abs=0.5)

    page.keyboard.down("Shift")
    page.mouse.wheel(0, 500)
    page.wait_for_function(f"{name}.drawing.from > 24")
    page.keyboard.up("Shift")
    assert _is(page, name, "drawing.to - drawing.from") == pytest.approx(15)
    page.keyboard.down("Control")
    page.mouse.wheel(0, -150)
    page.wait_for_function(f"{name}.drawing.to - {name}.drawing.from < 14")
    page.keyboard.up("Control")
    page.click("#all")
    assert _is(page, name, view) == [0, 60]


def test_playing_goes_to_the_end_and_stops_there(page: Any, name: str) -> None:
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("3")
    page.click("#play")
    page.wait_for_function(f"!{name}.state.playing && {name}.state.t === 60")
    assert page.inner_text("#play") == "▶ Play"
