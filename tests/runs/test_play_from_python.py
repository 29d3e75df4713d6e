"""The whole way from Python: a class of one's own, and what happens when its code changes."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from simulator.core.errors import Exit, UsageError
from simulator.core.types import Decision, Observation, Offer
from simulator.play import Choice, Watcher, play, run
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
