"""The page of comparisons in a real browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from simulator.web.place import Place, id_of
from simulator.web.server import Web
from tests.replays import SAID, play, record

DESKTOP, PHONE = (1280, 800), (360, 740)
Look = Callable[[Any, tuple[int, int], str], None]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder, day = tmp_path_factory.mktemp("compare-page"), record(tmp_path_factory.mktemp("days") / "day")
    play(day, folder / "rag", SAID)
    play(day, folder / "personas", {12: SAID[12], 52: ("Information Lookup", "There it is.")})
    play(day, folder / "<b onclick=alert(1)>", SAID, clock="measured", latency=None)
    return {path.name: path for path in sorted(folder.iterdir())}


@pytest.fixture(scope="module")
def at(runs: dict[str, Path]) -> Iterator[str]:
    """One server: what it has compared once it knows."""
    with Web(Place([next(iter(runs.values())).parent])).in_thread() as url:
        yield url.rstrip("/")


def _address(runs: dict[str, Path], *names: str) -> str:
    return "/compare?runs=" + ",".join(id_of(runs[name]) for name in names)


def _ready(page: Any) -> None:
    page.wait_for_selector('#content[aria-busy="false"]')


def test_two_runs_are_shown_with_figures_tables_and_ways_to_the_timeline(
    page: Any,
    at: str,
    runs: dict[str, Path],
    look: Look,
    axe_clean: Callable[..., None],
    shot: Callable[[Any, str], None],
) -> None:
    page.goto(at + _address(runs, "rag", "personas"))
    _ready(page)
    assert page.locator("svg.figure").count() >= 4
    assert page.get_by_role("heading", name="B against A").count() == 1
    link = page.locator(".flips a").first
    assert "#t=" in (link.get_attribute("href") or "")
    assert "&need=" in (link.get_attribute("href") or "")
    for scheme, size in (("light", DESKTOP), ("dark", PHONE)):
        look(page, size, scheme)
        assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
        axe_clean(page)
        shot(page, f"compare-{scheme}-{size[0]}")


def test_each_run_is_held_against_the_first_by_its_letter_and_figures_grow_on_a_wall(
    new_page: Callable[..., Any], at: str, runs: dict[str, Path], look: Look
) -> None:
    page = new_page(DESKTOP)
    page.goto(at + _address(runs, "rag", "personas", "<b onclick=alert(1)>") + "&force=1&kiosk")
    _ready(page)
    small = page.locator("svg.figure").first.bounding_box()["width"]
    heads = [[head.inner_text() for head in table.locator("thead th").all()][:4]
             for table in page.locator("table").all() if "All figures" in table.inner_text()]  # fmt: skip
    assert heads == [["metric", "A", "B", "B − A"], ["metric", "A", "C", "C − A"]]
    assert "C is better" in page.locator("caption", has_text="All figures").nth(1).inner_text()
    assert "snapshots never seen" in page.locator(".beside").first.inner_text()
    look(page, (3840, 2160), "light")
    assert page.locator("svg.figure").first.bounding_box()["width"] > 2 * small


def test_what_must_not_be_compared_is_refused_and_can_be_forced(page: Any, at: str, runs: dict[str, Path]) -> None:
    page.goto(at + _address(runs, "rag", "<b onclick=alert(1)>"))
    _ready(page)
    assert "latency_source is 'modelled'" in page.get_by_role("alert").inner_text()
    assert page.locator("b").count() == 0
    page.get_by_role("link", name="Compare all the same").click()
    page.wait_for_selector(".forced")
    _ready(page)
    assert "forced:" in page.locator(".forced").first.inner_text()


def test_b_makes_the_next_run_the_baseline(page: Any, at: str, runs: dict[str, Path]) -> None:
    page.goto(at + _address(runs, "rag", "personas"))
    _ready(page)
    page.keyboard.press("b")
    page.wait_for_url("**" + _address(runs, "personas", "rag"))
    _ready(page)
    assert "personas" in page.locator(".sides li").first.inner_text()


def test_runs_can_be_chosen(page: Any, at: str, axe_clean: Callable[..., None]) -> None:
    page.goto(at + "/compare")
    _ready(page)
    button = page.get_by_role("button", name="Compare")
    assert button.is_disabled()
    for name in ("rag", "personas"):
        page.get_by_label(name).check()
    axe_clean(page)
    button.click()
    page.wait_for_url("**/compare?runs=*")
    _ready(page)


def test_a_run_that_is_not_there_is_told_in_a_sentence(page: Any, at: str, watched: Any) -> None:
    page.goto(at + "/compare?runs=0123456789,9876543210")
    _ready(page)
    assert "there is no run of that id here" in page.get_by_role("alert").inner_text()
    watched.forgive("404")
