"""What the parts of a sweep hand each other: cells, tasks, how a task ended, and the protocol of engines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, Protocol

__all__ = ["Cell", "Done", "Engine", "Kind", "Needs", "Stop", "Task"]

Kind = Literal["done", "erred", "bad_input", "interrupted", "lost", "no_room"]
"""How a task ends; ``no_room``, a full disk, ends the sweep with it."""
_ID_DIGITS = 10
_NAME_BYTES = 100
"""File systems count bytes: a folder's name has 255, and an id, a seed and more come behind this."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One value of each axis but session and seed.

    Attributes:
        values: axis and value as typed, in the order of the study's axes; axes with a single value are among them.
        choice: fields of ``simulator.play.assemble.Choice`` that it sets (never scenarios nor seed); picklable.
        data: name of the data set that it plays.
        varying: the axes that have several values in the study: they alone are in the name.
        id: 10 hexadecimal digits over all that defines it.
    """

    values: tuple[tuple[str, str], ...]
    choice: Mapping[str, Any]
    data: str
    varying: tuple[str, ...] = ()
    id: str = ""

    def __post_init__(self) -> None:
        if not self.id:
            said = sorted((k, repr(v)) for k, v in self.choice.items())
            whole = repr((sorted(self.values), said, self.data)).encode("utf-8", "surrogatepass")
            object.__setattr__(self, "id", sha256(whole).hexdigest()[:_ID_DIGITS])

    @property
    def name(self) -> str:
        """The values that vary, readable and fit for a folder's name."""
        said = "_".join(value for axis, value in self.values if axis in self.varying)
        fit = "".join(c if c.isalnum() or c in "-_.=" else "-" for c in said).encode("utf-8")[:_NAME_BYTES]
        return fit.decode("utf-8", "ignore").strip("-.") or "only"

    def value(self, axis: str) -> str | None:
        """Its value of an axis; None where the study has no such axis."""
        return next((value for name, value in self.values if name == axis), None)


@dataclass(frozen=True, slots=True)
class Needs:
    """What a task takes besides a worker.

    Attributes:
        endpoint: shown base URL of the model or memory server that it asks; None: this machine only.
        alone: its latency is measured: nothing else may run on the same endpoint, and where that is None nothing else
            on this machine.
        limit: calls in flight on the endpoint at most, over all workers; None: no limit.
    """

    endpoint: str | None = None
    alone: bool = False
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Task:
    """All that a worker needs, on any machine that sees the same paths.

    Attributes:
        sweep: the sweep's folder.
        run: its folder below ``runs/``.
        key: of the session; empty: score the run, all of whose units are there.
        scenario: what ``plays`` reads it from.
        cell: its cell.
        seed: its seed.
        needs: what it takes besides a worker.
        marked: measured beside others because that was asked for; its run and its summary say so.
        nth: which of the plays that the scenario makes (one a profile).
        inputs: digest of all that the unit is made of, or of a run's units; kept with it, by which changes are noticed.
        code: digest of the code of agent and memory as it was planned, ``dataset`` likewise hash of the session's
            files: a unit is played of no others. Empty: not known.
        units: to score a run: ``inputs`` of each of its units, in order of its sessions.
        failed: to score a run: by key why units could not be played, just now.
    """

    sweep: Path
    run: str
    key: str
    scenario: Path
    cell: Cell
    seed: int
    needs: Needs = Needs()
    marked: bool = False
    nth: int = 0
    inputs: str = ""
    code: str = ""
    dataset: str = ""
    units: tuple[str, ...] = ()
    failed: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Done:
    """How a task ended; ``error`` is the sentence for people, None where there is none."""

    run: str
    key: str
    error: str | None = None
    kind: Kind = "done"
    seconds: float = 0.0
    tally: Mapping[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class Stop:
    """What Ctrl-C asks for: the first lets tasks in flight end (``draining``), the second stops (``now``).

    ``running`` is for who has to decide: by run and key the tasks that run, and when they began, ns of the machine's
    clock; an engine keeps it.
    """

    draining: bool = False
    now: bool = False
    running: dict[tuple[str, str], int] = field(default_factory=dict)


class Engine(Protocol):
    """Runs tasks somewhere, by ``simulator.sweep.work.play_task``."""

    def check(self, cells: Iterable[Cell]) -> None:
        """Refuse cells that cannot be played there, before anything is.

        Raises:
            UsageError: with the cell's name.
        """

    def run(self, tasks: Iterable[Task | None], done: Callable[[Done], None], stop: Stop) -> None:
        """Run them all; order, and what runs side by side, are its affair.

        Args:
            tasks: asked for the next one whenever a worker is free. A None says that nothing is ready yet: more
                is after the next ``done``. Its end says that there is no more.
            done: is told of each task once, in this process, before ``tasks`` is asked again.
            stop: looked at between tasks.
        """
