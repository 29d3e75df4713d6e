"""Score tables with intervals: whole on 80 columns, dim where too narrow, and said what they are."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from scorers.base import Unit, score_run
from scorers.headlines import HEADLINES
from simulator.cli.show import ScoreTable, number
from simulator.core.rng import below
from tests.logs import D, log, need, truth


def scores(n: int, *, users: int = 1) -> dict[str, Any]:
    units = []
    for i in range(n):
        needs = [need("A", 10, 30), need("B", 50, 60)]
        said = [D(t, t + 1 + below(9, 1, i, t), ["Debug"] if below(2, 2, i, t) else ()) for t in range(1, 100, 9)]
        head = {"user": f"u{i % users}", "dataset": f"d{i}"}
        units.append(Unit(f"s{i}", log(said, released=120, **head), truth(120, needs)))  # type: ignore[arg-type]
    return score_run(units, "stream", "off") | {"notes": {}}


def text(what: Any, width: int = 80, **how: Any) -> str:
    out = io.StringIO()
    Console(file=out, width=width, **how).print(what)
    return out.getvalue()


def shown(interval: dict[str, Any]) -> str:
    return f"[{number(interval['low'])}, {number(interval['high'])}]"


def test_the_intervals_of_one_run_have_a_column() -> None:
    one = scores(8)
    table = text(ScoreTable({"graph": one}))
    lines = {line.split(" ")[0]: line for line in table.splitlines()}
    assert "95 % interval" in lines["metric"]
    for metric in HEADLINES["stream"]:
        if "interval" in (detail := one["details"][metric]):
            assert lines[metric].rstrip().endswith(shown(detail["interval"]))
            assert f" n{detail['n']} " in lines[metric]
    assert "[low, high]: 95 % interval over 8 sessions (bootstrap)" in table
    assert max(map(len, table.splitlines())) <= 80


@pytest.mark.parametrize("width", [30, 50, 80, 120, 200])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_names_numbers_and_intervals_are_whole_at_any_width(n: int, width: int) -> None:
    one = scores(8)
    table = text(ScoreTable({f"run{i}": one for i in range(n)}), width)
    interval = shown(one["details"]["F1_rt"]["interval"])
    body = " ".join(table.split())  # a list on a narrow screen wraps between words
    assert body.count(interval) >= n
    assert "…" not in table


def test_on_few_sessions_intervals_are_dim_and_said_to_be_too_narrow() -> None:
    few, many = scores(4), scores(8)
    assert "over fewer than 6 an interval is too narrow, and shown dim" in text(ScoreTable({"r": few}))
    assert "too narrow" not in text(ScoreTable({"r": many}))
    ends = shown(few["details"]["F1_rt"]["interval"])
    assert f"\x1b[2m{ends}" in text(ScoreTable({"r": few}), force_terminal=True)
    ends = shown(many["details"]["F1_rt"]["interval"])
    assert f"\x1b[2m{ends}" not in text(ScoreTable({"r": many}), force_terminal=True)


def test_one_session_has_no_column_and_many_users_are_named() -> None:
    assert "interval" not in text(ScoreTable({"r": scores(1)}))
    assert "95 % interval over 6 users" in text(ScoreTable({"r": scores(12, users=6)}))
