"""What a person sees of a live run in the terminal: suggestions as they reach the user, and one line of how it goes."""

from __future__ import annotations

import contextlib
import sys
from collections import deque
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TextIO

from rich.live import Live
from rich.text import Text

from simulator.cli.speak import Voice, counted, in_a_line, plain
from simulator.core.types import MS, SECOND
from simulator.play.player import Watcher
from simulator.runs.engine import Engine
from simulator.runs.flights import Flight, charged_ns
from simulator.runs.folder import RunFolder
from simulator.runs.gate import Gate, Surfacing
from simulator.runs.records import Kind
from simulator.runs.unit import UnitPlan, UnitResult
from simulator.timing.audit import percentile

__all__ = ["Spectator", "terminal", "titled"]

_LATENCIES = 600
_KINDS = 10  # kinds of failure that are told
_NAME = 80  # characters of an intention


def terminal() -> TextIO | None:
    """The terminal in front of which somebody sits, wherever output was sent; None where there is none."""
    for stream in (sys.stderr, sys.stdout):
        with contextlib.suppress(AttributeError, ValueError):  # closed, or never there
            if stream.isatty():
                return stream
    with contextlib.suppress(OSError):
        return open("/dev/tty", "w", encoding="utf-8")
    return None


def titled(mark: str, where: TextIO | None) -> Callable[[], None]:
    """Put the mark into the title of a terminal, so that a recorder can leave its window out; undo by calling.

    Where the terminal keeps a stack of titles its own comes back; elsewhere it is left empty.
    """

    def write(said: str) -> None:
        if where is not None:
            with contextlib.suppress(OSError, ValueError):  # a terminal that was closed
                where.write(said)
                where.flush()

    write(f"\x1b[22;0t\x1b]0;{mark}\x07")
    return lambda: write("\x1b]0;\x07\x1b[23;0t")


class Spectator(Watcher):
    """A context manager around a run that is watched while it goes on.

    Args:
        voice: where suggestions are told.
        badge: what is being watched, such as ``LIVE`` or ``REPLAY``: stands in front of every line.
        gate: what of repeated offers reaches a person.
        how: how the recording is doing, as text; empty where there is none.

    Attributes:
        shown: suggestions that reached the person.
        offered: offers that the agent made, those included that repeat one.
    """

    def __init__(self, voice: Voice, badge: str, gate: Gate, how: Callable[[], str] = str) -> None:
        self._voice, self._badge, self._how = voice, badge, how
        self._rule = Surfacing(gate)
        self._engine: Engine | None = None
        self._latencies: deque[int] = deque(maxlen=_LATENCIES)
        self._timeout_ns: int | None = None
        self._faults: list[str] = []
        self.shown = self.offered = 0
        self._state = "agent and memory are getting ready"
        self._line = Live(get_renderable=self._drawn, console=voice.progress, refresh_per_second=4, transient=True)

    def __enter__(self) -> Spectator:
        if self._voice.progress.is_terminal:
            self._line.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._voice.progress.is_terminal:
            self._line.__exit__(kind, error, trace)

    def launched(self, folder: RunFolder, missing: Sequence[UnitPlan]) -> None:
        """See ``Watcher``."""
        self._voice.record("launch", run=str(folder.path), units=len(folder.plans), to_play=len(missing))

    def unit(self, plan: UnitPlan) -> None:
        """See ``Watcher``."""
        self._timeout_ns = plan.settings.timeout_ns

    def engine(self, engine: Engine) -> None:
        """See ``Watcher``."""
        self._engine, self._state = engine, "watching"
        engine.books.listeners.append(self._decided)

    def beat(self) -> None:
        """Half a minute has passed: said where no line is drawn."""
        if not self._voice.progress.is_terminal and not self._voice.as_json:
            self._voice.tell(self._said())

    def unit_done(self, plan: UnitPlan, result: UnitResult) -> None:
        """See ``Watcher``."""
        self._voice.record("unit", key=plan.key, error=result.error, tally=dict(result.tally))
        if result.error not in (None, "interrupted"):
            self._voice.tell(f"unit {plan.key}: {in_a_line(str(result.error))}", "red")

    def _decided(self, flight: Flight, kind: Kind, ended_ns: int) -> None:
        answer, snapshot = flight.answer, flight.snapshot
        assert answer is not None
        assert snapshot is not None
        self._latencies.append(charged_ns(flight, kind, ended_ns, self._timeout_ns))
        if (error := answer.fields.get("error")) is not None:
            self._failed(str(error["kind"]), str(error["text"]), ended_ns)
        if kind is Kind.SILENT:
            self._rule.silence()
        elif kind is Kind.OFFER:
            for offer, at in answer.offers:
                arrival = flight.started_ns + at
                self.offered += 1
                if self._rule.offer(flight.seq, offer.intention, arrival):
                    self._told(offer.intention, offer.text, offer.confidence, arrival, arrival - snapshot.captured_ns)

    def _failed(self, kind: str, text: str, t_ns: int) -> None:
        """Why decisions fail is said while they do, each kind once; the line holds the last."""
        if kind not in self._faults and len(self._faults) < _KINDS:
            self._voice.tell(f"{_clock(t_ns)} {self._badge} a decision failed: {kind}: {in_a_line(text)}", "red")
        self._faults = [*(one for one in self._faults if one != kind), kind]

    def _told(self, intention: str, text: str, confidence: float | None, t_ns: int, latency_ns: int) -> None:
        self.shown += 1
        self._voice.record(
            "suggestion", t_s=round(t_ns / SECOND, 3), intention=intention, text=text, confidence=confidence,
            latency_ms=round(latency_ns / MS, 1),
        )  # fmt: skip
        if not self._voice.as_json:
            sure = "" if confidence is None else f", {confidence:.0%} sure"
            head = f"{_clock(t_ns)} {self._badge} {in_a_line(intention, _NAME)}: "
            said = plain(head + in_a_line(text))
            said.stylize("bold", 0, len(head))
            said.append(f"  ({latency_ns / MS:.0f} ms after the screen was seen{sure})", "dim")
            self._voice.say(said)

    def _drawn(self) -> Text:
        """The line as the terminal has room for it."""
        said = plain(self._said(self._voice.progress.width - 1))
        said.no_wrap, said.overflow = True, "ellipsis"
        return said

    def _said(self, width: int | None = None) -> str:
        """How it goes in one line; with a width, as much of it as fits: latencies go first, how the recording is doing
        stays.
        """
        if self._engine is None:
            counts, latencies = [self._state], []
        else:
            tally = self._engine.books.tally
            counts = [counted(tally.released, "snapshot"), counted(tally.decisions, "decision")]
            counts += [f"{counted(self.shown, 'suggestion')} shown"]
            last = f" (last: {self._faults[-1]})" if self._faults else ""
            counts += [counted(tally.errors, "error") + last] if tally.errors else []
            latencies = [percentile(self._latencies, q) / MS for q in (50, 95)] if self._latencies else []
        how = [said] if (said := self._how()) else []
        times = ["latency p50 {:.0f} ms, p95 {:.0f} ms".format(*latencies)] if latencies else []
        lines = [[", ".join(counts), *how, *times], [", ".join(counts), *how], [*how, ", ".join(counts)], how]
        whole = [f"{self._badge}: {'; '.join(parts)}" for parts in lines if parts]
        return next((one for one in whole if width is None or len(one) <= width), whole[-1])


def _clock(t_ns: int) -> str:
    seconds = (t_ns + SECOND // 2) // SECOND  # to the nearest, as pages have it
    return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
