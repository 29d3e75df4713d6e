"""Tells soon that a run's model does not answer at all: a wrong key or a dead address fails at every snapshot."""

from __future__ import annotations

from simulator.cli.speak import Voice, in_a_line
from simulator.runs.engine import Engine
from simulator.runs.flights import Flight
from simulator.runs.records import Kind

__all__ = ["Failing"]

_ENOUGH = 5
_LASTING = ("model_unauthorized", "model_connection", "model_not_found")
"""Errors that the next call meets as well."""


class Failing:
    """Hears the decisions of a run until one is answered, or has told once that none is.

    The run goes on, since an error of its agent is a result like others and its stamps are what they are: who watches
    it decides.
    """

    def __init__(self, voice: Voice) -> None:
        self._voice = voice
        self._kind = ""
        self._n = 0
        self._over = False

    def watch(self, engine: Engine) -> None:
        """The engine of the run's next unit."""
        if not self._over:
            engine.books.listeners.append(self.decided)

    def decided(self, flight: Flight, kind: Kind, ended_ns: int) -> None:
        """A decision ended; one that asked nobody says nothing."""
        fields = flight.answer.fields if flight.answer is not None else {}
        error = fields.get("error", {})
        if self._over or not (kind is Kind.OFFER or error or "tokens" in fields):
            return
        if error.get("kind") not in _LASTING or self._kind not in ("", error["kind"]):
            self._over = True
            return
        self._kind, self._n = error["kind"], self._n + 1
        if self._n == _ENOUGH:
            self._over = True
            self._voice.record("failing", kind=self._kind, n=self._n, said=error["text"])
            why = f"{self._kind}: {in_a_line(error['text'])}"
            said = f"the first {self._n} decisions that asked a model all failed ({why})"
            way_out = "every further one asks in vain too: Ctrl-C ends the run; look at address, key and model name"
            self._voice.tell(f"{said}; most likely {way_out}", "bold yellow")
