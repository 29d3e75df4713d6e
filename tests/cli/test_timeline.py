"""The one-line timeline after a run."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console

from simulator.cli.timeline import MOST, Timelines
from simulator.core.types import SECOND


def _run(n_sessions: int = 1, name: str = "s") -> dict[str, Any]:
    offer = {"seq": 1, "captured_ns": 0, "actionable_ns": 50 * SECOND, "intention": "I", "opportunity": "a"}
    need = {"id": "a", "opens_ns": 40 * SECOND, "closes_ns": 60 * SECOND, "intention": "I", "served_by": 1}
    missed = {**need, "id": "b", "opens_ns": 80 * SECOND, "closes_ns": 100 * SECOND, "served_by": None}
    unit = {
        "counts": {"seconds_played": 100, "not_played": 0},
        "offers": [{**offer, "class": "on_time"}, {**offer, "class": "false_alarm", "actionable_ns": 0}],
        "opportunities": [need, missed],
    }
    return {"protocol": "stream", "units": {f"{name}{i}": unit for i in range(n_sessions)}}


def _printed(runs: dict[str, Any], width: int = 60, encoding: str = "utf-8") -> list[str]:
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, encoding=encoding, errors="replace")
    Console(file=file, width=width, color_system=None).print(Timelines(runs))
    file.flush()
    return [line.rstrip() for line in raw.getvalue().decode(encoding).splitlines()]


def test_signs_stand_where_things_happened_and_a_legend_names_them_once() -> None:
    line, legend, *_ = _printed({"rag": _run()}, width=38)
    assert line == "s0 ▲·······━━●━····━━━✕ 100 s ●1 ✕1 ▲1"
    assert legend.startswith("━ need, ● hit, ✕ missed, ▲ false alarm")


def test_a_terminal_without_utf_8_gets_ascii() -> None:
    line, legend, *_ = _printed({"rag": _run()}, encoding="ascii")
    assert line.isascii()
    assert line.endswith("100 s *1 x1 !1")
    assert legend.startswith("= need, * hit, x missed, ! false alarm")


@pytest.mark.parametrize("width", [20, 30, 40, 80, 200])
def test_no_line_is_wider_than_the_screen(width: int) -> None:
    lines = _printed({"a run": _run(3, "标题" * 30), "b": _run(3, "标题" * 30)}, width)
    assert len([line for line in lines if "100 s" in line or width < 60]) >= 6
    assert max(cell_len(line) for line in lines) <= width


def test_the_sessions_of_several_runs_stand_below_each_other_and_those_left_out_are_counted() -> None:
    lines = _printed({"rag": _run(20), "none": _run(20)})
    assert [line.split()[:2] for line in lines[:2]] == [["s0", "rag"], ["s0", "none"]]
    assert len([line for line in lines if "100 s" in line]) == MOST
    assert f"… and {20 - MOST // 2} sessions more" in lines


def test_names_cannot_write_escapes() -> None:
    lines = _printed({"rag": _run(1, "\x1b[31m\u202e\n")})
    assert "\x1b" not in lines[0]
    assert "\u202e" not in lines[0]


def test_where_nothing_was_classified_nothing_is_said() -> None:
    unit = {"counts": {"seconds_played": 5, "not_played": 0}}
    assert not any(_printed({"rag": {"protocol": "stream", "units": {"s": unit}}}))
