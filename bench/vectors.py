"""Rows made up as the facts ask, questions to them, and what each took: of memory_scale.py and its alternatives."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import thread_time_ns
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory.index import best
from simulator.core.rng import below, block
from simulator.timing.clock import real_ns

D = 384
ASKED = 300
_TOPICS = 2_000
Rows = NDArray[np.float32]


def drawn(n: int, *names: str | int) -> Rows:
    """n rows of numbers around 0, near enough to normal (sums of four)."""
    raw = block(n * D, 7, *names).view(np.uint16).reshape(n, D, 4)
    made: Rows = (raw.sum(axis=2, dtype=np.float32) - 131_070) / 37_837
    return made


def unit_rows(rows: Rows) -> Rows:
    made: Rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return made


class Drift:
    """Rows of one user's past: topics that change over time, and noise of .7 of their length."""

    def __init__(self, n: int, user: int = 0) -> None:
        self.n, self.user = n, user
        self._then, self._now = (unit_rows(drawn(_TOPICS, end, user)) for end in ("first", "last"))

    def rows(self, a: int, b: int) -> Rows:
        of = (block(b - a, 7, "topic", self.user, a) % np.uint64(_TOPICS)).astype(np.intp)
        age = (np.arange(a, b, dtype=np.float32) / self.n)[:, None]
        mixed = self._then[of] * (1 - 0.3 * age) + self._now[of] * 0.3 * age
        centres = unit_rows(mixed.astype(np.float32))
        noise = drawn(b - a, "noise", self.user, a)
        return unit_rows((centres + 0.7 / D**0.5 * noise).astype(np.float32))

    def pieces(self) -> Iterator[tuple[int, Rows]]:
        for a in range(0, self.n, 20_000):
            yield a, self.rows(a, min(a + 20_000, self.n))


def questions(n: int) -> tuple[list[int], Rows]:
    """A third each of early, middle and late moments, and rows near to what was in front then."""
    moments = [below(n // 20, 3, i) + (n // 30, n // 2, n - n // 20)[i % 3] for i in range(ASKED)]
    return moments, drawn(ASKED, "asked")


def drawn_near(rows: Rows, noise: Rows) -> Rows:
    """Rows near to these, by noise of half their length."""
    return unit_rows(rows + 0.5 / D**0.5 * noise)


def near_rows(each: int, users: int) -> tuple[list[int], Rows]:
    """Moments, and rows near to what was in front then: question i is of user i % users, who has so many rows."""
    moments, noise = questions(each)
    drifts = {user: Drift(each, user) for user in {i % users for i in range(ASKED)}}
    rows = [drifts[i % users].rows(m // 100 * 100, m // 100 * 100 + 1)[0] for i, m in enumerate(moments)]
    return moments, drawn_near(np.array(rows), noise)


def known_nearest(rows: Rows, near: Rows, moments: Sequence[int], users: int) -> list[set[int]]:
    """The true five: places of the nearest rows before each moment of user i % users, whose rows are in turn."""
    found = []
    for i, m in enumerate(moments):
        mine = np.arange(i % users, m, users)
        found.append({int(mine[p]) for p in best(np.vecdot(rows[mine], near[i]).astype(np.float64), 5)})
    return found


@dataclass(frozen=True, slots=True)
class Took:
    """Milliseconds of one question that was put five times: of the first time, and the least of all."""

    first_ms: float
    first_cpu_ms: float
    best_ms: float
    best_cpu_ms: float


def timed(ask: Callable[[int], Any], n: int = ASKED) -> tuple[list[Took], list[Any]]:
    """What each question took in real and in processor time, and the answers.

    A question is put five times in a row. The first finds the processor's caches as the question before left them, and
    also counts what others did on a shared machine; the best of five is of a warm cache and of this question alone.
    """
    taken, answers = [], []
    for i in range(n):
        spent = []
        for _ in range(5):
            begun, begun_cpu = real_ns(), thread_time_ns()
            answer = ask(i)
            spent.append(((real_ns() - begun) / 1e6, (thread_time_ns() - begun_cpu) / 1e6))
        taken.append(Took(*spent[0], min(s for s, _ in spent), min(s for _, s in spent)))
        answers.append(answer)
    return taken, answers


def percentiles(name: str, taken: Sequence[Took]) -> dict[str, float]:
    """p50 and p99 of the best of five, and of the first alone (``first``)."""
    figures: dict[str, float] = {}
    for label in ("best", "best_cpu", "first", "first_cpu"):
        figures |= spread(name, label.removeprefix("best"), [getattr(t, f"{label}_ms") for t in taken])
    return figures


def spread(name: str, label: str, taken_ms: Sequence[float]) -> dict[str, float]:
    """p50 and p99 of times of one kind."""
    ordered, kind = sorted(taken_ms), f"_{label.strip('_')}" if label else ""
    at = {"p50": len(ordered) // 2, "p99": int(0.99 * len(ordered))}
    return {f"{name}_{q}{kind}_ms": ordered[i] for q, i in at.items()}
