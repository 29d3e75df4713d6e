"""What people called useful becomes a truth, and no more of it than they said."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorers import feedback
from scorers.feedback import SAID, Feedback
from simulator.cli import _call
from simulator.core.errors import Exit, InputError, ProactError, UsageError
from simulator.core.types import MS, SECOND, Decision, Observation, Offer
from simulator.play.accepted import HEAD, Need, Written, accepted, needs, write_truth
from simulator.play.player import run
from simulator.play.scoring import score_folder
from simulator.runs.records import LoggedOffer
from simulator.session.scenario import plays
from simulator.session.truth import LEAST_WINDOW_NS
from tests.play.test_live_runs import PERIOD, live

END = 60 * SECOND


def offer(seq: int, intention: str = "Debug") -> LoggedOffer:
    at = seq * SECOND
    return LoggedOffer(seq, at, at, at, at + 300 * MS, intention)


def test_the_last_word_of_each_person_counts_and_one_who_accepts_is_enough() -> None:
    offers = [offer(1), offer(2, "Writing"), offer(2, "Debug"), offer(3)]
    said = [
        Feedback(1, "accepted", "p"),
        Feedback(1, "rejected", "p"),  # changed their mind
        Feedback(2, "rejected", "p", intention="debug"),
        Feedback(2, "accepted", "q", intention="Debug"),
        Feedback(3, "ignored", "p"),
        Feedback(9, "accepted", "p"),  # there is no such decision
    ]
    assert [(o.seq, o.intention, v.by) for o, v in accepted(offers, said)] == [(2, "Debug", "q")]
    assert [(o.seq, o.intention) for o, _ in accepted(offers, [Feedback(2, "accepted")])] == [(2, "Writing")]


def test_a_need_lasts_from_what_was_seen_until_it_was_called_useful_and_two_seconds_at_least() -> None:
    taken = [
        (offer(10), Feedback(10, "accepted", t_s=14.5)),
        (offer(14), Feedback(14, "accepted", t_s=14.6)),  # touches: one need
        (offer(30, "debug"), Feedback(30, "accepted", t_s=30.4)),  # said at once
        (offer(14, "Writing"), Feedback(14, "accepted")),  # nobody knows when
        (offer(59), Feedback(59, "accepted", t_s=80.0)),  # said after the end
    ]
    assert needs(taken, END) == [
        Need(10 * SECOND, 16 * SECOND, "Debug", 2),
        Need(14 * SECOND, 16 * SECOND, "Writing"),
        Need(30 * SECOND, 32 * SECOND, "debug"),
        Need(59 * SECOND, 60 * SECOND, "Debug"),  # never before what was seen: too short to be scored
    ]
    assert [need.short for need in needs(taken, END)] == [False, False, False, True]


@given(
    st.lists(
        st.tuples(st.integers(0, 59), st.sampled_from("ab"), st.sampled_from(SAID), st.none() | st.floats(0, 100)),
        max_size=20,
    )
)
def test_needs_never_overlap_within_an_intention_and_hold_every_accepted_offer(rows: list[Any]) -> None:
    offers = [offer(seq, name) for seq, name, _, _ in dict.fromkeys(rows)]
    taken = accepted(offers, [Feedback(seq, said, "p", None, name, t) for seq, name, said, t in rows])
    found = needs(taken, END)
    assert sum(need.n for need in found) == len(taken)
    for need in found:
        assert 0 <= need.opens_ns < need.closes_ns <= END
        assert need.opens_ns in [one.captured_ns for one, _ in taken if one.intention == need.intention]
        assert need.short == (need.opens_ns > END - LEAST_WINDOW_NS)
    for one, _ in taken:
        assert any(n.intention == one.intention and n.opens_ns <= one.captured_ns <= n.closes_ns for n in found)
    for name in "ab":
        mine = sorted((n.opens_ns, n.closes_ns) for n in found if n.intention == name)
        assert all(one[1] < two[0] for one, two in pairwise(mine))


class Debugs:
    """Offers one known thing and one that no scenario knows."""

    async def decide(self, observation: Observation) -> Decision:
        if observation.snapshot.app != "b":
            return Decision()
        return Decision((Offer("Error Correction", "shall I?"), Offer("Baking", "cake?")))


def test_a_live_run_is_scored_by_what_was_accepted_in_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    demo = tmp_path / "demo"
    live(demo, "a" * 5 + "b" * 24 + "cc", agent=Debugs)
    with pytest.raises(UsageError, match="nobody said anything"):
        write_truth(demo)
    unit = demo / "run" / "units" / "demo" / feedback.FILE
    feedback.add(unit, Feedback(5, "accepted", "user", None, "Error Correction", 2.0))
    feedback.add(unit, Feedback(5, "accepted", "user", None, "Baking", 2.0))
    told = score_folder(demo / "run", save=False)
    assert told["counts"]["sessions_without_truth"] == 1
    heard = told["details"]["acceptance_rate"]
    assert [heard[name] for name in ("value", "accepted", "rejected", "ignored", "n_without", "n_not_surfaced")] == [
        1.0, 2, 0, 0, 0, 0,
    ]  # fmt: skip
    assert _call(["dataset", "accepted", str(demo)]) == Exit.DONE
    said = capsys.readouterr().out
    assert "2 offers called useful, 1 left out" in said
    assert "needs that nobody offered help for" in said
    (play,) = plays([demo])
    (need,) = play.truth.opportunities
    assert (need.opens_ns, need.closes_ns, need.intention) == (
        5 * PERIOD,
        5 * PERIOD + LEAST_WINDOW_NS,
        "Error Correction",
    )
    scores = score_folder(demo / "run", truth=demo, save=False)
    assert scores["scores"]["R_rt"] == 1.0
    assert scores["scores"]["acceptance_rate"] == 1.0
    with pytest.raises(UsageError, match="states a truth already"):
        write_truth(demo)
    replay: dict[str, Any] = {"agent": Debugs, "memory": "none", "clock": "journal", "journal": demo / "run"}
    with pytest.raises(ProactError):
        run(demo, out=tmp_path / "refused", **replay)
    assert "journal does not replay over this any more" in " ".join(said.split())
    file = demo / "scenario.yaml"
    file.write_text(file.read_text(encoding="utf-8").partition(f"\n{HEAD}")[0], encoding="utf-8")
    assert run(demo, out=tmp_path / "again", **replay).code is Exit.DONE


def test_a_need_opens_to_the_nanosecond_with_the_snapshot_on_which_help_was_offered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    demo = tmp_path / "demo"
    live(demo, "a" * 5 + "b" * 24 + "cc", agent=Debugs)
    opens, closes = 668_013, 2_100_400_007  # rounded to milliseconds it would open after the picture of it
    found = Written(demo / "scenario.yaml", 1, 0, 0, [Need(opens, closes, "Error Correction")])
    monkeypatch.setattr("simulator.play.accepted.met", lambda folder: found)
    write_truth(demo)
    (play,) = plays([demo])
    assert [(n.opens_ns, n.closes_ns) for n in play.truth.opportunities] == [(opens, closes)]


def test_an_offer_of_the_last_two_seconds_is_a_need_that_is_counted_and_not_scored(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    demo = tmp_path / "demo"
    live(demo, "a" * 5 + "bbb", agent=Debugs)
    feedback.add(
        demo / "run/units/demo" / feedback.FILE, Feedback(5, "accepted", "user", None, "Error Correction", 2.0)
    )
    assert _call(["dataset", "accepted", str(demo)]) == Exit.DONE
    assert "1 of them opens less than 2 s before the session's end: counted, and not scored" in capsys.readouterr().out
    (play,) = plays([demo])
    (need,) = play.truth.opportunities
    assert (need.opens_ns, need.closes_ns, need.unservable) == (5 * PERIOD, play.truth.end_ns, "under 2 s")
    assert score_folder(demo / "run", truth=demo, save=False)["counts"]["unservable"] == 1


def test_what_is_no_live_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the folder of a live run"):
        write_truth(tmp_path)
