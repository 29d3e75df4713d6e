"""PIRA: published known answers, predicted sets with threads and retractions, and the card's recipe kept apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from scorers.base import Unit, score_run
from scorers.samples import Sample, false_positive_norm, set_score
from simulator.core.errors import UsageError
from simulator.session.truth import Intent
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


def test_a_run_of_an_unknown_profile_is_refused() -> None:
    unit = Unit("s", log([D(0, 1)], profile="Profile_X"), truth(60, intents={"Profile_A": (TRANSLATE,)}))
    with pytest.raises(UsageError, match="the profile is 'Profile_X'; true intents exist for: Profile_A"):
        score_run([unit], "trajectory")


def test_the_cards_recipe_is_kept_apart_and_may_go_below_zero_with_a_warning() -> None:
    needs = [need("n", 0, 5, "Translation")]
    said = [D(0, 1, ["Translation"]), D(1, 2, ["Debug"]), D(2, 3, ["Debug"]), D(6, 7), D(3, 4)]
    unit = Unit("s", log(said), truth(60, needs, intents={"p": (TRANSLATE,)}))
    told = score_run([unit], "trajectory", names=["pira_card_approx"])
    # One hit, two false labels on turns with a need, one miss, one noise turn: 1 - 2 / 1 = -1.
    assert told["scores"]["pira_card_approx@F1"] == pytest.approx(100 * 2 * 1 / (3 + 2))
    assert told["scores"]["pira_card_approx@FPS_norm"] == -100
    assert "below 0" in told["details"]["pira_card_approx"]["warning"]
