"""Clusters against SciPy's, and against definitions written out; the coarse path against known topics."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage

from memory.clusters import UNIT, coarse, cut, distances, means, merge_small, merges, whole
from memory.embed import Floats, HashEmbedder, Rows, vectors
from simulator.core.rng import block_unit

Groups = set[frozenset[int]]
ALPHABET = (
    *("parser", "main", "test", "holiday", "photos", "invoice", "budget", "report", "train", "Berlin"),
    *("exam", "notes", "lecture", "会议", "记录"),
)


def fractions(n: int, d: int, name: str) -> Rows:
    """Unit rows of a made-up learned embedder: no two distances are equal."""
    rows = block_unit(n * d, 7, name).reshape(n, d) - 0.5
    made: Rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return made


def flat(rows: Rows, norms: Floats, weights: list[int], ward: bool, height: float) -> Groups:
    tree = merges(distances(rows, norms, weights, ward=ward), weights, ward=ward)
    return {frozenset(g) for g in cut(tree, len(weights), height=height)}


def scipys(rows: Floats, ward: bool, height: float) -> Groups:
    tree = linkage(rows, "ward", "euclidean") if ward else linkage(rows, "average", "cosine")
    labels = fcluster(tree, height, "distance")
    return {frozenset(np.flatnonzero(labels == c).tolist()) for c in set(labels)}


@pytest.mark.parametrize(("ward", "heights"), [(False, (0.55, 0.7, 0.8, 0.95)), (True, (0.7, 1.0, 1.3, 1.8))])
@pytest.mark.parametrize("n", [2, 5, 30, 150])
def test_flat_clusters_are_scipys(n: int, ward: bool, heights: tuple[float, ...]) -> None:
    rows, norms = whole(fractions(n, 12, f"rows {n}"), np.ones(n))
    exact = rows / norms[:, None]
    for height in heights:
        assert flat(rows, norms, [1] * n, ward, height) == scipys(exact.astype(np.float64), ward, height)


@pytest.mark.parametrize("ward", [False, True])
@given(st.lists(st.lists(st.sampled_from(ALPHABET), min_size=1, max_size=4), min_size=2, max_size=25))
@settings(max_examples=30)
def test_heights_of_hashed_titles_are_scipys(ward: bool, titles: list[list[str]]) -> None:
    """Ties may merge another pair first, but Ward and average heights of an untied set are one sequence."""
    rows, norms = vectors(HashEmbedder(), list(dict.fromkeys(" ".join(t) for t in titles)))
    n = len(rows)
    apart = distances(rows, norms, [1] * n)
    if n < 2 or len(np.unique(apart[np.triu_indices(n, 1)])) < n * (n - 1) // 2:
        return
    ours = [h for h, _, _ in merges(distances(rows, norms, [1] * n, ward=ward), [1] * n, ward=ward)]
    unit = (rows / norms[:, None]).astype(np.float64)
    theirs = linkage(unit, "ward", "euclidean") if ward else linkage(unit, "average", "cosine")
    assert np.allclose(ours, theirs[:, 2], atol=1e-5)


@pytest.mark.parametrize("ward", [False, True])
def test_weights_stand_for_copies(ward: bool) -> None:
    texts = ["parser main", "parser test", "holiday photos", "holiday beach"]
    copies = [3, 1, 2, 1]
    rows, norms = vectors(HashEmbedder(), [t for t, n in zip(texts, copies, strict=True) for _ in range(n)])
    all_of_them = merges(distances(rows, norms, [1] * 7, ward=ward), [1] * 7, ward=ward)
    rows, norms = vectors(HashEmbedder(), texts)
    weighted = merges(distances(rows, norms, copies, ward=ward), copies, ward=ward)
    assert [h for h, _, _ in all_of_them][3:] == pytest.approx([h for h, _, _ in weighted], abs=1e-6)


@pytest.mark.parametrize("ward", [False, True])
def test_distances_between_means_are_those_between_all_their_pairs(ward: bool) -> None:
    """Three groups by hand: the average is over all pairs; Ward's is ``sqrt(2 a b / (a + b)) |mean - mean|``."""
    rows, norms = whole(fractions(9, 6, "pairs"), np.ones(9))
    groups, unit = [[0, 1, 2, 3], [4, 5], [6, 7, 8]], (rows / norms[:, None]).astype(np.float64)
    middle = means(rows, norms, [1] * 9, groups)
    points = np.rint(middle * UNIT).astype(np.float32)
    apart = distances(points, np.full(3, UNIT), [4, 2, 3], ward=ward)
    for i, j in combinations(range(3), 2):
        a, b = len(groups[i]), len(groups[j])
        gap = unit[groups[i]].mean(axis=0) - unit[groups[j]].mean(axis=0)
        pairs = np.mean([1 - unit[x] @ unit[y] for x in groups[i] for y in groups[j]])
        want = 2 * a * b / (a + b) * (gap @ gap) if ward else pairs
        assert apart[i, j] == pytest.approx(want, abs=3e-3)


def test_whole_numbers_keep_the_cosines_and_leave_counts_alone() -> None:
    rows = fractions(40, 384, "cosines")
    made, norms = whole(rows, np.ones(40))
    assert (made == np.rint(made)).all()
    assert np.abs(made @ made.T / (norms[:, None] * norms) - rows @ rows.T).max() < 1e-3
    counts, lengths = vectors(HashEmbedder(), ["parser main", "holiday", "…"])
    same, kept = whole(counts, lengths)
    assert same is counts
    assert kept is lengths
    zero, none = whole(np.zeros((2, 3), dtype=np.float32), np.zeros(2))
    assert (zero == 0).all()
    assert (none == 0).all()


def test_texts_that_say_nothing_are_a_distance_of_one_from_all() -> None:
    rows, norms = vectors(HashEmbedder(), ["…", "parser", "!!"])
    assert distances(rows, norms, [1] * 3)[0, 1] == distances(rows, norms, [1] * 3)[0, 2] == 1.0
    tree = merges(distances(rows, norms, [1] * 3, ward=True), [1] * 3, ward=True)
    assert [h for h, _, _ in tree] == pytest.approx([0.0, (2 * 2 / 3) ** 0.5])  # |0 - v| = 1, weights 2 and 1


def test_equal_points_merge_at_height_zero() -> None:
    rows, norms = vectors(HashEmbedder(), ["parser main"] * 30)
    assert cut(merges(distances(rows, norms, [1] * 30), [1] * 30), 30, height=0.0) == [list(range(30))]


def test_small_clusters_join_the_nearest_of_those_kept() -> None:
    centres = np.array([[1.0, 0.0], [0.0, 1.0], [0.9, 0.1], [0.2, 0.8]])
    groups = [[0, 4], [1, 5], [2], [3]]
    assert merge_small(groups, centres, [5, 4, 1, 1], 2) == [[0, 2, 4], [1, 3, 5]]
    assert merge_small(groups, centres, [5, 4, 1, 1], 9) == groups


def topics(n: int, n_topics: int, n_words: int = 12) -> tuple[list[str], list[int]]:
    """Titles of made-up topics: four of a topic's own words each."""
    chance = (block_unit(5 * n, 11, "topics", n).reshape(5, n) * np.array([[n_topics], *[[n_words]] * 4])).astype(int)
    names = [" ".join(f"w{chance[0, i]}x{chance[j, i]}" for j in range(1, 5)) for i in range(n)]
    return names, chance[0].tolist()


def ari(one: list[int], other: list[int]) -> float:
    """Adjusted Rand index (Hubert and Arabie 1985)."""
    table = np.zeros((max(one) + 1, max(other) + 1))
    np.add.at(table, (one, other), 1)

    def pairs(counts: Floats) -> float:
        return float((counts * (counts - 1) / 2).sum())

    both, a, b, n = pairs(table), pairs(table.sum(axis=1)), pairs(table.sum(axis=0)), len(one)
    chance = a * b / (n * (n - 1) / 2)
    return (both - chance) / ((a + b) / 2 - chance)


def test_coarse_groups_keep_topics_apart_and_hold_every_text_once() -> None:
    names, truth = topics(1_500, 10)
    rows, norms = vectors(HashEmbedder(), names)
    groups = coarse(rows, norms, [1] * len(names), 60)
    assert sorted(i for g in groups for i in g) == list(range(len(names)))
    assert 30 <= len(groups) <= 60
    weights = [len(g) for g in groups]
    points = np.rint(means(rows, norms, [1] * len(names), groups) * UNIT).astype(np.float32)
    tree = merges(distances(points, np.full(len(groups), UNIT), weights), weights)
    found = [0] * len(names)
    for place, parts in enumerate(cut(tree, len(groups), n_clusters=10)):
        for i in (i for part in parts for i in groups[part]):
            found[i] = place
    assert ari(found, truth) > 0.9
    assert ari(truth, truth) == 1.0


def test_coarse_groups_of_odd_texts() -> None:
    rows, norms = vectors(HashEmbedder(), ["…", "!!", "parser", "——"])
    assert coarse(rows, norms, [1] * 4, 3) == [[2], [0, 1, 3]]
    assert coarse(rows[[0, 1]], norms[[0, 1]], [1, 1], 3) == [[0, 1]]
    rows, norms = vectors(HashEmbedder(), ["parser main"] * 50)
    assert coarse(rows, norms, [1] * 50, 5) == [list(range(50))]
