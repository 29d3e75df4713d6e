"""Progress on stderr: units done of all, how far the running one is, errors, time left; silent without a terminal."""

from __future__ import annotations

from collections.abc import Iterable
from types import TracebackType

from rich.console import Console, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from simulator.cli.speak import counted, plain
from simulator.runs.engine import Engine
from simulator.runs.unit import UnitPlan, UnitResult

__all__ = ["Progress"]


class Progress:
    """A context manager around the playing of units.

    Args:
        console: where it is drawn; nothing is where that is no terminal.
        n_units: of the run.
        n_done: of them, done before.
    """

    def __init__(self, console: Console, n_units: int, n_done: int) -> None:
        self._bar = _Bar(self, console)
        self._task = self._bar.add_task("units", total=n_units, completed=n_done, said="")
        self._n_units, self._n_done, self._n_failed, self._errors = n_units, n_done, 0, 0
        self._plan: UnitPlan | None = None
        self._engine: Engine | None = None

    def unit(self, plan: UnitPlan) -> None:
        """A unit is next; it may still be reading its history."""
        self._plan, self._engine = plan, None

    def watch(self, engine: Engine) -> None:
        """The unit's engine, when it starts."""
        self._engine = engine

    def unit_done(self, result: UnitResult) -> None:
        """A unit came to its end."""
        self._n_done += 1
        self._n_failed += result.error is not None
        self._errors += result.tally.get("errors", 0)
        self._plan = self._engine = None

    def sentence(self) -> str:
        """How far the running unit is; empty between units."""
        if self._plan is None or self._engine is None:
            return ""
        tally, truth = self._engine.books.tally, self._plan.truth
        total = max(1, truth.end_ns // truth.period_ns)
        said = f"{tally.released}/{total} snapshots, {counted(tally.offers, 'offer')}, {counted(tally.errors, 'error')}"
        return f"{self._plan.key}: {said}; unit {self._n_done + 1} of {self._n_units}"

    def draw(self) -> None:
        """Take in how far things are; called before each drawing."""
        running = self._engine.books.tally if self._engine is not None else None
        errors = self._errors + (running.errors if running is not None else 0)
        said = [counted(errors, "error")] if errors else []
        said += [f"{counted(self._n_failed, 'unit')} failed"] if self._n_failed else []
        part = 0.0
        if self._plan is not None:
            truth = self._plan.truth
            total = max(1, truth.end_ns // truth.period_ns)
            seen = running.released if running is not None else 0
            part = min(0.999, seen / total)
            said.insert(0, f"{plain(self._plan.key).plain}: {seen}/{total} snapshots")
            if running is not None:
                said.insert(1, counted(running.offers, "offer"))
        self._bar.update(self._task, completed=self._n_done + part, said=", ".join(said))

    def __enter__(self) -> Progress:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()


class _Bar(Bar):
    """Asks how far things are whenever it is drawn, so that the engine is never held up by being watched."""

    def __init__(self, progress: Progress, console: Console) -> None:
        self._progress = progress
        super().__init__(
            TextColumn("{task.description}"), BarColumn(20), MofNCompleteColumn(), TimeRemainingColumn(),
            TextColumn("{task.fields[said]}", markup=False), console=console, transient=True,
            disable=not console.is_terminal, refresh_per_second=5,
        )  # fmt: skip

    def get_renderables(self) -> Iterable[RenderableType]:
        """See ``rich.progress.Progress``."""
        if self.tasks:
            self._progress.draw()
        yield from super().get_renderables()
