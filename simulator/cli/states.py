"""What is told while a screen is recorded: that nothing is, and why, and when it is again; in a sentence, at once."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from simulator.cli.speak import Voice
from simulator.recorder.status import HANGS, SAID, Facts

__all__ = ["States"]

_LASTING = 10  # looks, 5 s: an overload that is told


class States:
    """Tells at once, in a sentence, that nothing is recorded and why, and when it is recorded again.

    Args:
        voice: where it is told.
        clear: called before a sentence, to take away a line that is drawn.
    """

    def __init__(self, voice: Voice, clear: Callable[[], None] = lambda: None) -> None:
        self._voice, self._clear = voice, clear
        self._trouble: str | None = None
        self._told: str | None = None
        self._n_alike = 0
        self._unscreened: set[str] = set()

    def look(self, facts: Facts) -> None:
        """To be called twice a second."""
        self._look_at_screener(facts)
        reason = "hangs" if facts.hangs else facts.trouble
        self._n_alike = self._n_alike + 1 if reason == self._trouble else 1
        if reason == self._trouble and not (reason == "overload" and self._n_alike == _LASTING):
            return
        said = "recording" if reason is None else HANGS if reason == "hangs" else SAID.get(reason, reason)
        if reason == "missing" and facts.fault is not None:
            said += f" ({facts.fault})"
        if reason != self._trouble:
            self._trouble = reason
            self._voice.record("state", trouble=reason, said=said)
        if reason == self._told or (reason == "overload" and self._n_alike < _LASTING):
            return  # what stands there already; a tick now and then, counted in the line
        self._told = reason
        self._tell(said, "" if reason in (None, "paused", "locked") else "yellow")

    def _look_at_screener(self, facts: Facts) -> None:
        """Each reason for which pictures stay unreviewed is told once: a model that is away is away for all of them."""
        for reason in facts.screened.keys() - {"screened", "stopped"} - self._unscreened:
            self._unscreened.add(reason)
            said = (
                f"a picture could not be screened ({reason}); such pictures stay unreviewed, and the recording goes on"
            )
            self._voice.record("unscreened", reason=reason, said=said)
            self._tell(said, "yellow")

    def _tell(self, said: str, style: str) -> None:
        if not self._voice.as_json:
            with suppress(OSError):  # a terminal that was closed
                self._clear()
                self._voice.tell(said, style)
