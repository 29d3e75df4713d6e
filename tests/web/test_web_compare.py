"""The page of comparisons in a real browser."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from simulator.play.player import run
from simulator.web.place import Place, id_of

ROOT = Path(__file__).resolve().parents[2]
DESK = [ROOT / "scenarios" / name for name in ("desktop", "shopping")]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("compare-page")
    with ThreadPoolExecutor(1) as other:  # the browser holds this thread's loop
        for memory in ("rag", "personas"):
            played = partial(run, DESK, memory=memory, out=folder / memory, clock="modelled", latency="fixed:1500ms")
            other.submit(played).result()
        other.submit(run, DESK, memory="rag", out=folder / "<b onclick=alert(1)>").result()
    return {path.name: path for path in sorted(folder.iterdir())}


@pytest.fixture
def at(runs: dict[str, Path], served: Callable[..., str]) -> str:
    return served(Place([next(iter(runs.values())).parent]))


def _address(runs: dict[str, Path], *names: str) -> str:
    return "/compare?runs=" + ",".join(id_of(runs[name]) for name in names)


def _ready(page: Any) -> None:
    page.wait_for_selector('#content[aria-busy="false"]')


def test_two_runs_are_shown_with_figures_tables_and_ways_to_the_timeline(
    page: Any, at: str, runs: dict[str, Path], axe_clean: Callable[..., None], shot: Callable[[Any, str], None]
) -> None:
    page.goto(at + _address(runs, "rag", "personas"))
    _ready(page)
    assert page.locator("svg.figure").count() >= 4
    assert page.get_by_role("heading", name="B against A").count() == 1
    link = page.locator(".flips a").first
    assert "#t=" in (link.get_attribute("href") or "")
    axe_clean(page)
    shot(page, "compare-light")


@pytest.mark.parametrize(("scheme", "size"), [("dark", (1280, 800)), ("light", (360, 740))])
def test_it_is_readable_in_the_dark_and_on_a_phone(
    new_page: Callable[..., Any], at: str, runs: dict[str, Path], axe_clean: Callable[..., None],
    shot: Callable[[Any, str], None], scheme: str, size: tuple[int, int],
) -> None:  # fmt: skip
    page = new_page(size, color_scheme=scheme)
    page.goto(at + _address(runs, "rag", "personas"))
    _ready(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    axe_clean(page)
    shot(page, f"compare-{scheme}-{size[0]}")


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
