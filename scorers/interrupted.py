"""What of a session's truth counts where a run was cut short: the part that the agent lived through, and no more."""

from __future__ import annotations

from dataclasses import replace

from simulator.runs.records import RunLog
from simulator.session.truth import LEAST_WINDOW_NS, Opportunity, Truth

__all__ = ["CUT", "played_until", "truth_as_played"]

CUT = "cut short"


def played_until(log: RunLog, truth: Truth) -> int:
    """The instant (ns, exclusive) up to which a unit was played: the session's end, unless the log has no end line.

    Then it is where the session would have ended had the newest snapshot seen been its last one, a period after it,
    or just past the latest stamp of a decision or memory write where that is later.
    """
    if log.complete:
        return truth.end_ns
    if len(log) == 0:
        return 0
    stamps = [int(log.started_ns.max()), int(log.actionable_ns.max()), *(int(w["done_ns"]) for w in log.writes)]
    return min(truth.end_ns, max(int(log.captured_ns.max()) + truth.period_ns, *(s + 1 for s in stamps)))


def truth_as_played(log: RunLog, truth: Truth) -> Truth:
    """The truth as if the session had ended where the log does; the same truth where the run came to its end.

    Needs that opened later are left out, as nobody was there to serve them. One that was open when the run stopped
    counts with the part that was played, or as unservable where that is shorter than a window must be. What protocol
    ``moments`` asks stays: it is asked out of the stream's time, and its scorer tells unasked from unanswered.
    """
    end = played_until(log, truth)
    if end == truth.end_ns:
        return truth
    return replace(
        truth,
        end_ns=end,
        opportunities=tuple(_cut(need, end) for need in truth.opportunities if need.opens_ns < end),
        assists=tuple(replace(a, end_ns=min(a.end_ns, end)) for a in truth.assists if a.start_ns < end),
        gaps=tuple(g for g in truth.gaps if g.start_ns < end),
        acts_ns=tuple(t for t in truth.acts_ns if t < end),
    )


def _cut(need: Opportunity, end_ns: int) -> Opportunity:
    if need.closes_ns <= end_ns:
        return need if need.acted_ns is None or need.acted_ns <= end_ns else replace(need, acted_ns=None)
    short = end_ns - need.opens_ns < LEAST_WINDOW_NS
    acted = need.acted_ns if need.acted_ns is not None and need.acted_ns < end_ns else None
    return replace(need, closes_ns=end_ns, acted_ns=acted, unservable=need.unservable or (CUT if short else None))
