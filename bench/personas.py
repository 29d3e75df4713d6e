"""Personas at size: builds beside SciPy's linkage on the same vectors, the choice of items beside the published form of
it, and how well coarse groups keep made-up topics apart.

``python -m bench.personas N TEXTS MAX_TEXTS`` is one build in a fresh process: N events of a user with TEXTS different
titles, exact up to MAX_TEXTS of them.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Callable
from statistics import median
from typing import Any

import anyio
import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage

from memory.clusters import UNIT, coarse, cut, distances, means, merges, whole
from memory.embed import Floats, HashEmbedder, Rows, vectors
from memory.personas import PersonaMemory
from memory.sampling import pick, typicality
from simulator.core.rng import block_below, block_unit
from simulator.core.types import SECOND, Event, Label, Query
from simulator.timing.clock import real_ns

TOPICS = 40


def titles(n: int, n_different: int) -> tuple[list[str], list[int]]:
    """n titles of ``TOPICS`` topics with 14 words each, and the topic of each; about n_different different ones."""
    which = block_below(n_different, n, 3, "which") if n_different < n else np.arange(n)
    topic = block_below(TOPICS, n_different, 3, "topic")
    words = block_below(14, 4 * n_different, 3, "words").reshape(4, n_different)
    serial = block_below(10_000_000, n_different, 3, "serial")
    return [_title(topic[i], words[:, i], int(serial[i])) for i in which], [int(topic[i]) for i in which]


def _title(topic: int, words: Any, serial: int) -> str:
    """Words that no other topic has, by letters that look like none of theirs."""
    said = [_word(1 + 14 * int(topic) + int(w)) for w in words]
    return f"{' '.join(said)} {serial}"


def _word(n: int) -> str:
    syllables = ("ba", "ke", "di", "fo", "gu", "la", "me", "ni", "po", "ru", "sa", "te", "vi", "xo", "zu", "qe")
    mixed = n * 40503 % 65536  # near numbers share no syllables
    return "".join(syllables[mixed >> shift & 15] for shift in (0, 4, 8, 12))


def picked_naively(to_centre: Floats, between: Floats, n: int, alpha: float, scoring: str) -> list[int]:
    """The choice as it is published: all pairs of the set with the candidate in it, for every candidate and pick."""
    w_p = typicality(alpha)
    picked: list[int] = []
    for _ in range(min(n, len(to_centre))):
        scores = []
        for c in range(len(to_centre)):
            if c in picked:
                scores.append(-np.inf)
                continue
            if scoring == "paper":
                gain = 2.0 * (1.0 - w_p) / max(len(picked), 1) * sum(float(between[a, c]) for a in picked)
            else:
                members = [*picked, c]
                pairs = [float(between[a, b]) for i, a in enumerate(members) for b in members[:i]]
                gain = (1.0 - w_p) * sum(pairs) / len(members)
            scores.append(w_p / (1.0 + float(to_centre[c])) + gain)
        best = max(scores)
        # Sums in another order differ in the last bits: what is equal but for those is a tie.
        picked.append(next(i for i, score in enumerate(scores) if score >= best - 1e-9))
    return picked


def ari(one: list[int], other: list[int]) -> float:
    """Adjusted Rand index (Hubert and Arabie 1985)."""
    table = np.zeros((max(one) + 1, max(other) + 1))
    np.add.at(table, (one, other), 1)
    both, a, b = (float((t * (t - 1) / 2).sum()) for t in (table, table.sum(axis=1), table.sum(axis=0)))
    chance = a * b / (len(one) * (len(one) - 1) / 2)
    return (both - chance) / ((a + b) / 2 - chance)


def memory_of(n: int, n_different: int, **options: Any) -> PersonaMemory:
    """A user's events, help needed in a tenth of them: so nine tenths are of one kind."""
    memory = PersonaMemory(**options)

    async def fill() -> None:
        for i, title in enumerate(titles(n, n_different)[0]):
            event = Event(f"h/{i}", "u", (i - n) * 30 * SECOND, (i - n + 1) * 30 * SECOND, "code", title)
            need = "Coding/Programming" if i % 10 == 0 else None
            await memory.observe(event)
            await memory.feedback(event, Label(event.id, "u", need is not None, event.end_ns, need, need and "why?"))

    anyio.run(fill)
    return memory


def build(n: int, n_different: int, max_texts: int) -> dict[str, float]:
    """One build, in this process."""
    memory = memory_of(n, n_different, max_texts=max_texts)
    begun = real_ns()
    anyio.run(memory.maintain, 0)
    figures = {"build_s": (real_ns() - begun) / 1e9}
    taken = []
    for title in titles(500, 500)[0]:
        begun = real_ns()
        found: Any = anyio.run(memory.recall, Query("u", "code", title, None, 0), 5, None)
        assert len(found) == 5
        taken.append(real_ns() - begun)

    async def ask() -> None:
        taken.clear()
        for title in titles(500, 500)[0]:
            query = Query("u", "code", title, None, 0)
            begun = real_ns()
            await memory.recall(query, 5, None)
            taken.append(real_ns() - begun)

    anyio.run(ask)
    taken.sort()
    figures["query_p50_ms"], figures["query_p99_ms"] = median(taken) / 1e6, taken[int(0.99 * len(taken))] / 1e6
    figures["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return figures


def _apart(n: int, n_different: int, max_texts: int) -> dict[str, float]:
    argv = [sys.executable, "-m", "bench.personas", str(n), str(n_different), str(max_texts)]
    made = subprocess.run(argv, capture_output=True, text=True, check=True)
    figures: dict[str, float] = json.loads(made.stdout)
    return figures


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    begun = real_ns()
    made = work()
    return (real_ns() - begun) / 1e9, made


def _beside_scipy(rows: Rows, norms: Floats) -> dict[str, float]:
    """Both linkages on the same vectors, moved a little so that no two distances are equal (equal ones may merge in
    another order): the flat clusters have to be the same ones.
    """
    n = len(rows)
    moved = rows + block_unit(rows.size, 9, "noise").reshape(rows.shape) * (norms[:, None] / 100.0)
    rows, norms = whole(moved.astype(np.float32), np.linalg.norm(moved, axis=1))
    figures: dict[str, float] = {}
    unit = (rows / norms[:, None]).astype(np.float64)
    for ward, method, metric, height in ((False, "average", "cosine", 0.7), (True, "ward", "euclidean", 1.2)):
        spent, ours = _timed(lambda: merges(distances(rows, norms, [1] * n, ward=ward), [1] * n, ward=ward))  # noqa: B023
        figures[f"{method}_{n}_s"] = spent
        spent, theirs = _timed(lambda: linkage(unit, method, metric))  # noqa: B023
        figures[f"{method}_{n}_scipy_s"] = spent
        labels = _labels(cut(ours, n, height=height), n)
        figures[f"{method}_{n}_ari_to_scipy"] = ari(labels, [int(c) - 1 for c in fcluster(theirs, height, "distance")])
    return figures


def _labels(groups: list[list[int]], n: int) -> list[int]:
    labels = [0] * n
    for place, group in enumerate(groups):
        for i in group:
            labels[i] = place
    return labels


def _quality(rows: Rows, norms: Floats, topic: list[int]) -> dict[str, float]:
    """Clusters at the threshold, and as many as there are topics, against the topics: exact, and behind groups."""
    n = len(rows)
    figures: dict[str, float] = {}
    for name, k in (("exact", None), ("groups_1000", 1_000), ("groups_512", 512), ("groups_200", 200)):
        begun = real_ns()
        if k is None:
            parts, sizes = [[i] for i in range(n)], [1] * n
            apart = distances(rows, norms, sizes)
        else:
            parts = coarse(rows, norms, [1] * n, k)
            sizes = [len(part) for part in parts]
            points = np.rint(means(rows, norms, [1] * n, parts) * UNIT).astype(np.float32)
            apart = distances(points, np.full(len(parts), UNIT), sizes)
        tree = merges(apart, sizes)
        figures[f"{name}_s"] = (real_ns() - begun) / 1e9
        for what, groups in (("at_threshold", cut(tree, len(parts), height=0.7)),
                             ("at_40", cut(tree, len(parts), n_clusters=TOPICS))):  # fmt: skip
            found = _labels([[i for p in group for i in parts[p]] for group in groups], n)
            figures[f"{name}_ari_{what}"] = ari(found, topic)
    return figures


def _sampling() -> dict[str, float]:
    at = block_unit(200 * 256, 5, "points").reshape(200, 256) - 0.5
    at /= np.linalg.norm(at, axis=1, keepdims=True)
    between = np.linalg.norm(at[:, None] - at[None], axis=2)
    to_centre = np.linalg.norm(at - at.mean(axis=0), axis=1)
    figures: dict[str, float] = {}
    chosen: dict[str, list[int]] = {}
    for scoring in ("paper", "code"):
        spent, chosen[scoring] = _timed(lambda: pick(to_centre, lambda i: between[i], 120, 1.06, scoring))  # noqa: B023
        slow, naive = _timed(lambda: picked_naively(to_centre, between, 120, 1.06, scoring))  # noqa: B023
        assert chosen[scoring] == naive
        figures |= {f"pick_120_of_200_{scoring}_s": spent, f"pick_120_of_200_{scoring}_naive_s": slow}
    near = set(np.argsort(to_centre, kind="stable")[:120].tolist())
    figures["paper_and_code_overlap"] = len(set(chosen["paper"]) & set(chosen["code"])) / 120
    figures["paper_and_nearest_overlap"] = len(set(chosen["paper"]) & near) / 120
    return figures


def measure() -> dict[str, float]:
    figures: dict[str, float] = {}
    for n, n_different, max_texts in ((20_000, 5_000, 10_000), (20_000, 20_000, 10_000), (20_000, 20_000, 20_000),
                                      (100_000, 100_000, 10_000)):  # fmt: skip
        way = "exact" if max_texts >= 0.9 * n_different else "groups"
        made = _apart(n, n_different, max_texts)
        figures |= {f"{n}_events_{n_different}_texts_{way}_{name}": value for name, value in made.items()}
    figures |= _sampling()
    names, topic = titles(5_000, 5_000)
    rows, norms = vectors(HashEmbedder(), names)
    return figures | _beside_scipy(rows, norms) | _quality(rows, norms, topic)


if __name__ == "__main__":
    print(json.dumps(build(*(int(word) for word in sys.argv[1:]))))
