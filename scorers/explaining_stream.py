"""Why each offer and each need of a stream was counted as it was."""

from __future__ import annotations

from scorers.base import Context, Unit
from scorers.explaining import Told
from scorers.explaining_needs import told_need, told_unservable
from scorers.explaining_offers import told_offer
from scorers.explaining_session import open_session
from scorers.realtime import Realtime

__all__ = ["explain_stream"]


def explain_stream(unit: Unit, context: Context, matcher: str = "category") -> list[Told]:
    """Every delivered offer in order of arrival, then every need in order of opening, each exactly once."""
    session = open_session(unit, context, Realtime(matcher))
    needs = [
        *((n.opens_ns, n.id, told_need(session, i)) for i, n in enumerate(session.needs)),
        *((n.opens_ns, n.id, told_unservable(n)) for n in session.unservable),
    ]
    offers = [told_offer(session, at) for at in range(len(session.offers))]
    return [*offers, *(told for _, _, told in sorted(needs, key=lambda n: n[:2]))]
