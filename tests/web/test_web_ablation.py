"""The page of a study in a real browser."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from simulator.web.place import Place, id_of

_SPEC = importlib.util.spec_from_file_location(
    "ablation_summaries", Path(__file__).with_name("test_web_ablation_data.py")
)
assert _SPEC is not None
assert _SPEC.loader is not None
_MADE = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(_MADE)
HOSTILE = "<script>alert(1)</script>\u202e"


@pytest.fixture
def at(tmp_path: Path, served: Callable[..., str]) -> str:
    sweep = tmp_path / "sweep-memories"
    sweep.mkdir()
    (sweep / "sweep.json").write_text("{}", encoding="utf-8")
    (sweep / "summary.json").write_text(json.dumps(_MADE.a_summary(HOSTILE)), encoding="utf-8")
    return f"{served(Place([tmp_path]))}/ablation/{id_of(sweep)}"


def _ready(page: Any) -> None:
    page.wait_for_selector('#content[aria-busy="false"]')


def test_a_study_is_shown(
    page: Any, at: str, look: Any, axe_clean: Callable[..., None], shot: Callable[[Any, str], None]
) -> None:
    page.goto(at)
    _ready(page)
    assert page.locator("svg.figure").count() == 5  # map, latency, two curves, effects
    assert page.locator("svg .hatch").count() == 1
    assert "<script>alert" in page.locator("main").inner_text()
    assert "\u202e" not in page.locator("main").inner_text()
    for scheme, size in (("light", (1280, 800)), ("dark", (360, 740))):
        look(page, size, scheme)
        assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
        axe_clean(page)
        shot(page, f"ablation-{scheme}-{size[0]}")


def test_figure_and_axes_are_switched_by_choice_and_by_key_and_stand_in_the_address(page: Any, at: str) -> None:
    page.goto(at)
    _ready(page)
    page.get_by_label("Figure").select_option("unwanted_per_hour")
    page.wait_for_selector("h2:has-text('unwanted_per_hour [1/h] by agent and memory')")
    page.keyboard.press("Escape")
    page.locator("main").focus()
    page.keyboard.press("t")
    page.wait_for_selector("h2:has-text('by memory and agent')")
    assert "metric=unwanted_per_hour" in page.url
    page.go_back()
    page.wait_for_selector("h2:has-text('by agent and memory')")


def test_studies_are_listed(page: Any, at: str, axe_clean: Callable[..., None]) -> None:
    page.goto(at.rpartition("/")[0])
    _ready(page)
    assert page.get_by_role("link", name="sweep-memories").count() == 1
    axe_clean(page)
