"""Real-time figures beyond the worked example, each on a log small enough to count by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from scorers.base import Unit, catalogue, score_run
from scorers.samples import false_positive_norm
from simulator.runs.records import Kind
from simulator.session.rhythm import burstiness
from simulator.session.truth import Opportunity
from tests.logs import D, log, need, ns, truth


def score(decisions: Sequence[D], needs: Sequence[Opportunity], end: float = 3600, **more: Any) -> dict[str, Any]:
    gaps = more.pop("gaps", ())
    twins = more.pop("twins", None)
    unit = Unit("s", log(decisions, **more), truth(end, needs, gaps))
    return score_run([unit], "stream", "off", names=["realtime"], twins=twins)


def sure(confidence: float, intention: str = "Debug") -> dict[str, Any]:
    return {"intention": intention, "confidence": confidence}


A = need("A", 10, 30)


def test_silence_with_something_to_find_has_recall_and_f1_of_zero_and_no_precision() -> None:
    told = score([D(0, 1)], [A])
    assert (told["scores"]["P_rt"], told["scores"]["R_rt"], told["scores"]["F1_rt"]) == (None, 0, 0)
    assert told["details"]["P_rt"]["reason"] == "no surfaced offers"


def test_speaking_with_nothing_to_find_has_no_recall_and_charges_false_alarms() -> None:
    told = score([D(0, 1, ["Debug"])], [], end=1800)
    assert (told["scores"]["P_rt"], told["scores"]["R_rt"], told["scores"]["F1_rt"]) == (0, None, None)
    assert told["scores"]["false_alarms_per_hour"] == 2
    assert told["details"]["timely_utility"]["reason"] == "no opportunities"


def test_the_wrong_intention_counts_for_timing_only() -> None:
    told = score([D(12, 14, ["Translation"])], [A])
    assert (told["scores"]["F1_rt"], told["scores"]["F1_rt@timing"]) == (0, 1)
    assert told["details"]["P_rt"]["classes"]["wrong_content"] == 1
    (shown,) = told["units"]["s"]["offers"]
    assert shown["timing"] == {"class": "on_time", "opportunity": "A"}


def test_hours_are_those_of_the_session_without_its_gaps() -> None:
    assert score([D(0, 1, ["Debug"])], [], gaps=[(100, 1900)])["scores"]["interruptions_per_hour"] == 2


def test_an_unservable_window_is_counted_and_not_scored() -> None:
    told = score([D(12, 14, ["Debug"])], [need("A", 10, 30, unservable="under 2 s")])
    assert (told["counts"]["opportunities"], told["counts"]["unservable"]) == (0, 1)
    assert told["scores"]["R_rt"] is None
    assert told["details"]["P_rt"]["classes"]["false_alarm"] == 1
    assert told["details"]["restraint"]["n"] == 59, "its minute is not idle"


def test_help_after_the_user_acted_saves_no_seconds_and_costs_none() -> None:
    needs = [need("A", 10, 30, acted_ns=ns(24)), need("B", 50, 90, acted_ns=ns(55))]
    told = score([D(12, 14, ["Debug"]), D(56, 60, ["Debug"])], needs)["scores"]
    assert (told["seconds_saved_per_hour"], told["lead_s"]) == (10, -5)


def test_an_early_offer_lies_within_five_seconds() -> None:
    for arrived, verdict in ((5, "early"), (4.999, "false_alarm"), (10, "on_time")):
        assert score([D(0, arrived, ["Debug"])], [A])["units"]["s"]["offers"][0]["class"] == verdict


def test_an_answer_at_the_closing_instant_is_stale() -> None:
    assert score([D(29, 30, ["Debug"])], [A])["units"]["s"]["offers"][0]["class"] == "stale"


def test_an_offer_that_was_captured_before_the_need_is_told_as_anticipated() -> None:
    assert score([D(8, 12, ["Debug"])], [A])["scores"]["anticipated"] == 1


def test_weights_count_in_utility() -> None:
    needs = [need("A", 10, 30, weight=3.0), need("B", 50, 60)]
    assert score([D(10, 10, ["Debug"])], needs)["scores"]["timely_utility"] == 75


def test_the_ceiling_is_what_one_snapshot_a_second_leaves() -> None:
    # Opens at 10.5, first tick at 11: z = .5 / 10, g = .975.
    assert score([], [need("A", 10.5, 20.5)])["scores"]["timely_utility@ceiling"] == pytest.approx(97.5)


def test_the_ceiling_knows_whole_periods_only_and_says_so() -> None:
    told = score([D(10.6, 10.6, ["Debug"])], [need("A", 10.5, 20.5)])
    assert told["scores"]["timely_utility"] > told["scores"]["timely_utility@ceiling"]
    (formula,) = [m.formula for _, m in catalogue() if m.name == "timely_utility@ceiling"]
    assert "multiples of the period" in formula
    assert "irregular" in formula


def test_s_rt_takes_blocks_as_samples() -> None:
    # Block 0: right and one extra: F1 = 2/3. Block 1: missed: 0. Block 2: nothing to find, two offers: FPS 2.
    needs = [need("A", 10, 30), need("B", 700, 730)]
    said = [D(12, 14, ["Debug"]), D(300, 301, ["Debug"]), D(1300, 1301, ["Debug"]), D(1400, 1401, ["Debug"])]
    told = score(said, needs, end=1800)["scores"]
    assert told["S_rt"] == pytest.approx(100 * (2 / 3) / 2 * false_positive_norm(2))


def test_a_block_holds_the_windows_that_open_and_the_offers_that_arrive_in_it() -> None:
    # On time, but across the border: missed in block 0, one in vain in block 1.
    told = score([D(601, 605, ["Debug"])], [need("A", 595, 615)], end=1200)["scores"]
    assert (told["R_rt"], told["S_rt"]) == (1, 0)


def test_a_pause_changes_no_s_rt() -> None:
    # Block 0: right and one in vain. Block 1: one in vain. Then ten hours away, which are no negative samples.
    said = [D(12, 14, ["Debug"]), D(300, 301, ["Debug"]), D(700, 701, ["Debug"])]
    for end in ("", "@timing"):
        plain = score(said, [A], end=1200)["scores"][f"S_rt{end}"]
        paused = score(said, [A], end=1200 + 36000, gaps=[(1200, 1200 + 36000)])["scores"][f"S_rt{end}"]
        assert plain == paused == pytest.approx(100 * (2 / 3) * false_positive_norm(1))


def test_a_block_inside_a_gap_stays_where_it_holds_an_offer_or_a_need() -> None:
    # Block 0 is right; 1 to 3 are dark, the first with a late offer, the last with a need; block 4 is quiet.
    said, needs = [D(12, 14, ["Debug"]), D(590, 605, ["Debug"])], [A, need("B", 1900, 1930)]
    told = score(said, needs, end=3000, gaps=[(600, 2400)])["scores"]
    assert told["S_rt"] == pytest.approx(100 * (1 + 0) / 2 * false_positive_norm(1 / 2))


def test_hours_are_one_to_all_scorers_however_odd_the_gaps() -> None:
    # Of 7200 s the gaps [-50, 600), [300, 1800), [400, 500) and [5400, 9999) leave one hour.
    said = [D(2000, 2001, ["Debug"], more={"tokens": {"in": 7}, "cost": 0.5})]
    odd = truth(7200, gaps=[(300, 1800), (-50, 600), (5400, 9999), (400, 500)])
    told = score_run([Unit("s", log(said), odd)], "stream", "off")["scores"]
    assert (told["interruptions_per_hour"], told["cost"], told["cost@tokens_in"]) == (1, 0.5, 7)


def test_restraint_is_the_share_of_idle_minutes_kept_quiet() -> None:
    # Of 5 whole minutes (the last 30 s dropped) the fourth holds a need; of the other four one was disturbed.
    wanted = [need("A", 190, 210)]
    assert score([D(70, 71, ["Debug"]), D(72, 73, ["Debug"])], wanted, end=330)["scores"]["restraint"] == 3 / 4


def test_minutes_inside_a_gap_are_no_credit() -> None:
    assert score([D(70, 71, ["Debug"])], [A], end=330, gaps=[(120, 240)])["scores"]["restraint"] == 1 / 2


def test_offers_after_a_change_of_window_stand_beside_the_share_of_such_time() -> None:
    told = score([D(10, 12.9, ["Debug"]), D(12, 13, ["Debug"])], [], end=100, changes=[10, 11, 50])
    assert told["scores"]["at_breakpoint"] == 1
    assert told["details"]["at_breakpoint"]["share_of_time"] == pytest.approx(0.07)
    late = score([D(10, 13, ["Debug"])], [], end=100, changes=[10])["scores"]
    assert late["at_breakpoint"] == 0


def test_calibration_leaves_out_offers_without_a_confidence() -> None:
    told = score([D(12, 14, [sure(0.8)]), D(100, 101, [sure(0.6)]), D(200, 201, ["Debug"])], [A])
    assert told["scores"]["calibration@brier"] == pytest.approx((0.2**2 + 0.6**2) / 2)
    assert told["scores"]["calibration@ece"] == pytest.approx((0.2 + 0.6) / 2)
    assert told["details"]["calibration@brier"]["n_without"] == 1


def test_deadlines_are_matched_on_their_own() -> None:
    # For the whole windows offer 0 may serve A or B; within 2 s of opening it serves B only.
    needs = [need("A", 0, 100), need("B", 49, 90)]
    told = score([D(50, 50, ["Debug"]), D(60, 60, ["Debug"])], needs)
    assert told["scores"]["R_rt"] == 1
    assert told["scores"]["deadline_attainment@2"] == 0.5
    curve = dict(map(tuple, told["details"]["deadline_attainment@2"]["curve"]))
    assert (curve[0.5], curve[1], curve[60]) == (0, 0.5, 1)


def test_latency_tolerance_multiplies_each_delay() -> None:
    # a - c = 6 s, window 10 s from capture: right up to a factor of 1, late from 2.
    told = score([D(10, 16, ["Debug"])], [need("A", 10, 20)])
    assert [f1 for _, f1 in told["details"]["latency_tolerance"]["curve"]] == [1, 1, 1, 1, 0, 0]
    assert told["scores"]["latency_tolerance"] == pytest.approx(1.5 / 4)
    assert told["scores"]["latency_tolerance@half_life_s"] == pytest.approx(1.5 * 6)


def test_goodput_leaves_out_what_came_late_though_on_time() -> None:
    assert score([D(12, 18, ["Debug"])], [A])["scores"]["assist_goodput"] == 0
    assert score([D(12, 17, ["Debug"])], [A])["scores"]["assist_goodput"] == 1


def test_losses_need_a_twin_and_add_up() -> None:
    slow = [D(29, 31, ["Debug"])]
    twin = Unit("s", log([D(12, 12, ["Debug"])]), truth(3600, [A]))
    told = score(slow, [A], twins={"s": twin})["scores"]
    assert (told["F1_instant"], told["F1_seen"], told["F1_rt"]) == (1, 1, 0)
    assert (told["coverage_loss"], told["latency_loss"]) == (0, 1)


def test_each_second_the_standing_decision_is_held_against_open_windows() -> None:
    # Window 2-6 (ticks 2 3 4 5). Offer captured 2, delivered 3.5, replaced by a silence at 5.
    # Tick 0-1 quiet, 2-3 missed, 4 hit (the serving decision stands), 5 left out (served already), 6-9 quiet.
    told = score([D(2, 3.5, ["Debug"]), D(4, 5)], [need("A", 2, 6)], end=10)
    assert told["scores"]["stream_accuracy"] == pytest.approx(7 / 9)
    assert told["scores"]["stream_precision"] == 1
    assert told["scores"]["stream_recall"] == pytest.approx(1 / 3)
    assert told["scores"]["stream_f1"] == pytest.approx(2 / 4)
    assert told["details"]["stream_f1"]["ticks_left_out"] == 1


def test_errors_and_late_results_of_older_snapshots_do_not_stand() -> None:
    needs = [need("A", 2, 10)]
    plain = score([D(2, 3, ["Debug"])], needs, end=10)["scores"]
    error = score([D(2, 3, ["Debug"]), D(3, 4, kind=Kind.ERROR)], needs, end=10)["scores"]
    older = score([D(2, 3, ["Debug"]), D(1, 4)], needs, end=10)["scores"]
    assert plain["stream_f1"] == error["stream_f1"] == older["stream_f1"] > 0


def test_money_per_help_is_unknown_without_prices() -> None:
    assert score([D(12, 14, ["Debug"])], [A])["scores"]["cost@per_on_time"] is None
    priced = score([D(12, 14, ["Debug"], more={"tokens": {"in": 1}, "cost": 0.25})], [A])
    assert priced["scores"]["cost@per_on_time"] == 0.25


def test_reliability_says_how_right_each_confidence_was() -> None:
    said = [D(12, 14, [sure(0.8)]), D(100, 101, [sure(0.82)]), D(200, 201, [sure(0.1)])]
    told = score(said, [A])["details"]["calibration@ece"]
    assert told["reliability"] == [[0.1, 0, 1], [pytest.approx(0.81), 1 / 2, 2]]
    assert told["value"] == pytest.approx((0.1 + abs(1.62 - 1)) / 3)


def test_utility_stands_beside_its_ceiling_and_the_offers_it_took() -> None:
    told = score([D(12, 14, ["Debug"]), D(100, 101, ["Debug"])], [need("A", 10.5, 20.5)])["details"]
    for name in ("timely_utility", "timely_utility@quiet", "timely_utility@timing"):
        assert told[name]["ceiling"] == pytest.approx(97.5)
        assert told[name]["offers_per_hour"] == 2


def test_burstiness_is_that_of_the_times_between_offers() -> None:
    # 10, 10, 100 s: mean 40, deviation sqrt(1800) = 42.43: B = 2.43 / 82.43.
    times = [5, 15, 25, 125]
    told = score([D(t, t, ["Debug"]) for t in times], [])
    assert told["scores"]["burstiness_of_offers"] == pytest.approx((1800**0.5 - 40) / (1800**0.5 + 40))
    assert told["scores"]["burstiness_of_offers"] == pytest.approx(burstiness([ns(t) for t in times]))
    assert (told["details"]["burstiness_of_offers"]["people"], told["details"]["burstiness_of_offers"]["n"]) == (
        0.787,
        3,
    )
    regular = score([D(t, t, ["Debug"]) for t in (1, 8, 15, 22)], [])
    assert regular["scores"]["burstiness_of_offers"] == -1
    assert score([D(t, t, ["Debug"]) for t in (1, 8)], [])["scores"]["burstiness_of_offers"] is None


def test_times_between_offers_are_those_within_a_session() -> None:
    sessions = [[D(t, t, ["Debug"]) for t in (0, 10)], [D(t, t, ["Debug"]) for t in (1000, 1100, 1110)]]
    units = [Unit(f"s{i}", log(said), truth(3600)) for i, said in enumerate(sessions)]
    told = score_run(units, "stream", "off")["scores"]
    assert told["burstiness_of_offers"] == pytest.approx((1800**0.5 - 40) / (1800**0.5 + 40))


def test_tokens_a_help_counts_those_spent_in_vain() -> None:
    said = [D(12, 14, ["Debug"], more={"tokens": {"in": 7, "images": 1}}), D(40, 41, more={"tokens": {"in": 5}})]
    told = score(said, [A])
    assert (told["scores"]["cost@tokens_in_per_on_time"], told["scores"]["cost@images_per_on_time"]) == (12, 1)
    assert score(said[1:], [A])["details"]["cost@tokens_in_per_on_time"]["reason"] == "no offers on time"
    unreported = score([D(12, 14, ["Debug"])], [A])["details"]["cost@tokens_in_per_on_time"]
    assert (unreported["value"], unreported["reason"]) == (None, "unknown: no usage was reported")


def test_a_need_served_under_every_seed_and_one_served_by_luck() -> None:
    needs = [A, need("B", 50, 60), need("C", 100, 130)]
    runs = [[12, 55], [14, 110], [13]]  # A always, B and C once each
    units = [Unit("s", log([D(t, t, ["Debug"]) for t in at]), truth(3600, needs)) for at in runs]
    told = score_run(units[:1], "stream", "off", companions={"s": units[1:]})
    assert (told["scores"]["pass^k"], told["scores"]["pass@k"]) == (pytest.approx(1 / 3), 1)
    assert (told["details"]["pass^k"]["k"], told["details"]["pass^k"]["n"]) == (3, 3)
    alone = score_run(units[:1], "stream", "off")["details"]["pass^k"]
    assert (alone["value"], alone["reason"]) == (None, "not computed: needs companion seeds")
