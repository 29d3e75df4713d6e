"""A run folder that was edited by hand, hashes and all: what cannot have been is one sentence, never a traceback."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from simulator.cli import _call
from simulator.play import run
from simulator.runs import runlog
from simulator.runs.unit import LOG, TRUTH, file_digest
from simulator.session import truth as truths

DESKTOP = Path(__file__).resolve().parents[2] / "scenarios" / "desktop"
Edit = Callable[[dict[str, Any]], object]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("edited") / "run"
    run(DESKTOP, "always", "none", out=folder, clock="modelled", latency="profile:2s")
    return folder


@pytest.fixture
def copy(played: Path, tmp_path: Path) -> Path:
    for file in (f for f in played.rglob("*") if f.is_file()):
        to = tmp_path / "run" / file.relative_to(played)
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_bytes(file.read_bytes())
    return tmp_path / "run"


def _lines(unit: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (unit / LOG).read_text(encoding="utf-8").splitlines()]


def _write(run: Path, unit: Path, lines: list[dict[str, Any]]) -> None:
    (unit / LOG).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    told = json.loads((run / "run.json").read_text(encoding="utf-8"))
    told["units"][unit.name]["log_sha256"] = file_digest(unit / LOG)
    (run / "run.json").write_text(json.dumps(told), encoding="utf-8")


def _edit_log(run: Path, kind: str, edit: Edit) -> None:
    unit = next((run / "units").iterdir())
    lines = _lines(unit)
    edit([line for line in lines if line["kind"] == kind][-1])
    _write(run, unit, lines)


def _edit_truth(run: Path, edit: Edit, monkeypatch: pytest.MonkeyPatch) -> None:
    unit = next((run / "units").iterdir())
    told = json.loads((unit / TRUTH).read_text(encoding="utf-8"))
    edit(told)
    (unit / TRUTH).write_text(json.dumps(told), encoding="utf-8")
    with monkeypatch.context() as patch:  # whoever edits by hand computes the digest as proact would
        patch.setattr(truths, "_rules", lambda truth: ())
        try:
            digest = truths.read(unit / TRUTH).digest()
        except Exception:  # what cannot even be read has none
            return
    lines = _lines(unit)
    lines[0]["truth"] = digest
    _write(run, unit, lines)


def _first_offer(**other: Any) -> Edit:
    return lambda record: record["offers"][0].update(other)


def _set(**other: Any) -> Edit:
    return lambda record: record.update(other)


@pytest.mark.parametrize(
    ("kind", "edit", "said"),
    [
        ("offer", _set(offers=-1), "offers: a list of offers is wanted"),
        ("offer", _set(offers=["Debug"]), "offers: a list of offers is wanted"),
        ("offer", _first_offer(intention=None), "intention of an offer: a text is wanted"),
        ("offer", _first_offer(text=1), "text of an offer: a text is wanted"),
        ("offer", _first_offer(thread=[]), "thread of an offer: a text is wanted"),
        ("offer", _first_offer(confidence="sure"), "confidence of an offer: a number from 0 to 1"),
        ("offer", _first_offer(confidence=7), "confidence of an offer: a number from 0 to 1"),
        ("offer", _first_offer(confidence=float("nan")), "not a record of a run log"),
        ("offer", _first_offer(actionable_ns="soon"), "actionable_ns of an offer: an instant is wanted"),
        ("offer", _first_offer(actionable_ns=10**17), "actionable_ns of an offer: an instant within its decision"),
        ("offer", _set(released_ns=-1), "released_ns lies before captured_ns, which cannot be"),
        ("offer", _set(captured_ns=-1), "captured_ns is negative, which cannot be"),
        ("offer", _set(started_ns=0), "started_ns lies before released_ns, which cannot be"),
        ("offer", _set(actionable_ns=0, offers=[]), "actionable_ns lies before started_ns, which cannot be"),
        ("offer", _set(seq=0), "another decision has the same seq, which cannot be"),
        ("offer", _set(dropped_before=-2), "dropped_before is negative"),
        ("offer", _set(retracted="t1"), "retracted: a list of names is wanted"),
        ("offer", _set(error="no"), "error: its kind and its text is wanted"),
        ("offer", _set(error={"kind": 1}), "error: its kind and its text is wanted"),
        ("offer", _set(tokens=-1), "not a record of schema 1"),
        ("offer", _set(first_token_ns="early"), "not a record of schema 1"),
        ("end", _set(never_seen="some"), "end: never_seen: a count is wanted"),
        ("end", _set(notes=[]), "end: notes: counts by name are wanted"),
        ("end", _set(changes_ns=[5, 3]), "end: changes_ns: instants in order are wanted"),
        ("end", _set(changes_ns=None), "end: changes_ns: instants in order are wanted"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("command", ["score", "explain"])
def test_a_log_that_cannot_have_been_is_told(
    command: str, kind: str, edit: Edit, said: str, copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _edit_log(copy, kind, edit)
    capsys.readouterr()
    assert _call([command, str(copy)]) == 2
    told = capsys.readouterr().err
    assert said in told
    assert "decisions.jsonl" in told


def _first_need(**other: Any) -> Edit:
    return lambda told: told["opportunities"][0].update(other)


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (_set(intents=[]), "not a truth file that this version reads"),
        (_set(intents={"p": [{"text": None}]}), "intents of 'p': a list of texts is wanted"),
        (_set(intents={"p": 1}), "not a truth file that this version reads"),
        (_set(end_ns="later"), "end_ns: an instant is wanted"),
        (_set(period_ns=0), "period_ns: a length of time is wanted"),
        (_set(known=1), "known: true or false is wanted"),
        (_set(user=None), "user: a text is wanted"),
        (_set(acts_ns=["x"]), "acts_ns: a list of instants is wanted"),
        (_set(gaps=[{"start_ns": 9, "end_ns": 3, "reason": ""}]), "gaps[0]: a start and an end after it is wanted"),
        (_set(moments=[{"t_ns": -1, "positive": True}]), "moments[0].t_ns: an instant is wanted"),
        (_set(moments=[{"t_ns": 1, "positive": "yes"}]), "moments[0].positive: true or false is wanted"),
        (_first_need(weight=float("nan")), "NaN is no number"),
        (_first_need(weight=-1), "opportunities[0].weight: a number from 0 is wanted"),
        (_first_need(weight="heavy"), "opportunities[0].weight: a number from 0 is wanted"),
        (_first_need(intention=None), "opportunities[0].intention: a text is wanted"),
        (_first_need(opens_ns=None), "opportunities[0].opens_ns: an instant is wanted"),
        (_first_need(closes_ns=0, opens_ns=5), "opportunities[0].closes_ns: an instant after its opening is wanted"),
        (_first_need(acted_ns="then"), "opportunities[0].acted_ns: an instant or null is wanted"),
        (_first_need(query=3), "opportunities[0].query: a text or null is wanted"),
        (_first_need(id=3), "opportunities[0].id: a text is wanted"),
    ],
)
def test_a_truth_that_cannot_be_is_told(
    edit: Edit, said: str, copy: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _edit_truth(copy, edit, monkeypatch)
    capsys.readouterr()
    assert _call(["score", str(copy)]) == 2
    told = capsys.readouterr().err
    assert said in told
    assert "truth.json" in told


def test_a_log_as_it_was_written_is_read(copy: Path) -> None:
    for unit in (copy / "units").iterdir():
        assert runlog.read(unit / LOG).offers()
    assert _call(["score", str(copy)]) == 0
