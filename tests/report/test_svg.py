"""The small writer of SVG."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.report.charts import Cell, Change, Point, curves, ecdf, forest, heat, pareto
from simulator.report.svg import Canvas, Scale, clean, escaped

HOSTILE = "<script>alert(1)</script>\"'&\x1b[31m\u202e" + "x" * 10_000


def test_a_scale_puts_ends_at_the_ends_and_what_lies_beyond_at_them() -> None:
    scale = Scale(0, 10, 100, 200)
    assert [scale(v) for v in (0, 5, 10, 99, -3)] == [100, 150, 200, 200, 100]
    log = Scale(1, 100, 0, 2, log=True)
    assert [round(log(v), 9) for v in (1, 10, 100, 0)] == [0, 1, 2, 0]


@pytest.mark.parametrize(
    ("low", "high", "ticks"), [(0, 1, [0, 0.2, 0.4, 0.6, 0.8, 1.0]), (0, 195, [0, 50, 100, 150]), (2, 2, [2])]
)
def test_ticks_are_round_numbers_within(low: float, high: float, ticks: list[float]) -> None:
    assert Scale(low, high, 0, 1).ticks() == pytest.approx(ticks)


@given(st.floats(1e-6, 1e6), st.floats(1.01, 1e6))
def test_logarithmic_ticks_lie_within_and_are_few(low: float, times: float) -> None:
    ticks = Scale(low, low * times, 0, 1, log=True).ticks()
    assert ticks == sorted(ticks)
    assert all(low * 0.99 <= t <= low * times * 1.01 for t in ticks)
    assert len(ticks) <= 14


@given(st.text())
def test_what_was_escaped_holds_nothing_that_acts(text: str) -> None:
    assert not set("<>\"'") & set(escaped(text))
    assert clean(text).isprintable()


def _all() -> list[Canvas]:
    return [
        forest([Change(HOSTILE, "up", 0.1, -0.1, 0.3, 0.5), Change("b", "down", None, note=HOSTILE)], HOSTILE),
        pareto([Point(HOSTILE, 0.0, 0.5, (0, 1), (0.4, 0.6)), Point("b", 10, 0.5)], HOSTILE, HOSTILE),
        curves({HOSTILE: [(1, 0.1), (2, 0.2)], "none": []}, (HOSTILE, HOSTILE), HOSTILE),
        ecdf({HOSTILE: [(0.0, 0.5), (3000.0, 1.0)]}, HOSTILE),
        heat(
            [HOSTILE], ["a", "b", "c"], [[Cell(1.0, 0.5, 2.0, hatched=True, note=HOSTILE), None, Cell(None)]], HOSTILE
        ),
    ]


def test_every_figure_is_well_formed_whatever_the_names_are() -> None:
    for picture in _all():
        text = str(picture)
        root = ElementTree.fromstring(text)
        assert root.tag == "svg"
        assert {e.tag for e in root.iter()} <= {"svg", "line", "text", "path", "circle", "rect", "polygon", "title"}
        assert "script>" not in text
        assert len(text) < 20_000
        assert "\u202e" not in text
        assert "\x1b" not in text


def test_what_a_page_is_told_is_the_same_picture() -> None:
    picture = _all()[0]
    tag, attributes, text, tip, inner = picture.told()
    assert (tag, text, tip) == ("svg", None, None)
    root = ElementTree.fromstring(str(picture))
    assert [e[0] for e in inner] == [e.tag for e in root]
    assert attributes["aria-label"] == root.get("aria-label")


def test_a_row_of_which_less_is_better_points_the_other_way() -> None:
    up, down = (
        [e for e in forest([Change("m", better, -1.0, -1.5, -0.5)], "f").told()[4] if e[1].get("class", "") == of]
        for better, of in (("up", "p1"), ("down", "p0"))
    )
    (worse,), (gain,) = up, down
    assert worse[0] == "rect"  # a square on the side of the first
    assert gain[0] == "circle"
    assert float(worse[1]["x"]) < 420 < float(gain[1]["cx"])


def test_the_front_joins_what_nobody_beats() -> None:
    points = [Point("slow", 100, 0.5), Point("quick", 10, 0.5), Point("best", 1000, 0.9)]
    (front,) = [e for e in pareto(points, "F1", "p").told()[4] if e[1].get("class") == "front"]
    assert front[1]["d"].count("H") == 1  # two points: quick and best


def test_shades_follow_what_is_better() -> None:
    def shades(*, up: bool) -> list[str]:
        told = heat(["r"], ["a", "b"], [[Cell(1.0), Cell(2.0)]], "h", up=up).told()[4]
        return [e[1]["class"] for e in told if e[1].get("class", "").startswith("heat h")]

    assert shades(up=True) == ["heat h0", "heat h8"]
    assert shades(up=False) == ["heat h8", "heat h0"]


def test_changes_of_one_metric_lie_on_one_scale() -> None:
    changes = [Change("a", "up", 0.0088), Change("b", "up", 0.39)]
    own, one = (
        [float(x) for x in re.findall(r'<polygon points="([\d.]+)', str(forest(changes, "l", one_scale=one_scale)))]
        for one_scale in (False, True)
    )
    assert own[0] == own[1] == one[1]
    assert one[0] < 430 < own[0]


def test_shades_of_two_maps_can_be_held_against_each_other() -> None:
    low, high = (str(heat(["r"], ["c"], [[Cell(v)]], "l", reach=(0.0, 0.5))) for v in (0.286, 0.455))
    assert "heat h5" in low
    assert "heat h7" in high
