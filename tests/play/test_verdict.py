"""The verdict on a memory: its rule on figures made by hand, and memories planted among made-up users with habits."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import anyio
import pytest

from memory.personas import PersonaMemory
from memory.rag import RagMemory
from simulator.cli.sweep import _BUNDLED
from simulator.cli.sweep import memories as command
from simulator.cli.sweep_memories import Asked, _given
from simulator.core.errors import Exit, UsageError
from simulator.core.types import SECOND, Event, Label, MemoryItem, Query, Snapshot
from simulator.play.probing import Probed, _asked, probe
from simulator.play.verdict import Unjudged, weigh
from simulator.play.verdict_page import page
from simulator.play.verdict_rule import METRICS, Against, DataSet, Member, Part, Verdict, judge
from simulator.session.scenario import plays
from simulator.workload import generate

ROOT = Path(__file__).resolve().parents[2]
BLIND = ("none", "class-prior", "shuffled-user")

PLANTED = '''
"""Memories that are planted, and an agent that believes what it is told."""

from dataclasses import replace

from memory.rag import RagMemory
from memory.shuffled import ShuffledUser
from simulator.core.types import SILENT, Decision, Offer


class Believing:
    """Offers help where most of what is recalled says that it was needed."""

    inline = True

    async def decide(self, seen):
        items = [i for i in await seen.memory.recall(5) if i.help is not None]
        needed = [i for i in items if i.help > 0.5]
        if 2 * len(needed) <= len(items):
            return SILENT
        return Decision((Offer(next((i.intention for i in needed if i.intention), "Translation")),))


class Helpful(RagMemory):
    """A good memory under another name."""


class Harmful(RagMemory):
    """Says the opposite of what it knows."""

    async def recall(self, query, k, token_budget):
        items = await super().recall(query, k, token_budget)
        return [replace(i, help=None if i.help is None else 1 - i.help) for i in items]


class Shuffled(ShuffledUser):
    """Somebody else's past."""


class Broken(RagMemory):
    """Cannot take anything in."""

    async def observe(self, event):
        raise RuntimeError("no disk")
'''


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of planted memories beside seven made-up users; the runs of the controls are shared."""
    where = tmp_path_factory.mktemp("planted")
    (where / "planted.py").write_text(PLANTED)
    recipe = ROOT / "scenarios" / "recipes" / "habits-strong.yaml"
    generate(recipe, where / "users", users=7, days=3, seed=3, sessions=1)
    return where


def weighed(where: Path, name: str) -> Verdict:
    async def work() -> Verdict:
        return await weigh(
            f"{where}/planted.py:{name}",
            [DataSet("made-up", (where / "users",), "moments")],
            where / "out",
            agent=f"{where}/planted.py:Believing",
            clock="modelled",
            latency="profile:instant",
            controls=BLIND,
        )

    return anyio.run(work)


@pytest.mark.parametrize(("name", "word"), [("Helpful", "helps"), ("Harmful", "harms"), ("Shuffled", "no evidence")])
def test_a_planted_memory_gets_the_verdict_it_deserves(
    planted: Path, name: str, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def unasked(*_: object, **__: object) -> None:
        """What asking at each need brings has tests of its own, and takes as long as playing."""

    monkeypatch.setattr("simulator.play.verdict.probe", unasked)
    verdict = weighed(planted, name)
    assert verdict.word == word, verdict.why
    told = page(verdict)
    where = "" if word == "no evidence" else " in made-up"
    assert told.startswith(f"# `{planted}/planted.py:{name}`: {word}{where}\n")
    json.dumps(verdict.told(), allow_nan=False)
    if word == "no evidence":
        assert "a true difference of" in verdict.why


def test_a_memory_that_fails_is_no_verdict_but_an_error_that_says_why(planted: Path) -> None:
    with pytest.raises(Unjudged, match=r"7 units could not be played: .*observe failed") as told:
        weighed(planted, "Broken")
    assert told.value.exit_code == Exit.SOME_UNITS_ERRED


def against(control: str, gain: float, low: float | None, high: float | None, p: float | None) -> Against:
    return Against(control, "accuracy", gain, low, high, p, None, 0.1, 12)


def one(*few: Against) -> Sequence[Part]:
    return [Part(DataSet("d", ()), "moments", 12, 12, (), few)]


@pytest.mark.parametrize(
    ("few", "word"),
    [
        # Better than all three, each p times three at most .05.
        ([("none", 0.2, 0.1, 0.3, 0.01), ("class-prior", 0.2, 0.1, 0.3, 0.01), ("shuffled-user", 0.2, 0.1, 0.3, 0.01)],
         "helps"),
        # The same without Holm would be enough: .02 times three is not.
        ([("none", 0.2, 0.1, 0.3, 0.02), ("class-prior", 0.2, 0.1, 0.3, 0.02), ("shuffled-user", 0.2, 0.1, 0.3, 0.02)],
         "no evidence"),
        # Better than nothing, as somebody else's past is.
        ([("none", 0.2, 0.1, 0.3, 0.001), ("class-prior", 0.2, 0.1, 0.3, 0.001), ("shuffled-user", 0, -0.1, 0.1, 0.9)],
         "no evidence"),
        # An interval on both sides of 0, whatever p says.
        ([("none", 0.2, -0.01, 0.3, 0.001)], "no evidence"),
        # All sessions alike: no interval, and yet no doubt.
        ([("none", 0.5, None, None, 0.001)], "helps"),
        ([("none", -0.2, -0.3, -0.1, 0.001), ("class-prior", 0.2, 0.1, 0.3, 0.001)], "harms"),
        # Worse than a control is no harm.
        ([("none", 0.0, -0.1, 0.1, 0.9), ("class-prior", -0.2, -0.3, -0.1, 0.001)], "no evidence"),
        # Too few sessions for a test.
        ([("none", 0.4, 0.3, 0.5, None)], "no evidence"),
        # Better than recency proves nothing, and it is not in Holm's family.
        ([("recency", 0.4, 0.3, 0.5, 0.001)], "no evidence"),
    ],
)  # fmt: skip
def test_the_rule(few: Sequence[tuple[str, float, float | None, float | None, float | None]], word: str) -> None:
    assert judge("m", "prior", one(*(against(*a) for a in few))).word == word


def test_harm_in_one_data_set_outweighs_help_in_another() -> None:
    better = one(against("none", 0.2, 0.1, 0.3, 0.001))
    worse = one(against("none", -0.2, -0.3, -0.1, 0.001))
    assert judge("m", "prior", [*better, *worse]).word == "harms"
    assert judge("m", "prior", [*better, *one(against("none", 0.0, -0.1, 0.1, 0.8))]).word == "helps"


def named(name: str, *few: Against) -> Part:
    return Part(DataSet(name, ()), "moments", 12, 12, (), few)


def test_the_heading_names_the_data_in_which_it_helps_or_harms() -> None:
    good, plain = against("none", 0.2, 0.1, 0.3, 0.001), against("none", 0.0, -0.1, 0.1, 0.8)
    told = page(judge("m", "prior", [named("b", plain), named("c", good)]))
    assert told.startswith("# `m`: helps in c\n")
    bad = against("none", -0.2, -0.3, -0.1, 0.001)
    assert page(judge("m", "prior", [named("b", bad), named("c", good)])).startswith("# `m`: harms in b\n")
    assert page(judge("m", "prior", [named("b", plain)])).startswith("# `m`: no evidence\n")


def test_the_page_says_of_which_figure_less_is_better() -> None:
    utility = replace(against("none", 0.2, 0.1, 0.3, 0.01), metric="timely_utility")
    f1, unwanted = replace(utility, metric="F1_rt"), replace(utility, metric="unwanted_per_hour", direction="down")
    part = Part(DataSet("d", ()), "stream", 8, 4, (Member("m", "m"), Member("none", "none")), (utility, f1, unwanted))
    told = page(judge("m", "prior", [part]))
    assert "| gain in timely_utility | gain in F1_rt | change in unwanted_per_hour (less is better) |" in told


def test_a_member_that_was_not_played_has_a_cell_in_every_column() -> None:
    few = (against("none", 0.2, 0.1, 0.3, 0.01), Against("rag", "accuracy", reason="no rag"))
    rest = [replace(a, metric=metric) for a in few for metric in METRICS["moments"][1:]]
    members = (Member("m", "m"), Member("none", "none"), Member("rag", "rag", reason="no rag"))
    told = page(judge("m", "prior", [Part(DataSet("d", ()), "moments", 8, 4, members, (*few, *rest))]))
    table = told[told.index("| memory |") :].split("\n\n")[0].splitlines()
    assert [row.split(" | ")[0] for row in table[2:]] == ["| m", "| none", "| rag"]
    assert len({row.count("|") for row in table}) == 1


def test_an_interval_below_0_that_p_does_not_bear_out_looks_harmful() -> None:
    maybe, good = against("none", -0.2, -0.3, -0.1, 0.3), against("none", 0.2, 0.1, 0.3, 0.001)
    looks = "it looks harmful in b: accuracy -0.2 against none, interval [-0.3, -0.1], not shown by p"
    for parts, word in (([named("b", maybe)], "no evidence"), ([named("b", maybe), named("c", good)], "helps")):
        verdict = judge("m", "prior", parts)
        assert (verdict.word, looks in verdict.why) == (word, True)
    shown = judge("m", "prior", [named("b", against("none", -0.2, -0.3, -0.1, 0.001))])
    assert (shown.word, "looks harmful" in shown.why) == ("harms", False)
    assert "looks harmful" not in judge("m", "prior", [named("b", against("none", -0.2, -0.3, 0.1, 0.3))]).why


@pytest.mark.parametrize(
    ("recalls", "empty", "said"),
    [(60, 60, "; in b it recalled nothing in 60 of 60 recalls"), (60, 31, "nothing in 31 of 60 recalls"),
     (60, 30, None), (0, 0, "; in b the agent never asked it"), (None, None, None)],
)  # fmt: skip
@pytest.mark.parametrize("gain", [-0.2, 0.0, 0.2])
def test_a_memory_that_mostly_recalls_nothing_is_told_as_such_beside_any_word(
    gain: float, recalls: int | None, empty: int | None, said: str | None
) -> None:
    against_none = against("none", gain, gain - 0.1, gain + 0.1, 0.001 if gain else 0.9)
    part = replace(named("b", against_none), members=(Member("m", "m", recalls=recalls, empty=empty),))
    told = page(judge("m", "prior", [part]))
    assert ("it recalled nothing in" in told or "never asked it" in told) == (said is not None)
    assert (said or "") in told
    assert f"| {'-' if recalls is None else f'{empty} of {recalls}'} | 0 |" in told


@pytest.mark.parametrize(
    ("errors", "said"),
    [
        (0, None),
        (9, "; in b 9 of 100 decisions failed."),
        (10, "; in b 10 of 100 decisions failed, so this says little."),
    ],
)
@pytest.mark.parametrize(("gain", "word"), [(-0.2, "harms in b"), (0.0, "no evidence"), (0.2, "helps in b")])
def test_failed_decisions_are_told_beside_any_word(gain: float, word: str, errors: int, said: str | None) -> None:
    against_none = against("none", gain, gain - 0.1, gain + 0.1, 0.001 if gain else 0.9)
    part = replace(
        named("b", against_none), members=(Member("m", "m", errors=errors, decisions=100, answered=100 - errors),)
    )
    told = page(judge("m", "prior", [part]))
    assert told.startswith(f"# `m`: {word}\n")
    assert ("decisions failed" in told.split("\n## ")[0]) == (said is not None)
    assert (said or "") in told
    assert f"| {f'{errors} of 100' if errors else '0'} |" in told


@pytest.mark.parametrize("gain", [-0.2, 0.0, 0.2])
@pytest.mark.parametrize("whose", ["m", "none", "rag"])
def test_where_half_of_the_decisions_failed_nothing_is_read(gain: float, whose: str) -> None:
    bad = against("none", gain, gain - 0.1, gain + 0.1, 0.001 if gain else 0.9)
    few = (bad, *(replace(bad, metric=metric) for metric in METRICS["moments"][1:]))
    members = [Member(n, n, errors=5 * (n == whose), decisions=9, answered=4) for n in ("m", "none", "rag")]
    part = replace(named("b", *few, *(replace(a, control="rag") for a in few)), members=tuple(members))
    verdict = judge("m", "prior", [part])
    if whose == "rag":  # which the rule does not read
        assert verdict.word == {-0.2: "harms", 0.0: "no evidence", 0.2: "helps"}[gain]
        return
    assert (verdict.word, verdict.where) == ("not judged", ())
    with_whom = "" if whose == "m" else " with none"
    assert verdict.why == (
        f"in b 5 of 9 decisions{with_whom} failed, half or more of those that should have said something, "
        "so it is not read"
    )
    assert "looks harmful" not in verdict.why
    assert f"({'0.900' if not gain else '0.001'})" in page(verdict), "p is not adjusted where the rule reads none"
    other = judge("m", "prior", [part, named("c", against("none", 0.2, 0.1, 0.3, 0.04))])
    assert (other.word, other.where, verdict.why in other.why) == ("helps", ("c",), True)


def test_of_a_memory_that_fails_half_the_time_the_command_judges_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def unasked(*_: object, **__: object) -> None: ...

    monkeypatch.setattr("simulator.play.verdict.probe", unasked)
    asking = (
        "class Asking:\n    async def decide(self, seen):\n        from simulator.core.types import SILENT\n\n"
        "        await seen.memory.recall(5)\n        return SILENT\n"
    )
    (tmp_path / "mine.py").write_text(MINE.format(then="raise KeyError('title')") + asking)
    desk = [ROOT / "docs" / "examples" / "desk.yaml"]
    given: dict[str, Any] = {
        "agent": f"{tmp_path}/mine.py:Asking",
        "out": tmp_path / "out",
        "clock": "modelled",
        "latency": "profile:instant",
    }
    assert command(desk, memory=f"{tmp_path}/mine.py:Mine", **given) == 0
    told = json.loads((tmp_path / "out" / "verdict.json").read_text())
    mine = told["parts"][0]["members"][0]
    assert told["word"] == "not judged"
    assert mine["decisions"] >= mine["errors"] >= mine["decisions"] / 2
    assert told["why"].startswith(f"in named {mine['errors']} of {mine['decisions']} decisions failed, half or more")
    assert "never asked" not in told["why"]


def test_decisions_that_ask_nothing_do_not_outweigh_recalls_that_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The agent ``prior`` asks when the window changes, in two of 200 decisions here."""

    async def unasked(*_: object, **__: object) -> None: ...

    monkeypatch.setattr("simulator.play.verdict.probe", unasked)
    (tmp_path / "mine.py").write_text(MINE.format(then="raise KeyError('title')"))
    desk = [ROOT / "docs" / "examples" / "desk.yaml"]
    mine = f"{tmp_path}/mine.py:Mine"
    assert command(desk, memory=mine, out=tmp_path / "out", clock="modelled", latency="profile:instant") == 0
    why = json.loads((tmp_path / "out" / "verdict.json").read_text())["why"]
    assert why.startswith("in named 2 of 200 decisions failed (most others asked nothing), half or more of those")
    few = replace(named("b", against("none", 0.0, -0.1, 0.1, 0.8)), members=(
        Member("m", "m", errors=3, decisions=200, answered=8),))  # fmt: skip
    said = "; in b 3 of 200 decisions failed (most others asked nothing), so this says little"
    assert judge("m", "prior", [few]).why.endswith(said)


def test_the_page_says_what_p_in_brackets_is() -> None:
    told = page(judge("m", "prior", [named("b", against("none", 0.0, -0.1, 0.1, 0.8))]))
    assert "p in brackets is of what the rule does not read" in told
    assert "not adjusted" in told


def test_the_page_says_whose_past_the_control_reads_and_how() -> None:
    told = page(judge("graph", "prior", [named("b", against("none", 0.0, -0.1, 0.1, 0.8))]))
    assert "`shuffled-user` is somebody else's past as `rag` reads it, whatever memory is judged" in told


def test_recall_hit_and_mrr_by_hand() -> None:
    """Seven past events; three of the true intention (a, c, f), of which the recalled ones stand in places 2 and 5."""
    needs = {"a": "Translation", "b": None, "c": "Translation", "d": "Data Analysis", "e": None, "f": "Translation"}
    known: dict[str, tuple[Event, Label | None]] = {
        name: (Event(name, "u", 0, SECOND), Label(name, "u", need is not None, SECOND, need))
        for name, need in needs.items()
    }
    known["g"] = (Event("g", "other", 0, SECOND), Label("g", "other", True, SECOND, "Translation"))

    class Five:
        async def recall(self, query: Query, k: int, token_budget: int | None) -> list[MemoryItem]:
            sources = [("d", "a"), ("b",), ("e",), ("f",), ("c",)]
            return [MemoryItem("x", 1.0, source_event_ids=one, tokens=10) for one in sources]

    found = Probed()

    async def ask() -> None:
        query = Query("u", None, None, None, 2 * SECOND)
        await _asked(Five(), query, "translation", known, found)
        await _asked(Five(), query, "Documentation", known, found)  # never arose: no figure

    anyio.run(ask)
    told = found.told()
    assert (told["needs"], told["answerable"]) == (2, 1)
    assert told["recall@5"] == pytest.approx(2 / 3)  # d a b e f | c comes sixth
    assert (told["hit@5"], told["mrr"], told["tokens_per_recall"]) == (1.0, 0.5, 50.0)


def test_a_memory_that_names_no_events_has_no_recall_and_not_one_of_zero() -> None:
    found = Probed(asked=3, answerable=3, recalls=[0.0, 0.0, 0.0], ranks=[0.0, 0.0, 0.0], items=9, unnamed=9)
    assert [found.told()[name] for name in ("recall@5", "hit@5", "mrr")] == [None, None, None]


def test_the_command_writes_the_page_and_a_second_call_plays_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = {"memory": "window", "out": tmp_path / "out", "clock": "modelled", "latency": "profile:instant"}
    desk = [ROOT / "docs" / "examples" / "desk.yaml"]
    for _ in range(2):
        assert command(desk, json=True, **given) == 0  # type: ignore[arg-type]
        records = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert records[-1]["event"] == "done"
        assert records[-1]["verdict"] == "no evidence"
    members = {r["name"]: r for r in records if r["event"] == "memory"}
    assert set(members) == {"window", "none", "class-prior", "recency", "shuffled-user", "rag", "graph", "oracle"}
    assert "nobody but" in members["shuffled-user"]["reason"]
    assert members["oracle"]["scores"]["F1_rt"] is not None
    assert members["rag"]["probed"]["size_bytes"] % (4 * 512) == 0, "whole vectors, not the past that it saves"
    assert members["window"]["probed"]["size_bytes"] is None, "it reports none"
    assert members["rag"]["recalls"] > members["rag"]["empty"] >= 0
    assert members["none"]["recalls"] is None
    assert (tmp_path / "out" / "verdict.md").read_text().count("\n| ") >= 16
    assert json.loads((tmp_path / "out" / "verdict.json").read_text())["word"] == "no evidence"


def test_of_a_memory_that_is_always_empty_the_command_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = tmp_path / "mine.py"
    mine.write_text(
        "class Empty:\n    def observe(self, event): ...\n    def recall(self, query, k, budget): return []\n"
    )
    desk = [ROOT / "docs" / "examples" / "desk.yaml"]
    assert command(desk, memory=f"{mine}:Empty", out=tmp_path / "out", clock="modelled", latency="profile:instant") == 0
    (n,) = set(re.findall(r"it recalled nothing in (\d+) of \1 recalls", " ".join(capsys.readouterr().out.split())))
    assert int(n) > 0
    told = json.loads((tmp_path / "out" / "verdict.json").read_text())
    assert [told["parts"][0]["members"][0][name] for name in ("recalls", "empty")] == [int(n), int(n)]


def test_the_page_says_which_of_the_sessions_that_come_with_proact_it_is_about() -> None:
    (data,) = _given(None, _BUNDLED, Asked("rag", "prior", None, 0, 14, None, None, "measured", None, None, None))
    assert [len(data.scenarios), len(plays([ROOT / "scenarios"]))] == [8, 13]
    told = page(judge("rag", "prior", [Part(data, "stream", 8, 4, (), ())]))
    assert "8 sessions of 4 users, protocol stream. They are eight of the thirteen" in told


def test_at_a_need_is_asked_what_the_first_snapshot_after_it_shows() -> None:
    class Asked(RagMemory):
        queries: ClassVar[list[Query]] = []

        async def recall(self, query: Query, k: int, token_budget: int | None) -> list[MemoryItem]:
            self.queries.append(query)
            return []

    (play,) = plays([ROOT / "scenarios" / "desktop"])
    plan: Any = SimpleNamespace(
        settings=SimpleNamespace(memory_mode="online"), history=play.history, truth=play.truth, source=play.source,
        memory=Asked, intentions=(),
    )  # fmt: skip

    async def work() -> list[Snapshot]:
        await probe(plan, play, Probed(), nth=99)
        return [snapshot async for snapshot in play.source.snapshots()]

    shown = anyio.run(work)
    firsts = [next(s for s in shown if s.captured_ns >= need.opens_ns) for need in play.truth.servable]
    asked = [(query.now_ns, query.app, query.title) for query in Asked.queries]
    assert asked == [(s.captured_ns, s.app, s.title) for s in firsts]
    assert any(s.captured_ns > need.opens_ns for s, need in zip(firsts, play.truth.servable, strict=True))


def probed(make: Callable[[], Any], *, nth: int) -> Probed:
    (play,) = plays([ROOT / "scenarios" / "desktop"])
    plan: Any = SimpleNamespace(
        settings=SimpleNamespace(memory_mode="online"), history=play.history, truth=play.truth, source=play.source,
        memory=make, intentions=play.intentions,
    )  # fmt: skip
    into = Probed()
    anyio.run(lambda: probe(plan, play, into, nth=nth))
    return into


def test_a_write_that_is_never_shown_is_not_taken_for_one_that_was(monkeypatch: pytest.MonkeyPatch) -> None:
    class First(RagMemory):
        """Shows the first window that nobody ever saw, and no later one."""

        async def observe(self, event: Event) -> None:
            if not event.id.endswith(("/seen-1", "/seen-2")):
                await super().observe(event)

    monkeypatch.setattr("simulator.play.probing._VISIBLE_WAIT_NS", SECOND // 20)
    found = probed(lambda: First("all"), nth=0)
    assert (len(found.visible_ns), found.unseen) == (1, 1)
    assert len(probed(RagMemory, nth=0).visible_ns) == 3


def test_a_memory_that_is_asked_rebuilds_between_writes_as_in_a_run() -> None:
    found = probed(lambda: PersonaMemory(refresh=2, every_s=30, lag_s=0), nth=99)
    assert found.stats["builds"] > 2
    assert found.stats.get("late_builds", 0) == 0


MINE = """
class Mine:
    def observe(self, event): ...
    def recall(self, query, k, token_budget):
        if query.now_ns < 0:
            return []
        {then}
"""


@pytest.mark.parametrize(
    ("then", "why"),
    [
        ("raise KeyError('title')", r"KeyError: 'title' \(mine.py:7\)"),
        ("return 'all'", r".*memory Mine: recall gives a str: a list of MemoryItem is wanted"),
    ],
)
def test_a_memory_that_fails_whenever_it_is_asked_has_no_verdict_and_is_told_where(
    then: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # long names are cut
    (tmp_path / "mine.py").write_text(MINE.format(then=then))
    all_of_them = rf"memory 'mine.py:Mine' failed whenever it was asked at a need \((\d+) of \1 times\): {why}"
    with pytest.raises(Unjudged, match=all_of_them):
        command([ROOT / "docs/examples/desk.yaml"], memory="mine.py:Mine", out=tmp_path / "out")


def test_a_memory_that_fails_now_and_then_is_probed_to_the_end_as_it_is_run() -> None:
    class Now(RagMemory):
        """Fails at each second question, at each third write of the session, and at its upkeep."""

        def __init__(self) -> None:
            super().__init__()
            self.asked = self.told = 0

        async def recall(self, query: Query, k: int, token_budget: int | None) -> list[MemoryItem]:
            self.asked += 1
            if self.asked % 2:
                raise KeyError("title")
            return await super().recall(query, k, token_budget)

        async def observe(self, event: Event) -> None:
            self.told += event.end_ns >= 0
            if event.end_ns >= 0 and self.told % 3 == 1:
                raise OSError("no disk")
            await super().observe(event)

        def needs_upkeep(self) -> bool:
            return self.told == 2

        async def maintain(self, now_ns: int) -> None:
            if now_ns:
                raise RuntimeError("no room")

    found, whole = probed(Now, nth=99), probed(RagMemory, nth=99)
    told = found.told()
    assert found.asked == whole.asked > 1
    assert told["failed"]["recalls"] == (found.asked + 1) // 2
    assert told["failed"]["writes"] > 0
    assert told["failed"]["upkeeps"] > 0
    assert told["fault"].startswith("OSError: no disk (test_verdict.py:")
    assert len(found.recalls) == len(whole.recalls), "a failed recall counts as finding nothing"
    assert len(found.tokens) == found.asked - told["failed"]["recalls"]
    assert whole.told()["failed"] == {}
    member = Member("m", "m", probed=told | {"failed": {"recalls": 2, "writes": 1, "tries": 3}, "needs": 9})
    part = replace(named("b", against("none", 0.0, -0.1, 0.1, 0.8)), members=(member,))
    said = "* `m`, tried by itself: 2 of 9 recalls failed and count as finding nothing; 1 write failed; 3 tries of"
    assert said in page(judge("m", "prior", [part]))


def test_a_memory_that_cannot_take_in_the_past_is_not_probed() -> None:
    class Broken(RagMemory):
        async def observe(self, event: Event) -> None:
            raise OSError("no disk")

    with pytest.raises(OSError, match="no disk"):
        probed(Broken, nth=99)


def test_what_cannot_be_asked_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--generated -1"):
        command(memory="rag", generated=-1)
    with pytest.raises(UsageError, match="unknown memory"):
        command(memory="ragg", out=tmp_path)
    with pytest.raises(UsageError, match="no such"):
        command([tmp_path / "nowhere"], memory="rag", out=tmp_path)
