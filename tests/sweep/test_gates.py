"""Gates: what they look at, what they refuse to look at, and how they are typed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorers.base import catalogue
from simulator.core.errors import UsageError
from simulator.sweep.gates import Failure, check, is_of_latency, parse
from simulator.sweep.summary import summarise
from tests.sweep.handmade import Made, sessions


def scores(source: str = "modelled", **values: float | None) -> dict[str, Any]:
    names = {name.replace("__", "@"): value for name, value in values.items()}
    details = {n: {"value": v, "reason": None if v is not None else "no offers"} for n, v in names.items()}
    return {"details": details, "latency_source": source}


def failed(text: str, told: dict[str, Any], **how: bool) -> list[Failure]:
    return check([parse(text)], told, **how)


@pytest.mark.parametrize(
    ("gate", "fails"),
    [("F1_rt<0.6", True), ("f1_RT<0.6", True), ("F1_rt<0.5", False), ("F1_rt<=0.5", True), ("F1_rt>0.5", False),
     ("F1_rt>=0.5", True), (" F1_rt >= 5e-1 ", True), ("F1_rt>-1", True)],
)  # fmt: skip
def test_a_gate_fails_where_it_holds_and_names_may_be_in_letters_of_any_size(gate: str, *, fails: bool) -> None:
    found = failed(gate, scores(F1_rt=0.5))
    assert bool(found) == fails
    if fails:
        assert found[0].value == 0.5
        assert found[0].why == "F1_rt is 0.5"


def test_a_figure_that_is_unknown_fails_with_its_reason() -> None:
    (found,) = failed("P_rt<0.6", scores(P_rt=None))
    assert (found.why, found.value) == ("P_rt is unknown: no offers", None)


def test_a_name_that_there_is_not_fails_with_the_nearest() -> None:
    (found,) = failed("F1rt<0.6", scores(F1_rt=0.9))
    assert found.why == "there is no figure of that name; did you mean 'F1_rt'? `proact list metrics` names all"


def test_modelled_latencies_are_not_looked_at_unless_told() -> None:
    told = scores(scheduled_latency__p95=4000.0)
    (found,) = failed("scheduled_latency@p95>5000", told)
    assert "--fail-on-modelled" in found.why
    assert failed("scheduled_latency@p95>5000", told, modelled=True) == []
    (found,) = failed("scheduled_latency@p95>3000", told, modelled=True)
    assert found.value == 4000
    assert failed("scheduled_latency@p95>5000", {**told, "latency_source": "measured"}) == []


def test_every_latency_of_the_catalogue_is_one() -> None:
    told = {m.name for _, m in catalogue() if m.unit == "ms"}
    assert told
    assert all(map(is_of_latency, told))
    assert not is_of_latency("F1_rt")


def test_names_are_told_apart_without_the_size_of_their_letters() -> None:
    names = [m.name for _, m in catalogue()]
    assert len({n.casefold() for n in names}) == len(names)


@pytest.mark.parametrize(
    "text", ["", "F1_rt", "F1_rt=0.6", "<0.6", "F1_rt<", "F1_rt<nan", "F1_rt<inf", "F1_rt<<1", "a b<1"]
)
def test_what_is_no_gate_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is no gate"):
        parse(text)


@given(st.from_regex(r"[A-Za-z_][\w@^.]{0,12}", fullmatch=True), st.sampled_from(["<", "<=", ">", ">="]),
       st.floats(-1e6, 1e6).map(lambda x: float(f"{x:g}")))  # fmt: skip
def test_a_gate_reads_as_it_is_written(metric: str, sign: str, limit: float) -> None:
    gate = parse(f"{metric}{sign}{limit:g}")
    assert (gate.metric, gate.sign, gate.limit) == (metric, sign, limit)
    assert parse(gate.text) == gate


def test_every_cell_of_a_sweep_must_keep_every_gate_of_study_and_command(tmp_path: Path) -> None:
    made = Made(tmp_path, {"memory": ["none", "rag", "later"]})
    made.cell({"memory": "none"}, sessions(2, hits=1))
    made.cell({"memory": "rag"}, sessions(2, hits=4))
    made.cell({"memory": "later"}, None, keys=["s0"])
    folder = made.write(metrics=["P_rt"], fail_if=["f1_rt<0.6"])
    failures = summarise(folder, [parse("r_rt<0.6"), parse("restraint<2")]).failed
    assert [(f.gate, f.cell) for f in failures] == [
        ("f1_rt<0.6", "none"), ("f1_rt<0.6", "later"), ("r_rt<0.6", "none"), ("r_rt<0.6", "later"),
        ("restraint<2", "none"), ("restraint<2", "rag"), ("restraint<2", "later"),
    ]  # fmt: skip
    assert failures[1].sentence == "gate f1_rt<0.6, later: no unit of it was scored"
    assert failures[0].value == pytest.approx(0.4)


def test_proact_score_keeps_gates_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from simulator.cli import _call
    from simulator.play.player import run

    root = Path(__file__).resolve().parents[2]
    scenarios = [root / "scenarios" / "shopping"]
    folder = run(scenarios, "silent", "none", out=tmp_path / "run", clock="modelled", latency="profile:1s").folder
    assert _call(["score", str(folder), "--fail-if", "r_rt<0.5", "--fail-if", "restraint<0.5"]) == 4
    told = capsys.readouterr()
    assert "gate r_rt<0.5: R_rt is 0" in told.err
    assert "restraint<0.5" not in told.err
    assert _call(["score", str(folder), "--fail-if", "restraint<0.5"]) == 0
    assert _call(["score", str(folder), "--fail-if", "restraint"]) == 2
