"""ProAgentBench over moments: what counts as wrong, intentions, similarity, and the rows to compare with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from scorers.base import Unit, score_run
from simulator.core.types import SECOND
from simulator.runs.records import Kind
from simulator.session.truth import Moment
from tests.logs import D, log, ns, truth


class Words:
    """An embedder that knows three words."""

    identity, dimension = "three words", 3

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.array([[float(w in t) for w in ("letter", "table", "code")] for t in texts], np.float32)


def moment(t: float, intention: str | None = None, query: str | None = None) -> Moment:
    return Moment(ns(t), intention is not None, intention, query)


MOMENTS = (
    moment(10, "Translation", "the letter"),
    moment(100, "Translation", "the letter and the table"),
    moment(200, "Data Analysis", "the table"),
    moment(300, "Data Analysis"),
    moment(400),
    moment(500),
    moment(600),
    moment(700),
)
ANSWERS = [
    D(10, 12, [{"intention": "translation", "text": "letter"}]),
    D(100, 102, [{"intention": "Summarization", "text": "letter"}, {"intention": "Translation"}]),
    D(200, 202),
    D(300, 302, kind=Kind.UNPARSED),
    D(400, 402),
    D(500, 502, ["Translation"]),
    D(600, 602, kind=Kind.ERROR),
    D(700, 702),
]


def score(answers: Sequence[D], moments: tuple[Moment, ...] = MOMENTS, **more: Any) -> dict[str, Any]:
    interrupted = more.pop("interrupted", False)
    unit = Unit("s", log(answers, interrupted=interrupted), truth(800, moments=moments, rule="as agreed"))
    return score_run([unit], "moments", **more)


def test_failed_and_unparsed_answers_are_wrong_and_counted_apart() -> None:
    told = score(ANSWERS)
    scores = told["scores"]
    assert scores["accuracy"] == 4 / 8
    assert scores["precision"] == 2 / 4
    assert scores["recall"] == 2 / 4
    assert scores["F1"] == 2 * 2 / (4 + 4)
    assert scores["trigger_rate"] == 3 / 8
    assert (scores["unparsed"], scores["failed"]) == (1, 1)
    assert told["details"]["accuracy"]["rule"] == "as agreed"


def test_the_first_offer_names_the_intention() -> None:
    scores = score(ANSWERS)["scores"]
    assert scores["intention_accuracy"] == 1 / 4
    assert scores["intention_accuracy_given_help"] == 1 / 2


def test_similarity_is_taken_over_what_was_answered_and_over_all() -> None:
    told = score(ANSWERS, embedder=Words())
    mean = (1 + 2**-0.5) / 2
    assert told["scores"]["semantic_similarity"] == pytest.approx(mean)
    assert told["scores"]["semantic_similarity@all"] == pytest.approx(2 * mean / 3)
    assert told["details"]["semantic_similarity"]["embedder"] == "three words"
    assert told["details"]["semantic_similarity"]["n_without_query"] == 1


def test_similarity_without_an_embedder_is_null_with_a_reason() -> None:
    assert score(ANSWERS)["details"]["semantic_similarity"]["reason"] == "not computed: needs an embedder"


def test_a_moment_is_answered_by_the_decision_released_at_it_and_by_no_other() -> None:
    older = [D(float(d.captured) - 0.6, d.actionable, d.offers, d.kind, released=d.captured) for d in ANSWERS]
    assert score(older)["scores"]["accuracy"] == 4 / 8
    elsewhere = [D(d.captured, d.actionable, d.offers, d.kind, released=float(d.captured) - 0.6) for d in ANSWERS]
    assert score(elsewhere)["scores"]["failed"] == len(MOMENTS)


def test_two_moments_near_each_other_are_two() -> None:
    near = (moment(10, "Translation"), moment(10.4))
    told = score([D(10, 12, ["Translation"]), D(10, 13, ["Debug"]), D(10, 14, released=10.4)], near)
    assert told["scores"]["accuracy"] == told["scores"]["intention_accuracy"] == 1


def test_a_moment_without_an_answer_is_wrong_in_a_whole_run_and_not_asked_in_an_interrupted_one() -> None:
    whole, cut = score(ANSWERS[:5]), score(ANSWERS[:5], interrupted=True)
    assert (whole["scores"]["accuracy"], whole["scores"]["failed"]) == (3 / 8, 3)
    assert (cut["scores"]["accuracy"], cut["details"]["accuracy"]["not_asked"]) == (3 / 5, 3)


def test_the_rows_to_compare_with() -> None:
    rows = score(ANSWERS)["reference"]["proagentbench"]
    assert rows["always"]["accuracy"] == 0.5
    assert rows["always"]["F1"] == pytest.approx(2 / 3)
    assert (rows["silent"]["accuracy"], rows["silent"]["precision"], rows["silent"]["F1"]) == (0.5, None, 0)
    assert rows["majority"]["intention"] == "Data Analysis"
    assert rows["majority"]["intention_accuracy"] == 0.5
    assert {v for v in rows["oracle"].values() if v != 0.5} == {1.0}


def test_silence_has_no_precision_and_no_f1() -> None:
    told = score([D(m.t_ns // SECOND, m.t_ns // SECOND + 1) for m in MOMENTS])
    assert told["scores"]["precision"] is None
    assert told["details"]["precision"]["reason"] == "no moments answered yes"
    assert told["scores"]["recall"] == told["scores"]["F1"] == 0


def test_mean_latency_stands_beside_the_percentiles_and_stream_figures_do_not() -> None:
    scores = score(ANSWERS)["scores"]
    assert scores["scheduled_latency@mean"] == scores["scheduled_latency@p95"] == 2000
    assert "age_of_information" not in scores
