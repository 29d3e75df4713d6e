"""Where noise goes, how much, and of which kind: drawn by name, so that one seed says it all.

A *place* is a row before which noise may come in. Rules, and why:

* never before the first row (time 0 is the first snapshot, histories count from it) and never behind the last;
* not where a gap lies between two rows: what comes after a gap is what was seen first after it;
* not less than a second before, or at, an instant at which the user acted. The event that ends there is the one in
  which the need arose: its label must not go to noise, and the moment that protocol ``moments`` asks about must not
  show noise;
* not between the opening of a window and the first snapshot in it, which shows the need;
* not inside a window that nobody can serve: made longer, it would become one that is scored.

Windows of need may be interrupted, and then they are longer by what came in: the work is still undone, so the need goes
on. That is what noise does to a trajectory in PIRA-Bench; ``spare_windows`` keeps it out of them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from simulator.core.errors import UsageError, nearest, quote
from simulator.core.rng import below, draw_u64
from simulator.core.types import SECOND
from simulator.session.noise.spans import Spans
from simulator.session.truth import Truth

__all__ = ["KINDS", "MOST_RATE", "Options", "Stretch", "draw", "n_noise", "places"]

KINDS = ("switch", "idle", "browse")
MOST_RATE = 0.9
_LEAST, _MOST = 3, 20  # rows of a stretch, drawn evenly
_BEFORE_ACT_NS = SECOND


@dataclass(frozen=True, slots=True)
class Options:
    """What is wanted.

    Attributes:
        rate: share of the noisy session's rows that are noise, 0 to 0.9.
        seed: of all draws.
        kinds: which kinds, about as many rows of each.
        spare_windows: no noise inside windows of need.

    Raises:
        UsageError: a rate out of range, an unknown kind, none, or one twice.
    """

    rate: float = 0.25
    seed: int = 0
    kinds: tuple[str, ...] = KINDS
    spare_windows: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.rate <= MOST_RATE:
            raise UsageError(f"rate {quote(self.rate)}: the share of rows that are noise, 0 to {MOST_RATE}")
        if not 0 <= self.seed < 2**63:
            raise UsageError(f"seed {quote(self.seed)}: a whole number from 0 to 2**63 - 1")
        for kind in self.kinds:
            if kind not in KINDS:
                raise UsageError(f"kind of noise {quote(kind)}: {nearest(kind, KINDS)}")
        if not self.kinds or len(set(self.kinds)) < len(self.kinds):
            raise UsageError(f"kinds of noise: each once, at least one of {', '.join(KINDS)}")


@dataclass(frozen=True, slots=True)
class Stretch:
    """``n_rows`` of noise of one kind that come before row number ``place`` (from 0)."""

    number: int
    place: int
    n_rows: int
    kind: str


def n_noise(n_rows: int, rate: float) -> int:
    """How many rows come in, so that their share of all is nearest to the rate."""
    return round(n_rows * rate / (1 - rate))


def places(
    times_ns: Sequence[int], ticks: Sequence[int], truth: Truth, zero_ns: int, *, spare_windows: bool
) -> list[int]:
    """The numbers of the rows before which noise may come in.

    Args:
        times_ns: when each row was captured, as in the file.
        ticks: of each row.
        truth: of the session, in stream time.
        zero_ns: the file's time of stream time 0.
        spare_windows: see ``Options``.
    """
    acts = sorted({*truth.acts_ns, *(a.start_ns for a in truth.assists)})
    barred = [o for o in truth.opportunities if spare_windows or o.unservable is not None]
    inside = Spans((o.opens_ns + 1, o.closes_ns) for o in barred)  # not at its opening: that moves along
    opens = sorted(o.opens_ns for o in truth.opportunities)
    gaps = Spans((g.start_ns, g.end_ns) for g in truth.gaps)
    out = []
    for i in range(1, len(times_ns)):
        before, at = times_ns[i - 1] - zero_ns, times_ns[i] - zero_ns
        if ticks[i] <= ticks[i - 1] or at <= before:
            continue  # two rows of one tick belong together
        if bisect_left(acts, at) < bisect_left(acts, at + _BEFORE_ACT_NS):
            continue
        if bisect_right(opens, before) < bisect_left(opens, at):
            continue
        if gaps.touch(before, at + 1) or inside.cover(at):
            continue
        out.append(i)
    return out


def draw(allowed: Sequence[int], n: int, options: Options, session: str) -> list[Stretch]:
    """Stretches of ``n`` rows in all, in order of place; several at one place follow each other.

    Raises:
        UsageError: noise is wanted, and there is no place for any.
    """
    if n and not allowed:
        raise UsageError(
            f"session {quote(session)}: there is no place for noise (a second row is needed, away from acts and gaps)"
        )
    seed = options.seed
    ordered = sorted(allowed, key=lambda i: (draw_u64(seed, "noise", session, "place", i), i))
    drawn: list[tuple[int, int, int, str]] = []
    so_far = dict.fromkeys(options.kinds, 0)  # the next one is of the kind of which there is least
    left = n
    while left:
        k = len(drawn)
        rows = min(left, _LEAST + below(_MOST - _LEAST + 1, seed, "noise", session, "rows", k))
        kind = min(options.kinds, key=lambda kind: (so_far[kind], draw_u64(seed, "noise", session, "kind", k, kind)))
        so_far[kind] += rows
        drawn.append((ordered[k % len(ordered)], k, rows, kind))
        left -= rows
    return [Stretch(i, place, rows, kind) for i, (place, _, rows, kind) in enumerate(sorted(drawn))]


def n_interrupted(truth: Truth, points_ns: Sequence[int]) -> int:
    """Of the windows of need, how many have noise inside."""
    ordered = sorted(points_ns)
    return sum(bisect_right(ordered, o.opens_ns) < bisect_right(ordered, o.closes_ns) for o in truth.opportunities)
