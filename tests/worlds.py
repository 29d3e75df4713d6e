"""Small worlds in memory: a source made of windows, agents made of functions, whole runs into a folder."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from memory.controls import NoMemory
from simulator.core.types import (
    MS,
    SECOND,
    SILENT,
    Decision,
    Event,
    Label,
    MemoryItem,
    Observation,
    Offer,
    Query,
    Snapshot,
)
from simulator.runs import runlog
from simulator.runs.config import Settings
from simulator.runs.engine import Interrupt
from simulator.runs.records import RunLog
from simulator.runs.unit import LOG, UnitPlan, UnitResult, play_unit
from simulator.session.truth import Assist, Gap, Opportunity, Truth
from simulator.timing.clock import pause
from simulator.timing.latency import LatencyModel, parse_latency
from simulator.timing.mailbox import parse_policy

PERIOD = 20 * MS


@dataclass
class Screen:
    """A source of given snapshots."""

    rows: Sequence[Snapshot]
    end_ns: int | None
    session: str = "s"
    user: str = "u"
    gaps: Sequence[tuple[int, int, str]] = ()

    async def snapshots(self) -> AsyncIterator[Snapshot]:
        for row in self.rows:
            yield row


def screen(windows: Iterable[str], period_ns: int = SECOND, *, held: Sequence[int] = (), **more: Any) -> Screen:
    """One snapshot a period, each of the window (an app) named; those with index in ``held`` repeat the last."""
    rows: list[Snapshot] = []
    for i, app in enumerate(windows):
        t = i * period_ns
        content = rows[-1].content_ns if i in held else t
        rows.append(Snapshot(i, t, content, app, f"{app} title", None, None, None, i in held))
    return Screen(rows, len(rows) * period_ns, **more)


def truth_of(source: Screen, *, period_ns: int = SECOND, needs: Sequence[Opportunity] = (), **more: Any) -> Truth:
    assert source.end_ns is not None
    gaps = tuple(Gap(*gap) for gap in source.gaps)
    acts = tuple(sorted(n.acted_ns for n in needs if n.acted_ns is not None))
    given = {"acts_ns": acts, "gaps": gaps, **more}
    return Truth(source.session, source.user, source.end_ns, period_ns, opportunities=tuple(needs), **given)


Answering = Callable[[Observation], Any]


class Agent:
    """An agent that answers by a function, plain or async."""

    def __init__(self, answer: Answering, **traits: Any) -> None:
        self.answer = answer
        for name, value in traits.items():
            setattr(self, name, value)

    async def decide(self, observation: Observation) -> Decision:
        said = self.answer(observation)
        return await said if isinstance(said, Awaitable) else said  # type: ignore[no-any-return]


def silent(observation: Observation) -> Decision:
    return SILENT


def names(observation: Observation) -> Decision:
    """Offers the application it sees."""
    return Decision((Offer(str(observation.snapshot.app), f"seen {observation.snapshot.index}", 0.5),))


def takes(wait_ns: int, answer: Answering = names) -> Answering:
    """The answer after a real wait."""

    async def wait(observation: Observation) -> Decision:
        await pause(wait_ns)
        return answer(observation)  # type: ignore[no-any-return]

    return wait


class Notebook:
    """A memory that keeps everything, in the order in which it was told, and hands out the newest.

    ``items`` may carry no source time: a foreign store that knows text only.
    """

    inline = True

    def __init__(self, *, blind: bool = False, inline: bool = True) -> None:
        self.blind, self.inline = blind, inline
        self.heard: list[tuple[str, Any]] = []

    async def observe(self, event: Event) -> None:
        self.heard.append(("observe", event))

    async def feedback(self, event: Event, label: Label) -> None:
        self.heard.append(("feedback", label))

    async def recall(self, query: Query, k: int, token_budget: int | None) -> list[MemoryItem]:
        def at(thing: Event | Label) -> int | None:
            if self.blind:
                return None
            return thing.end_ns if isinstance(thing, Event) else thing.available_ns

        return [MemoryItem(repr(thing), 1.0, latest_source_ns=at(thing)) for _, thing in self.heard[-k:]][::-1]

    def render(self, items: Sequence[MemoryItem]) -> str:
        return "\n".join(item.text for item in items)


def plan(
    source: Screen,
    agent: Any = silent,
    *,
    memory: Any = NoMemory,
    clock: str = "modelled",
    latency: str | LatencyModel | None = None,
    policy: str = "latest_only",
    needs: Sequence[Opportunity] = (),
    assists: Sequence[Assist] = (),
    truth: Truth | None = None,
    period_ns: int = SECOND,
    key: str = "unit",
    history: Sequence[tuple[Event, Label | None]] = (),
    journal: Path | None = None,
    **settings: Any,
) -> UnitPlan:
    """A unit. ``agent``: a class, an agent, or a function that answers (inline then, and stateless)."""
    if clock == "modelled" and latency is None:
        latency = "fixed:0s"
    model = parse_latency(latency) if isinstance(latency, str) else latency
    rules = Settings(clock=clock, policy=parse_policy(policy), latency=model, **settings)
    true = truth_of(source, period_ns=period_ns, needs=needs, assists=assists) if truth is None else truth
    make = agent if isinstance(agent, type) else lambda: _agent(agent)
    return UnitPlan(key, source, true, history, {"role": "tester"}, (), 300 * SECOND, "app_title", rules, make,
                    memory, "agent", "memory", "standard", "data", journal=journal)  # fmt: skip


def _agent(answer: Any) -> Any:
    return answer if hasattr(answer, "decide") else Agent(answer, inline=True, concurrent="stateless")


@dataclass
class Played:
    """A unit that was played."""

    result: UnitResult
    log: RunLog
    path: Path
    lines: list[dict[str, Any]] = field(default_factory=list)

    @property
    def body(self) -> list[str]:
        """The log's lines but for the header."""
        return self.path.read_text(encoding="utf-8").splitlines()[1:]

    @property
    def seen(self) -> list[int]:
        return [int(i) for i in self.log.snapshot]

    @property
    def errors(self) -> list[str]:
        return [r["error"]["kind"] for r in self.log.full.values() if "error" in r]


def play(unit: UnitPlan, folder: Path, interrupt: Interrupt | None = None, watch: Any = None) -> Played:
    """Play it in a loop of its own."""
    result = asyncio.run(play_unit(unit, folder, interrupt or Interrupt(), watch))
    path = folder / LOG
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return Played(result, runlog.read(path), path, lines)


def replayed(unit: UnitPlan, played: Played) -> UnitPlan:
    """The unit on the journal of a run of it."""
    rules = replace(unit.settings, clock="journal", latency=None, speed=None, max_gap_ns=None)
    return replace(unit, settings=rules, journal=played.path)


def told(log: RunLog) -> list[dict[str, Any]]:
    """What a log says of each decision and each memory write, however it was folded."""
    rows = []
    for i in range(len(log)):
        seq = int(log.seq[i])
        names_ = ("seq", "snapshot", "captured_ns", "content_ns", "released_ns", "started_ns", "actionable_ns",
                  "dropped_before", "kind", "flags")  # fmt: skip
        rows.append({name: int(getattr(log, name)[i]) for name in names_} | dict(log.full.get(seq, {}), kind=None))
        rows[-1]["kind"] = int(log.kind[i])
    return [*rows, *map(dict, log.writes), dict(log.end or {})]


def worked(work: Awaitable[Any]) -> Any:
    """Run a coroutine to its end in a new loop."""

    async def main() -> Any:
        return await work

    return asyncio.run(main())
