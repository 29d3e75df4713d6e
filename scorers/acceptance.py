"""What people made of offers, from what they said of them; no truth is needed: they are the ones who know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from scorers.base import Context, Metric, Score, Unit, scorers
from scorers.feedback import SAID, Heard, heard
from scorers.figures import Sheet, ratio
from scorers.pooling import Pooled, Sums, over
from simulator.runs.gate import surface

__all__ = ["Acceptance"]


@scorers.register("acceptance")
class Acceptance:
    """How much of what surfaced people accepted, of a stream run; scored by default where they were asked."""

    protocols = ("stream",)
    needs_truth = False
    metrics = (
        Metric(
            "acceptance_rate",
            "accepted / (accepted + rejected + ignored): verdicts of people on surfaced offers, one a person and offer",
            "0-1", "0-1", "up",
        ),
    )  # fmt: skip

    def tally(self, unit: Unit, context: Context) -> Heard | None:
        """What was said of one session's surfaced offers; None where nobody was asked."""
        said = context.feedback.get(unit.key)
        return None if said is None else heard(surface(unit.log, unit.truth, context.gate), said)

    def figures(self, tallies: Sequence[Heard | None]) -> list[Score]:
        """Add verdicts up and divide; silence is no verdict, and is counted beside."""
        sheet = Sheet(self.metrics)
        asked = [t for t in tallies if t is not None]
        if not asked:
            sheet.rest("nobody was asked: no unit has a feedback.jsonl")
            return sheet.scores()
        counts = {name: sum(t.counts[name] for t in asked) for name in SAID}
        beside: dict[str, Any] = {
            **counts,
            "n_without": sum(t.silent for t in asked),
            "n_not_surfaced": sum(t.elsewhere for t in asked),
        }
        sheet.put("acceptance_rate", ratio(counts["accepted"], sum(counts.values()), "verdicts on surfaced offers"),
                  **beside)  # fmt: skip
        return sheet.scores()

    def pooled(self, tallies: Sequence[Heard | None]) -> list[Pooled]:
        """See ``scorers.pooling.Pools``."""
        rows = [[0 if t is None else t.counts[name] for name in SAID] for t in tallies]
        made = Sums("acceptance", SAID, rows)
        return [
            made.metric("acceptance_rate", lambda s: over(s["accepted"], np.asarray(sum(s[name] for name in SAID))))
        ]

    def explain(self, tally: Heard | None) -> Mapping[str, Any]:
        """Nothing beyond the figures: offers and what was said of them lie in the unit's folder."""
        return {}

    def reference(self, tallies: Sequence[Heard | None]) -> Mapping[str, Any]:
        """No rows: what people would have said of other offers is not known."""
        return {}
