"""The recent past and the present in words, within a budget of tokens.

What is shown, in this order: the person's profile, the closed events of the history window (when, how long, app, title,
summary up to 200 characters), the open window, the text on the screen.

``RULE`` names what gives way when that is too long: the profile keeps to a quarter of the budget and the screen's text
to half of what then remains, both cut at their ends; then the oldest events go until it fits. Every cut is counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memory.base import estimate_tokens, one_line
from simulator.core.types import SECOND, Event, Observation

__all__ = ["RULE", "SUMMARY_CHARS", "Past", "cleaned", "duration", "event_line", "shortened", "told"]

RULE = "quarter-profile-half-screen-oldest-events/1"
SUMMARY_CHARS = 200
_UNKNOWN = "nothing is known"


@dataclass(frozen=True, slots=True)
class Past:
    """The context's pieces as they are filled in; ``cut`` names what had to be shortened, each a note."""

    profile: str
    window: str
    events: str
    current: str
    screen: str
    cut: tuple[str, ...] = ()

    @property
    def values(self) -> Mapping[str, str]:
        """By the names that prompts use."""
        return {"profile": self.profile, "window": self.window, "events": self.events, "current": self.current,
                "screen": self.screen}  # fmt: skip


def told(observation: Observation, screen: str | None, budget: int, *, no_text: str) -> Past:
    """Say what is known now.

    Args:
        observation: of the decision.
        screen: the text on the screen; None where none is shown as text.
        budget: tokens, as estimated, for all of it.
        no_text: what stands in the text's place where there is none.
    """
    cut: list[str] = []
    facts = [f"- {one_line(k, 60)}: {one_line(v, 1000)}" for k, v in observation.profile.items()]
    profile = shortened("\n".join(facts) or _UNKNOWN, budget // 4, cut, "profile_cut")
    current = _current(observation)
    left = budget - estimate_tokens(profile) - estimate_tokens(current)
    text = no_text if not screen else shortened(cleaned(screen), max(left // 2, 0), cut, "screen_cut") or no_text
    left -= estimate_tokens(text)
    # Told from the snapshot's instant: what is asked of a snapshot is then the same however long calls before it took.
    at_ns = observation.snapshot.captured_ns
    lines = [event_line(event, at_ns) for event in observation.history.events]
    kept = _newest(lines, left)
    if len(kept) < len(lines):
        cut.append("events_cut")
        kept.insert(0, f"- ({len(lines) - len(kept)} earlier windows are left out)")
    begun = [event.start_ns for event in observation.history.events]
    window = duration(at_ns - begun[0]) if begun else "minutes"
    return Past(profile, window, "\n".join(kept) or "- nothing was seen before", current, text, tuple(cut))


def event_line(event: Event, now_ns: int) -> str:
    """A closed event on one line, told from an instant."""
    summary = f". {one_line(event.summary, SUMMARY_CHARS)}" if event.summary else ""
    length = duration(event.end_ns - event.start_ns)
    return f"- {duration(now_ns - event.end_ns)} ago, for {length}: {_where(event.app, event.title)}{summary}"


def _current(observation: Observation) -> str:
    snapshot, event = observation.snapshot, observation.history.current
    where = _where(snapshot.app, snapshot.title)
    if event is None:
        return where
    return f"{where}, open for {duration(snapshot.captured_ns - event.start_ns)}"


def _where(app: str | None, title: str | None) -> str:
    name, of = one_line(app), one_line(title, 200)
    if name and of:
        return f"{name}, “{of}”"
    return name or (f"“{of}”" if of else "a window that is not known")


def duration(ns: int) -> str:
    """A stretch of time as one says it.

    >>> duration(65 * SECOND), duration(2 * 3600 * SECOND + 60 * SECOND)
    ('1 min 5 s', '2 h 1 min')
    """
    seconds = max(ns, 0) // SECOND
    if seconds < 60:
        return f"{seconds} s" if seconds else "under 1 s"
    if seconds < 3600:
        return f"{seconds // 60} min" + (f" {seconds % 60} s" if seconds % 60 else "")
    return f"{seconds // 3600} h" + (f" {seconds % 3600 // 60} min" if seconds % 3600 >= 60 else "")


def cleaned(text: str) -> str:
    """A screen's text without what no tokenizer means: control characters, halves of characters, blank lines."""
    plain = "".join(c if c.isprintable() or c == "\n" else " " for c in text)
    lines = (" ".join(line.split()) for line in plain.split("\n"))
    return "\n".join(line for line in lines if line)


def shortened(text: str, budget: int, cut: list[str], note: str) -> str:
    """The text's beginning, as long as the budget lasts; a cut is noted."""
    if estimate_tokens(text) <= budget:
        return text
    cut.append(note)
    low, high = 0, len(text)
    while low < high:  # the longest beginning that fits: estimates grow with the text
        middle = (low + high + 1) // 2
        low, high = (middle, high) if estimate_tokens(text[:middle]) < budget else (low, middle - 1)
    return text[:low].rstrip() + "…" if low else ""


def _newest(lines: Sequence[str], budget: int) -> list[str]:
    """The last lines that fit the budget together."""
    spent, kept = 0, list[str]()
    for line in reversed(lines):
        spent += estimate_tokens(line)
        if spent > budget:
            break
        kept.append(line)
    return kept[::-1]
