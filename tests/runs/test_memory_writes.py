"""What the world reveals and when: events at the tick that proves them closed, labels in order, writes in the lane."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simulator.core.types import MS, SECOND, SILENT, Decision, Event, Label, Observation
from simulator.runs.labels import Asks
from simulator.session.scenario import plays
from simulator.session.segmentation import Cutter
from simulator.session.store import Writer
from simulator.session.truth import Assist, Opportunity, Truth
from simulator.timing.clock import pause
from tests.worlds import PERIOD, Agent, Notebook, Screen, names, plan, play, screen, silent


def need(opens_s: int, acted_s: int, intention: str = "Debug") -> Opportunity:
    return Opportunity(f"n{acted_s}", opens_s * SECOND, acted_s * SECOND, intention, acted_s * SECOND, "why?")


class Shared(Notebook):
    """One notebook that the test can read."""

    last: Shared

    def __init__(self) -> None:
        super().__init__()
        Shared.last = self


def test_an_event_is_written_at_the_tick_that_proves_it_closed_and_its_label_after_it(tmp_path: Path) -> None:
    run = play(plan(screen("aabbc"), silent, memory=Shared, needs=[need(1, 2)]), tmp_path)
    assert [(w["what"], w["event"], w["available_ns"]) for w in run.log.writes] == [
        ("observe", "s/0", 2 * SECOND), ("feedback", "s/0", 2 * SECOND),
        ("observe", "s/1", 4 * SECOND), ("feedback", "s/1", 4 * SECOND),
    ]  # fmt: skip
    heard = [thing for _, thing in Shared.last.heard]
    assert heard[0] == Event("s/0", "u", 0, 2 * SECOND, "a", "a title")
    assert heard[1] == Label("s/0", "u", True, 2 * SECOND, "Debug", "why?")
    assert heard[3] == Label("s/1", "u", False, 4 * SECOND)


def test_work_with_the_assistant_is_marked_and_gets_no_label(tmp_path: Path) -> None:
    assists = [Assist(2 * SECOND, 4 * SECOND, "Debug", "why?")]
    run = play(plan(screen("aabbcc"), silent, memory=Shared, assists=assists), tmp_path)
    events = [thing for what, thing in Shared.last.heard if what == "observe"]
    labels = [thing for what, thing in Shared.last.heard if what == "feedback"]
    assert [e.assistance for e in events] == [False, True]
    assert [(lb.event_id, lb.help, lb.query) for lb in labels] == [("s/0", True, "why?")], "the need arose before it"
    assert len(run.log.writes) == 3


def test_a_session_of_which_nothing_is_known_gives_events_and_no_labels(tmp_path: Path) -> None:
    from dataclasses import replace

    unit = plan(screen("aabb"), silent, memory=Shared)
    play(replace(unit, truth=replace(unit.truth, known=False)), tmp_path)
    assert [what for what, _ in Shared.last.heard] == ["observe"]


def test_an_event_ends_where_a_gap_begins_and_is_known_when_recording_goes_on(tmp_path: Path) -> None:
    rows = [r._replace(captured_ns=t * SECOND) for r, t in zip(screen("aaa").rows, (0, 1, 100), strict=True)]
    source = Screen(rows, 101 * SECOND, gaps=[(2 * SECOND, 100 * SECOND, "suspend")])
    run = play(plan(source, silent, memory=Shared), tmp_path)
    (event, label) = (thing for _, thing in Shared.last.heard)
    assert event.end_ns == 2 * SECOND
    assert run.log.writes[0]["available_ns"] == 100 * SECOND
    assert label.available_ns == 100 * SECOND
    assert run.lines[-1]["changes_ns"] == [], "the window did not change: it went dark"


def test_a_write_waits_for_decisions_in_flight_and_goes_ahead_of_waiting_snapshots(tmp_path: Path) -> None:
    unit = plan(screen("aabb"), names, memory=Notebook, latency="fixed:1500ms+200ms", policy="queue_all")
    run = play(unit, tmp_path)
    kinds = [(line["kind"], line.get("started_ns", 0) // MS) for line in run.lines[1:-1]]
    assert kinds == [
        ("offer", 0), ("offer", 1500), ("memory_write", 3000), ("memory_write", 3200), ("offer", 3400),
    ]  # fmt: skip
    assert run.log.seq.tolist() == [0, 1, 4]


@pytest.mark.parametrize("policy", ["latest_only", "overlap:1", "overlap:3", "cancel_in_flight", "queue_all"])
def test_no_decision_starts_while_the_memory_writes_so_none_reads_what_is_not_yet_there(
    policy: str, tmp_path: Path
) -> None:
    unit = plan(screen("aabbcdabcdd"), names, memory=Notebook, latency="fixed:1900ms+700ms", policy=policy)
    run = play(unit, tmp_path)
    assert run.log.writes
    decisions = list(zip(run.log.started_ns.tolist(), run.log.actionable_ns.tolist(), strict=True))
    for write in run.log.writes:
        started, done = write["started_ns"], write["done_ns"]
        assert started >= write["available_ns"]
        assert not [s for s, _ in decisions if started <= s < done], "nothing starts in it"
        assert not [s for s, e in decisions if s < started < e], "it starts in nothing"


def test_a_write_is_visible_from_its_completion_on(tmp_path: Path) -> None:
    seen: dict[int, int] = {}

    class Looks:
        inline = True

        async def decide(self, observation: Observation) -> Decision:
            items = await observation.memory.recall(9)
            seen[observation.now_ns // MS] = len(items)
            assert len(observation.memory.labels) == len(items) // 2
            return SILENT

    run = play(plan(screen("aabbcc"), Looks, memory=Notebook, latency="fixed:100ms+300ms"), tmp_path)
    assert run.errors == []
    assert seen == {0: 0, 1000: 0, 2600: 2, 3000: 2, 4600: 4, 5000: 4}


def test_what_is_recalled_is_counted_in_the_record(tmp_path: Path) -> None:
    class Looks:
        inline = True

        async def decide(self, observation: Observation) -> Decision:
            await observation.memory.recall(9)
            return SILENT

    run = play(plan(screen("aabbcc"), Looks, memory=Notebook), tmp_path)
    assert [run.log.full[int(s)].get("memory_hits") for s in run.log.seq if int(s) in run.log.full] == [2, 2, 4, 4]


def test_a_frozen_memory_holds_the_history_only(tmp_path: Path) -> None:
    past = Event("old/1", "u", -20 * SECOND, -10 * SECOND, "a")
    history = [(past, Label("old/1", "u", False, -10 * SECOND))]
    run = play(plan(screen("aabb"), silent, memory=Shared, memory_mode="frozen", history=history), tmp_path)
    assert [thing for _, thing in Shared.last.heard] == list(history[0])
    assert list(run.log.writes) == []


def test_writes_that_would_start_at_the_end_are_counted_and_not_made(tmp_path: Path) -> None:
    run = play(plan(screen("aab"), names, memory=Shared, latency="fixed:1500ms"), tmp_path)
    assert run.log.started_ns.tolist() == [0, 1500 * MS]
    assert run.lines[-1]["writes_after_end"] == 2
    assert Shared.last.heard == []


def test_writes_are_charged_for_real_where_charges_are_measured(tmp_path: Path) -> None:
    class Slow(Notebook):
        def __init__(self) -> None:
            super().__init__(inline=False)

        async def observe(self, event: Event) -> None:
            await pause(15 * MS)
            await super().observe(event)

    for clock in ("measured", "wall"):
        run = play(plan(screen("aabb", PERIOD), Agent(silent), memory=Slow, clock=clock, period_ns=PERIOD), tmp_path)
        observe = run.log.writes[0]
        assert observe["done_ns"] - observe["started_ns"] >= 15 * MS
        after = run.log.started_ns[run.log.snapshot == 2]
        assert (after >= run.log.writes[1]["done_ns"]).all(), "snapshot 2 waits for both writes"


@given(st.lists(st.sampled_from("abc"), max_size=30), st.lists(st.integers(1, 290), max_size=6))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
def test_memory_hears_everything_in_order_of_time(tmp_path: Path, windows: list[str], acts: list[int]) -> None:
    needs = [
        Opportunity(f"n{i}", t * SECOND // 10 - 1, t * SECOND // 10, "x", t * SECOND // 10) for i, t in enumerate(acts)
    ]
    run = play(plan(screen(windows), silent, memory=Shared, needs=needs), tmp_path)
    available = [w["available_ns"] for w in run.log.writes]
    assert available == sorted(available)
    assert [w["done_ns"] for w in run.log.writes] == available, "writes are free here, so each is made at once"
    for (what, thing), write in zip(Shared.last.heard, run.log.writes, strict=True):
        known = thing.end_ns if what == "observe" else thing.available_ns
        assert known <= write["available_ns"]
    changes = [t * SECOND for t, (a, b) in enumerate(itertools.pairwise(windows), 1) if a != b]
    assert run.lines[-1]["changes_ns"] == changes
    assert [w["available_ns"] for w in run.log.writes if w["what"] == "observe"] == changes


def test_an_agent_cannot_change_what_the_next_one_is_told(tmp_path: Path) -> None:
    def answer(observation: Observation) -> Any:
        observation.profile["role"] = "spy"  # type: ignore[index]
        return SILENT

    unit = plan(screen("a"), answer)
    assert play(unit, tmp_path).errors == ["agent_error"]
    assert unit.profile == {"role": "tester"}


def test_an_event_with_two_questions_has_the_first_as_its_label_and_the_other_is_counted() -> None:
    needs = tuple(Opportunity(f"n{u}", 0, u * SECOND, "Translation", u * SECOND, query=f"q{u}") for u in (2, 4))
    asks = Asks(Truth("s", "u", 9 * SECOND, opportunities=needs))
    event, label = asks.settle(Event("s/0", "u", SECOND, 5 * SECOND), 5 * SECOND)
    assert not event.assistance
    assert label is not None
    assert (label.query, label.available_ns, asks.n_passed_over) == ("q2", 2 * SECOND, 1)
    asks.settle(Event("s/1", "u", 5 * SECOND, 6 * SECOND), 6 * SECOND)
    assert asks.n_passed_over == 1


# From, to, window, and the question where it is one to the assistant: at 30 s, at 50 s as a follow-up, at 200 s as a
# follow-up of one of the two inside the window before it.
WORK: list[tuple[int, int, str, str | None]] = [
    (0, 30, "a.py", None), (30, 40, "ChatGPT", "q30"), (40, 50, "b.py", None), (50, 60, "ChatGPT", "follow-up"),
    (60, 200, "c.py", None), (200, 205, "ChatGPT", "q200"), (205, 240, "d.py", None),
]  # fmt: skip


def _recorded(folder: Path, day: int) -> Path:
    with Writer(
        folder, session=folder.name, user="ada", utc_anchor_ns=(1_760_000_000 + 86_400 * day) * SECOND
    ) as writer:
        rows = [(t, t * SECOND, "Code.exe", title) for start, end, title, _ in WORK for t in range(start, end)]
        writer.add_rows(("tick", "captured_ns", "app_name", "window_title"), rows)
        asked = [(120, 121, "", "q120"), (170, 171, "", "q170")]
        for start, end, title, query in [*WORK, *asked]:
            said = {} if query is None else {"conversation": f'{{"user_queries": ["{query}"]}}'}
            writer.event(start_ns=start * SECOND, end_ns=end * SECOND, app_name="Code.exe", window_title=title,
                         is_llm_event=int(query is not None),
                         user_intention="Translation" if query == "q30" else None, **said)  # fmt: skip
    return folder


async def test_a_past_and_a_run_label_the_same_session_alike(tmp_path: Path) -> None:
    _recorded(tmp_path / "past", 0)
    scenario = _recorded(tmp_path / "now", 1) / "scenario.yaml"
    scenario.write_text("history: [../past]\n", encoding="utf-8")
    (now,) = plays([scenario])
    cutter, asks = Cutter(now.user, "now", now.segmentation, ()), Asks(now.truth)
    cut = [e async for s in now.source.snapshots() if (e := cutter.push(s))]
    run = [asks.settle(event, event.end_ns) for event in cut]

    def told(pairs: Sequence[tuple[Event, Label | None]], shift_s: int) -> list[Any]:
        known = {e.start_ns // SECOND + shift_s: (e.assistance, lb and (lb.help, lb.available_ns // SECOND + shift_s,
                 lb.intention, lb.query)) for e, lb in pairs}  # fmt: skip
        return [known[start] for start, *_ in WORK[:-1]]

    assert told(run, 0) == told(now.history, 86_400)
    assert told(run, 0) == [
        (False, (True, 30, "Translation", "q30")), (True, None), (False, (False, 50, None, None)), (True, None),
        (False, (True, 120, "Uncategorized", "q120")), (True, None),
    ]  # fmt: skip
    assert asks.n_passed_over == 1, "that at 170 s; the one at 200 s is a follow-up"
