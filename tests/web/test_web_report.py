"""A report in a real browser, without scripts; and printed."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from simulator.report.page import make
from tests.replays import SAID, play, record


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    day = record(folder / "day")
    runs = [play(day, folder / "one", SAID), play(day, folder / "other", {12: SAID[12]}, latency="fixed:3s")]
    with ThreadPoolExecutor(1) as other:  # the browser holds this thread's loop
        made = other.submit(make, runs, frames=2).result()
    (folder / "report.html").write_text(made.html, encoding="utf-8")
    return folder / "report.html"


@pytest.mark.parametrize(("scheme", "size"), [("light", (1280, 800)), ("dark", (360, 740))])
def test_it_is_read_without_scripts_in_the_light_in_the_dark_and_on_a_phone(
    new_page: Callable[..., Any], report: Path, shot: Callable[[Any, str], None], scheme: str, size: tuple[int, int]
) -> None:
    page = new_page(size, color_scheme=scheme, java_script_enabled=False)
    page.goto(report.as_uri())
    assert page.get_by_role("heading", name="proact report").is_visible()
    assert page.locator("svg.figure").count() >= 5
    assert page.locator(".moment img").count() == 2
    shot(page, f"report-{scheme}-{size[0]}")


def test_it_prints(new_page: Callable[..., Any], report: Path) -> None:
    page = new_page(java_script_enabled=False)
    page.goto(report.as_uri())
    assert page.pdf(format="A4").startswith(b"%PDF")


def test_it_is_accessible_and_fits_a_phone(
    new_page: Callable[..., Any], report: Path, axe_clean: Callable[..., None]
) -> None:
    page = new_page((360, 740), bypass_csp=True)  # axe is a script, and a report allows none
    page.goto(report.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    axe_clean(page)


def test_long_words_and_names_wrap_on_a_phone(new_page: Callable[..., Any], tmp_path: Path) -> None:
    said = {26: ("x" * 200, "Shall I?")}
    one = play(record(tmp_path / "day"), tmp_path / "one", said)
    other = play(tmp_path / "day", tmp_path / ("n" * 120), said, gate="off")
    with ThreadPoolExecutor(1) as thread:
        made = thread.submit(make, [one, other], frames=6).result()
    assert "Not compared" in made.html
    (tmp_path / "report.html").write_text(made.html, encoding="utf-8")
    page = new_page((360, 740))
    page.goto((tmp_path / "report.html").as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
