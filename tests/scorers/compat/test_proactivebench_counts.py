"""ProactiveBench's figures: published tables, and how sampled moments become judged answers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorers.base import Unit, score_run
from scorers.compat.proactivebench import Counts
from simulator.runs.records import Kind
from simulator.session.truth import Moment
from tests.logs import D, log, ns, truth


@pytest.mark.parametrize(("accepted", "proposals", "precision"), [(111, 223, 0.49776), (112, 226, 0.49558)])
def test_the_published_precisions(accepted: int, proposals: int, precision: float) -> None:
    # eval/results of thunlp/ProactiveAgent: activeqwen and gpt-4o
    counts = Counts(tp=accepted, fp=proposals - accepted)
    assert counts.precision.value == pytest.approx(precision, abs=5e-6)
    assert counts.false_alarm.value == pytest.approx(1 - precision, abs=5e-6)


@pytest.mark.parametrize(
    ("recall", "precision", "f1"),
    [(1, 0.3528, 0.5215), (0.9811, 0.4815, 0.6460), (0.9886, 0.3816, 0.5506), (1, 0.4978, 0.6647)],
)
def test_the_rows_of_the_published_table_agree_in_f1(recall: float, precision: float, f1: float) -> None:
    tp = 100_000
    counts = Counts(tp=tp, fp=round(tp / precision) - tp, fn=round(tp / recall) - tp)
    assert counts.f1.value == pytest.approx(f1, abs=2e-4)


def test_false_alarm_is_not_the_rate_over_negatives() -> None:
    counts = Counts(tp=3, fp=1, tn=96)
    assert counts.false_alarm.value == 1 / 4, "and not 1/97"


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=30))
def test_figures_are_shares_or_say_why_there_is_none(answers: list[tuple[bool, bool]]) -> None:
    counts = Counts.of(answers)
    assert counts.n == len(answers)
    for figure in (counts.recall, counts.precision, counts.accuracy, counts.false_alarm, counts.f1):
        assert (figure.value is None) == (figure.reason is not None)
        assert figure.value is None or 0 <= figure.value <= 1


def test_moments_become_judged_answers() -> None:
    moments = [Moment(ns(t), t < 50, "Debug" if t < 50 else None) for t in (10, 20, 30, 40, 60, 70, 80)]
    decisions = [
        D(10, 11, ["Debug"]),  # accepted: TP
        D(20, 21, ["Translate"]),  # rejected: FP
        D(30, 31),  # a need was there: FN
        D(40, 41, kind=Kind.ERROR),  # nothing came: FN
        D(60, 61),  # nothing was due: TN
        D(70, 71, ["Debug"]),  # rejected: FP
        D(80, 81, kind=Kind.UNPARSED),  # FP
    ]
    told = score_run([Unit("s", log(decisions), truth(100, moments=tuple(moments)))], "moments",
                     names=["proactivebench"])  # fmt: skip
    assert told["details"]["proactivebench@F1"]["counts"] == {"tp": 1, "fp": 3, "tn": 1, "fn": 2}
    assert told["scores"] == {
        "proactivebench@recall": pytest.approx(1 / 3),
        "proactivebench@precision": pytest.approx(1 / 4),
        "proactivebench@accuracy": pytest.approx(2 / 7),
        "proactivebench@false_alarm": pytest.approx(3 / 4),
        "proactivebench@F1": pytest.approx(2 / 7),
    }


def test_silence_has_no_precision_and_no_false_alarms_and_says_why() -> None:
    moments = (Moment(ns(10), True, "Debug"), Moment(ns(60), False))
    told = score_run([Unit("s", log([D(10, 11), D(60, 61)]), truth(100, moments=moments))], "moments",
                     names=["proactivebench"])  # fmt: skip
    assert told["scores"]["proactivebench@precision"] is None
    assert told["details"]["proactivebench@false_alarm"]["reason"] == "no proposals"
    assert (told["scores"]["proactivebench@F1"], told["scores"]["proactivebench@accuracy"]) == (0, 0.5)
