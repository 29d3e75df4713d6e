"""Why each offer and each need of a stream was counted as it was."""

from __future__ import annotations

from scorers.base import Context, Unit
from scorers.explaining import Told
from scorers.explaining_needs import cut_short, told_need, told_unplayed, told_unservable
from scorers.explaining_offers import told_offer
from scorers.explaining_session import open_session
from scorers.realtime import Realtime
from simulator.session.truth import Truth

__all__ = ["explain_stream"]


def explain_stream(unit: Unit, context: Context, matcher: str, whole: Truth) -> list[Told]:
    """Every delivered offer in order of arrival, then every need in order of opening, each exactly once.

    ``whole`` is the truth of the session, of which an interrupted unit's holds what was played.
    """
    session = open_session(unit, context, Realtime(matcher))
    told = {n.id: told_need(session, i) for i, n in enumerate(session.needs)}
    told |= {n.id: told_unservable(n) for n in session.unservable}
    needs = sorted(whole.opportunities, key=lambda n: (n.opens_ns, n.id))
    end_ns = unit.truth.end_ns
    return [
        *(told_offer(session, at) for at in range(len(session.offers))),
        *(cut_short(told[n.id], n, end_ns) if n.id in told else told_unplayed(n, end_ns) for n in needs),
    ]
