"""What is drawn as a whole when a figure is resampled: sessions, or users where there are enough of them.

What a person does in one session hangs together, and so do the sessions of a person. The topmost level on which things
hang together is the one to draw from (Davison and Hinkley 1997, section 3.8): of many users, users with all their
sessions. Two or three users cannot be drawn from: the interval would be made of ten distinct resamples and be far too
narrow. There the sessions are drawn, and what comes out speaks **for these users**; ``unit`` says which it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scorers.pooling import Floats
from simulator.runs.records import Ints

__all__ = ["ENOUGH", "Clusters"]

ENOUGH = 6
"""Fewer clusters than this give no test, and intervals that are marked as too narrow: with five, no sign-flip can reach
p = 0.05 (2 / 2**5). Also the least number of users to draw users from.
"""


@dataclass(frozen=True, slots=True)
class Clusters:
    """Which cluster each unit belongs to.

    Units of one session (the profiles of a trajectory, companion seeds) are one cluster.

    Attributes:
        names: of the clusters, sorted, to be shown.
        of: for each unit, the number of its cluster.
        unit: what a cluster is: ``session`` or ``user``.
        n_sessions: distinct sessions.
        n_users: distinct users.
    """

    names: tuple[str, ...]
    of: Ints
    unit: str
    n_sessions: int
    n_users: int

    @classmethod
    def group(cls, units: Sequence[tuple[str, str, str]]) -> Clusters:
        """The clusters of units.

        Args:
            units: of each its user, what tells its session from others (the hash of its data set: sessions of several
                folders may have one name), and a name to show.
        """
        shown: dict[tuple[str, str], str] = {}
        for user, session, name in sorted(units):
            shown.setdefault((user, session), name)
        users = sorted({user for user, _ in shown})
        counts = len(shown), len(users)
        if ENOUGH <= len(users) < len(shown):
            number = {name: n for n, name in enumerate(users)}
            return cls(tuple(users), np.array([number[user] for user, *_ in units], np.int64), "user", *counts)
        ordered = sorted(shown, key=lambda at: (shown[at], at))
        place = {at: n for n, at in enumerate(ordered)}
        of = np.array([place[user, session] for user, session, _ in units], np.int64)
        return cls(tuple(shown[at] for at in ordered), of, "session", *counts)

    def __len__(self) -> int:
        return len(self.names)

    def sums(self, columns: Floats) -> Floats:
        """What each cluster adds: (n_units, k) to (n_clusters, k)."""
        out: Floats = np.zeros((len(self), columns.shape[1]))
        np.add.at(out, self.of, columns)
        return out
