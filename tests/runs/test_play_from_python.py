"""The whole way from Python: a class of one's own, and what happens when its code changes."""

from __future__ import annotations

import importlib.util
import re
import threading
from pathlib import Path
from typing import Any

import pytest

from simulator.core.errors import Exit, UsageError
from simulator.core.types import Decision, Event, Observation, Offer
from simulator.play import Choice, Watcher, play, run, score_folder
from simulator.runs.unit import UnitPlan, UnitResult

DESKTOP = Path(__file__).resolve().parents[2] / "scenarios" / "desktop"


class Eager:
    """Offers to translate what looks Chinese."""

    inline = True

    async def decide(self, seen: Observation) -> Decision:
        return Decision((Offer("Translation", "translate?"),) if "项目" in (seen.snapshot.title or "") else ())


def test_a_class_is_played_and_scored(tmp_path: Path) -> None:
    played = run(DESKTOP, agent=Eager, memory="none", out=tmp_path / "run", clock="modelled", latency="fixed:1s")
    assert played.code is Exit.DONE
    assert played.scores is not None
    assert played.scores["scores"]["P_rt"] == 0.5, "the act at 145.388 s opens the gate for one more"
    assert played.scores["scores"]["R_rt"] == 0.25
    assert (tmp_path / "run" / "scores.json").exists()


async def test_a_loop_of_ones_own_may_play_and_watch(tmp_path: Path) -> None:
    heard: list[str] = []

    class Ear(Watcher):
        def unit(self, plan: UnitPlan) -> None:
            heard.append(f"unit {plan.key}")

        def unit_done(self, plan: UnitPlan, result: UnitResult) -> None:
            heard.append(f"done {result.tally['decisions']}")

    choice = Choice([DESKTOP], lambda: Eager(), "none")
    played = await play(choice, out=tmp_path / "run", watcher=Ear())
    assert heard == ["unit desktop", "done 200"]
    again = await play(choice, out=tmp_path / "run", watcher=Ear())
    assert heard == ["unit desktop", "done 200"], "all was there"
    assert again.scores == played.scores


def _class_in(file: Path, answer: str) -> Any:
    file.write_text(
        "from simulator import Decision, Offer, SILENT\n"
        "class Mine:\n    inline = True\n    async def decide(self, seen):\n        return " + answer + "\n"
    )
    spec = importlib.util.spec_from_file_location("proact_test_mine", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Mine


def test_changed_code_is_another_run_and_may_replace_the_old_one_when_asked(tmp_path: Path) -> None:
    file, out = tmp_path / "mine.py", tmp_path / "run"
    rules: dict[str, Any] = {"memory": "none", "clock": "modelled", "latency": "fixed:1s"}
    _class_in(file, "SILENT")
    run(DESKTOP, agent=f"{file}:Mine", out=out, **rules)
    file.write_text(file.read_text().replace("return SILENT", "return Decision((Offer('Translation'),))"))
    with pytest.raises(UsageError, match=r"the code of the agent has changed.*--again"):
        run(DESKTOP, agent=f"{file}:Mine", out=out, **rules)
    played = run(DESKTOP, agent=f"{file}:Mine", out=out, again=True, **rules)
    assert played.scores is not None
    assert played.scores["counts"]["offer"] == 200


def test_offers_that_name_no_intention_in_use_are_counted(tmp_path: Path) -> None:
    class Vague:
        inline = True

        async def decide(self, seen: Observation) -> Decision:
            return Decision((Offer("Fix error"),)) if seen.snapshot.index == 3 else Decision((Offer("translation"),))

    played = run(DESKTOP, agent=Vague, memory="none", out=tmp_path / "run", clock="modelled", latency="fixed:0s")
    assert played.scores is not None
    assert played.scores["notes"] == {"unknown_intention": 1}


MODELLED: dict[str, Any] = {"memory": "none", "clock": "modelled", "latency": "fixed:1s"}


def test_a_twin_that_cannot_be_played_is_refused_before_anything_is(tmp_path: Path) -> None:
    class Stateful:
        async def decide(self, seen: Observation) -> Decision:
            return Decision()

    with pytest.raises(UsageError, match="overlap:2"):
        run(DESKTOP, Stateful, "none", out=tmp_path / "run", twin=True, clock="elastic", policy="overlap:2")
    assert not (tmp_path / "run").exists()


def test_latencies_are_resampled_from_a_run_with_twins_too(tmp_path: Path) -> None:
    run(DESKTOP, Eager, "none", out=tmp_path / "measured", twin=True)
    again = run(DESKTOP, Eager, "none", out=tmp_path / "run", clock="modelled", latency=f"from:{tmp_path / 'measured'}")
    assert again.code is Exit.DONE


def test_the_twin_of_other_code_or_one_that_was_killed_is_no_twin(tmp_path: Path) -> None:
    file, out = tmp_path / "mine.py", tmp_path / "run"
    _class_in(file, "Decision((Offer('Translation'),))")
    first = run(DESKTOP, agent=f"{file}:Mine", out=out, twin=True, **MODELLED)
    assert first.scores is not None
    assert first.scores["scores"]["F1_instant@timing"] is not None
    log = out / "units" / "desktop" / "twin" / "decisions.jsonl"
    whole = log.read_bytes()
    log.write_bytes(b"")
    assert score_folder(out)["scores"]["F1_instant@timing"] is None
    log.write_bytes(whole)
    file.write_text(file.read_text().replace("Translation", "Summarization"))
    changed = run(DESKTOP, agent=f"{file}:Mine", out=out, again=True, **MODELLED)
    assert changed.scores is not None
    assert changed.scores["scores"]["F1_instant@timing"] is None


def test_a_file_of_the_users_is_run_once_for_all_units(tmp_path: Path) -> None:
    file, told = tmp_path / "mine.py", tmp_path / "told"
    file.write_text(
        f"with open({str(told)!r}, 'a') as told:\n    told.write('run ')\n"
        "class Mine:\n    inline = True\n    async def decide(self, seen):\n        return None\n"
    )
    run([DESKTOP, DESKTOP / "trajectory.yaml"], agent=f"{file}:Mine", out=tmp_path / "run", **MODELLED)
    assert told.read_text() == "run "


def test_the_thread_of_a_plain_memory_ends_with_its_unit(tmp_path: Path) -> None:
    class Plain:
        def observe(self, event: Event) -> None: ...
        def recall(self, query: Any, k: int, token_budget: int | None) -> list[Any]:
            return []

    before = {t.name for t in threading.enumerate()}
    run(DESKTOP, Eager, Plain, out=tmp_path / "run", clock="modelled", latency="fixed:1s")
    left = [t for t in threading.enumerate() if t.name not in before and t.name.startswith("memory")]
    for thread in left:
        thread.join(1.0)
    assert not any(t.is_alive() for t in left)


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ({"timeout": 60}, "timeout: a text is wanted, such as '60s', not 60"),
        ({"latency": 5, "clock": "modelled"}, "latency: a text is wanted, such as 'fixed:350ms', not 5"),
        ({"clock": None}, "clock: a text is wanted, such as 'measured', not None"),
        ({"nosuch": 1}, "there is no rule 'nosuch'"),
        ({"polcy": "latest_only"}, "did you mean 'policy'"),
        ({"seed": "7"}, "seed: a whole number is wanted, not '7'"),
        ({"seed": -1}, "seed: a whole number from 0 is wanted, not -1"),
        ({"out": 7}, "out: a path is wanted, not 7"),
        ({"timeout": "0s"}, "--timeout 0s: a duration above 0"),
        ({"window": "0s"}, "--window 0s: a duration above 0"),
        ({"latency": "from:nowhere", "clock": "modelled"}, "nowhere: there is no such file or folder"),
        ({"journal": "nowhere", "clock": "journal"}, "nowhere: there is no such folder"),
        ({"journal": 7, "clock": "journal"}, "journal: a path is wanted, not 7"),
        ({"agent": Eager()}, r"agent: .*each unit gets one of its own.* is wanted, not an object of Eager"),
        ({"memory": 3}, "memory: .*not an object of int"),
    ],
)
def test_what_is_of_the_wrong_kind_is_said_in_a_sentence(tmp_path: Path, rules: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        run(DESKTOP, **{"agent": Eager, "memory": "none", "out": tmp_path / "run", **rules})
    assert not (tmp_path / "run").exists()


def test_texts_are_paths_too(tmp_path: Path) -> None:
    out = str(tmp_path / "run")
    run(str(DESKTOP), Eager, out=out, **MODELLED)
    again = run(str(DESKTOP), Eager, "none", out=str(tmp_path / "again"), clock="journal", journal=out)
    assert again.scores is not None
    assert score_folder(out)["scores"] == again.scores["scores"]


def test_an_agent_is_made_once_a_unit_and_not_at_all_where_nothing_is_played(tmp_path: Path) -> None:
    made: list[str] = []

    class Heavy(Eager):
        def __init__(self) -> None:
            made.append("agent")

    class Light:
        def __init__(self) -> None:
            made.append("memory")

        def observe(self, event: Event) -> None:
            """Nothing."""

        def recall(self, *asked: Any) -> list[Any]:
            return []

    rules: dict[str, Any] = {"clock": "modelled", "latency": "fixed:1s", "out": tmp_path / "run"}
    run(DESKTOP, Heavy, Light, **rules)
    assert sorted(made) == ["agent", "memory"]
    run(DESKTOP, Heavy, Light, **rules)
    assert sorted(made) == ["agent", "memory"]
    run(DESKTOP, Heavy, Light, twin=True, **rules)
    assert sorted(made) == ["agent"] * 2 + ["memory"] * 2


@pytest.mark.parametrize("missing", ["observe(event)", "recall(query, k, token_budget)", "feedback(event, label)",
                                     "render(items)"])  # fmt: skip
def test_a_memory_without_a_method_is_refused_before_anything_is_played(tmp_path: Path, missing: str) -> None:
    async def method(self: Any, *given: Any) -> Any:
        return []

    known = ("observe", "recall", "feedback", "render")
    part = type("Part", (), {name: method for name in known if not missing.startswith(name)})
    with pytest.raises(UsageError, match=f"memory Part has no method {re.escape(missing)}"):
        run(DESKTOP, Eager, part, out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_errors_that_differ_in_numbers_are_told_as_one_kind_and_the_rest_is_counted(tmp_path: Path) -> None:
    class Fails:
        inline = True

        async def decide(self, seen: Observation) -> Decision:
            n = seen.snapshot.index
            raise ValueError(f"row {n} of 0x{n:x}" if n < 180 else "abcdefghijklmnopqrstuvwxyz"[n - 180])

    scores = run(DESKTOP, Fails, out=tmp_path / "run", **MODELLED).scores
    assert scores is not None
    assert (scores["errors"][0]["n"], scores["errors"][0]["texts"]) == (180, 180)
    assert scores["errors"][0]["text"].startswith("ValueError: row ")
    assert (len(scores["errors"]), scores["errors_untold"]) == (10, {"kinds": 11, "n": 11})
