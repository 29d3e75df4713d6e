from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from simulator.core.errors import UsageError
from simulator.endpoint.types import ModelChoice
from simulator.session.ignored import hide, is_hidden
from simulator.sweep.engines import Inline
from simulator.sweep.ray_engine import OnRay
from simulator.sweep.shipping import Depot, looks, pack, pack_plan, refuse, take_back, unshippable
from simulator.sweep.sweeping import Asked, sweep
from simulator.sweep.types import Cell, Task
from simulator.sweep.work import play_task
from tests.endpoint.asks import choice
from tests.endpoint.faults import FaultServer
from tests.sweep.studies import ROOT, content, play, study

DESKTOP = ROOT / "scenarios" / "desktop"


def cell(**choice: Any) -> Cell:
    return Cell((), {"agent": "prior", "memory": "none", **choice}, "default")


def pictures(names: list[str]) -> list[str]:
    return [name for name in names if name.endswith((".webp", ".png"))]


def test_a_scenario_is_packed_with_its_recording_and_all_that_it_names() -> None:
    names = [name for name, _ in pack(DESKTOP / "scenario.yaml", pictures=False).files]
    assert {Path(name).name for name in names} == {"session.db", "scenario.yaml", "history.jsonl"}
    assert pictures(names) == []
    assert len(pictures([name for name, _ in pack(DESKTOP / "scenario.yaml", pictures=True).files])) > 20


def test_a_parcel_is_named_by_what_is_in_it() -> None:
    one, same = (pack(DESKTOP / "session", pictures=False) for _ in range(2))
    assert one.name == same.name != pack(DESKTOP / "session", pictures=True).name


@pytest.mark.parametrize(
    ("agent", "look"),
    [("prior", False), ("silent", False), ("random:rate=0.5", False), ("zero-shot:ocr=none", False), ("pirf", True),
     ("zero-shot:modality=image", True), ("zero-shot:modality=both", True), ("remote:http://127.0.0.1:1", True)],
)  # fmt: skip
def test_pictures_go_along_where_an_agent_may_look_at_them(agent: str, look: bool) -> None:
    assert looks(cell(agent=agent), DESKTOP / "session") is look


def test_an_agent_that_reads_needs_pictures_only_where_the_recording_carries_no_text(tmp_path: Path) -> None:
    from contextlib import closing
    from sqlite3 import connect

    shutil.copytree(DESKTOP / "session", tmp_path / "s")
    with closing(connect(tmp_path / "s" / "session.db")) as db, db:
        db.execute("UPDATE screenshots SET text = 'said'")
    assert not looks(cell(agent="zero-shot"), tmp_path / "s")
    with closing(connect(tmp_path / "s" / "session.db")) as db, db:
        db.execute("UPDATE screenshots SET text = NULL WHERE id = 3")
    assert looks(cell(agent="zero-shot"), tmp_path / "s")


def test_an_agent_of_others_may_look_at_anything(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("class Mine:\n    async def decide(self, observation):\n        return None\n")
    assert looks(cell(agent=f"{tmp_path / 'mine.py'}:Mine"), DESKTOP / "session")


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({"latency": "from:runs/x"}, "an earlier run"),
        ({"journal": Path("runs/x")}, "an earlier run"),
        ({"model": ModelChoice("m", "http://x/v1", cassette=Path("c"))}, "a cassette"),
        ({"memory": "shuffled-user"}, "the pasts of all users"),
        ({"agent": f"scripted:{ROOT}/scenarios/desktop/actions.jsonl"}, "its agent lies in a file here"),
        ({"memory": "mine.py:Mine"}, "its memory lies in a file here"),
    ],
)
def test_what_is_not_shipped_is_refused_before_it_is_missed(
    wanted: dict[str, Any], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("class Mine:\n    def view(self, now_ns):\n        return None\n")
    with pytest.raises(UsageError, match=f"cannot be played on machines that do not see these files: .*{said}"):
        refuse(cell(**wanted))


def test_one_cell_that_cannot_be_shipped_is_refused_before_the_others_are_played(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    (tmp_path / "mine.py").write_text("from memory.controls import NoMemory\n\n\nclass Mine(NoMemory):\n    pass\n")
    asked = Asked(tmp_path / "out", set_={"memory": ["none", f"{tmp_path}/mine.py:Mine"]})
    with pytest.raises(UsageError, match="its memory lies in a file here"):
        sweep(study(tmp_path), asked, engine=OnRay(1, ship=True))
    assert not list((tmp_path / "out").rglob("unit.json"))
    out = subprocess.run(
        [sys.executable, "-m", "simulator.cli", "sweep", str(study(tmp_path)), "--dry-run", "--engine", "ray", "--ship",
         "--set", f"memory={tmp_path}/mine.py:Mine"], capture_output=True, text=True, check=False, cwd=ROOT,
    )  # fmt: skip
    assert (out.returncode, "its memory lies in a file here" in out.stderr) == (2, True), out.stderr


def test_what_needs_nothing_else_is_shipped() -> None:
    assert unshippable(cell(latency="fixed:1s", memory="rag:k=3", model=ModelChoice("m", "http://x/v1"))) is None


def copied(folder: Path) -> Path:
    """A scenario that comes with proact, with the past that it shares with others."""
    for name in ("shopping", "people"):
        shutil.copytree(ROOT / "scenarios" / name, folder / name)
    return folder / "shopping"


def shipped(task: Task, depot: Depot) -> Task:
    """What a worker makes of a task: its files come in parcels, its unit goes back in a crate."""
    for parcel in (pack_plan(task.sweep), pack(task.scenario, pictures=looks(task.cell, task.scenario))):
        if depot.lacks(parcel.name):
            depot.unpack(parcel)
    return depot.moved(task)


def test_a_unit_that_was_played_elsewhere_is_the_same_to_the_byte_and_needed_nothing_from_here(tmp_path: Path) -> None:
    scenario = copied(tmp_path / "here")
    file = study(tmp_path, scenarios=[scenario])
    play(file, tmp_path / "direct", Inline())
    play(file, tmp_path / "shipped", collector := _Collector())
    tasks = collector.tasks
    assert len(tasks) == 2
    depot = Depot()
    moved = [shipped(task, depot) for task in tasks]
    (tmp_path / "here").rename(tmp_path / "gone")
    for task, there in zip(tasks, moved, strict=True):
        assert not there.sweep.is_relative_to(tmp_path)
        done, crate = depot.collect(there, play_task(there))
        assert (done.kind, crate is not None) == ("done", True)
        assert crate is not None
        assert not crate.private
        take_back(task, crate)
    depot.close()
    assert not depot.root.exists()
    direct, back = content(tmp_path / "direct"), content(tmp_path / "shipped")
    units = {name for name in direct if "/units/" in name}
    assert units == {name for name in back if "/units/" in name}
    assert all(direct[name] == back[name] for name in units)


def test_an_agent_that_looks_at_pictures_sees_the_same_ones_there(tmp_path: Path) -> None:
    scenario = copied(tmp_path / "here")
    file = study(tmp_path, scenarios=[scenario], agents='"zero-shot:modality=image"')
    with FaultServer() as server:
        asked = choice(server.url("ok"))
        play(file, tmp_path / "direct", Inline(), asked)
        seen = sorted(one.body for one in server.asked["ok"] if one.body)
        server.asked["ok"].clear()
        play(file, tmp_path / "shipped", collector := _Collector(), asked)
        depot = Depot()
        there = shipped(collector.tasks[0], depot)
        (tmp_path / "here").rename(tmp_path / "gone")
        done, crate = depot.collect(there, play_task(there))
        depot.close()
        assert crate is not None
        take_back(collector.tasks[0], crate)
        assert done.kind == "done"
        assert b"data:image" in seen[0]
        assert {one.body for one in server.asked["ok"] if one.body} <= set(seen)
    direct, back = content(tmp_path / "direct"), content(tmp_path / "shipped")
    units = {name for name in back if "/units/" in name}
    assert units
    assert all(direct[name] == back[name] for name in units)


def test_a_private_recording_makes_a_private_sweep_there_and_here(tmp_path: Path) -> None:
    scenario = copied(tmp_path)
    hide(scenario / "session")
    file = study(tmp_path, scenarios=[scenario])
    play(file, tmp_path / "out", collector := _Collector())
    task = collector.tasks[0]
    depot = Depot()
    there = shipped(task, depot)
    _, crate = depot.collect(there, play_task(there))
    depot.close()
    assert crate is not None
    assert crate.private
    assert not is_hidden(task.sweep)
    take_back(task, crate)
    assert is_hidden(task.sweep)
    take_back(replace(task), crate)  # a unit of other inputs was there


class _Collector:
    """An engine that plays nothing, and keeps what it would have begun with."""

    def check(self, cells: Iterable[Cell]) -> None: ...

    def run(self, tasks: Iterable[Task | None], done: object, stop: object) -> None:
        self.tasks = [task for task in iter(iter(tasks).__next__, None) if task is not None]
