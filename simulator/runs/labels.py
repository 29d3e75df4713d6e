"""What becomes known of events as they close in a run: work with the assistant is marked, the rest gets a label.

An event is known at the tick that proves it closed, so its label is known then at the latest. Which question belongs to
which event is the rule of ``session.opportunities``, the same as for a past before time 0.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace

from simulator.core.types import Event, Label
from simulator.session.opportunities import Labeller, questions
from simulator.session.truth import Truth

__all__ = ["Asks"]


class Asks:
    """The user's own acts in a session, as its world reveals them."""

    def __init__(self, truth: Truth) -> None:
        self._labeller = Labeller(questions(truth.opportunities, truth.assists))
        self._known = truth.known
        self._assists = sorted((a.start_ns, a.end_ns) for a in truth.assists)

    @property
    def n_passed_over(self) -> int:
        """Questions that no label tells of, because an earlier one was asked in the same event."""
        return self._labeller.n_passed_over

    def settle(self, event: Event, known_ns: int) -> tuple[Event, Label | None]:
        """A closed event with what is known of it at ``known_ns``; to be asked once an event."""
        if self._with_assistant(event):
            event = replace(event, assistance=True)
        return event, self._labeller.label(event, known_ns) if self._known else None

    def _with_assistant(self, event: Event) -> bool:
        """Whether the middle of the event lies in an assistance event (their clocks need not agree to the tick)."""
        middle = (event.start_ns + event.end_ns) // 2
        i = bisect_right(self._assists, (middle, 1 << 62)) - 1
        return i >= 0 and self._assists[i][0] <= middle < self._assists[i][1]
