"""An event with what became known of it: what memories remember."""

from __future__ import annotations

from dataclasses import dataclass

from simulator.core.types import Event, Label

__all__ = ["Entry"]


@dataclass(slots=True)
class Entry:
    """An event and what became known of it so far; ``n`` tells in which order events came."""

    event: Event
    label: Label | None = None
    n: int = 0

    @property
    def known_ns(self) -> int:
        """When the newest piece of it became available."""
        return self.event.end_ns if self.label is None else max(self.event.end_ns, self.label.available_ns)
