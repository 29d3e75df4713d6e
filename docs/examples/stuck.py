"""An agent in ten lines: it offers help with an error to someone who has been in a terminal for a while."""

from simulator.core.types import SECOND, SILENT, Decision, Observation, Offer


class Stuck:
    """Offers the same help as long as the terminal stays in front; repeating itself is what the gate is for."""

    inline = True
    concurrent = "stateless"

    def __init__(self, after_s: float = 10.0) -> None:
        self._after_ns = round(after_s * SECOND)

    async def decide(self, observation: Observation) -> Decision:
        """Help with an error, once the open event is long enough."""
        event = observation.history.current
        if event is None or event.category != "terminal" or event.end_ns - event.start_ns < self._after_ns:
            return SILENT
        return Decision((Offer("Error Correction", "Shall I look at what went wrong here?", confidence=0.6),))
