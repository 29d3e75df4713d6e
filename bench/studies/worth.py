"""A trial: ``prior`` that speaks where it expects to be worth its interruptions, instead of where F1 was best.

Of study utility.yaml; what came of it: docs/results.md. Threshold and patience are learned together, from what the
agent itself has seen of the past: at each past event it notes what it would have thought, whether help was needed, for
what, and how long the event lasted until it closed or the user asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agents.prior import LEAST_REHEARSED, Prior
from simulator.core.types import Label, Observation

NEVER = 2.0
"""A threshold that no share reaches."""
STEPS = 20


@dataclass(frozen=True, slots=True)
class Seen:
    """A past event: the help share and whether the intention was right, as it would have thought; what was true."""

    share: float
    right: bool
    help: bool
    lasted_ns: int


class Worth(Prior):
    """Offers help where such offers, made as late in such events, were worth their price in the past.

    Args:
        k: how many memory items it reads.
        lead_s: how long before the user's own question help is useful.
        price: of an offer that does not serve, in parts of a need that is served at once.
        late: what of the worth of help is gone when the user asks.
    """

    inline = True

    def __init__(self, k: int = 10, lead_s: float = 60.0, price: float = 0.25, late: float = 0.5) -> None:
        super().__init__(k=k, lead_s=lead_s)
        self._price, self._late = price, late
        self._seen: list[Seen] = []

    async def rehearse(self, observation: Observation, label: Label) -> None:
        """Note what it would have thought at the start of a past event, what was true, how long the event lasted."""
        evidence = await self._recalled(observation)
        share, named = (0.0, None) if evidence is None else (evidence.share, evidence.intention)
        lasted_ns = max(label.available_ns - observation.now_ns, 0)
        self._rehearsed.append((None if evidence is None else share, label.help))
        if label.help:
            self._asked_after_ns.append(lasted_ns)
        self._learned = None
        self._seen.append(Seen(share, label.help and named == label.intention, label.help, lasted_ns))

    def _rules(self) -> tuple[float, int]:
        """Threshold and patience; in protocol ``moments``, where no time passes, those of ``prior``."""
        if self._alone or len(self._seen) < LEAST_REHEARSED:
            return super()._rules()
        if self._learned is None:
            self._learned = best_rule(self._seen, self._lead_ns, self._price, self._late)
        return self._learned


def best_rule(seen: Sequence[Seen], lead_ns: int, price: float, late: float) -> tuple[float, int]:
    """The threshold and the patience with the greatest utility on past events; ``NEVER`` where none beats silence.

    An offer made after the patience serves if the event is still open, the intention right, and the need there: from a
    lead before the user asked. It is worth 1 when the need opens and ``1 - late`` when the user asks.

    >>> from simulator.core.types import SECOND
    >>> said = [Seen(0.9, True, True, 30 * SECOND)] * 3 + [Seen(0.2, False, False, 60 * SECOND)] * 9
    >>> best_rule(said, 60 * SECOND, price=0.25, late=0.5)
    (0.9, 0)
    >>> best_rule(said[3:], 60 * SECOND, price=0.25, late=0.5)
    (2.0, 0)
    """
    asked = sorted(event.lasted_ns for event in seen if event.help)
    marks = [asked[len(asked) * step // STEPS] for step in range(STEPS)] if asked else []
    ordered = sorted((event for event in seen if event.share > 0), key=lambda event: -event.share)
    best, rule = 0.0, (NEVER, 0)
    for patience in sorted({0, *(t // 2 for t in marks), *(max(t - lead_ns, 0) for t in marks)}):
        worth = 0.0
        for place, event in enumerate(ordered, 1):
            opens = max(event.lasted_ns - lead_ns, 0)
            if event.lasted_ns > patience:
                serves = event.right and patience >= opens
                worth += 1 - late * (patience - opens) / (event.lasted_ns - opens) if serves else -price
            if worth > best and (place == len(ordered) or ordered[place].share < event.share):
                best, rule = worth, (event.share, patience)
    return rule
