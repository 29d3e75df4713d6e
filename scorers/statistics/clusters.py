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

    Units of one session (profiles before one screen, noise twins, seeds) are one cluster. Users before one screen are
    one person here: what hangs together is drawn together.

    Attributes:
        names: of the clusters, sorted, to be shown.
        of: for each unit, the number of its cluster.
        unit: what a cluster is: ``session`` or ``user``.
        n_sessions: distinct sessions.
        n_users: distinct users, those before one screen taken together.
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
            units: of each its user, the recording that it is of, and a name to show.
        """
        shown: dict[str, str] = {}
        for _, session, name in sorted(units, key=lambda u: (u[2], u)):
            shown.setdefault(session, name)
        person = _persons(units)
        users = sorted(set(person.values()))
        counts = len(shown), len(users)
        if ENOUGH <= len(users) < len(shown):
            number = {name: n for n, name in enumerate(users)}
            return cls(tuple(users), np.array([number[person[u]] for u, *_ in units], np.int64), "user", *counts)
        ordered = sorted(shown, key=lambda session: (shown[session], session))
        place = {session: n for n, session in enumerate(ordered)}
        of = np.array([place[session] for _, session, _ in units], np.int64)
        return cls(tuple(shown[session] for session in ordered), of, "session", *counts)

    def __len__(self) -> int:
        return len(self.names)

    def sums(self, columns: Floats) -> Floats:
        """What each cluster adds: (n_units, k) to (n_clusters, k)."""
        out: Floats = np.zeros((len(self), columns.shape[1]))
        np.add.at(out, self.of, columns)
        return out


def _persons(units: Sequence[tuple[str, str, str]]) -> dict[str, str]:
    """Of each user the name of its person: all users that share a session with it, or with one who does."""
    by_session: dict[str, set[str]] = {}
    for user, session, _ in units:
        by_session.setdefault(session, set()).add(user)
    joined: dict[str, set[str]] = {}
    for users in by_session.values():
        whole = set().union(users, *(joined.get(user, ()) for user in users))
        joined |= dict.fromkeys(whole, whole)
    return {user: " + ".join(sorted(whole)) for user, whole in joined.items()}
