"""The whole way in one call: scenarios, an agent and a memory to a run folder and its scores.

>>> from simulator.play import run
>>> played = run(["scenarios/desktop"], agent="prior", memory="graph")  # doctest: +SKIP
>>> played.scores["scores"]["F1_rt"]  # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.core.lazy import door

if TYPE_CHECKING:
    from simulator.play.assemble import Choice, assemble
    from simulator.play.comparing import Comparison, compare
    from simulator.play.kept import read_scores
    from simulator.play.player import Played, Watcher, play, run
    from simulator.play.scoring import score_folder

__all__ = [
    "Choice",
    "Comparison",
    "Played",
    "Watcher",
    "assemble",
    "compare",
    "play",
    "read_scores",
    "run",
    "score_folder",
]

__getattr__ = door(
    __name__,
    {
        "simulator.play.assemble": ["Choice", "assemble"],
        "simulator.play.comparing": ["Comparison", "compare"],
        "simulator.play.kept": ["read_scores"],
        "simulator.play.player": ["Played", "Watcher", "play", "run"],
        "simulator.play.scoring": ["score_folder"],
    },
)
