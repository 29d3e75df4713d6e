"""What people said of offers, and the rate made of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scorers.base import Unit, catalogue, score_run
from scorers.feedback import FILE, Feedback, add, read, take_back
from simulator.core.errors import InputError
from tests.logs import D, log, need, truth

OFFERS = [D(12, 14, ["Debug"]), D(40, 41, ["Debug", "Translation"]), D(90, 91, ["Debug"]), D(200, 201)]


def score(said: list[Feedback] | None) -> dict[str, Any]:
    units = [Unit("s", log(OFFERS), truth(3600, [need("A", 10, 30)]))]
    return score_run(units, "stream", "off", feedback={} if said is None else {"s": said})


def test_accepted_of_all_that_was_said_counts_and_the_last_word_of_each_person() -> None:
    said = [
        Feedback(0, "rejected", "p"),
        Feedback(0, "accepted", "p"),  # p changed their mind
        Feedback(0, "ignored", "q"),
        Feedback(1, "accepted", "p", intention="translation"),
        Feedback(3, "accepted", "p"),  # a silent decision: nothing surfaced
        Feedback(7, "accepted", "p"),
    ]
    told = score(said)["details"]["acceptance_rate"]
    assert (told["value"], told["n"]) == (pytest.approx(2 / 3), 3)
    assert (told["accepted"], told["rejected"], told["ignored"]) == (2, 0, 1)
    assert (told["n_without"], told["n_not_surfaced"]) == (2, 2)


def test_without_labels_there_is_no_rate() -> None:
    assert "acceptance_rate" not in score(None)["details"], "where nobody was asked there is nothing to tell"
    units = [Unit("s", log(OFFERS), truth(3600))]
    named = score_run(units, "stream", "off", names=["acceptance"])
    assert named["details"]["acceptance_rate"]["reason"].startswith("nobody was asked")
    assert score([])["details"]["acceptance_rate"]["reason"] == "no verdicts on surfaced offers"


def test_no_truth_is_needed_and_one_scorer_alone_counts() -> None:
    unknown = [Unit("s", log(OFFERS), truth(3600, known=False))]
    said = {"s": [Feedback(0, "accepted"), Feedback(2, "rejected")]}
    told = score_run(unknown, "stream", "off", feedback=said)
    assert "F1_rt" not in told["scores"]
    assert (told["scores"]["acceptance_rate"], told["details"]["acceptance_rate"]["n_without"]) == (0.5, 2)
    assert [scorer for scorer, metric in catalogue() if metric.name == "acceptance_rate"] == ["acceptance"]


def test_a_file_is_read_line_by_line(tmp_path: Path) -> None:
    file = tmp_path / "feedback.jsonl"
    assert read(file) is None
    file.write_text(
        '{"seq": 12, "said": "accepted", "by": "p01", "at": "2026-03-02T10:11:12Z"}\n\n{"seq": 0, "said": "ignored"}\n'
    )
    assert read(file) == (Feedback(12, "accepted", "p01", "2026-03-02T10:11:12Z"), Feedback(0, "ignored"))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("yes", "not a verdict"),
        ("[]", "not a verdict"),
        ('{"seq": true, "said": "accepted"}', "whole number"),
        ('{"seq": -1, "said": "accepted"}', "whole number"),
        ('{"seq": 1, "said": "liked"}', "one of accepted, rejected, ignored"),
        ('{"seq": 1, "said": "ignored", "by": 3}', "text is wanted"),
    ],
)
def test_a_line_that_is_no_verdict_is_named(tmp_path: Path, line: str, said: str) -> None:
    file = tmp_path / "feedback.jsonl"
    file.write_text(json.dumps({"seq": 1, "said": "ignored"}) + "\n" + line + "\n")
    with pytest.raises(InputError, match=f"line 2.*{said}"):
        read(file)


def test_verdicts_are_written_so_that_they_are_read_and_the_newest_is_taken_back(tmp_path: Path) -> None:
    file = tmp_path / FILE
    file.write_text('{"seq": 1, "said": "ignored", "by": "q"}', encoding="utf-8")  # somebody else's, without an end
    assert take_back(file, 1, "Debug", "p") is None
    add(file, Feedback(1, "accepted", "p", "2026-03-02T10:11:12Z", "Debug", 41.5))
    add(file, Feedback(1, "rejected", "p", None, "Debug"))
    add(file, Feedback(1, "accepted", "p", None, "\ud800 \u2028 half a letter"))
    told = read(file)
    assert told is not None
    assert [t.said for t in told] == ["ignored", "accepted", "rejected", "accepted"]
    assert told[1] == Feedback(1, "accepted", "p", "2026-03-02T10:11:12Z", "Debug", 41.5)
    assert take_back(file, 1, "debug", "p") == "accepted", "what was said before counts again"
    assert take_back(file, 1, "Debug", "p") is None
    assert take_back(file, 1, "Debug", "p") is None
    assert [t.said for t in read(file) or ()] == ["ignored", "accepted"]
    assert not list(tmp_path.glob("*.part"))


def test_a_verdict_at_no_time_is_refused(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text('{"seq": 1, "said": "ignored", "t_s": true}\n', encoding="utf-8")
    with pytest.raises(InputError, match="a number of seconds"):
        read(tmp_path / FILE)
