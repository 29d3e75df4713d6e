"""``prior``, the agent that is always there: no network, no model; it offers help where help was needed before."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median_low

from agents.base import agents, majority_intention, spoken
from agents.evidence import Evidence, LabelReader, weigh
from simulator.core.types import SECOND, SILENT, Decision, Label, Observation, Offer, Setup

__all__ = ["FALLBACK_THRESHOLD", "Prior", "best_threshold", "patience"]

FALLBACK_THRESHOLD = 0.5
LEAST_REHEARSED = 20
_REFRESH_NS = 60 * SECOND
"""Evidence is asked for again after a minute in one window, since a memory may fade or grow meanwhile."""


@agents.register("prior")
class Prior:
    """Offers help once in an event if memory says that help was often needed in moments like this one.

    How often is "often" is learned from the history alone: the threshold that would have had the best F1 on its events,
    each asked as of its start (``rehearse``). So is when to speak. A need shows some time after a window was opened
    and is over when the user asks, so it waits half as long as nine in ten of the user's own questions took at least:
    as long again is left for the answer to come. If the user usually asked very late, it waits until one lead before.

    Args:
        k: how many memory items it reads.
        threshold: least help share for an offer; by default learned, or ``FALLBACK_THRESHOLD`` where the history has
            fewer than ``LEAST_REHEARSED`` events or none with help.
        lead_s: how long before the user's own question help is useful (60 as in the rule for recorded needs).
    """

    inline = True
    reads_window = False

    def __init__(self, k: int = 10, threshold: float | None = None, lead_s: float = 60.0) -> None:
        if k < 1:
            raise ValueError("k must be 1 or more")
        if threshold is not None and not 0 <= threshold <= 1:
            raise ValueError("threshold must be from 0 to 1")
        self._k, self._given, self._lead_ns = k, threshold, round(lead_s * SECOND)
        self._intentions: Sequence[str] = ()
        self._labels = LabelReader()
        self._rehearsed: list[tuple[float | None, bool]] = []
        self._asked_after_ns: list[int] = []
        self._learned: tuple[float, int] | None = None
        self._evidence: Evidence | None = None
        self._evidence_key: object = None
        self._served: object = None
        self._alone = False

    async def open(self, setup: Setup) -> None:
        """Take the intentions in use. In protocol ``moments`` each question stands alone: nothing is held back."""
        self._intentions = setup.intentions
        self._alone = setup.protocol == "moments"

    async def rehearse(self, observation: Observation, label: Label) -> None:
        """Note what it would have thought at the start of a past event, and what turned out true."""
        evidence = await self._recalled(observation)
        self._rehearsed.append((None if evidence is None else evidence.share, label.help))
        if label.help:
            self._asked_after_ns.append(max(label.available_ns - observation.now_ns, 0))
        self._learned = None

    async def decide(self, observation: Observation) -> Decision:
        """An offer at most once in the open event."""
        event = observation.history.current
        snapshot = observation.snapshot
        opened = (snapshot.app, snapshot.title) if event is None else event.start_ns
        if opened == self._served and not self._alone:
            return SILENT
        threshold, patience_ns = self._rules()
        if event is not None and observation.now_ns - event.start_ns < patience_ns and not self._alone:
            return SILENT
        evidence = await self._now(observation)
        if evidence is None or evidence.share <= 0 or evidence.share < threshold:
            return SILENT
        self._served = opened
        return Decision((self._offer(evidence),))

    def _rules(self) -> tuple[float, int]:
        """Threshold and patience, from the history as far as it was rehearsed."""
        if self._learned is None:
            threshold = self._given
            if threshold is None:
                threshold = best_threshold(self._rehearsed)
            self._learned = (threshold, patience(self._asked_after_ns, self._lead_ns))
        return self._learned

    async def _now(self, observation: Observation) -> Evidence | None:
        """The evidence for the current window; asked for anew only when window, labels or minute changed."""
        snapshot = observation.snapshot
        labels = len(observation.memory.labels)
        key = (snapshot.app, snapshot.title, snapshot.category, labels, observation.now_ns // _REFRESH_NS)
        if key != self._evidence_key:
            self._evidence = await self._recalled(observation)
            self._evidence_key = key
            if self._evidence is None:
                observation.meter.note("no_usable_evidence")
        return self._evidence

    async def _recalled(self, observation: Observation) -> Evidence | None:
        self._labels.read(observation.memory.labels)
        return weigh(await observation.memory.recall(self._k), self._labels)

    def _offer(self, evidence: Evidence) -> Offer:
        intention = spoken(evidence.intention or majority_intention(self._intentions), self._intentions)
        text = f"May I help with {intention}?"
        if evidence.query:
            text += f" In a moment like this you asked: “{evidence.query}”"
        return Offer(intention, text, confidence=evidence.share)


def patience(asked_after_ns: Sequence[int], lead_ns: int) -> int:
    """How long to wait in an event: half the first decile of the times to the user's own questions, or a lead before
    their median if that is later; 0 where nothing is known.

    >>> patience([n * SECOND for n in range(10, 30)], 60 * SECOND) // SECOND
    6
    """
    if not asked_after_ns:
        return 0
    ordered = sorted(asked_after_ns)
    return max(ordered[len(ordered) // 10] // 2, median_low(ordered) - lead_ns)


def best_threshold(rehearsed: Sequence[tuple[float | None, bool]]) -> float:
    """The threshold with the best F1 on (share or None for no evidence, was help needed) pairs.

    Among equals the highest: fewer offers for the same F1. ``FALLBACK_THRESHOLD`` if there are too few pairs, or if
    evidence never spoke for help where it was needed.
    """
    if len(rehearsed) < LEAST_REHEARSED:
        return FALLBACK_THRESHOLD
    positives = sum(needed for _, needed in rehearsed)
    scored = sorted(((s, needed) for s, needed in rehearsed if s is not None and s > 0), reverse=True)
    shares = [s for s, _ in scored]
    best_hits, best_out_of, best, hits = 0, 1, FALLBACK_THRESHOLD, 0
    for said, (share, needed) in enumerate(scored, 1):
        hits += needed
        if said < len(shares) and shares[said] == share:
            continue  # a threshold lets through all of one share
        # F1 = 2 hits / (said + positives), compared as fractions of integers, so that ties are ties.
        if hits * best_out_of > best_hits * (said + positives):
            best_hits, best_out_of, best = hits, said + positives, share
    return best
