"""StreamingBench's proactive output: polls, two seconds, and the required output letter by letter."""

from __future__ import annotations

from typing import Any

import pytest

from scorers.base import Unit, score_run
from scorers.compat.streamingbench import Question, StreamingBench, questions, timely
from simulator.core.errors import UsageError
from simulator.core.types import SECOND
from simulator.session.truth import Opportunity
from tests.logs import D, log, need, ns, truth

ASKED = need("A", 30, 34, "Uncategorized", query="113")


def score(said: list[tuple[float, str]], spec: str = "streamingbench", needs: Any = (ASKED,), late: float = 0) -> Any:
    decisions = [D(t, t + late, [{"intention": "Uncategorized", "text": text}]) for t, text in said]
    told = score_run([Unit("s", log(decisions), truth(100, list(needs)))], "stream", "off", names=[spec])["scores"]
    return told["streamingbench@time_accuracy"], told["streamingbench@answer_accuracy"]


def test_polls_run_from_a_second_after_the_question_to_four_after_the_true_time() -> None:
    assert questions([ASKED]) == [Question(ns(1), ns(34), ns(30))]
    later = need("B", 60, 64, query="7")
    assert questions([ASKED, later])[1] == Question(ns(35), ns(64), ns(60)), "asked when the window before closed"


@pytest.mark.parametrize(("t", "in_time"), [(27.9, 0), (28, 1), (30, 1), (32, 1), (32.1, 0), (34, 0), (35, 0)])
def test_in_time_is_within_two_seconds_before_or_after(t: float, in_time: int) -> None:
    assert score([(t, "it is 113 now")]) == (in_time, in_time)


@pytest.mark.parametrize(
    ("text", "right"), [("113", 1), ("the score is 113.", 1), ("114", 0), ("", 0)]
)  # fmt: skip
def test_the_required_output_has_to_stand_in_the_text(text: str, right: int) -> None:
    assert score([(30, text)]) == (1, right)


def test_capitals_matter_as_published() -> None:
    goal = need("A", 30, 34, query="Goal")
    assert score([(30, "a goal")], needs=[goal]) == (1, 0)


def test_the_first_answer_counts_and_ends_the_polling() -> None:
    assert score([(10, "113"), (30, "113")]) == (0, 0)
    assert score([(29, "112"), (30, "113")]) == (1, 0)
    assert score([(0.5, "113"), (30, "113")]) == (1, 1), "before the first poll nobody asks"


def test_accuracies_are_over_all_questions() -> None:
    assert score([(30, "113")], needs=[ASKED, need("B", 60, 64, query="7")]) == (0.5, 0.5)
    assert score([]) == (0, 0)
    assert score([], needs=[]) == (None, None)


def test_charges_can_make_an_answer_late() -> None:
    assert score([(30, "113")], late=3) == (0, 0)


def test_the_seen_twin_is_judged_at_capture() -> None:
    unit = Unit("s", log([D(30, 33, [{"intention": "x", "text": "113"}])]), truth(100, [ASKED]))
    told = score_run([unit], "stream", "off", names=["streamingbench"])["scores"]
    assert (told["streamingbench@answer_accuracy"], told["streamingbench@answer_accuracy@seen"]) == (0, 1)


def test_the_true_time_may_be_the_act_of_the_user_and_content_the_category() -> None:
    acted = need("A", 10, 40, "Debug", acted_ns=ns(38))
    unknown = Opportunity("B", ns(50), ns(60), "Debug")
    unit = Unit("s", log([D(37, 37, ["Debug"])]), truth(100, [acted, unknown]))
    told = score_run([unit], "stream", "off", names=["streamingbench:matcher=category,time=act"])
    assert told["scores"]["streamingbench@answer_accuracy"] == 1
    assert told["details"]["streamingbench@answer_accuracy"]["left_out"] == 1


def test_another_time_is_refused() -> None:
    with pytest.raises(UsageError, match="time: unknown 'noon'"):
        score([], "streamingbench:time=noon")


def test_both_bounds_are_inclusive_to_the_nanosecond_and_the_formula_says_so() -> None:
    assert timely(8 * SECOND, 10 * SECOND)
    assert timely(12 * SECOND, 10 * SECOND)
    assert not timely(8 * SECOND - 1, 10 * SECOND)
    assert not timely(12 * SECOND + 1, 10 * SECOND)
    said = [m.formula for m in StreamingBench().metrics if not m.name.endswith("@seen")]
    assert all("all bounds inclusive, to the nanosecond" in formula for formula in said)
