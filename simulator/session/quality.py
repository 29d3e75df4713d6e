"""Which recorded events are good enough to be scored, and why the others are not (ProAgentBench, App. A.2).

Left out: events under 3 s, events without one valid screenshot, those that a side file excludes. Kept and flagged:
events over 1 h, assistance events with fewer than 3 screenshots. Nothing is left out without a count and a reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from simulator.core.types import SECOND

__all__ = ["Sieve", "duplicates"]

SHORT_NS = 3 * SECOND
LONG_NS = 3600 * SECOND
PREFERRED_SHOTS = 3
_OURS = _REVERSED, _SHORT, _UNSEEN = "ends before it starts", "under 3 s", "no valid screenshot"
_SIDE_FILE = "excluded by a side file: "


@dataclass(slots=True)
class Sieve:
    """Looks at one event after the other and counts what it found.

    Attributes:
        left_out: events left out, by reason.
        flagged: events kept all the same, by what is odd about them.
        n_kept: events kept.
    """

    left_out: Counter[str] = field(default_factory=Counter)
    flagged: Counter[str] = field(default_factory=Counter)
    n_kept: int = 0

    def reason(
        self, start_ns: int, end_ns: int, n_screenshots: int | None, *, assistance: bool, excluded: str | None = None
    ) -> str | None:
        """Why the event is left out, None if it is kept. ``n_screenshots`` None: not known, so not judged."""
        length = end_ns - start_ns
        why: str | None = None
        if excluded is not None:  # as given by a side file, or a reason of ours as a session's table holds it
            ours = excluded in _OURS or excluded.startswith(_SIDE_FILE)
            why = excluded if ours else f"{_SIDE_FILE}{excluded}"
        elif length < 0:
            why = _REVERSED
        elif length < SHORT_NS:
            why = _SHORT
        elif n_screenshots == 0:
            why = _UNSEEN
        if why is not None:
            self.left_out[why] += 1
            return why
        self.n_kept += 1
        if length > LONG_NS:
            self.flagged["over 1 h"] += 1
        if assistance and n_screenshots is not None and n_screenshots < PREFERRED_SHOTS:
            self.flagged["assistance event with fewer than 3 screenshots"] += 1
        return None

    def summary(self) -> Mapping[str, Any]:
        """The counts, for tables."""
        return {
            "kept": self.n_kept,
            "left_out": dict(sorted(self.left_out.items())),
            "flagged": dict(sorted(self.flagged.items())),
        }


def duplicates(files: Iterable[tuple[str, str | None]]) -> dict[str, list[str]]:
    """Different files with the same SHA-256, by hash. ``files``: pairs (path, hash); shorter hashes are not judged."""
    by_hash: dict[str, list[str]] = {}
    for path, digest in files:
        if digest is not None and len(digest) == 64:
            by_hash.setdefault(digest, []).append(path)
    return {digest: paths for digest, paths in by_hash.items() if len(set(paths)) > 1}
