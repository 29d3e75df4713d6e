"""One unit: one agent with one memory on one session, into one folder (``decisions.jsonl``, ``truth.json``)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import anyio

from memory.view import LabelBook
from simulator.core.errors import InputError
from simulator.core.files import open_plain
from simulator.core.protocols import Agent, Memory, SnapshotSource
from simulator.core.traits import MEMORYS, declares, trait
from simulator.core.types import Event, Label, Setup
from simulator.runs import runlog
from simulator.runs.config import Settings, check
from simulator.runs.engine import Engine, Interrupt
from simulator.runs.history import Recent
from simulator.runs.journal import Journal
from simulator.runs.prepare import Doing, prepare
from simulator.runs.seam import Seam
from simulator.session import truth as truths
from simulator.session.segmentation import Segmenter
from simulator.session.truth import Truth
from simulator.timing.aside import aside, world_waits
from simulator.timing.audit import Audit, judge, probe_lag
from simulator.timing.clock import pause, real_ns
from simulator.timing.pace import Held, Paced
from simulator.timing.tasks import beside

__all__ = ["LOG", "TRUTH", "UnitPlan", "UnitResult", "is_done", "play_unit"]

LOG, TRUTH, TRACES = "decisions.jsonl", "truth.json", "errors.txt"
_SYNC_NS = 10**9


@dataclass(frozen=True, slots=True)
class UnitPlan:
    """All that one unit needs.

    Attributes:
        key: the unit's folder below ``units/``.
        agent: makes the agent; not called in journal mode.
        memory: makes the memory.
        agent_text: the agent's spec, for the log's header; likewise ``memory_text`` and ``gate_text``.
        sees_truth: the agent or its memory is given the truth (an oracle): its log and scores say so.
        agent_code: SHA-256 of the agent's file where it is not one of ours; likewise ``memory_code``.
        dataset: hash of session, scenario and history.
        recording: what the session is a version of, and ``person`` who was recorded where it is not the user: for
            statistics, nobody who plays is told.
        journal: the log that clock ``journal`` reads.
        asking: for the header of a run that asks a model: ``model`` (without any key) and ``strategy``.
        sample: what a benchmark calls trajectory and profile; they stand in the header of such a run only.
    """

    key: str
    source: SnapshotSource
    truth: Truth
    history: Sequence[tuple[Event, Label | None]]
    profile: Mapping[str, str]
    intentions: Sequence[str]
    window_ns: int
    segmentation: str
    settings: Settings
    agent: Callable[[], Agent]
    memory: Callable[[], Memory]
    agent_text: str
    memory_text: str
    gate_text: str
    dataset: str
    recording: str = ""
    journal: Path | None = None
    sees_truth: bool = False
    agent_code: str | None = None
    memory_code: str | None = None
    asking: Mapping[str, Any] = field(default_factory=dict)
    sample: tuple[str, str] | None = None
    person: str | None = None

    @property
    def is_costly(self) -> bool:
        """Whether playing it again would not give the same log for nothing: time passed, or a model was asked."""
        return not self.settings.reproducible or "model" in self.asking

    def header(self) -> dict[str, Any]:
        """What the log's first line says: only what the inputs determine."""
        s = self.settings
        return {
            "session": self.source.session,
            "user": self.source.user,
            "agent": self.agent_text,
            "agent_code": self.agent_code,
            "sees_truth": self.sees_truth,
            "memory": self.memory_text,
            "memory_code": self.memory_code,
            "memory_mode": s.memory_mode,
            "protocol": s.protocol,
            "policy": s.policy.text if s.protocol == "stream" else None,
            "clock": s.clock,
            "latency": None if s.latency is None else s.latency.text,
            "latency_source": s.latency_source,
            "gate": self.gate_text,
            "ocr": "uncharged",  # text that a recording carries costs nothing
            "seed": s.seed,
            "timeout_ns": s.timeout_ns,
            "period_ns": self.truth.period_ns,
            "end_ns": self.truth.end_ns,
            "utc_anchor_ns": getattr(self.source, "utc_anchor_ns", None),  # of time 0; None where no calendar is known
            "window_ns": self.window_ns,
            "segmentation": self.segmentation,
            "dataset": self.dataset,
            **({} if not self.recording else {"recording": self.recording}),
            **({} if self.person is None else {"person": self.person}),
            "truth": self.truth.digest(),
            **({} if self.sample is None else {"sample": list(self.sample)}),
            **self.asking,
        }


@dataclass(frozen=True, slots=True)
class UnitResult:
    """How a unit went. ``error``: why it could not be played to its end, None if it was; ``bad_input`` for a fault of
    its recording or journal. ``log_sha256``: of the whole log. ``unknown_intention``: the first one that the agent
    offered and that is not in use. ``cut``: why a replay ends before its stream does; its log has no end line then.
    """

    key: str
    tally: Mapping[str, int] = field(default_factory=dict)
    audit: Audit | None = None
    cold_start_ns: int | None = None
    memory_stats: Mapping[str, Any] = field(default_factory=dict)
    error: str | None = None
    bad_input: bool = False
    lost: bool = False
    log_sha256: str | None = None
    unknown_intention: str | None = None
    cut: str | None = None


def is_done(folder: Path, plan: UnitPlan) -> bool:
    """Whether the folder holds this unit's log to its end, from the same inputs, and its truth."""
    path = folder / LOG
    want = {"kind": "header", "schema": runlog.SCHEMA, **plan.header()}
    try:
        if not runlog.has_begun(path) or not runlog.has_ended(path) or runlog.read_header(path) != want:
            return False
        return truths.read(folder / TRUTH) == plan.truth
    except InputError:  # damaged: it is played again
        return False


def file_digest(path: Path) -> str:
    """SHA-256 of a file."""
    with open_plain(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


async def play_unit(plan: UnitPlan, folder: Path, interrupt: Interrupt, watch: Callable[[Engine], None] | None = None
                    ) -> UnitResult:  # fmt: skip
    """Play it from the start; what an interrupted attempt left is written over.

    Args:
        plan: the unit.
        folder: its folder.
        interrupt: set it to have the unit stop soon; its log then has no end line.
        watch: gets the engine when it starts, for showing how far it is.

    Raises:
        UsageError: a combination that cannot be played, or a journal of another run.
        JournalMiss: a call that the journal does not hold.
    """
    with world_waits(plan.settings.reproducible):
        return await _play_unit(plan, folder, interrupt, watch)


async def _play_unit(plan: UnitPlan, folder: Path, interrupt: Interrupt, watch: Callable[[Engine], None] | None
                     ) -> UnitResult:  # fmt: skip
    ready = await _make_ready(plan, folder, interrupt)
    log = runlog.LogWriter(folder / LOG, durable=plan.is_costly)
    log.header(plan.header())
    if ready.failed is not None:
        log.close()
        await _close(ready.seam, folder)
        error = "interrupted" if interrupt.asked else ready.failed
        return UnitResult(plan.key, error=error, cold_start_ns=ready.cold_start_ns)
    s, pace = plan.settings, _pace(plan.settings, interrupt)
    engine = Engine(plan.source, plan.truth, ready.seam, ready.memory, ready.book, ready.recent, ready.profile, s, log,
                    pace, interrupt, plan.intentions)  # fmt: skip
    if watch is not None:
        watch(engine)
    begun, lags = real_ns(), list[int]()
    try:
        async with beside(*_helpers(s, log, lags)):
            await engine.run()
    except BaseException:
        log.close()  # without an end line: interrupted, and scoreable up to here
        raise
    finally:
        with anyio.CancelScope(shield=True):
            recalls = _recalls(engine, ready)
            stats = {**await ready.seam.stats(), **recalls}
            _note_counts(engine, ready.memory, stats)
            if not await _close(ready.seam, folder):
                engine.books.note("close_failed")
    counts = asdict(engine.books.tally)
    if interrupt.asked:
        log.close()
        return UnitResult(plan.key, counts, error="interrupted")
    if engine.cut is not None:
        log.close()  # without an end line, as that of the journal's own run: scored as far as it goes
        return UnitResult(plan.key, counts, cut=engine.cut)
    log.close(engine.books.end(recalls))
    audit = judge(
        wall_ns=real_ns() - begun,
        agent_ns=ready.seam.agent_ns,
        lateness_ns=pace.lateness_ns if isinstance(pace, Paced) else None,
        lags_ns=lags,
        overruns=engine.books.tally.overruns,
        guarded=ready.seam.n_guarded,
        moved=ready.seam.demoted,
        reproducible=s.reproducible,
    )
    sha = await aside(file_digest, folder / LOG)
    return UnitResult(plan.key, counts, audit, ready.cold_start_ns, stats, lost=ready.seam.lost, log_sha256=sha,
                      unknown_intention=engine.books.unknown)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Ready:
    """Agent and memory at time 0, or why they never got there."""

    seam: Seam
    memory: Memory | None
    recent: Recent
    book: LabelBook
    profile: Mapping[str, str]
    cold_start_ns: int | None
    failed: str | None
    journal: Journal | None


async def _make_ready(plan: UnitPlan, folder: Path, interrupt: Interrupt) -> _Ready:
    """All that happens before time 0: agent and memory are made, opened and fed with the history."""
    s, profile = plan.settings, MappingProxyType(dict(plan.profile))  # no agent changes what the next unit is told
    journal = None if plan.journal is None else Journal(plan.journal)
    agent = plan.agent() if journal is None else None
    check(s, agent)
    if journal is not None:
        journal.check(plan.header())
    memory = None if declares(made := plan.memory(), "inert") else made
    await aside(_lay_out, folder, plan.truth)
    seam = Seam(agent, memory, s, plan.source.session, journal)
    recent = Recent(Segmenter(plan.source.user, plan.source.session, plan.segmentation), plan.window_ns)
    book, cold, failed = LabelBook(), None, None
    if journal is None:
        who = (plan.source.session, plan.source.user, profile, plan.intentions)
        setup, doing = Setup(*who, s.seed, plan.truth.period_ns, s.protocol), Doing()
        work = partial(prepare, agent, memory, plan.history, setup, recent, book, doing)
        cold, error = await seam.prepare(work, lambda: interrupt.asked, doing)
        failed = None if error is None else _not_ready(doing.what, error[1])
    return _Ready(seam, memory, recent, book, profile, cold, failed, journal)


def _recalls(engine: Engine, ready: _Ready) -> Mapping[str, int]:
    """How often decisions asked the memory; a replay asks none, and tells what its journal does."""
    if ready.journal is not None:
        return ready.journal.recalls
    return {} if engine.recalls is None else engine.recalls.told()


def _not_ready(who: str, said: str) -> str:
    """Why a unit was not played; a call to the memory within one to the agent is the memory's."""
    if said.startswith(MEMORYS):
        who, _, said = said.partition(": ")
    return f"not played, {who} failed before time 0: {said}"


def _note_counts(engine: Engine, memory: Memory | None, stats: Mapping[str, Any]) -> None:
    """What a memory counts that bears on the scores (``noted``) stands with them; of a combination all together."""
    for name in trait(memory, "noted", ()):
        if n := sum(n for key, n in stats.items() if key.rpartition(".")[2] == name):
            engine.books.note(name, n)


async def _close(seam: Seam, folder: Path) -> bool:
    """Let agent and memory go; False if one of them failed at that."""
    well = await seam.close()
    await aside(write_traces, folder, seam.traces)
    return well


def _lay_out(folder: Path, truth: Truth) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    truths.write(truth, folder / TRUTH)


def write_traces(folder: Path, traces: Mapping[str, str]) -> None:
    """Tracebacks of foreign code beside the log, one of each kind; no file where there were none."""
    file = folder / TRACES
    file.unlink(missing_ok=True)
    if traces:
        file.write_text("\n".join(f"# {said}\n{trace}" for said, trace in traces.items()), "utf-8", "backslashreplace")


def _pace(s: Settings, interrupt: Interrupt) -> Held | Paced:
    if s.clock not in ("wall", "elastic"):
        return Held()
    elastic = s.clock == "elastic"
    return Paced(elastic=elastic, speed=s.speed, max_gap_ns=s.max_gap_ns, asked_to_stop=lambda: interrupt.asked)


def _helpers(s: Settings, log: runlog.LogWriter, lags: list[int]) -> list[Callable[[], Coroutine[Any, Any, None]]]:
    """What goes on beside a run: the log goes to the disk every second where it cannot be computed again, and the
    loop's lag is probed where the world does not wait.
    """

    async def sync() -> None:
        while True:
            await pause(_SYNC_NS)
            log.flush()
            await aside(log.sync)

    if s.reproducible:
        return []
    return [sync] if s.clock == "measured" else [sync, lambda: probe_lag(lags)]
