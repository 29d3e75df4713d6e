"""What an agent tells of one decision while it makes it: stages, tokens, the first token, offers that are ready early.

Spans nest, and a stretch of time counts for the innermost span only; spans of one name that overlap (parallel samples)
count their union, so parallel work takes the longest and sequential work adds up. Instants are kept relative to the
start of the call. A ``SilentMeter`` is the same without a clock: in modelled runs nothing real may enter the log. A
``ReplayMeter`` takes its times from a cassette.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from operator import index

from simulator.core.errors import ProactError
from simulator.core.types import Offer
from simulator.timing.clock import real_ns

__all__ = ["STAGES", "CallMeter", "ReplayMeter", "SilentMeter", "charging"]

STAGES = ("wait", "ocr", "embed", "retrieve", "build", "model", "parse", "write")
_MOST = 10**12  # of anything in one call: sums of it stay finite and fit 64 bits
_NO_SPAN = nullcontext()


class _Span:
    __slots__ = ("children", "name")

    def __init__(self, name: str) -> None:
        self.name, self.children = name, 0


_current: ContextVar[_Span | None] = ContextVar("proact_span", default=None)
charging: ContextVar[SilentMeter | None] = ContextVar("proact_charging", default=None)
"""The meter of the call that this task belongs to, also for those who were handed none (a memory that asks a model)."""


class SilentMeter:
    """Counts what is counted, times nothing. Base of ``CallMeter``; one instance a call.

    Nonsense raises in the agent, which told it (``TypeError``, ``ValueError``), so that nothing else enters the books.
    """

    __slots__ = ("closed", "cost", "emitted", "fault", "first_token_ns", "memory_hits", "notes", "replayed_ns",
                 "retries", "stages_ns", "throttle_ns", "tokens", "touched", "unpriced")  # fmt: skip

    started_ns = 0  # no clock
    timed = False
    replays = False

    def __init__(self) -> None:
        self.touched = False
        self.closed = False

    def _touch(self) -> None:
        """Most decisions use no meter: its books are opened at the first entry."""
        if not self.touched:
            self.touched = True
            self.stages_ns: dict[str, int] = {}
            self.tokens: dict[str, int] = {}
            self.notes: dict[str, int] = {}
            self.emitted: list[tuple[Offer, int | None]] = []
            self.cost: float | None = None
            self.unpriced = False
            self.first_token_ns: int | None = None
            self.throttle_ns = self.retries = self.memory_hits = self.replayed_ns = 0
            self.fault: ProactError | None = None

    def stage(self, name: str) -> AbstractContextManager[None]:
        """See ``core.protocols.Meter``."""
        if name not in STAGES:
            raise ValueError(f"stage must be one of {', '.join(STAGES)}, not {name!r}")
        return _NO_SPAN

    def usage(self, *, tokens_in: int = 0, tokens_out: int = 0, reasoning: int = 0, cached: int = 0, images: int = 0,
              cost: float | None = None) -> None:  # fmt: skip
        """See ``core.protocols.Meter``."""
        counts = {"in": tokens_in, "out": tokens_out, "reasoning": reasoning, "cached": cached, "images": images}
        counts = {key: index(n) for key, n in counts.items()}
        amount = None if cost is None else float(cost)
        if not all(0 <= n <= _MOST for n in counts.values()):
            raise ValueError("a count of tokens or images is a whole number from 0 to a thousand billion")
        if amount is not None and not 0 <= amount <= _MOST:
            raise ValueError(f"cost must be a finite amount from 0, not {amount}")
        if self.closed:
            return
        self._touch()
        for key, n in counts.items():
            self.tokens[key] = self.tokens.get(key, 0) + n
        self.unpriced = self.unpriced or amount is None
        self.cost = None if self.unpriced else (self.cost or 0.0) + (amount or 0.0)

    def first_token(self) -> None:
        """See ``core.protocols.Meter``; without a clock nothing is marked."""

    def emit(self, offer: Offer) -> None:
        """See ``core.protocols.Meter``; without a clock the offer counts as ready when the call returns."""
        if not self.closed:
            self._touch()
            self.emitted.append((offer, None))

    def waited(self, ns: int, *, retries: int = 0) -> None:
        """See ``core.protocols.Meter``."""
        waited, tries = index(ns), index(retries)
        if waited < 0 or tries < 0:
            raise ValueError("a wait and a number of retries cannot be negative")
        if not self.closed:
            self._touch()
            self.throttle_ns += waited
            self.retries += tries

    def reported(self, within: str, stages: Mapping[str, int]) -> None:
        """See ``core.protocols.Meter``; without a clock there is nothing to divide."""
        if {within, *stages} - set(STAGES):
            raise ValueError(f"stages are {', '.join(STAGES)}")
        if any(index(ns) < 0 for ns in stages.values()):
            raise ValueError("a stage cannot take less than no time")

    def note(self, key: str) -> None:
        """See ``core.protocols.Meter``."""
        if not isinstance(key, str):
            raise TypeError("a note is a str")
        if not self.closed:
            self._touch()
            self.notes[key] = self.notes.get(key, 0) + 1

    def hits(self, n: int) -> None:
        """Count what the memory returned; called by the memory's view."""
        if not self.closed:
            self._touch()
            self.memory_hits += n

    def replayed(self, end_ns: int, first_token_ns: int | None = None) -> None:
        """A call to a model, in the virtual time of this call, had its first token and its end at these instants; only
        a ``ReplayMeter`` wants to know.
        """

    def failed(self, fault: ProactError) -> None:
        """What goes on is wrong by no fault of the agent's: the unit is to end with this, whatever the agent makes of
        it (the first counts).
        """
        self._touch()
        self.fault = self.fault or fault

    def close(self) -> None:
        """The call is over: whatever a left-behind task still says is not heard."""
        self.closed = True


class ReplayMeter(SilentMeter):
    """Times nothing itself: is told the recorded times of calls to models, and these may enter the log."""

    __slots__ = ()

    replays = True

    def replayed(self, end_ns: int, first_token_ns: int | None = None) -> None:
        """See ``SilentMeter``: of calls that overlap the last end counts, and the earliest first token."""
        if self.closed:
            return
        self._touch()
        self.replayed_ns = max(self.replayed_ns, end_ns)
        if first_token_ns is not None:
            known = self.first_token_ns
            self.first_token_ns = first_token_ns if known is None else min(known, first_token_ns)


class CallMeter(SilentMeter):
    """Times real calls, from the real instant at which the engine handed the call over (now, unless it is given)."""

    __slots__ = ("_last_ns", "_spans", "started_ns")

    timed = True

    def __init__(self, started_ns: int | None = None) -> None:
        super().__init__()
        self.started_ns = self._last_ns = real_ns() if started_ns is None else started_ns
        self._spans: list[_Span] = []

    def stage(self, name: str) -> AbstractContextManager[None]:
        """See ``core.protocols.Meter``."""
        super().stage(name)
        if self.closed:
            return _NO_SPAN
        self._touch()
        return self._span(name)

    @contextmanager
    def _span(self, name: str) -> Iterator[None]:
        parent, span = _current.get(), _Span(name)
        self._boundary()
        self._spans.append(span)
        if parent is not None:
            parent.children += 1
        _current.set(span)
        try:
            yield
        finally:
            if _current.get() is span:  # else a left call is cleared away, in the context of whoever does that
                _current.set(parent)
            self._boundary()
            self._spans.remove(span)
            if parent is not None:
                parent.children -= 1

    def _boundary(self) -> None:
        """Book the time since the last change of spans to the innermost ones, each name once."""
        if self.closed:
            return
        now = real_ns()
        for name in dict.fromkeys(s.name for s in self._spans if not s.children):
            self.stages_ns[name] = self.stages_ns.get(name, 0) + now - self._last_ns
        self._last_ns = now

    def reported(self, within: str, stages: Mapping[str, int]) -> None:
        """See ``core.protocols.Meter``."""
        super().reported(within, stages)
        if self.closed or not stages:
            return
        self._touch()
        self._boundary()
        booked, told = self.stages_ns.get(within, 0), sum(stages.values())
        if told > booked:  # another machine's clock is believed as far as ours agrees
            self.note("stages_over_charge")
            return
        self.stages_ns[within] = booked - told
        for name, ns in stages.items():
            self.stages_ns[name] = self.stages_ns.get(name, 0) + ns

    def first_token(self) -> None:
        """See ``core.protocols.Meter``."""
        if not self.closed:
            self._touch()
            if self.first_token_ns is None:
                self.first_token_ns = real_ns() - self.started_ns

    def emit(self, offer: Offer) -> None:
        """See ``core.protocols.Meter``."""
        if not self.closed:
            self._touch()
            self.emitted.append((offer, real_ns() - self.started_ns))
