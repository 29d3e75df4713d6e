"""The sentences that people will argue about: exactly true, of everything once, and of the scorer's own classes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.embed import HashEmbedder
from scorers.assistance import pair
from scorers.base import Context, Unit, score_run
from scorers.explaining import Told, explain_unit, seconds
from scorers.explaining_needs import MISSED
from scorers.judge import Judge
from scorers.offers import Verdict
from simulator.core.errors import UsageError
from simulator.core.types import SECOND
from simulator.runs.gate import Gate
from simulator.runs.records import Kind, RunLog
from simulator.session.truth import Intent, Moment, Opportunity, Truth
from tests.answering import Answering
from tests.logs import D, log, need, ns, truth
from tests.random_runs import END, decisions, needs, units

OFF = Context(gate=Gate.parse("off"), embedder=HashEmbedder())
STANDARD = replace(OFF, gate=Gate.parse("standard"))
EXAMPLE = [need("A", 10, 30, "Debug"), need("B", 50, 60, "Translate")]
SAW = "decisions saw a snapshot of it"
SAID = [
    D(12, 14, ["Debug"]),
    D(15, 18, ["Debug"]),
    D(40, 41, ["Debug"]),
    D(58, 61, ["Translate"]),
    D(46, 47, ["Translate"]),
]


def explained(run: RunLog, true: Truth, context: Context = OFF, matcher: str = "category") -> dict[str, Told]:
    return {f"{t.what} {t.id}": t for t in explain_unit(Unit("s", run, true), context, matcher)}


def of(decisions: Sequence[D], needs: Sequence[Opportunity], context: Context = OFF, **more: Any) -> dict[str, Told]:
    return explained(log(decisions, **more), truth(3600, needs), context)


# Known answers


def test_the_worked_example_is_explained_with_its_numbers() -> None:
    told = of(SAID, EXAMPLE)
    assert {name: t.verdict for name, t in told.items()} == {
        "offer 0": "on_time",
        "offer 1": "redundant",
        "offer 2": "false_alarm",
        "offer 4": "early",
        "offer 3": "stale",
        "need A": "served",
        "need B": "stale",
    }
    said = {name: t.text for name, t in told.items()}
    assert said["offer 0"] == (
        "Captured at 12 s, when A was open; arrived at 14 s, when that was still so. It served A ('Debug', 10 s to 30 "
        "s) 4 s after that opened: z = 0.2 of the window had passed, so it is worth 1 - z/2 = 0.9. Its content is "
        "right: the category is 'Debug' in both."
    )
    assert "was served by offer 0, which arrived 4 s earlier and so is worth more: 0.9 against 0.8." in said["offer 1"]
    assert said["offer 2"].endswith(
        "No need that counts was open: A ('Debug', 10 s to 30 s) had closed 11 s before; B ('Translate', 50 s to 60 s) "
        "opened 9 s after."
    )
    assert "it arrived 1 s after it had closed: more than 1 s sooner it would have been in time" in said["offer 3"]
    assert "From capture to arrival it took 3 s: 3 s deciding." in said["offer 3"]
    assert (
        "opened 3 s after it arrived: early, being at most 5 s before. 3 s later would have been in time."
        in said["offer 4"]
    )
    assert said["need A"] == (
        "Offer 0 served it, 4 s after it opened: z = 0.2 of the window had passed, so it is worth 1 - z/2 = 0.9. The "
        "user acted alone 16 s later. Right too, and redundant: 1."
    )
    assert said["need B"] == "Offer 3 was right and of a snapshot of it, but arrived 1 s after it had closed."


def test_what_the_gate_held_back_is_told_with_what_had_surfaced() -> None:
    told = of(SAID, EXAMPLE, STANDARD)
    assert told["offer 1"].verdict == "held_back"
    assert "had surfaced 4 s before (offer 0), less than 60 s ago" in told["offer 1"].text
    assert (
        "It would have been right for A ('Debug', 10 s to 30 s), which was served by offer 0." in told["offer 1"].text
    )
    assert told["need A"].text.endswith("Right too, but held back by the gate: 1.")


def test_speaking_too_early_costs_the_need_and_both_say_so() -> None:
    said = [D(t, t, ["Debug"]) for t in range(7, 14)]
    told = of(said, [need("A", 10, 30)], STANDARD)
    assert told["offer 0"].verdict == "early"
    assert "the gate held back its repetitions that arrived while A was open: 3, 4, 5 and 6." in told["offer 0"].text
    assert told["need A"].verdict == "held_back"
    assert (
        "the gate held them back: 3, 4, 5 and 6; the same intention had surfaced before (offer 0)."
        in told["need A"].text
    )


def test_an_answer_at_the_closing_instant_and_one_just_after_it() -> None:
    told = of([D(29, 30, ["Debug"])], [need("A", 10, 30)])
    assert "it arrived at the instant at which it closed, which is late: any sooner it would have been in time" in (
        told["offer 0"].text
    )
    assert "arrived at the instant at which it closed, which is late." in told["need A"].text
    hair = of([D(29, Fraction(30 * SECOND + 20, SECOND), ["Debug"])], [need("A", 10, 30)])
    assert "0.00000002 s after it had closed" in hair["offer 0"].text


def test_waiting_is_told_apart_from_deciding() -> None:
    told = of([D(12, 33, ["Debug"], released=12, started=20)], [need("A", 10, 30)])
    assert "it took 21 s: 8 s waiting for the agent and 13 s deciding." in told["offer 0"].text


def test_two_needs_and_one_offer_say_who_went_without_and_why() -> None:
    told = of([D(20, 20, ["Debug"])], [need("A", 10, 60), need("B", 15, 30)])
    assert "served B" in told["offer 0"].text or "served A" in told["offer 0"].text
    (served,) = [t for t in told.values() if t.verdict == "served"]
    (missed,) = [t for t in told.values() if t.what == "need" and t.verdict != "served"]
    assert missed.verdict == "taken"
    assert missed.text == f"Right offers arrived in it, and each served another need: 0 (served {served.id})."
    assert f"It was right for {missed.id}, too, which went unserved: one offer serves one need" in told["offer 0"].text


@pytest.mark.parametrize(
    ("said", "verdict", "words"),
    [
        ([D(5, 6), D(40, 41)], "never_seen", "No decision saw a snapshot of it."),
        ([D(8, 33)], "never_seen", "The agent was busy with decision 0 all the while, from 8 s to 33 s."),
        ([D(12, 13), D(14, 15), D(16, 17, kind=Kind.ERROR)], "no_offer", f"3 {SAW}: 2 silent and 1 error."),
        ([D(12, 13, kind=Kind.ERROR), D(14, 15, kind=Kind.UNPARSED)], "failed", f"2 {SAW}: 1 error and 1 unparsed."),
        ([D(12, 13, ["Other"])], "wrong_content", "was something else: 0 ('Other' and 'Debug' are two categories)."),
        ([D(20, 31, ["Debug"])], "stale", "0 was right and of a snapshot of it, but arrived 1 s after it had closed."),
        ([D(7, 8, ["Debug"])], "early", "0 was right, but arrived 2 s before it opened. No decision saw a snapshot"),
    ],
)
def test_why_a_need_was_missed(said: list[D], verdict: str, words: str) -> None:
    told = of(said, [need("A", 10, 30)])["need A"]
    assert told.verdict == verdict
    assert words in told.text


def test_a_need_that_nobody_could_serve_and_an_offer_in_it() -> None:
    told = of([D(11, 11, ["Debug"])], [need("A", 10, 11.5, unservable="under 2 s")])
    assert told["need A"].verdict == "unservable"
    assert "counted and not scored (under 2 s): it was open for 1.5 s" in told["need A"].text
    assert (
        told["offer 0"].text
        == "Captured and arrived at 11 s, when A (unservable) was open. No need of this session counts."
    )


def test_an_interrupted_run_says_what_it_never_came_to() -> None:
    told = of([D(12, 14), D(18, 19)], [need("A", 10, 30), need("B", 40, 60)], interrupted=True)
    assert told["need A"].verdict == "no_offer"
    assert told["need A"].sentences[-1] == (
        "It was open until 30 s; the run was interrupted before, and the part played counts."
    )
    assert told["need B"].verdict == "not_played"
    assert (
        told["need B"].text.startswith("The run was interrupted at 19.000000001 s") or "at 19 s" in told["need B"].text
    )


def test_weight_and_anticipation_are_told() -> None:
    told = of([D(8, 12, ["Debug"])], [need("A", 10, 30, weight=2.0)])
    assert "so it is worth 1 - z/2 times the weight 2 = 1.9" in told["offer 0"].text
    assert "captured before A opened: anticipated" in told["offer 0"].text


def test_several_offers_of_one_decision_have_a_place_each() -> None:
    told = of([D(12, 14, ["Debug", "Translate"])], [need("A", 10, 30)])
    assert [t.id for t in told.values() if t.what == "offer"] == ["0.1", "0.2"]
    assert told["offer 0.2"].verdict == "wrong_content"
    assert told["offer 0.2"].sentences[-1] == "Whatever is offered counting as right (@timing) it is redundant."


def test_an_embedding_tells_the_cosine_and_the_words() -> None:
    wanted = [need("A", 10, 30, query="why does it loop")]
    said = [
        D(12, 14, [{"intention": "x", "text": "why does it loop"}]),
        D(15, 16, [{"intention": "Debug", "text": "zzz"}]),
    ]
    told = explained(log(said), truth(3600, wanted), OFF, "embedding>=0.8")
    assert "the cosine of 'why does it loop' and 'why does it loop' is 1.000, not under 0.8" in told["offer 0"].text
    assert "is 0.000, under 0.8" in told["offer 1"].text


def test_a_judge_is_named_and_not_asked_again_for_the_sentences() -> None:
    wanted = [need("A", 10, 30, query="why does it loop")]
    model = Answering('{"pairs": [{"a": 1, "b": 1}]}')
    with Judge(model, "m1") as judge:
        context = replace(OFF, judge=lambda key: judge.matcher(None))
        told = explained(
            log([D(12, 14, [{"intention": "x", "text": "it never ends"}])]), truth(3600, wanted), context, "judge"
        )
    assert len(model.asked) == 1
    assert (
        "'x: it never ends' and 'Debug: why does it loop' mean the same, says the judge (m1, prompt"
        in told["offer 0"].text
    )


MOMENTS = (
    Moment(ns(10), True, "Debug", "why?"), Moment(ns(20), True, "Debug"), Moment(ns(30), False),
    Moment(ns(40), False), Moment(ns(50), True, "Debug"), Moment(ns(60), False), Moment(ns(70), True, "Debug"),
)  # fmt: skip


def test_each_moment_is_a_hit_a_miss_or_a_false_alarm() -> None:
    said = [
        D(10, 11, ["Debug"]), D(20, 21, ["Translate"]), D(30, 31), D(40, 41, ["Debug"]), D(50, 51),
        D(60, 61, kind=Kind.UNPARSED),
    ]  # fmt: skip
    told = explained(log(said), truth(100, moments=MOMENTS), replace(OFF, protocol="moments"))
    assert [t.verdict for t in told.values()] == [
        "true_positive", "true_positive", "true_negative", "false_positive", "false_negative", "false_positive",
        "false_negative",
    ]  # fmt: skip
    assert "which is the intention that was needed" in told["moment 0"].text
    assert "but 'Debug' was needed: no hit of intention_accuracy" in told["moment 1"].text
    assert "could not be read" in told["moment 5"].text
    assert "no answer in the log" in told["moment 6"].text
    cut = explained(log(said[:1], interrupted=True), truth(100, moments=MOMENTS), replace(OFF, protocol="moments"))
    assert Counter(t.verdict for t in cut.values()) == {"true_positive": 1, "not_asked": 6}


def test_each_intent_says_what_matched_and_what_was_merged() -> None:
    intents = (Intent("find it", "Debug"), Intent("find it again", "Debug"), Intent("sum it up", "Summarization"))
    said = [
        D(0, 1, [{"intention": "Debug", "text": "look", "thread": "1"}]),
        D(1, 2, [{"intention": "Debug", "text": "look again", "thread": "2"}]),
        D(2, 3, [{"intention": "Translation", "text": "translate", "thread": "3"}]),
        D(3, 4, [{"intention": "Summarization", "text": "sum", "thread": "4"}]),
        D(4, 5, more={"retracted": ["4"]}),
    ]
    told = explained(log(said), truth(60, intents={"p": intents}), replace(OFF, protocol="trajectory"))
    assert {name: t.verdict for name, t in told.items() if t.what == "intent"} == {
        "intent 0": "matched", "intent 1": "merged", "intent 2": "missed",
    }  # fmt: skip
    assert "Of the intents ever offered 'Summarization' 'sum' matched it" in told["intent 2"].text
    assert "Of the 2 intents not taken back by the end none is right for it." in told["intent 2"].text
    assert [told[f"prediction retained {n}"].verdict for n in range(3)] == ["matched", "merged", "extra"]
    assert "2 predicted, 2 true, 1 matched: P = 0.5, R = 0.5, F1 = 0.5" in told["sample retained"].text


def test_nothing_known_is_nothing_explained() -> None:
    with pytest.raises(UsageError, match="no windows of need are known"):
        explained(log([D(0, 1)]), truth(60, known=False))


# What holds always


@given(found=units(most=1), gate=st.sampled_from(["off", "standard", "window:5s"]))
@settings(max_examples=150)
def test_of_a_stream_all_is_explained_once_and_as_the_scorer_counts(found: Sequence[Unit], gate: str) -> None:
    for unit in found:
        context = replace(OFF, gate=Gate.parse(gate))
        told = explain_unit(unit, context)
        scored = score_run([unit], "stream", gate, names=["realtime"])
        theirs = scored["units"][unit.key]
        if "offers" not in theirs:
            continue  # not played
        offers = [t for t in told if t.what == "offer"]
        surfaced = [t for t in offers if t.verdict != "held_back"]
        assert [(t.facts["seq"], t.verdict, t.facts["opportunity"]) for t in surfaced] == [
            (o["seq"], o["class"], o["opportunity"]) for o in theirs["offers"]
        ]
        assert [t.facts["timing"] for t in surfaced] == [o["timing"]["class"] for o in theirs["offers"]]
        assert len(offers) - len(surfaced) == scored["scores"]["held_back"]
        assert len({t.id for t in offers}) == len(offers) == len(unit.log.offers())
        missed = {t.id: t for t in told if t.what == "need"}
        assert len(missed) == sum(t.what == "need" for t in told) == len(unit.truth.opportunities)
        counted = [t for t in missed.values() if t.verdict != "not_played"]
        assert len(counted) == scored["counts"]["opportunities"] + scored["counts"]["unservable"]
        for o in theirs["opportunities"]:
            assert (missed[o["id"]].verdict == "served") == (o["served_by"] is not None)
            if o["served_by"] is not None:
                assert missed[o["id"]].facts["served_by"].split(".")[0] == str(o["served_by"])
        assert {t.verdict for t in missed.values()} <= {"served", *MISSED}
        assert {t.verdict for t in offers} <= {*(v.value for v in Verdict), "held_back"}
        json.dumps([t.record() for t in told], allow_nan=False)
        assert all(s.endswith(".") for t in told for s in t.sentences)


@given(decisions(least=1), needs(least=1))
@settings(max_examples=150)
def test_what_would_have_been_in_time_would_have_been(said: list[D], wanted: tuple[Opportunity, ...]) -> None:
    """Move a stale or early offer as its sentence says, all else as it was: it is in time then."""
    true = truth(END, wanted)
    by_id = {n.id: n for n in wanted}
    for told in explain_unit(Unit("s", log(said), true), OFF):
        if told.what != "offer" or told.verdict not in ("stale", "early"):
            continue
        need_ = by_id[told.facts["opportunity"]]
        at = need_.opens_ns if told.verdict == "early" else need_.closes_ns - 1
        moved = [
            replace(d, actionable=Fraction(at, SECOND)) if i == told.facts["seq"] else d for i, d in enumerate(said)
        ]
        again = {t.facts["seq"]: t for t in explain_unit(Unit("s", log(moved), true), OFF) if t.what == "offer"}
        assert again[told.facts["seq"]].verdict in ("on_time", "redundant")
        if f"{need_.id} went unserved." in told.text:
            assert again[told.facts["seq"]].verdict == "on_time"


@given(found=units(most=1))
@settings(max_examples=50)
def test_of_moments_all_is_explained_once_and_as_the_scorer_counts(found: Sequence[Unit]) -> None:
    for unit in found:
        told = explain_unit(unit, replace(OFF, protocol="moments"))
        answers, not_asked = pair(unit.log, unit.truth)
        kinds = Counter(t.verdict for t in told)
        assert len(told) == len(unit.truth.moments)
        assert kinds["not_asked"] == not_asked
        if answers:
            scores = score_run([unit], "moments", names=["proagentbench"])["scores"]
            right = kinds["true_positive"] + kinds["true_negative"]
            if scores["accuracy"] is not None:  # None: not played
                assert scores["accuracy"] == pytest.approx(right / len(answers))


@given(found=units(most=1))
@settings(max_examples=50)
def test_of_a_trajectory_all_is_explained_once_and_as_the_scorer_counts(found: Sequence[Unit]) -> None:
    for unit in found:
        told = explain_unit(unit, replace(OFF, protocol="trajectory"))
        shown = score_run([unit], "trajectory", names=["pira"])["units"][unit.key].get("intents")
        if shown is None:
            continue  # not played
        assert unit.truth.intents is not None
        assert sum(t.what == "intent" for t in told) == len(unit.truth.intents["p"])
        for name in ("retained", "ever"):
            of = name if f"sample {name}" in {f"{t.what} {t.id}" for t in told} else "retained"
            mine = [t for t in told if t.what == "prediction" and t.facts["set"] == of and t.verdict != "merged"]
            assert [t.verdict == "matched" for t in mine] == [e["matched"] is not None for e in shown[name]]


def test_what_is_said_again_and_again_in_a_trajectory_is_told_once() -> None:
    said = [D(t, t, [{"intention": "Debug", "text": "May I?", "thread": f"t{t}"}]) for t in range(50)]
    one = truth(60, intents={"p": (Intent("sum it up", "Summarization"),)})
    told = explain_unit(Unit("s", log(said), one), replace(OFF, protocol="trajectory"))
    assert [(t.what, t.id, t.verdict) for t in told] == [
        ("sample", "retained", "positive"), ("intent", "0", "missed"), ("prediction", "retained 0", "extra"),
        ("prediction", "retained 1", "merged"),
    ]  # fmt: skip
    assert told[0].sentences[-1] == "None was taken back: those retained are those ever offered."
    assert told[1].text == "Of the 1 intent offered none is right for it."
    assert told[2].text == "It is not right for the one true intent."
    assert told[3].text.startswith("49 near-duplicates of 'Debug' 'May I?', which came first, and counted with it")
    assert (told[3].facts["n"], len(told[3].facts["threads"])) == (49, 49)
    back = [*said, D(55, 55, (), Kind.SILENT, more={"retracted": ["t0"]})]
    told = explain_unit(Unit("s", log(back), one), replace(OFF, protocol="trajectory"))
    assert [t.id for t in told if t.what == "sample"] == ["retained", "ever"]


def test_the_command_explains_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from simulator.cli import _call
    from simulator.play.player import run

    scenario = Path(__file__).resolve().parents[2] / "scenarios" / "desktop"
    folder = run([scenario], "oracle", "none", clock="modelled", latency="profile:2s", out=tmp_path / "run").folder
    capsys.readouterr()
    assert _call(["explain", str(folder), "--json"]) == 0
    *things, done = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert Counter(f"{t['event']} {t['class']}" for t in things) == done["n"] == {"offer on_time": 4, "need served": 4}
    assert _call(["explain", str(folder), "desktop", "--need", "report"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "need report: 'Translation'" in out
    assert "traceback" not in out
    for words, said in (
        (["--offer", "3"], "decision 3 made no offer; it was silent"),
        (["--offer", "9999"], "there is no decision 9999"),
        (["--need", "raport"], "did you mean 'report'?"),
        (["nowhere"], "the run has no unit 'nowhere'"),
        (["--matcher", "judge"], "matcher 'judge' needs a model"),
    ):
        assert _call(["explain", str(folder), *words]) == 2
        assert said in capsys.readouterr().err


def test_of_several_units_those_without_a_truth_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from simulator.cli import _call
    from simulator.play.player import run
    from simulator.session.store import Writer

    for name, more in (
        ("a", "truth: {opportunities: [{opens_s: 1, closes_s: 5, intention: Translation}]}"),
        ("b", "truth: none"),
    ):
        with Writer(tmp_path / name / "session", user="u") as writer:
            for tick in range(8):
                writer.add(tick=tick, captured_ns=tick * SECOND, app_name="a", window_title="t")
        (tmp_path / name / "scenario.yaml").write_text(f"session: session\nuser: u\nname: {name}\n{more}\n")
    both = [tmp_path / name / "scenario.yaml" for name in "ab"]
    folder = run(both, "always", "none", clock="modelled", latency="fixed:10ms", out=tmp_path / "run").folder
    capsys.readouterr()
    code = _call(["explain", str(folder), "--json"])
    out, err = capsys.readouterr()
    assert code == 0
    done = json.loads(out.splitlines()[-1])
    (untold,) = done["without_truth"]
    assert f"{untold}: nothing is known of what was needed" in err
    assert done["n"]["need wrong_content"] == 1
    assert _call(["explain", str(folder), untold]) == 2
    assert "no windows of need are known" in capsys.readouterr().err


@given(st.integers(-(10**18), 10**18) | st.integers(-(10**10), 10**10).map(lambda half_ms: half_ms * SECOND // 2000))
def test_times_are_rounded_exactly_and_halves_to_even(ns: int) -> None:
    exact = Decimal(ns) / SECOND
    rounded = next((r for places in (3, 6, 9) if (r := round(exact, places))), 0)
    said, unit = seconds(ns).split()
    assert (Decimal(said), unit) == (rounded, "s")
    assert not said.endswith((".", ".0"))
    assert said.startswith("-") == (rounded < 0)
