"""PIRA: published known answers, predicted sets with threads and retractions, and the card's recipe kept apart."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from agents.oracle import Oracle
from scorers.base import Unit, score_run
from scorers.samples import Sample, false_positive_norm, set_score
from simulator.core.errors import UsageError
from simulator.core.types import Observation
from simulator.session.truth import Intent, Truth
from tests.logs import D, log, need, truth


@pytest.mark.parametrize(("f1", "norm", "final"), [(40.75, 31.31, 12.76), (54.68, 43.90, 24.00), (93.89, 96.23, 90.35)])
def test_published_rows_multiply_out(f1: float, norm: float, final: float) -> None:
    # A positive sample of that F1 and negatives of the FPS behind that FPS_norm give the published product.
    assert f1 * norm / 100 == pytest.approx(final, abs=0.005)


@pytest.mark.parametrize(("fps", "norm"), [(7.97, 0.3131), (2.59, 0.4390), (0.040, 0.9623), (0, 1)])
def test_published_false_positives_give_their_norm(fps: float, norm: float) -> None:
    assert false_positive_norm(fps) == pytest.approx(norm, abs=2e-4)


def test_f1_is_averaged_over_samples_not_made_of_averages() -> None:
    # P = (1/4 + 1) / 2, R = (1 + 1/2) / 2; their harmonic mean is .682, the mean of F1 (.4 and .667) is .533.
    score = set_score([Sample(4, 1, 1), Sample(1, 2, 1), Sample(0, 0, 0), Sample(3, 0, 0)])
    assert score.precision.value == pytest.approx(0.625)
    assert score.recall.value == pytest.approx(0.75)
    assert score.f1.value == pytest.approx((0.4 + 2 / 3) / 2)
    assert score.false_positives.value == 1.5
    assert score.final.value == pytest.approx((0.4 + 2 / 3) / 2 * false_positive_norm(1.5))


def test_without_negatives_or_positives_the_product_is_null_with_a_reason() -> None:
    assert set_score([Sample(1, 1, 1)]).final.reason == "no negative samples"
    assert set_score([Sample(1, 1, 1)]).f1.value == 1
    assert set_score([Sample(1, 0, 0)]).final.reason == "no positive samples"


def score(decisions: Sequence[D], intents: Sequence[Intent], **more: Any) -> dict[str, Any]:
    unit = Unit("s", log(decisions), truth(60, intents={"Profile_A": tuple(intents)}))
    negative = Unit("t", log([D(0, 1)]), truth(60, intents={"Profile_A": ()}))
    return score_run([unit, negative], "trajectory", **more)


def thread(name: str, intention: str, text: str = "") -> dict[str, str]:
    return {"intention": intention, "text": text, "thread": name}


TRANSLATE, DATA = Intent("translate the letter", "Translation"), Intent("sum the table", "Data Analysis")


def test_a_thread_is_one_entry_and_holds_its_last_words() -> None:
    told = score(
        [D(0, 1, [thread("1", "Summarization")]), D(1, 2, [thread("1", "Translation", "the letter")])], [TRANSLATE]
    )
    (entry,) = told["units"]["s"]["intents"]["retained"]
    assert (entry["text"], entry["matched"]) == ("the letter", "translate the letter")
    assert told["scores"]["F1_avg"] == 100
    assert told["scores"]["S_final"] == 100


def test_what_was_retracted_counts_in_ever_only() -> None:
    said = [D(0, 1, [thread("1", "Creative Design"), thread("2", "Translation")]), D(1, 2, more={"retracted": ["1"]})]
    scores = score(said, [TRANSLATE])["scores"]
    assert (scores["P"], scores["P@ever"]) == (100, 50)
    assert scores["F1_avg@ever"] == pytest.approx(200 / 3)


def test_an_intention_can_be_retracted_where_there_is_no_thread() -> None:
    said = [D(0, 1, ["Creative Design", "Translation"]), D(1, 2, more={"retracted": ["creative design"]})]
    assert score(said, [TRANSLATE])["scores"]["P"] == 100


def test_a_retraction_takes_effect_before_the_offers_of_its_decision() -> None:
    said = [D(0, 1, [thread("1", "Translation")]), D(1, 2, [thread("1", "Translation")], more={"retracted": ["1"]})]
    assert score(said, [TRANSLATE])["scores"]["R"] == 100


def test_near_duplicates_are_one() -> None:
    told = score([D(t, t + 1, ["Translation"]) for t in range(5)], [TRANSLATE, DATA])
    assert told["scores"]["P"] == 100
    assert told["scores"]["R"] == 50


def test_every_result_says_that_it_is_not_official() -> None:
    assert score([D(0, 1)], [TRANSLATE])["details"]["S_final"]["matcher"] == "matcher=category, not official"


def test_true_intents_of_several_profiles_or_of_none_are_refused() -> None:
    for intents, there in (({"b": (TRANSLATE,), "a": (DATA,)}, "a, b"), ({}, "none")):
        unit = Unit("s", log([D(0, 1)]), truth(60, intents=intents))
        with pytest.raises(UsageError, match=f"one profile are needed, these are there: {there}"):
            score_run([unit], "trajectory")


MAIL = Intent("translate the mail", "Translation")


def test_true_near_duplicates_are_one_as_predicted_ones_are_and_the_details_tell() -> None:
    told = score([D(0, 1, [thread("1", "Translation", "the mail")])], [TRANSLATE, DATA, MAIL])
    assert told["scores"]["R"] == 50
    for name in ("R", "F1_avg", "R@ever"):
        assert (told["details"][name]["n_true_before_merging"], told["details"][name]["n_true"]) == (3, 2)
    assert [(i["text"], i["counted_as"]) for i in told["units"]["s"]["intents"]["true"]] == [
        ("translate the letter", "translate the letter"),
        ("sum the table", "sum the table"),
        ("translate the mail", "translate the letter"),
    ]


class Angles:
    """An embedder that turns each text by as many tenths of a right angle as it has letters; counts its calls."""

    identity, dimension = "angles", 2

    def __init__(self) -> None:
        self.n_calls = 0

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.n_calls += 1
        turned = np.array([len(text) for text in texts]) * np.pi / 20
        return np.stack([np.cos(turned), np.sin(turned)], axis=1).astype(np.float32)


WANTED = st.builds(
    Intent, st.sampled_from(["a", "bb", "ccc", "dddddd"]), st.sampled_from([None, "Translation", "Debug", "ccc"])
)


@pytest.mark.parametrize("matcher", ["category", "embedding>=0.97", "embedding>=0.9"])
@given(samples=st.lists(st.lists(WANTED, min_size=1, max_size=6), min_size=1, max_size=3))
def test_the_oracle_is_perfect_whatever_the_true_intents(matcher: str, samples: list[list[Intent]]) -> None:
    units = [
        _by_the_oracle(str(n), truth(60, intents={"p": tuple(intents)})) for n, intents in enumerate([*samples, []])
    ]
    told = score_run(units, "trajectory", names=[f"pira:matcher={matcher}"], embedder=Angles())
    figures = ("P", "R", "F1_avg", "FPS_norm", "S_final")
    assert {told["scores"][name + end] for name in figures for end in ("", "@ever")} == {100}
    assert {told["units"][str(n)]["scores"]["F1_avg"] for n in range(len(samples))} == {100}


def _by_the_oracle(key: str, true: Truth) -> Unit:
    told = asyncio.run(Oracle(true).finish(cast(Observation, None)))
    offers = [{"intention": o.intention, "text": o.text, "thread": o.thread} for o in told.offers]
    return Unit(key, log([D(59, 60, offers)]), true)


def test_the_texts_of_a_set_are_embedded_together() -> None:
    few, many = Angles(), Angles()
    for n, embedder in ((1, few), (12, many)):
        said = [thread(str(i), "Debug", "x" * i) for i in range(n)]
        score([D(0, 1, said)], [TRANSLATE], names=["pira:matcher=embedding>=0.9"], embedder=embedder)
    assert few.n_calls == many.n_calls > 0


def test_the_cards_recipe_is_kept_apart_and_may_go_below_zero_with_a_warning() -> None:
    needs = [need("n", 0, 5, "Translation")]
    said = [D(0, 1, ["Translation"]), D(1, 2, ["Debug"]), D(2, 3, ["Debug"]), D(6, 7), D(3, 4)]
    unit = Unit("s", log(said), truth(60, needs, intents={"p": (TRANSLATE,)}))
    told = score_run([unit], "trajectory", names=["pira_card_approx"])
    # One hit, two false labels on turns with a need, one miss, one noise turn: 1 - 2 / 1 = -1.
    assert told["scores"]["pira_card_approx@F1"] == pytest.approx(100 * 2 * 1 / (3 + 2))
    assert told["scores"]["pira_card_approx@FPS_norm"] == -100
    assert "below 0" in told["details"]["pira_card_approx"]["warning"]
