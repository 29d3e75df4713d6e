"""What a figure would be on other sessions, and whether two runs differ: intervals, tests, and what they can see.

The unit is the session (of many users: the user); decisions a second apart say nothing new about an agent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.core.lazy import door

if TYPE_CHECKING:
    from scorers.statistics.clusters import Clusters
    from scorers.statistics.interval import Interval, bca, intervals
    from scorers.statistics.paired import Difference, differences
    from scorers.statistics.power import detectable, samples_needed, student
    from scorers.statistics.significance import McNemar, holm, mcnemar
    from scorers.statistics.spread import Quantile, quantiles

__all__ = [
    "Clusters",
    "Difference",
    "Interval",
    "McNemar",
    "Quantile",
    "bca",
    "detectable",
    "differences",
    "holm",
    "intervals",
    "mcnemar",
    "quantiles",
    "samples_needed",
    "student",
]

__getattr__ = door(
    __name__,
    {
        "scorers.statistics.clusters": ["Clusters"],
        "scorers.statistics.paired": ["Difference", "differences"],
        "scorers.statistics.interval": ["Interval", "bca", "intervals"],
        "scorers.statistics.power": ["detectable", "samples_needed", "student"],
        "scorers.statistics.significance": ["McNemar", "holm", "mcnemar"],
        "scorers.statistics.spread": ["Quantile", "quantiles"],
    },
)
