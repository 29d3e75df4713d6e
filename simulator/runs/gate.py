"""The gate: what of an agent's repeated decisions reaches the user, the same rule for all agents.

Raw decisions at 1 Hz repeat themselves while a need lasts. The gate is part of the scenario, works after arrival and on
the log alone, so a run can be scored again under another gate without its agent.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

from simulator.core.durations import parse_duration, show_duration
from simulator.core.errors import UsageError, nearest, quote
from simulator.core.intentions import key
from simulator.core.types import SECOND
from simulator.runs.records import Kind, LoggedOffer, RunLog
from simulator.session.truth import Truth

__all__ = ["OFF", "STANDARD", "Gate", "Surfacing", "surface"]


@dataclass(frozen=True, slots=True)
class Gate:
    """How long a surfaced offer keeps its like from surfacing again; None lets everything through.

    Attributes:
        window_ns: an offer of the same intention is held back while less than this has passed since it surfaced.
    """

    window_ns: int | None = 60 * SECOND

    def __post_init__(self) -> None:
        if self.window_ns is not None and self.window_ns <= 0:
            raise ValueError("the window of a gate must be positive")

    @property
    def text(self) -> str:
        """The gate as one writes it: ``standard``, ``off``, or ``window:30s``."""
        if self.window_ns is None:
            return "off"
        return "standard" if self == STANDARD else f"window:{show_duration(self.window_ns)}"

    @classmethod
    def parse(cls, spec: str | bool | Gate | Mapping[str, Any] | None) -> Gate:
        """Read ``standard``, ``off``, ``window:30s`` or ``{"window_s": 30}``; None is the standard gate. Truth values
        are read too, since YAML makes them of a bare ``on`` and ``off``.

        Raises:
            UsageError: no such gate, an unknown key, or a window that is not a positive number of seconds.
        """
        if spec is None or isinstance(spec, Gate):
            return spec or STANDARD
        if isinstance(spec, bool):
            return STANDARD if spec else OFF
        try:
            if isinstance(spec, Mapping):
                return cls(_window(spec))
            if spec.startswith("window:"):
                return cls(parse_duration(spec.removeprefix("window:")))
        except (TypeError, ValueError) as error:
            raise UsageError(f"gate {quote(spec)}: {error}") from error
        named = {"standard": STANDARD, "off": OFF}
        if spec not in named:
            raise UsageError(f"unknown gate {quote(spec)}; {nearest(spec, [*named, 'window:60s'])}")
        return named[spec]


def _window(spec: Mapping[str, Any]) -> int | None:
    unknown = sorted(set(spec) - {"window_s"})
    if unknown:
        raise ValueError(f"unknown key {quote(unknown[0])}; {nearest(str(unknown[0]), ['window_s'])}")
    seconds = spec.get("window_s", 60)
    if seconds is None:
        return None
    number = isinstance(seconds, int | float) and not isinstance(seconds, bool) and math.isfinite(seconds)
    if not number:
        raise ValueError(f"window_s must be a number of seconds, not {quote(seconds)}")
    return round(Decimal(str(seconds)) * SECOND)


STANDARD = Gate()
OFF = Gate(None)


def surface(log: RunLog, truth: Truth, gate: Gate) -> list[LoggedOffer]:
    """The offers that reach the user, in order of arrival ``actionable_ns``, ties by ``seq`` and position.

    An offer is held back iff the same intention surfaced less than the window ago, *and* the previous delivered
    decision had that intention, *and* the user did not act in between. The window counts from the offer that
    surfaced; those held back do not extend it. What surfaces carries its own stamps, text and confidence: the first of
    its group.

    *Delivered* are silent decisions and offers, in order of arrival; errors, unparsed, superseded and cancelled
    decisions deliver nothing, so they neither hold back nor let through. An offer that left its decision early counts
    at its own arrival, and a second offer of one decision has the first one before it too. *In between* is
    ``surfaced <= act < arrival``: at one instant an arrival comes before an act, as in the kernel.
    """
    offers = list(log.offers())
    if gate.window_ns is None or not offers:
        return offers
    rule = Surfacing(gate, truth.acts_ns)
    kept: list[LoggedOffer] = []
    for offer, silent in zip(offers, _silent_between(log, offers), strict=True):
        if silent:
            rule.silence()
        if rule.offer(offer.seq, offer.intention, offer.actionable_ns):
            kept.append(offer)
    return kept


class Surfacing:
    """The rule of ``surface`` as things arrive, for those who show offers while they come.

    Args:
        gate: the gate.
        acts_ns: instants at which the user acted on a need, in order.
    """

    def __init__(self, gate: Gate, acts_ns: Sequence[int] = ()) -> None:
        self._window_ns, self._acts_ns = gate.window_ns, acts_ns
        self._surfaced: dict[str, int] = {}
        self._newest: int | None = None
        self._said: set[str] = set()  # intentions of the newest decision so far
        self._said_before: set[str] = set()  # of the delivered decision before it

    def silence(self) -> None:
        """A silent decision was delivered."""
        self._said, self._newest = set(), None

    def offer(self, seq: int, intention: str, arrival_ns: int) -> bool:
        """An offer of decision ``seq`` arrives: whether it reaches the user."""
        if self._window_ns is None:
            return True
        named = key(intention)
        if seq != self._newest:
            self._said_before, self._said, self._newest = self._said, set(), seq
        last = self._surfaced.get(named)
        repeated = (
            last is not None
            and arrival_ns - last < self._window_ns
            and named in (self._said | self._said_before)
            and not _acted(self._acts_ns, last, arrival_ns)
        )
        self._said.add(named)
        if not repeated:
            self._surfaced[named] = arrival_ns
        return not repeated


def _acted(acts_ns: Sequence[int], start_ns: int, end_ns: int) -> bool:
    at = bisect_left(acts_ns, start_ns)
    return at < len(acts_ns) and acts_ns[at] < end_ns


def _silent_between(log: RunLog, offers: list[LoggedOffer]) -> list[bool]:
    """For each offer, whether a silent decision was delivered between the offer before it and it."""
    silent = np.flatnonzero(log.kind == Kind.SILENT)
    arrivals = np.concatenate([log.actionable_ns[silent], np.array([o.actionable_ns for o in offers], np.int64)])
    seqs = np.concatenate([log.seq[silent], np.array([o.seq for o in offers], np.int64)])
    order = np.lexsort((seqs, arrivals))  # stable: offers of one decision keep their positions
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    mine = place[len(silent) :]
    return [bool(b) for b in np.diff(mine, prepend=-1) > 1]
