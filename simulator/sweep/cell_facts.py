"""What a cell of a study is and needs, known by trying it on a session of its data; nothing is played."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio

from agents.base import agents
from memory.base import memories
from simulator.core.errors import InputError, UsageError
from simulator.core.registry import parse_spec
from simulator.core.traits import trait
from simulator.endpoint.types import ModelChoice, shown_url
from simulator.play.makers import Making
from simulator.runs.config import check
from simulator.runs.folder import digest
from simulator.runs.unit import UnitPlan
from simulator.session.play import Play
from simulator.session.truth import Moment
from simulator.sweep.axes import maker_of
from simulator.sweep.data import DataSet
from simulator.sweep.faults import Faults
from simulator.sweep.types import Cell, Needs
from simulator.sweep.work import code_digest, rate_of, unit_plan

__all__ = ["CellFacts", "facts_of"]

_OF_SESSION = (
    "session", "user", "period_ns", "end_ns", "utc_anchor_ns", "window_ns", "segmentation", "dataset", "recording",
    "person", "truth", "sample", "seed", "policy", "gate", "protocol", "memory_mode",
)  # fmt: skip
"""Fields of a header that a session has a part in: they are in its own digest, and what a cell says is in its id."""
_ADDRESS = re.compile(r"https?://[^,\s]+")
_MEASURED = ("measured", "wall", "elastic")


@dataclass(frozen=True, slots=True)
class CellFacts:
    """What is known of a cell once it was tried on a session.

    Attributes:
        inputs: digest of agent, memory, model and rules as they are now, code included; ``code``: of that alone.
        needs: of its tasks.
        protocol: of its runs; ``latency_source`` likewise.
        asks: calls to a model that one decision makes; 0 where none is asked, None where that cannot be told, as where
            a memory asks one that is not frozen.
        asks_once: it is asked once a session instead.
        asks_before: calls that the memory makes before time 0 of a session with a past, at most.
        pictures: pictures that one call sends, at most.
        marked: measured beside others.
    """

    inputs: str
    needs: Needs
    protocol: str
    latency_source: str
    latency_ns: int | None
    asks: int | None
    pictures: int
    wants_others: bool
    marked: bool
    code: str = ""
    asks_once: bool = False
    asks_before: int = 0


def facts_of(cells: Sequence[Cell], sets: Mapping[str, DataSet], where: Path, *, beside: bool, dry: bool = False
             ) -> tuple[CellFacts, ...]:  # fmt: skip
    """Try each cell on the first session of its data set; nothing is played.

    Args:
        cells: of the study.
        sets: data sets by name.
        where: the study's file, for messages.
        beside: measured cells may run beside others, and are marked.
        dry: make no agent and no memory: what they need (a server, a key) need not be there.

    Raises:
        InputError: a cell that cannot be played, with the reason.
    """
    tried: set[tuple[str, str]] | None = None if dry else set()
    faults: dict[str, InputError] = {}  # one of each kind: a hundred cells may be of one agent

    async def work() -> tuple[CellFacts, ...]:
        found = []
        for cell in cells:
            try:
                found.append(await _facts(cell, sets[cell.data], where, tried, beside=beside))
            except InputError as error:
                faults.setdefault(error.want, error)
        return tuple(found)

    found = anyio.run(work)
    Faults.of(faults.values()).tell()
    return found


async def _facts(
    cell: Cell, data: DataSet, where: Path, tried: set[tuple[str, str]] | None, *, beside: bool
) -> CellFacts:
    name = f"cell {cell.name}"
    try:
        rate = rate_of(cell)
    except ValueError:
        want = "snapshots a second: a number above 0, such as 0.5"
        raise InputError(where, want, field="axes.rate", value=cell.value("rate")) from None
    for session in data.sessions if rate is not None else ():
        if rate is not None and 1e9 / rate < session.period_ns * 0.999:
            own = f"{1e9 / session.period_ns:g}"
            want = f"session {session.key} was recorded at {own} a second; what lay between was never seen"
            raise InputError(where, want, field="axes.rate", value=cell.value("rate"))
    if cell.choice.get("clock") == "journal":
        raise InputError(where, "a journal is of one run, and a study makes many", field=name)
    if data.first is None:
        return _unknown(cell)
    try:
        plan = await unit_plan(cell, 0, _stand_in(data.first), _others(data, cell))
        if tried is not None:
            _try(plan, cell, tried)
        else:
            _check_class(plan, parse_spec(str(cell.choice["agent"])).name)
    except UsageError as error:
        if isinstance(error, InputError) and error.where != str(data.first.where):
            raise
        raise InputError(where, str(error), field=name) from error
    return _known(cell, plan, beside=beside)


def _stand_in(play: Play) -> Play:
    """The session with a moment that is never asked, so that none are sampled for nothing."""
    return replace(play, truth=replace(play.truth, moments=play.truth.moments or (Moment(0, False),)))


def _others(data: DataSet, cell: Cell) -> Mapping[str, Any]:
    """Whom a memory that reads another user's past could read, without their pasts."""
    wants = maker_of("memory", cell.choice["memory"]).wants_others
    return {session.user: () for session in data.sessions} if wants else {}


def _check_class(plan: UnitPlan, name: str) -> None:
    """Look at what an agent's class declares, without making one: what it needs may not be there yet."""
    made = agents.get(name)
    declared = {word: value for word in ("protocols", "concurrent", "background", "paced")
                if isinstance(value := trait(made, word), str | tuple | list | bool)}  # fmt: skip
    if plan.agent_code is not None or name == "remote":  # one of them may say so for itself
        declared.setdefault("concurrent", "stateless")
    check(plan.settings, SimpleNamespace(decide=len, **declared))


def _try(plan: UnitPlan, cell: Cell, tried: set[tuple[str, str]]) -> None:
    """Make its agent, and each memory of the study once: what is wrong with them is told before anything is played."""
    assert isinstance(plan.agent, Making)
    assert isinstance(plan.memory, Making)
    check(plan.settings, plan.agent.look())
    key = (plan.memory_text, str(cell.choice.get("embedder")))
    if key not in tried:
        tried.add(key)
        plan.memory.look()


def _known(cell: Cell, plan: UnitPlan, *, beside: bool) -> CellFacts:
    header = plan.header()
    s = plan.settings
    inputs = digest([cell.id, {k: v for k, v in header.items() if k not in _OF_SESSION}])
    measured = s.clock in _MEASURED
    model: ModelChoice | None = cell.choice.get("model")
    endpoint, limit = _endpoint(cell, header, model)
    records = model is not None and model.record
    latency = getattr(s.latency, "decide_ns", getattr(s.latency, "median_ns", None))
    agent = maker_of("agent", cell.choice["agent"])
    strategy = header.get("strategy") or {}
    before = _memory_asks(cell, frozen=header.get("memory_mode") == "frozen")
    pictures = 0 if strategy.get("modality", "text") == "text" else 1 + int(strategy.get("frames") or 0)
    return CellFacts(
        inputs, Needs(endpoint, (measured and not beside) or records, limit), s.protocol, s.latency_source,
        latency if isinstance(latency, int) else None,
        None if before is None else _asks(agent.wants_model, strategy), pictures,
        maker_of("memory", cell.choice["memory"]).wants_others, measured and beside, code_digest(header),
        trait(agents.get(parse_spec(str(cell.choice["agent"])).name), "asks_once", False) is True, before or 0,
    )  # fmt: skip


def _asks(wants: str | None, strategy: Mapping[str, Any]) -> int | None:
    """Calls of one decision, as the strategy's own facts say."""
    if wants is None:
        return 0
    k = strategy.get("k", 1)
    stages = strategy.get("stages", 1)
    return int(k) * int(stages) if isinstance(k, int) and isinstance(stages, int) else None


def _memory_asks(cell: Cell, *, frozen: bool) -> int | None:
    """How often its memory asks the run's model before time 0 at most, as its class says of its parameters; None where
    that is not all, or cannot be told.
    """
    spec = memories.parse(str(cell.choice["memory"]))
    asks, before = (trait(memories.get(spec.name), name) for name in ("asks_model", "asks_before"))
    if not (callable(asks) and asks(spec.params)):
        return 0
    told = before(spec.params) if frozen and callable(before) else None
    return told if isinstance(told, int) else None


def _endpoint(cell: Cell, header: Mapping[str, Any], model: ModelChoice | None) -> tuple[str | None, int | None]:
    """The server that a cell asks, as it may be shown, and how many calls it may have in flight."""
    if "model" in header and (model is None or model.replays is None):
        url = (model.base_url if model is not None else None) or os.environ.get("OPENAI_BASE_URL") or "the default"
        return shown_url(url), (model or ModelChoice()).concurrency
    for text in (cell.choice["memory"], cell.choice["agent"], str(cell.choice.get("embedder", ""))):
        if found := _ADDRESS.search(str(text)):
            return shown_url(found[0]), None
    return None, None


def _unknown(cell: Cell) -> CellFacts:
    """Of a cell whose data are yet to be made: what its choice alone tells."""
    agent = maker_of("agent", cell.choice["agent"])
    clock = str(cell.choice.get("clock", "measured"))
    source = "measured" if clock in _MEASURED else clock
    asks = 0 if agent.wants_model is None and _memory_asks(cell, frozen=False) == 0 else None
    return CellFacts("", Needs(), str(cell.choice.get("protocol", "stream")), source, None, asks, 0, False, False)
