"""What a log's records report of models is summed alike whether a reader gathers it or somebody asks for it later."""

from __future__ import annotations

import json
from pathlib import Path

from simulator.runs import runlog
from simulator.runs.reported import Reported
from tests.logs import D, log

ALL = {"in": 7, "out": 2, "reasoning": 1, "cached": 4, "images": 1}


def test_counts_costs_and_first_tokens_are_summed() -> None:
    found = Reported()
    found.add([{"seq": 0, "tokens": ALL, "cost": 0.5, "first_token_ns": 9}, {"seq": 1, "tokens": ALL, "cost": 0.25}])
    found.add(
        [{"seq": 2, "tokens": ALL, "cost": None}, {"seq": 3, "offers": []}, {"seq": 4, "tokens": {}, "cost": None}]
    )
    assert found.counts == {kind: 3 * n for kind, n in ALL.items()}
    assert (found.reports, found.unpriced, list(found.costs)) == (3, 1, [0.5, 0.25])
    assert found.first_token_ns == {0: 9}


def test_records_that_count_some_kinds_only_are_summed_too() -> None:
    found = Reported()
    found.add([{"seq": 0, "tokens": {"in": 3}}, {"seq": 1, "tokens": {"out": 2, "images": None}}])
    assert found.counts == {"in": 3, "out": 2, "reasoning": 0, "cached": 0, "images": 0}


def test_a_log_that_was_read_and_one_made_by_hand_report_the_same(tmp_path: Path) -> None:
    made = log([D(0, 1, more={"tokens": ALL, "cost": 0.5}), D(1, 2), D(2, 3, ["Debug"], more={"first_token_ns": 5})])
    path = tmp_path / "log"
    rest = {"snapshot": 0, "content_ns": 0, "dropped_before": 0}
    lines = [{"kind": "header", "schema": 1}, *({**record, **rest} for record in made.full.values())]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert made.gathered is None
    assert runlog.read(path).reported() == made.reported()
