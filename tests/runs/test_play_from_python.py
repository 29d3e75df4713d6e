"""The whole way from Python: a class of one's own, and what happens when its code changes."""

from __future__ import annotations

import importlib.util
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
    run([DESKTOP, DESKTOP / "scenario.yaml"], agent=f"{file}:Mine", out=tmp_path / "run", **MODELLED)
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
