"""The timeline of one session as a picture."""

from __future__ import annotations

import re

from simulator.core.types import SECOND
from simulator.report.session_figure import MOST_SIGNS, session_figure
from simulator.report.sessions import MOST_SESSIONS
from simulator.report.strips import Mark, Need, Strip


def _strip(n: int) -> Strip:
    """An offer and a need a second, with long words."""
    marks = tuple(
        Mark(kind, i * SECOND, "late", "word " * 200, None, i, max(0, i - 5) * SECOND)
        for i in range(n)
        for kind in ("hit", "late", "false")
    )
    needs = tuple(Need(f"n{i}", i * SECOND, (i + 2) * SECOND, "word " * 200, i % 2 == 0) for i in range(n))
    return Strip("day", n * SECOND, needs, marks)


def test_a_picture_is_small_however_much_happened() -> None:
    alone = str(session_figure(_strip(20_000), None).whole)
    assert len(alone) < 900_000
    of_many = str(session_figure(_strip(20_000), None, None, MOST_SIGNS // MOST_SESSIONS).whole)
    assert len(of_many) * MOST_SESSIONS < 900_000


def test_signs_that_are_shared_say_how_many_they_are_and_none_is_lost() -> None:
    drawn = str(session_figure(_strip(5_000), None, None, 300).whole)
    for word in ("hit", "late", "unwanted"):
        assert sum(map(int, re.findall(rf"<title>(\d+) {word},", drawn))) == 5_000
    assert sum(map(int, re.findall(r"<title>(\d+) needs,", drawn))) == 5_000
    assert len(re.findall("<title>", drawn)) <= 601


def test_few_are_drawn_one_by_one() -> None:
    drawn = str(session_figure(_strip(10), None).whole)
    assert drawn.count("decision ") == 30
    assert drawn.count("<title>need n") == 10
