"""An earlier run's log as a journal: its decisions by what was asked, with their charges.

A miss is an error that names the missing call; it never falls through to a live one.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from memory.view import RECALLS
from simulator.core.errors import InputError, JournalMiss, UsageError
from simulator.core.types import SECOND
from simulator.runs import runlog
from simulator.runs.answers import Answer, from_record
from simulator.runs.records import Kind, RunLog
from simulator.timing.latency import Empirical

__all__ = ["Journal", "JournalEnds", "empirical", "refuse_other", "unit_logs"]


MAY_DIFFER = ("clock", "latency", "latency_source", "policy", "gate", "recording", "person")
"""Fields of a header in which a replay may differ from its journal; all others bear on what was seen and said. (The
last two are for statistics, and no older journal has them; what was recorded is in ``dataset``.)
"""

_OLD_EMBEDDER = "hash512-v1"
"""What memories embedded with before headers told."""
_OF_SCENARIO = ("dataset", "truth")  # hashes, which say nothing to anybody


def refuse_other(path: Path, theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> None:
    """Refuse a journal of another session, agent, protocol, seed, limit, ….

    Args:
        path: of the journal.
        theirs: its header.
        ours: of the unit that is to be played from it.

    Raises:
        UsageError: naming the field that differs.
    """
    for field in ours:
        if field == "embedder" and field not in theirs and ours[field]["name"] == _OLD_EMBEDDER:
            continue
        if field not in MAY_DIFFER and theirs.get(field) != ours[field]:
            if field in _OF_SCENARIO:
                raise UsageError(_changed(path))
            raise UsageError(
                f"{path}: this journal is of another run: its {field} is '{theirs.get(field)}', here it is "
                f"'{ours[field]}'"
            )


def _changed(path: Path) -> str:
    """That a scenario is not what it was, and what works all the same."""
    run = path.parents[2] if len(path.parents) > 2 and path.parent.parent.name == "units" else path
    return (
        f"{path}: this journal is of the scenario as it was: its session, history, profile or truth has changed since, "
        "so this would be another run; to score that run by a truth written down since: "
        f"{shlex.join(['proact', 'score', str(run), '--truth', 'SCENARIO'])}"
    )


class JournalEnds(Exception):
    """The journal is of a run that was interrupted, and a replay has come to where that happened.

    Args:
        path: of the journal.
        reaches_ns: the last instant that it tells of.
    """

    def __init__(self, path: Path, reaches_ns: int) -> None:
        super().__init__(
            f"the journal ends at {reaches_ns / SECOND:.1f} s, where its run was interrupted, and so does this replay"
        )
        self.path, self.reaches_ns = path, reaches_ns


class Journal:
    """Decisions and memory writes of one unit.

    Of a run that was interrupted it tells what was played. What is asked beyond that is its end (``JournalEnds``), not
    a miss, where the replay's policy is the run's own: under another one anything may be missing.

    Args:
        path: its ``decisions.jsonl``.
        log: the log, where it has been read already.

    Attributes:
        recalls: how often its decisions asked a memory, as its end says; empty under another policy, when other
            decisions are made.
    """

    def __init__(self, path: Path, log: RunLog | None = None) -> None:
        self.path = path
        self.log = runlog.read(path) if log is None else log
        finish = {seq for seq, r in self.log.full.items() if r.get("what") == "finish"}
        asked = [i for i, seq in enumerate(self.log.seq.tolist()) if seq not in finish]
        self._by_snapshot = {int(self.log.snapshot[i]): i for i in asked}
        self._writes = {(w["what"], w["event"]): w for w in self.log.writes}
        self._finish = next((r for r in self.log.full.values() if r.get("what") == "finish"), None)
        self._moments = {int(t): i for i, t in enumerate(self.log.released_ns)}
        self._is_cut = not self.log.complete
        self.recalls: Mapping[str, int] = {}

    def check(self, header: Mapping[str, Any]) -> None:
        """See ``refuse_other``."""
        refuse_other(self.path, self.log.header, header)
        own = header.get("policy") == self.log.header.get("policy")
        self._is_cut = self._is_cut and own
        end = self.log.end or {}
        self.recalls = {name: end[name] for name in RECALLS if name in end} if own else {}

    def _missing(self, what: str) -> JournalMiss | JournalEnds:
        if self._is_cut:
            done = [int(w["done_ns"]) for w in self.log.writes]
            return JournalEnds(self.path, max([*self.log.actionable_ns.tolist(), *done], default=0))
        return JournalMiss(f"{self.path}: {what}")

    def decision(self, snapshot: int, moment_ns: int | None = None) -> Answer:
        """The decision on a snapshot (or at a moment).

        Raises:
            JournalMiss: it is not there.
            JournalEnds: nor could it be.
        """
        i = self._by_snapshot.get(snapshot) if moment_ns is None else self._moments.get(moment_ns)
        if i is None:
            at = f"snapshot {snapshot}" if moment_ns is None else f"moment {moment_ns} ns"
            raise self._missing(f"the journal holds no decision for {at}; record one under the same policy")
        record = self.log.full.get(int(self.log.seq[i]))
        if record is not None:
            return from_record(record)
        return Answer(int(self.log.actionable_ns[i] - self.log.started_ns[i]))

    @property
    def has_finish(self) -> bool:
        """Whether the run ended with a final question, or was interrupted before one."""
        return self._finish is not None or self._is_cut

    def finish(self) -> Answer:
        """The final answer of a trajectory.

        Raises:
            JournalMiss: it is not there.
            JournalEnds: nor could it be.
        """
        if self._finish is None:
            raise self._missing("the journal holds no final decision (finish)")
        return from_record(self._finish)

    def write(self, what: str, event: str) -> Answer:
        """A memory write.

        Raises:
            JournalMiss: it is not there.
            JournalEnds: nor could it be.
        """
        record = self._writes.get((what, event))
        if record is None:
            raise self._missing(f"the journal holds no memory write {what} of event {event}")
        error = {"error": record["error"]} if "error" in record else {}
        return Answer(record["done_ns"] - record["started_ns"], Kind.ERROR if error else Kind.SILENT, fields=error)


def unit_logs(run: Path) -> list[Path]:
    """The logs of a run folder's units, sorted; a log file or a unit's folder stands for itself.

    Raises:
        InputError: there are none.
    """
    if run.is_file():
        return [run]
    if not run.exists():
        raise InputError(run, "there is no such file or folder; a run folder is wanted")
    found = sorted(run.glob("units/*/decisions.jsonl")) or sorted(run.glob("decisions.jsonl"))
    if not found:
        raise InputError(run, "not a run folder: it holds no units/…/decisions.jsonl")
    return found


def empirical(run: Path) -> Empirical:
    """``from:RUN``: the service times of a run's finished decisions and memory writes, pooled over its units.

    Raises:
        InputError: no run, one whose latencies were modelled themselves, or no finished decision in it.
    """
    decide: list[int] = []
    write: list[int] = []
    for path in unit_logs(run):
        log = runlog.read(path)
        if log.header.get("latency_source") == "modelled":
            raise InputError(path, "a run with measured latencies; those of this one were modelled")
        lost = [seq for seq, r in log.full.items() if r.get("error", {}).get("kind") == "agent_lost"]
        whole = (log.kind != Kind.CANCELLED) & ~np.isin(log.seq, lost)  # neither says how long an answer takes
        decide.extend((log.actionable_ns - log.started_ns)[whole].tolist())
        write.extend(w["done_ns"] - w["started_ns"] for w in log.writes)
    if not decide:
        raise InputError(run, "holds no finished decision to resample latencies from")
    return Empirical(str(run), tuple(np.sort(decide).tolist()), tuple(np.sort(write).tolist() if write else ()))
