"""``proact list`` names what can be named, ours and other people's."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest

from simulator.cli import _call
from simulator.cli.catalogue import KINDS, items
from simulator.core.errors import UsageError
from simulator.core.registry import Registry


@pytest.mark.parametrize("kind", list(KINDS))
def test_everything_that_is_listed_says_what_it_is(kind: str) -> None:
    found = items(kind)
    assert found
    names = [item["name"] for item in found]
    assert len(set(names)) == len(names)
    if kind != "intentions":
        assert all(item.get("about") or item.get("formula") for item in found)
    json.dumps(found, allow_nan=False)


def test_a_kind_that_is_not_there_is_told_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean 'memories'"):
        items("memorys")


def test_scorers_are_listed_with_all_that_is_known_of_their_metrics() -> None:
    from scorers.base import catalogue

    found = {item["name"]: item for item in items("scorers")}
    assert {name for name, _ in catalogue()} == set(found)
    metric = next(m for m in found["realtime"]["metrics"] if m["name"] == "F1_rt")
    assert metric["formula"] == "2 on_time / (surfaced + opportunities)"
    assert (metric["unit"], metric["range"], metric["direction"], metric["version"]) == ("0-1", "0-1", "up", 1)


def test_policies_clocks_and_formats_are_those_that_are_understood() -> None:
    from simulator.cli.dataset import _Format
    from simulator.runs.gate import Gate
    from simulator.session.importing import FORMATS
    from simulator.timing.latency import parse_latency
    from simulator.timing.mailbox import parse_policy

    for item in items("policies"):
        parse_policy(item["name"].replace(":n", ":3"))
    for item in items("latencies"):
        if not item["name"].startswith("from:"):
            parse_latency(item["name"])
    for item in items("gates"):
        Gate.parse(item["name"])
    assert [item["name"] for item in items("sources")] == list(FORMATS)
    assert set(get_args(_Format)) == {"auto", *FORMATS}


def test_parameters_are_those_that_one_can_write() -> None:
    found = {item["name"]: item["parameters"] for item in items("agents")}
    assert found["silent"] == {}
    assert found["prior"]["threshold"] is None
    assert found["scripted"] == {"file": "required"}
    assert "truth" not in found["oracle"]


def test_a_foreign_class_that_fails_to_load_is_listed_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    from agents.base import agents

    class Broken:
        name = "broken"

        def load(self) -> Any:
            raise ImportError("no module named 'theirs'")

    monkeypatch.setattr(Registry, "_entry_points", lambda self: [Broken()] if self is agents else [])
    told = next(item for item in items("agents") if item["name"] == "broken")
    assert "cannot be loaded" in told["about"]
    assert "theirs" in told["about"]


def test_json_is_one_record_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert _call(["list", "agents", "--json"]) == 0
    said = capsys.readouterr()
    records = [json.loads(line) for line in said.out.splitlines()]
    assert {r["event"] for r in records[:-1]} == {"item"}
    assert records[-1] == {"event": "done", "n": {"agents": len(records) - 1}}
    assert said.err == ""


def test_a_word_leaves_those_that_have_it_in_name_or_description(capsys: pytest.CaptureFixture[str]) -> None:
    assert _call(["list", "metrics", "LATENCY", "--json"]) == 0
    *listed, done = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    names = {item["name"] for item in listed}
    assert {"scheduled_latency@p95", "latency_loss", "assist_goodput"} <= names  # the last one by its formula
    assert all("latency" in item["name"] + item["formula"] for item in listed)
    assert done == {"event": "done", "n": {"metrics": len(listed)}}
    assert len(listed) < len(items("metrics")) / 2
    assert _call(["list", "memories", "persona"]) == 0
    out = capsys.readouterr().out
    assert "personas" in out
    assert "window" not in out.replace("window=", "")


def test_a_word_that_nothing_has_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert _call(["list", "metrics", "latenzy", "--json"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == ("proact: no metrics with 'latenzy' in name or description; 'proact list metrics' lists all\n")


def test_without_a_kind_all_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert _call(["list"]) == 0
    out = capsys.readouterr().out
    assert all(kind in out for kind in KINDS)
