"""The charging seam: every call to an agent or a memory goes through here and comes back with its charge.

``measured`` and the paced clocks take the lane's real time; ``modelled`` makes the same call and takes its charge from
a latency model (``cassette``: from the recorded times of its calls to models); ``journal`` makes no call. A call
without a duration cannot leave this module.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

from simulator.core.errors import TimeError
from simulator.core.operators import operators
from simulator.core.protocols import Agent, Memory
from simulator.core.traits import MEMORYS, declares, trait
from simulator.core.types import MS, Event, Label, Observation
from simulator.runs import blame
from simulator.runs.answers import Answer, from_outcome
from simulator.runs.blame import blotted, trace
from simulator.runs.config import Settings
from simulator.runs.journal import Journal
from simulator.runs.lanes import InlineLane, Lane, Outcome, ThreadLane, Work
from simulator.runs.prepare import Doing, settled
from simulator.runs.records import Kind
from simulator.timing.clock import pause, real_ns
from simulator.timing.latency import Call, Replayed
from simulator.timing.meter import CallMeter, ReplayMeter, SilentMeter, charging
from simulator.timing.tasks import beside

__all__ = ["Look", "Seam"]

Look = Callable[[SilentMeter], Observation]
PREPARE_LIMIT_NS = 3600 * 10**9
LONG_NS = 20 * 10**9
TRACES = 20
CLOSE_LIMIT_NS = 5 * 10**9
GUARD_NS = 60 * 10**9


class Seam:
    """One unit's agent and memory, behind their lane.

    Args:
        agent: the agent; None in journal mode, where nothing is called.
        memory: its memory, or None.
        settings: the unit's rules.
        session: name of the session, for the keys of chance.
        journal: where clock ``journal`` reads.
    """

    def __init__(self, agent: Agent | None, memory: Memory | None, settings: Settings, session: str,
                 journal: Journal | None = None) -> None:  # fmt: skip
        self._memory, self._settings, self._session = memory, settings, session
        self._journal, self._model = journal, settings.latency
        self._timed = settings.clock in ("wall", "elastic", "measured")
        replays = isinstance(settings.latency, Replayed)
        self.meter: Callable[..., SilentMeter] = CallMeter if self._timed else ReplayMeter if replays else SilentMeter
        self._paced = settings.clock in ("wall", "elastic")
        self._lane: Lane | None = None
        self._inline: InlineLane | None = None
        # Where charges are modelled, the guard is for agents that do not come back, not for slow machines.
        self._limit_ns = settings.timeout_ns if self._timed else max(settings.timeout_ns, GUARD_NS)
        self._ask: dict[str, Any] = {what: trait(agent, what) for what in ("decide", "finish", "cancel", "close")}
        self._decide = self._ask["decide"]
        self._close_memory, self._stats = trait(memory, "close"), trait(memory, "stats")
        self._needs_upkeep = trait(memory, "needs_upkeep") if journal is None else None
        self._upkeep_lag_ns = trait(memory, "upkeep_lag_ns")
        self._upkeep_ns: list[int] = []
        self._beside: ThreadLane | None = None
        self._may_inline = all(p is None or declares(p, "inline") for p in (agent, memory))
        self._background = declares(agent, "background")
        self.agent_ns = 0
        self.n_guarded = 0
        self.demoted = False
        self.traces: dict[str, str] = {}
        self._traced: set[str] = set()
        self._warned: Counter[tuple[str, str]] = Counter()

    @property
    def inline(self) -> bool:
        """Whether calls may go through ``decide_now``."""
        return self._inline is not None

    @property
    def lane(self) -> Lane:
        """The agent's lane, made at first use: inline for what declares it, but never beside a paced world."""
        if self._lane is None:
            if not self._paced and self._may_inline:
                self._lane = self._inline = InlineLane()
            else:
                self._lane = self._thread()
        return self._lane

    @property
    def lost(self) -> bool:
        """Whether the agent never came back from a call."""
        return self._lane is not None and self._lane.lost

    @property
    def can_finish(self) -> bool:
        """Whether a trajectory has a final question."""
        return self._journal.has_finish if self._journal is not None else self._ask["finish"] is not None

    def _thread(self) -> ThreadLane:
        lane = ThreadLane()
        lane.allows_background = self._background
        return lane

    async def prepare(
        self, work: Callable[[], Awaitable[Any]], asked_to_stop: Callable[[], bool], doing: Doing
    ) -> tuple[int, tuple[str, str] | None]:
        """Make the calls before time 0 (open, history, rehearsal); their real time, uncharged, and their error.

        A call that takes long is named to operators while it does: they alone know whether it blocks. Where all of them
        together do, how far they are is told after 20 s, and whenever twice as long has passed as before.
        """

        async def listen() -> None:
            begun = since = real_ns()
            nth, next_ns = doing.nth, LONG_NS
            while not asked_to_stop():
                await pause(100 * MS)
                if real_ns() - begun > next_ns and doing.nth > 1:
                    far = f"call {doing.nth}{f' of {doing.of}' if doing.of else ''}, {doing.what}"
                    operators().warning(f"before time 0: {next_ns / 1e9:g} s so far: {far}", session=self._session)
                    next_ns *= 2
                if doing.nth != nth:
                    nth, since = doing.nth, real_ns()
                elif real_ns() - since > LONG_NS:
                    self._warn(f"before time 0: {doing.what} has not come back for {LONG_NS / 1e9:g} s", "history")
                    since = real_ns() + PREPARE_LIMIT_NS  # once for this call
            self.stop_running()

        async with beside(listen):
            outcome = await self._call(work, PREPARE_LIMIT_NS)
        if self._inline is not None:
            self._inline.slow = False  # building is not answering
        return outcome.service_ns, outcome.error

    async def _call(self, work: Work, limit_ns: int) -> Outcome:
        outcome = await self.lane.run(work, limit_ns)
        if outcome.raised is not None:
            self._keep_trace(outcome)
        return outcome

    def _keep_trace(self, outcome: Outcome) -> None:
        """The first traceback of each kind of error, for people; it stays out of the log."""
        assert outcome.error is not None
        assert outcome.raised is not None
        kind = blotted(outcome.error[1])
        if kind not in self._traced and len(self._traced) <= TRACES:
            self._traced.add(kind)
            kept = len(self._traced) <= TRACES
            said = outcome.error[1] if kept else f"only the first {TRACES} kinds of error have a traceback here"
            self.traces[said] = trace(outcome.raised) if kept else ""

    async def decide(self, snapshot: int, look: Look, moment_ns: int | None = None, what: str = "decide", *,
                     begun_real_ns: int | None = None) -> Answer:  # fmt: skip
        """Ask the agent. ``look`` makes the observation at hand-over, around the meter of this call; ``begun_real_ns``
        is the real instant since which it is charged (now by default).
        """
        if self._journal is not None:
            return self._journal.finish() if what == "finish" else self._journal.decision(snapshot, moment_ns)
        meter = self._meter_since(begun_real_ns)
        observation = look(meter)
        outcome = await self._charged(meter, lambda: self._ask[what](observation))
        return self._answer(outcome, meter, snapshot, what)

    def decide_now(self, snapshot: int, observation: Observation, meter: SilentMeter) -> Answer:
        """As ``decide``, for an inline lane (``inline``): the same steps without a loop, since a million are made."""
        lane = self._inline
        assert lane is not None
        outcome = lane.run_now(self._decide, observation)
        if outcome.raised is not None:
            self._keep_trace(outcome)
        return self._answer(outcome, meter, snapshot, "decide")

    def _meter_since(self, begun_real_ns: int | None) -> SilentMeter:
        return CallMeter(begun_real_ns) if self._timed else self.meter()

    async def _charged(self, meter: SilentMeter, work: Work) -> Outcome:
        """A call whose meter is known in its task, wherever in it a model is asked."""

        def begin() -> Any:
            charging.set(meter)
            return work()

        outcome = await self._call(begin, self._limit_ns)
        if meter.touched and meter.fault is not None:
            raise meter.fault
        return outcome

    def _answer(self, outcome: Outcome, meter: SilentMeter, snapshot: int, what: str) -> Answer:
        charge = self._charge(outcome, snapshot, what, meter)
        return from_outcome(outcome, meter, charge, self._settings.timeout_ns, timed=self._timed)

    async def write(self, what: str, event: Event, label: Label | None, begun_real_ns: int | None = None) -> Answer:
        """Let the memory take in an event or its label; ``begun_real_ns`` as for ``decide``."""
        if self._journal is not None:
            return self._journal.write(what, event.id)
        memory = self._memory
        assert memory is not None
        meter = self._meter_since(begun_real_ns)
        if label is None:
            outcome = await self._charged(meter, lambda: _written("observe", memory.observe, event))
        else:
            outcome = await self._charged(meter, lambda: _written("feedback", memory.feedback, event, label))
        number = event.id.rpartition("/")[2]
        charge = self._charge(outcome, int(number) if number.isdigit() else 0, what, meter)
        error = outcome.error
        return Answer(
            charge,
            Kind.SILENT if error is None else Kind.ERROR,
            fields={} if error is None else {"error": {"kind": error[0], "text": error[1]}},
            ended_real_ns=outcome.ended_real_ns,
        )

    @property
    def upkeep_due(self) -> bool:
        """Whether the memory has something heavy to do that no decision needs to wait for."""
        if self._needs_upkeep is None or self.lost:
            return False
        try:
            return bool(self._needs_upkeep())
        except KeyboardInterrupt:
            raise
        except BaseException as foreign:  # noqa: BLE001 - the border to foreign code
            self._needs_upkeep = None
            self._warn(f"the memory's needs_upkeep failed and is not asked again: {blame.said(foreign)[1]}", "upkeep")
            return False

    async def upkeep(self, now_ns: int) -> bool:
        """Have the memory do what is heavy (``maintain``): timed and told, charged to nobody; False if it failed.

        While the world stands still, so does it. Beside a paced world the decisions go on: a memory that never suspends
        gets a lane of its own, one that waits for others a task in the agent's.
        """
        memory: Any = self._memory
        lane = self.lane
        if self._paced and declares(memory, "inline"):
            lane = self._beside = self._beside or ThreadLane("upkeep")
        outcome = await lane.run(lambda: memory.maintain(now_ns), PREPARE_LIMIT_NS)
        if self._inline is not None:
            self._inline.slow = False  # building is not answering
        if not self._paced:
            self.agent_ns += outcome.service_ns
        self._upkeep_ns.append(outcome.service_ns)
        if outcome.raised is not None:
            self._keep_trace(outcome)
        return outcome.error is None

    def _upkeep_told(self) -> dict[str, Any]:
        """How often and how long, and how often longer than the memory gives it in simulated time."""
        took, lag_ns = self._upkeep_ns, self._upkeep_lag_ns
        if not took:
            return {}
        told: dict[str, Any] = {"upkeeps": len(took), "upkeep_s": sum(took) / 1e9, "upkeep_longest_s": max(took) / 1e9}
        if isinstance(lag_ns, int):
            told["upkeeps_over_lag"] = sum(ns > lag_ns for ns in took)
        return told

    def _charge(self, outcome: Outcome, number: int, what: str, meter: SilentMeter) -> int:
        self.agent_ns += outcome.service_ns
        if outcome.guarded:
            self.n_guarded += 1
            self._warn("a call was stopped by the real-time guard", what)
        if self._inline is not None and self._inline.slow:
            self._lane, self._inline, self.demoted = self._thread(), None, True
            if self._timed:  # else it bears on no figure, and mostly it was the machine that was busy
                self._warn("an inline agent took over 100 ms: it gets a thread of its own", what)
        if self._timed:
            return outcome.ended_real_ns - meter.started_ns
        call = Call(self._session, number, what)
        if meter.touched:
            call.tokens, call.replayed_ns = meter.tokens, meter.replayed_ns
        charge = None if self._model is None else self._model.charge_ns(call, self._settings.seed)
        if type(charge) is not int:
            raise TimeError(f"a call has neither a measured nor a modelled duration, but {charge!r}")
        return charge

    def _warn(self, said: str, what: str) -> None:
        """Tell operators the first time in a unit; how often in all when it closes."""
        self._warned[said, what] += 1
        if self._warned[said, what] == 1:
            operators().warning(said, session=self._session, what=what)

    def stop_running(self) -> None:
        """Cancel the decisions in flight."""
        self.lane.stop_running()

    async def told_cancelled(self) -> bool:
        """Tell an agent that wants to know that its last decision is void; False if it failed at that."""
        return await self._tell(self._ask["cancel"])

    async def stats(self) -> dict[str, Any]:
        """What the memory tells of itself; nothing if it cannot, or not in JSON."""
        stats = self._stats
        if stats is None or self.lost or self._journal is not None:
            return self._upkeep_told()

        async def work() -> Any:
            return json.loads(json.dumps(dict(stats()), allow_nan=False))

        outcome = await self.lane.run(work, CLOSE_LIMIT_NS)
        if outcome.error is not None:
            self._warn(f"the memory's stats() are left out: {outcome.error[1]}", "stats")
        return {**({} if outcome.error is not None else outcome.value), **self._upkeep_told()}

    async def close(self) -> bool:
        """Let agent and memory close, then their lane; False if one failed at that."""
        well = self.lost or all([await self._tell(self._ask["close"]), await self._tell(self._close_memory)])
        for lane in (self._lane, self._beside):
            if lane is not None:
                await lane.close()
        for (said, what), n in self._warned.items():
            if n > 1:
                operators().warning(said, session=self._session, what=what, times=n)
        return well

    async def _tell(self, call: Any) -> bool:
        if call is None:
            return True
        outcome = await self._call(call, CLOSE_LIMIT_NS)
        self.agent_ns += outcome.service_ns
        return outcome.error is None


async def _written(name: str, write: Callable[..., Any], *told: Any) -> None:
    """A write; what it raises is told as the memory's."""
    try:
        await settled(write(*told))
    except Exception as error:
        error.add_note(f"{MEMORYS}{name}()")
        raise
