"""What becomes known of events as they close: whether the user asked for help in them.

An assistance act at ``u`` belongs to the event in which the need arose, the one with ``start < u <= end`` (the window
before the assistant's). An event is known at the tick that proves it closed, so its label is known then at the latest:
``help=True`` with the question since ``u``, ``help=False`` since it closed without one. Events in which the user worked
with the assistant are marked and get no label.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace

from simulator.core.types import Event, Label
from simulator.session.truth import Truth

__all__ = ["Asks"]


@dataclass(frozen=True, slots=True)
class _Ask:
    acted_ns: int
    intention: str | None
    query: str | None


class Asks:
    """The user's own acts in a session, as its world reveals them. An event has one label, that of its last act;
    ``n_passed_over`` counts the others.
    """

    def __init__(self, truth: Truth) -> None:
        asks = {
            o.acted_ns: _Ask(o.acted_ns, o.intention, o.query) for o in truth.opportunities if o.acted_ns is not None
        }
        for assist in truth.assists:
            asks.setdefault(assist.start_ns, _Ask(assist.start_ns, assist.intention, assist.query))
        self._asks = [asks[u] for u in sorted(asks)]
        self._instants = [a.acted_ns for a in self._asks]
        self._known = truth.known
        self.n_passed_over = 0
        self._assists = sorted((a.start_ns, a.end_ns) for a in truth.assists)

    def settle(self, event: Event, known_ns: int) -> tuple[Event, Label | None]:
        """A closed event with what is known of it at ``known_ns``."""
        if self._with_assistant(event):
            return replace(event, assistance=True), None
        if not self._known:
            return event, None
        i = bisect_right(self._instants, event.end_ns) - 1
        self.n_passed_over += max(0, i - bisect_right(self._instants, event.start_ns))
        if i >= 0 and self._asks[i].acted_ns > event.start_ns:
            ask = self._asks[i]
            return event, Label(event.id, event.user, True, ask.acted_ns, ask.intention, ask.query)
        return event, Label(event.id, event.user, False, known_ns)

    def _with_assistant(self, event: Event) -> bool:
        """Whether the middle of the event lies in an assistance event (their clocks need not agree to the tick)."""
        middle = (event.start_ns + event.end_ns) // 2
        i = bisect_right(self._assists, (middle, 1 << 62)) - 1
        return i >= 0 and self._assists[i][0] <= middle < self._assists[i][1]
