"""Tables for people: names and numbers whole on 80 columns, whatever happened told; progress only on a terminal."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from rich.console import Console

from scorers.base import Unit, score_run
from simulator.cli import _call
from simulator.cli.playing import errors_of
from simulator.cli.progress import Progress
from simulator.cli.show import CLASSES, HEADLINES, ScoreTable, invalid
from simulator.cli.speak import Voice
from simulator.core.types import SECOND
from simulator.play.player import Played
from simulator.runs.unit import UnitResult
from simulator.session.truth import Moment
from tests.logs import D, log, need, truth

SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios"


def _stream() -> dict[str, Any]:
    """The worked example of the design: one offer of each class but wrong_content."""
    needs = [need("A", 10, 30), need("B", 50, 60, "Translate")]
    said = [(12, 14, "Debug"), (15, 18, "Debug"), (40, 41, "Debug"), (58, 61, "Translate"), (46, 47, "Translate")]
    decisions = sorted((D(c, a, [i]) for c, a, i in said), key=lambda d: float(str(d.captured)))
    return score_run([Unit("s", log(decisions, released=120), truth(120, needs))], "stream", "off") | {"notes": {}}


def _text(what: Any, width: int = 80) -> str:
    out = io.StringIO()
    Console(file=out, width=width).print(what)
    return out.getvalue()


@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize("width", [80, 120, 200])
def test_names_and_numbers_are_whole_at_any_number_of_runs(n: int, width: int) -> None:
    scores = _stream()
    text = _text(ScoreTable({f"graph:k={i}": scores for i in range(n)}), width)
    assert max(map(len, text.splitlines())) <= width
    for metric in HEADLINES["stream"]:
        detail = scores["details"][metric]
        lines = [line for line in text.splitlines() if line.startswith(f"{metric} [{detail['unit']}] ")]
        assert lines, metric
        shown = sum(
            line.count(f" n{detail['n']}") if detail["value"] is not None else line.count(" -") for line in lines
        )
        assert shown == n
    assert "…" not in text
    assert all(f"graph:k={i}" in text for i in range(n))


def test_what_a_scorer_was_told_stands_behind_the_names_of_its_figures_and_in_the_record(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    play = ["run", str(SCENARIOS / "nothing"), "--agent", "silent", "--memory", "none", "--clock", "modelled"]
    assert _call([*play, "--latency", "profile:instant", "--out", str(tmp_path / "run")]) == 0
    capsys.readouterr()
    for scorer, shown in (("erde", "erde@5 [0-1]  "), ("erde:counts=snapshots", "erde@5 [0-1] (counts=snapshots)  ")):
        assert _call(["score", str(tmp_path / "run"), "--scorer", scorer]) == 0
        assert shown in capsys.readouterr().out
        assert _call(["score", str(tmp_path / "run"), "--scorer", scorer, "--json"]) == 0
        done = json.loads(capsys.readouterr().out.splitlines()[-1])
        assert done["scorers"]["erde@5"] == scorer
    assert _call(["score", str(tmp_path / "run"), "--scorer", "erde", "--scorer", "erde:counts=snapshots"]) == 2
    assert "'erde@5' is given by 'erde' and by 'erde:counts=snapshots': score by one" in capsys.readouterr().err


def test_a_name_too_wide_for_the_screen_stands_alone() -> None:
    scores = _stream()
    text = _text(ScoreTable({"a" * 30: scores, "b" * 30: scores}))
    assert max(map(len, text.splitlines())) <= 80
    assert "a" * 30 in text
    assert "b" * 30 in text


def test_what_offers_were_is_counted() -> None:
    counted = {
        line.split()[0]: line.split()[1:] for line in _text(ScoreTable({"r": _stream()})).splitlines() if line.strip()
    }
    found = {name: counted[name] for name in CLASSES}
    assert found == {name: ["0" if name == "wrong_content" else "1"] for name in CLASSES}
    assert counted["held_back"] == ["0"]


def test_what_the_gate_held_back_is_a_row_below_the_classes() -> None:
    said = log([D(t, t + 1, ["Debug"]) for t in range(10, 30)], released=120)
    scores = score_run([Unit("s", said, truth(120, [need("A", 10, 90)]))], "stream") | {"notes": {}}
    lines = [line.split() for line in _text(ScoreTable({"r": scores})).splitlines()]
    below = lines[lines.index(["on_time", "1"]) :]
    assert ["held_back", "19"] in below
    assert below.index(["false_alarm", "0"]) + 1 == below.index(["held_back", "19"])


def test_a_missing_headline_says_why() -> None:
    assert "F1_instant: not computed: needs an instant twin of every session" in _text(ScoreTable({"r": _stream()}))


def test_what_an_agent_noted_is_shown_and_what_nobody_noted_is_not() -> None:
    noted = _stream() | {"notes": {"no_usable_evidence": 22}}
    text = _text(ScoreTable({"none": noted, "rag": _stream()}))
    assert ["no_usable_evidence", "22", "0"] in [line.split() for line in text.splitlines()]
    assert "no_usable_evidence" not in _text(ScoreTable({"rag": _stream()}))


def test_moments_come_with_rows_to_compare_with_once() -> None:
    moments = tuple(Moment(t * SECOND, t % 20 == 0, "Debug" if t % 20 == 0 else None) for t in (10, 20, 30, 40))
    unit = Unit("s", log([D(t, t + 1, ["Debug"]) for t in (10, 20, 30, 40)], released=60), truth(60, moments=moments))
    scores = score_run([unit], "moments") | {"notes": {}}
    text = _text(ScoreTable({"a": scores, "b": scores}))
    assert text.count("to compare with") == 1
    assert [
        line.split()[0] for line in text.splitlines() if line.startswith(("always", "silent", "majority", "oracle"))
    ] == [
        "always",
        "silent",
        "majority",
        "oracle",
    ]
    assert max(map(len, text.splitlines())) <= 80


def test_a_run_without_truth_shows_latency_and_no_classes() -> None:
    unit = Unit("s", log([D(1, 2)], released=10), truth(10, known=False))
    text = _text(ScoreTable({"r": score_run([unit], "stream") | {"notes": {}}}))
    assert "scheduled_latency@p95" in text
    assert "false_alarm" not in text
    assert "F1_rt" not in text
    assert "opportunities" not in text
    assert "held_back" not in text
    assert ["sessions_without_truth", "1"] in [line.split() for line in text.splitlines()]
    said = "1 of 1 sessions have no truth for protocol stream (no windows of need): latency only"
    assert said in " ".join(text.split())


def test_a_trajectory_without_intents_says_so_and_shows_no_row_of_needs() -> None:
    unit = Unit("s", log([D(1, 2)], released=10), truth(100, [need("A", 10, 30)]))
    text = _text(ScoreTable({"r": score_run([unit], "trajectory") | {"notes": {}}}))
    assert "1 of 1 sessions have no truth for protocol trajectory (no intents): latency only" in " ".join(text.split())
    assert "scheduled_latency@p95" in text
    assert "opportunities" not in text


def test_needs_are_unknown_only_in_the_run_that_does_not_know_them() -> None:
    blind = score_run([Unit("s", log([D(1, 2)], released=10), truth(10, known=False))], "stream") | {"notes": {}}
    lines = [line.split() for line in _text(ScoreTable({"a": _stream(), "b": blind})).splitlines()]
    assert ["opportunities", "2", "-"] in lines
    assert ["held_back", "0", "-"] in lines


def test_where_nothing_was_played_the_one_reason_is_said_once() -> None:
    unit = Unit("s", log([], interrupted=True), truth(100, [need("A", 10, 30)]))
    text = _text(ScoreTable({"r": score_run([unit], "stream") | {"notes": {}}}))
    assert text.count("no unit was played") == 1
    assert ["not_played", "1"] in [line.split() for line in text.splitlines()]
    assert "0.000" not in text


def test_an_interrupted_run_says_how_far_it_was_scored() -> None:
    unit = Unit("s", log([D(t, t + 1) for t in range(30)], interrupted=True), truth(100, [need("A", 10, 30)]))
    text = " ".join(_text(ScoreTable({"r": score_run([unit], "stream") | {"notes": {}}})).split())
    assert "r: 1 interrupted, scored as if the session had ended where its log does; 30 s were played" in text


def test_how_many_nobody_saw_is_unknown_in_a_run_that_was_killed() -> None:
    whole, killed = (
        score_run([Unit("s", log(decisions, **how), truth(30, [need("A", 10, 20)]))], "stream") | {"notes": {}}
        for decisions, how in (([D(1, 2)], {"released": 30}), ([D(1, 2), D(9, 10)], {"interrupted": True}))
    )
    whole["counts"]["never_seen"] = 29
    lines = [line.split() for line in _text(ScoreTable({"a": whole, "b": killed})).splitlines()]
    assert ["never_seen", "29", "-"] in lines
    assert ["interrupted", "0", "1"] in lines
    assert "never_seen" not in _text(ScoreTable({"b": killed}))


def test_an_invalid_run_is_told_by_unit_and_reason(tmp_path: Path) -> None:
    told = {"s": {"audit": {"invalid": ["release jitter p99 80 ms is over 50 ms"]}}, "t": {"audit": None}, "u": {}}
    run = {"schema": 1, "status": "done", "resolved": {}, "units": told}
    (tmp_path / "run.json").write_text(json.dumps(run), encoding="utf-8")
    said = f"INVALID {tmp_path.name}, s: release jitter p99 80 ms is over 50 ms; do not use these figures"
    assert invalid(tmp_path) == [said]


def test_score_says_that_a_run_is_invalid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from simulator.session.store import Writer

    monkeypatch.chdir(tmp_path)
    with Writer(tmp_path / "s", session="s", user="u") as writer:
        writer.add_rows(("tick", "captured_ns"), [(i, i * SECOND) for i in range(5)])
    words = ["run", "s", "--agent", "silent", "--memory", "none", "--out", "o"]
    assert _call(words) == 0
    run = json.loads((tmp_path / "o" / "run.json").read_text())
    run["units"]["s"]["audit"]["invalid"] = ["made up"]
    (tmp_path / "o" / "run.json").write_text(json.dumps(run))
    capsys.readouterr()
    assert _call(["score", "o", "--json"]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["valid"] is False
    assert "INVALID o, s: made up; do not use these figures" in said.err
    assert _call(words) == 0
    assert "INVALID" in capsys.readouterr().err


def _console(*, terminal: bool) -> Console:
    return Console(file=io.StringIO(), force_terminal=terminal, width=120, color_system=None)


def _written(console: Console) -> str:
    return cast(io.StringIO, console.file).getvalue()


def test_progress_says_units_place_errors_and_nothing_without_a_terminal() -> None:
    plan = cast(Any, SimpleNamespace(key="desk\x1btop", truth=SimpleNamespace(end_ns=200 * SECOND, period_ns=SECOND)))
    engine = cast(Any, SimpleNamespace(books=SimpleNamespace(tally=SimpleNamespace(released=50, offers=3, errors=2))))
    console = _console(terminal=True)
    with Progress(console, 4, 1) as progress:
        progress.unit(plan)
        progress.watch(engine)
        progress._bar.refresh()
        assert "1/4" in _written(console)
        assert "desk\ufffdtop: 50/200 snapshots, 3 offers, 2 errors" in _written(console)
        assert progress._bar.tasks[0].completed == pytest.approx(1.25)
        progress.unit_done(UnitResult("desktop", {"errors": 2}, error="no"))
        progress._bar.refresh()
        assert "2 errors, 1 unit failed" in _written(console)
        assert progress._bar.tasks[0].completed == 2
    quiet = _console(terminal=False)
    with Progress(quiet, 4, 1) as progress:
        progress.unit(plan)
        progress.watch(engine)
        progress.unit_done(UnitResult("desktop"))
    assert _written(quiet) == ""


def test_no_color_is_respected(monkeypatch: pytest.MonkeyPatch) -> None:
    from simulator.cli.speak import Voice

    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert Voice(as_json=False).people.no_color
    assert Voice(as_json=False).progress.no_color


def test_a_table_says_what_was_run_in_the_order_of_its_columns() -> None:
    def told(memory: str) -> dict[str, Any]:
        head: dict[str, Any] = {
            "agent": "prior",
            "memory": memory,
            "policy": "latest_only",
            "clock": "modelled",
            "latency": "fixed:2s",
        }
        return score_run([Unit("s", log([D(1, 2)], released=10, **head), truth(10))], "stream") | {"notes": {}}

    text = " ".join(_text(ScoreTable({"a": told("rag"), "b": told("graph")})).split())
    assert text.startswith(
        "agent prior; memory rag, graph; policy latest_only; gate standard; protocol stream; 1 session "
        "clock modelled; latency fixed:2s metric"
    )


@pytest.mark.parametrize("width", [30, 40, 50])
def test_on_a_narrow_screen_nothing_is_cut(width: int) -> None:
    scores = _stream()
    lines = _text(ScoreTable({"r": scores}), width).splitlines()
    assert max(map(len, lines)) <= width
    words = " ".join(" ".join(lines).split())
    for metric in HEADLINES["stream"]:
        assert f"{metric} [{scores['details'][metric]['unit']}]" in words
    assert "2.500 n2" in words
    assert "…" not in words


def test_without_colour_there_are_no_escapes_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("FORCE_COLOR", "1")
    voice = Voice(as_json=False)
    for console in (voice.people, voice.progress):
        with console.capture() as captured:
            console.print(ScoreTable({"r": _stream()}), style="bold red")
        assert "\x1b" not in captured.get()
    monkeypatch.delenv("NO_COLOR")
    with (console := Voice(as_json=False).people).capture() as captured:
        console.print(ScoreTable({"r": _stream()}))
    assert "\x1b[2m" in captured.get()


def test_what_waited_at_the_end_is_counted() -> None:
    waiting = log([D(1, 2)], released=10)
    waiting = replace(waiting, end={**(waiting.end or {}), "never_seen": 9})
    scores = score_run([Unit("s", waiting, truth(10))], "stream") | {"notes": {}}
    assert ["never_seen", "9"] in [line.split() for line in _text(ScoreTable({"r": scores})).splitlines()]


def test_a_run_in_which_every_decision_failed_is_told_before_all_else() -> None:
    def said(**counts: int) -> list[str]:
        scores = {"counts": counts, "errors": [{"kind": "model_server", "text": "busy", "n": 4, "texts": 1}]}
        return errors_of("mine", Played(Path("run"), scores))

    first, second = said(decisions=4, error=3, unparsed=1)
    assert first.startswith("mine: every decision failed (4 of 4, 1 of them unparsed)")
    assert second == "mine: 4 x model_server: busy"
    assert len(said(decisions=9, error=4)) == 1
    assert said(decisions=0)[0].startswith("mine: 4 x")


def test_figures_that_were_asked_for_by_name_are_all_in_the_table() -> None:
    scores = score_run([Unit("s", log([D(20, 20, ["Debug"])]), truth(60, [need("A", 20, 40)]))], "stream", "off",
                       names=["realtime", "nab"])  # fmt: skip
    text = _text(ScoreTable({"mine": {**scores, "notes": {}}}))
    assert all(f"{name} [points]" in text for name in ("nab@standard", "nab@reward_low_FN@seen", "timely_utility"))
    assert "timely_utility@quiet" not in text


def test_items_that_nobody_could_check_for_the_future_are_a_sentence_below() -> None:
    noted = _stream() | {"notes": {"memory_items_unchecked": 22}}
    text = " ".join(_text(ScoreTable({"mine": noted, "rag": _stream()})).split())
    assert "mine: 22 recalled items could not be checked for the future (no latest_source_ns)" in text
    assert "memory_items_unchecked" not in text
    assert "could not be checked" not in _text(ScoreTable({"rag": _stream()}))


def test_personas_that_the_model_did_not_write_are_a_sentence_below() -> None:
    noted = _stream() | {"notes": {"personas_failed": 3}}
    text = " ".join(_text(ScoreTable({"mine": noted})).split())
    assert "mine: the model gave no text that can be used for 3 personas: they are extractive" in text
    assert "personas_failed" not in text
