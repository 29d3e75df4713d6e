"""What each policy makes of whole runs: who is seen, who waits, who is counted."""

from __future__ import annotations

from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simulator.core.types import MS, SECOND, Decision, Observation, Offer
from simulator.runs.records import Kind
from tests.worlds import Notebook, Screen, names, plan, play, screen, told

TEN = "aaaabbbccc"
LATENCIES = st.sampled_from(["fixed:0s", "fixed:350ms", "fixed:1s", "fixed:2500ms+700ms", "profile:2s", "profile:5s"])
WORLDS = st.lists(st.sampled_from("aab"), min_size=1, max_size=30)


@given(WORLDS, LATENCIES, st.integers(0, 3))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
def test_overlap_of_one_is_latest_only(tmp_path: Path, windows: list[str], latency: str, seed: int) -> None:
    runs = [
        play(plan(screen(windows), names, memory=Notebook, latency=latency, policy=policy, seed=seed), tmp_path)
        for policy in ("latest_only", "overlap:1")
    ]
    one, two = (run.lines for run in runs)
    assert one[1:] == two[1:]
    assert {k for k in one[0] if one[0][k] != two[0][k]} == {"policy"}


@given(st.integers(1, 5), st.integers(1, 20))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)
def test_stride_sees_every_nth_snapshot(tmp_path: Path, n: int, length: int) -> None:
    run = play(plan(screen("a" * length), names, policy=f"stride:{n}"), tmp_path)
    assert run.seen == list(range(0, length, n))
    assert run.lines[-1]["never_seen"] == length - len(run.seen)


@given(
    st.lists(st.integers(0, 3 * 10), min_size=1, max_size=25).map(sorted),
    LATENCIES,
    st.sampled_from(["latest_only", "queue_all", "drop_oldest:1", "drop_oldest:3", "drop_newest:1", "drop_newest:2",
                     "stride:3", "cancel_in_flight", "overlap:2", "overlap:5"]),
)  # fmt: skip
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
def test_every_snapshot_is_seen_once_or_counted_as_never_seen(
    tmp_path: Path, tenths: list[int], latency: str, policy: str
) -> None:
    rows = [screen("a").rows[0]._replace(index=i, captured_ns=t * SECOND // 10) for i, t in enumerate(tenths)]
    run = play(plan(Screen(rows, rows[-1].captured_ns + SECOND), names, latency=latency, policy=policy), tmp_path)
    end = run.lines[-1]
    assert run.result.error is None
    assert run.seen == sorted(set(run.seen)), "each at most once, in order"
    assert end["released"] == len(rows)
    assert end["decisions"] == len(run.log)
    assert end["decisions"] + end["never_seen"] == end["released"]
    late = end["released"] - end["decisions"] - int(run.log.dropped_before.sum())
    assert late >= 0, "what was dropped before a decision is no more than what was never seen"
    assert (run.log.started_ns < rows[-1].captured_ns + SECOND).all()
    assert (run.log.started_ns >= run.log.released_ns).all()


def test_a_queue_of_all_falls_behind_and_sees_everything_in_order(tmp_path: Path) -> None:
    run = play(plan(screen(TEN), names, latency="fixed:2s", policy="queue_all"), tmp_path)
    assert run.seen == [0, 1, 2, 3, 4], "the next would start at 10 s, which is the end"
    assert run.log.started_ns.tolist() == [0, 2 * SECOND, 4 * SECOND, 6 * SECOND, 8 * SECOND]
    assert run.lines[-1]["never_seen"] == 5


def test_the_latest_snapshot_is_taken_when_an_answer_comes_at_its_very_instant(tmp_path: Path) -> None:
    run = play(plan(screen(TEN), names, latency="fixed:2s"), tmp_path)
    assert run.seen == [0, 2, 4, 6, 8]
    assert run.log.started_ns.tolist() == run.log.captured_ns.tolist()
    assert run.log.dropped_before.tolist() == [0, 1, 1, 1, 1]


def test_drop_newest_keeps_old_snapshots_and_drop_oldest_the_new(tmp_path: Path) -> None:
    newest = play(plan(screen(TEN), names, latency="fixed:3500ms", policy="drop_newest:1"), tmp_path)
    oldest = play(plan(screen(TEN), names, latency="fixed:3500ms", policy="drop_oldest:1"), tmp_path)
    assert newest.seen == [0, 1, 4]
    assert oldest.seen == [0, 3, 6], "at 7 s the agent is idle, so 6 is not waiting and need not give way"


def test_an_idle_agent_counts_as_room_in_a_bounded_queue(tmp_path: Path) -> None:
    rows = [row._replace(captured_ns=0) for row in screen("abc").rows]
    for policy, seen in (("drop_newest:1", [0, 1]), ("drop_oldest:1", [1, 2]), ("latest_only", [2])):
        run = play(plan(Screen(rows, SECOND), names, latency="fixed:10ms", policy=policy), tmp_path)
        assert run.seen == seen, policy


def test_a_new_snapshot_cancels_a_decision_until_none_comes(tmp_path: Path) -> None:
    run = play(plan(screen("aaaa"), names, latency="fixed:1500ms", policy="cancel_in_flight"), tmp_path)
    assert run.log.kind.tolist() == [Kind.CANCELLED] * 3 + [Kind.OFFER]
    assert run.log.actionable_ns.tolist() == [SECOND, 2 * SECOND, 3 * SECOND, 4500 * MS]
    assert run.lines[-2]["flags"] == ["after_end"]
    assert run.lines[-1]["cancelled"] == 3
    assert all("offers" not in line for line in run.lines[1:4]), "what it would have said is unknown"


def test_an_answer_at_the_instant_of_the_next_snapshot_is_not_cancelled(tmp_path: Path) -> None:
    run = play(plan(screen("aaaa"), names, latency="fixed:1s", policy="cancel_in_flight"), tmp_path)
    assert run.log.kind.tolist() == [Kind.OFFER] * 4


class Uneven:
    """Snapshot 0 takes 5 s, all others 1 s."""

    text = "uneven"

    def charge_ns(self, call: object, seed: int) -> int:
        return 5 * SECOND if call.snapshot == 0 else SECOND  # type: ignore[attr-defined]


def test_only_a_newer_offer_or_retraction_supersedes_an_older_offer(tmp_path: Path) -> None:
    def kinds(later: Decision) -> list[int]:
        def answer(seen: Observation) -> Decision:
            return Decision((Offer("old"),)) if seen.snapshot.index == 0 else later

        run = play(plan(screen("aaaa"), answer, latency=Uneven(), policy="overlap:3"), tmp_path)
        return list(run.log.kind)

    assert kinds(Decision())[0] == Kind.OFFER, "silence takes nothing back"
    assert kinds(Decision(unparsed=True))[0] == Kind.OFFER
    assert kinds(Decision((Offer("new"),)))[0] == Kind.SUPERSEDED
    assert kinds(Decision(retracted=("old",)))[0] == Kind.SUPERSEDED
    assert kinds(Decision((Offer("new"),)))[1:] == [Kind.OFFER] * 3


def test_an_older_retraction_is_superseded_like_an_offer(tmp_path: Path) -> None:
    def answer(seen: Observation) -> Decision:
        return Decision(retracted=("x",)) if seen.snapshot.index == 0 else Decision((Offer("new"),))

    run = play(plan(screen("aa"), answer, latency=Uneven(), policy="overlap:2"), tmp_path)
    assert run.log.kind.tolist() == [Kind.SUPERSEDED, Kind.OFFER]


def test_answers_of_one_instant_go_by_snapshot(tmp_path: Path) -> None:
    class Meeting:
        text = "meeting"

        def charge_ns(self, call: object, seed: int) -> int:
            return int(3 - call.snapshot) * SECOND  # type: ignore[attr-defined]

    run = play(plan(screen("aaa"), names, latency=Meeting(), policy="overlap:3"), tmp_path)
    assert run.log.actionable_ns.tolist() == [3 * SECOND] * 3
    assert run.log.kind.tolist() == [Kind.OFFER] * 3, "none is overtaken by one that was captured later"


def test_overlap_has_places_and_one_that_waits(tmp_path: Path) -> None:
    run = play(plan(screen("aaaaaa"), names, latency="fixed:3500ms", policy="overlap:2"), tmp_path)
    assert run.log.started_ns.tolist() == [0, SECOND, 3500 * MS, 4500 * MS]
    assert run.seen == [0, 1, 3, 4]


def test_held_snapshots_are_flagged_and_keep_the_time_of_their_content(tmp_path: Path) -> None:
    run = play(plan(screen("aaab", held=(1, 2)), names), tmp_path)
    assert [r.get("flags") for r in run.lines[1:-1]] == [["cold"], ["held"], ["held"], None]
    assert run.log.content_ns.tolist() == [0, 0, 0, 3 * SECOND]
    assert run.log.captured_ns.tolist() == [0, SECOND, 2 * SECOND, 3 * SECOND]


def test_nothing_starts_at_the_end_and_what_is_late_is_flagged(tmp_path: Path) -> None:
    run = play(plan(screen("aaa"), names, latency="fixed:1500ms", policy="queue_all"), tmp_path)
    assert run.log.started_ns.tolist() == [0, 1500 * MS], "the third would start at 3 s, the end"
    assert [r.get("flags") for r in run.lines[1:-1]] == [["cold"], ["after_end"]]
    assert run.lines[-1]["never_seen"] == 1


def test_folded_and_whole_records_tell_the_same(tmp_path: Path) -> None:
    def answer(seen: Observation) -> Decision:
        return Decision((Offer("x"),)) if seen.snapshot.index % 3 == 0 else Decision()

    run = play(plan(screen("a" * 10), answer, latency="fixed:1200ms"), tmp_path)
    assert [line["kind"] for line in run.lines].count("silence") > 0
    assert [row["snapshot"] for row in told(run.log)[:-1]] == run.seen
