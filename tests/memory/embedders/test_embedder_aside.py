"""A memory beside an embedder that waits is asked for upkeep, notes and parts as any other: only its calls go aside."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from memory.base import make_memory
from memory.embed import HashEmbedder
from memory.embedders.aside import Aside, embedded
from memory.personas import PersonaMemory
from simulator.cli import _run
from simulator.play.player import run

ROOT = Path(__file__).resolve().parents[3]
DESK = ROOT / "docs" / "examples" / "desk.yaml"
WAITS = """
from memory.embed import HashEmbedder
class Waits(HashEmbedder):
    inline = False
    def close(self): pass
"""


class Waits(HashEmbedder):
    inline = False

    def close(self) -> None: ...


def stats(tmp_path: Path, name: str, **rules: Any) -> dict[str, Any]:
    done = run(DESK, out=tmp_path / name, clock="modelled", latency="fixed:100ms", **rules)
    (unit,) = json.loads((done.folder / "run.json").read_text("utf-8"))["units"].values()
    return dict(unit["memory_stats"])


@pytest.mark.parametrize("memory", ["personas:every_s=30,lag_s=0", "class-prior+personas:every_s=30,lag_s=0"])
def test_rebuilds_are_upkeep_and_no_decisions_whichever_embedder_is_asked(memory: str, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(WAITS)
    plain = stats(tmp_path, "a", memory=memory)
    waits = stats(tmp_path, "b", memory=memory, embedder=f"{tmp_path}/mine.py:Waits")
    assert plain["upkeeps"] == waits["upkeeps"] == 4
    assert not [name for name in (*plain, *waits) if name.endswith("late_builds")]


def test_what_the_memory_says_of_itself_is_passed_on() -> None:
    made: Any = Aside(PersonaMemory(lag_s=3), Waits())
    assert (made.noted, made.upkeep_lag_ns, made.needs_upkeep()) == (("personas_failed",), 3_000_000_000, False)
    assert made.inline is False
    both: Any = Aside(make_memory("rag+graph"), Waits())
    assert list(both.parts) == ["rag", "graph"]
    with pytest.raises(AttributeError):
        made.no_such_thing  # noqa: B018 - that is the point
    with pytest.raises(AttributeError):
        Aside.__new__(Aside).noted  # noqa: B018


async def test_it_is_kept_and_read_as_the_memory_can(tmp_path: Path) -> None:
    made: Any = embedded(lambda embedder: make_memory("rag", embedder=embedder))(embedder=Waits())
    made.save(tmp_path)
    assert (tmp_path / "past.jsonl").is_file()
    made.load(tmp_path)
    await made.close()

    class Keepless:
        def render(self, items: Sequence[Any]) -> str:
            return ""

    assert not hasattr(Aside(Keepless(), Waits()), "save")  # type: ignore[arg-type]


def test_weights_are_explained_of_a_graph_beside_one_that_waits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.py").write_text(WAITS)
    scenario = str(ROOT / "scenarios" / "coding_error")
    words = ["memory", "explain", "Mousepad", "dates.txt - Mousepad", "--memory", "rag+graph", "--scenario", scenario]
    assert _run([*words, "--embedder", f"{tmp_path}/mine.py:Waits"]) == 0
    assert "dates: taken, weight " in capsys.readouterr().out
