"""What happens before time 0: whose past is rehearsed, seen and remembered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memory.base import make_memory
from simulator.core.types import SECOND, SILENT, Decision, Event, Label, Observation
from tests.worlds import plan, play, screen


class Looks:
    """Tells what it was rehearsed on and what it sees at its first snapshot."""

    inline = True
    rehearsed: list[str]
    first: dict[str, Any]

    async def rehearse(self, observation: Observation, label: Label) -> None:
        """Keep the label's event."""
        Looks.rehearsed.append(label.event_id)

    async def decide(self, observation: Observation) -> Decision:
        """Keep what is seen."""
        seen = {
            "labels": [e.id for e, _ in observation.memory.labels],
            "events": [e.id for e in observation.history.events],
            "help": [i.help for i in await observation.memory.recall() if i.text.startswith("In a ")],
        }
        Looks.first = Looks.first or seen
        return SILENT


def _past(name: str, user: str, *, asked: bool, start_s: int = -20) -> tuple[Event, Label]:
    event = Event(name, user, start_s * SECOND, -10 * SECOND, "a")
    return event, Label(name, user, asked, -10 * SECOND, "Debug" if asked else None)


def _look(history: list[tuple[Event, Label]], memory: str, folder: Path) -> dict[str, Any]:
    Looks.rehearsed, Looks.first = [], {}
    folder.mkdir()
    assert play(plan(screen("a"), Looks, memory=lambda: make_memory(memory), history=history), folder).errors == []
    return Looks.first


def test_other_users_fill_the_memory_and_nothing_else(tmp_path: Path) -> None:
    history = [_past("old/1", "u", asked=False), _past("old/2", "bob", asked=True)]
    for scope, share in (("user", 0.0), ("global", 0.5), ("backoff", 0.0)):
        seen = _look(history, f"graph:scope={scope}", tmp_path / scope)
        assert seen == {"labels": ["old/1"], "events": ["old/1"], "help": [share]}
        assert Looks.rehearsed == ["old/1"]
    assert _look(history[1:], "graph:scope=backoff", tmp_path / "alone")["help"] == [1.0]
    assert _look(history[1:], "graph:scope=user", tmp_path / "apart")["help"] == []


def test_what_others_left_shortens_no_rehearsal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simulator.runs.prepare.REHEARSED", 2)
    mine = [_past(f"old/{i}", "u", asked=True, start_s=-30 + i) for i in range(3)]
    others = [_past(f"other/{i}", "v", asked=False, start_s=-20 + i) for i in range(5)]
    _look(mine + others, "graph:scope=global", tmp_path / "run")
    assert Looks.rehearsed == ["old/1", "old/2"]


def test_an_event_of_no_length_is_not_rehearsed_as_its_label_is_known_by_then(tmp_path: Path) -> None:
    history = [_past("old/1", "u", asked=True, start_s=-10), _past("old/2", "u", asked=True)]
    _look(history, "rag", tmp_path / "run")
    assert Looks.rehearsed == ["old/2"]
