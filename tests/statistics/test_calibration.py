"""Two equal agents: how often each test calls them different at 5 %.

Simulated sessions with dependence inside: an agent has good and bad sessions (what it took for the task at the
beginning it keeps), so its answers a few seconds apart agree. A test that takes them for independent finds differences
that are not there; one that swaps whole sessions does not.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import stats

from scorers.pooling import Floats, ratio_of
from scorers.statistics import Clusters, differences, mcnemar
from simulator.core.rng import block_below, block_unit

N, SESSIONS = 500, 12
ALPHA = 0.05


def normal(n: int, *names: str | int) -> Floats:
    u = block_unit(2 * n, 11, *names)
    return np.asarray(np.sqrt(-2 * np.log1p(-u[:n])) * np.cos(2 * math.pi * u[n:]))


def rejections() -> tuple[dict[str, int], int]:
    """Over N experiments, how often each test rejects; and how often the 95 % interval leaves out the truth, 0."""
    group = Clusters.group([("u", f"{s:02}", f"s{s:02}") for s in range(SESSIONS)])
    found, missed = dict.fromkeys(("sign_flip", "mcnemar", "unpaired_t"), 0), 0
    for i in range(N):
        items = 10 + block_below(30, SESSIONS, 11, i, "items")  # sessions are not of one length
        hard = 0.8 * normal(SESSIONS, i, "hard")
        first, second = (
            np.concatenate(
                [block_unit(n, 11, i, s, agent) < p for s, (n, p) in enumerate(zip(items, chance, strict=True))]
            )
            for agent in "ab"
            for chance in [1 / (1 + np.exp(-(hard + 0.5 * normal(SESSIONS, i, agent))))]
        )
        of = np.repeat(np.arange(SESSIONS), items)
        hits = [np.bincount(of, weights=side, minlength=SESSIONS) for side in (first, second)]
        a, b = (ratio_of("r", list(zip(h, items, strict=True))) for h in hits)
        (difference,) = differences([a], [b], group, seed=i, resamples=2000)
        assert difference.p is not None
        found["sign_flip"] += difference.p <= ALPHA
        found["mcnemar"] += mcnemar(int((first & ~second).sum()), int((second & ~first).sum())).p <= ALPHA
        found["unpaired_t"] += stats.ttest_ind(first.astype(float), second.astype(float)).pvalue <= ALPHA
        interval = difference.interval
        missed += isinstance(interval, str) or not interval.low <= 0 <= interval.high
    return found, missed


def test_equal_agents_differ_in_one_of_twenty_comparisons_by_session_and_far_more_often_by_item() -> None:
    found, missed = rejections()
    low, high = stats.binom.interval(0.998, N, ALPHA)
    assert low <= found["sign_flip"] <= high, found
    assert found["mcnemar"] / N > 0.12, found
    assert found["unpaired_t"] / N > 0.12, found
    assert 0.03 < missed / N < 0.12  # BCa over 12 sessions is a little too narrow, as known


def test_where_agents_suit_people_differently_users_are_swapped_and_sessions_would_claim_too_much() -> None:
    """Eight people, five sessions each: what an agent is worth depends on the person, on average it is the same."""
    n, users, each = 400, 8, 5
    units = [(f"u{u}", f"{u}.{s}", f"u{u}s{s}") for u in range(users) for s in range(each)]
    by_user, by_session = Clusters.group(units), Clusters.group([("u", session, name) for _, session, name in units])
    assert (by_user.unit, by_session.unit) == ("user", "session")
    rejected = dict.fromkeys(("user", "session"), 0)
    for i in range(n):
        sides = []
        for agent in "ab":
            logit = np.repeat(0.7 * normal(users, i, agent, "suits"), each) + 0.3 * normal(
                users * each, i, agent, "day"
            )
            hits = (1 / (1 + np.exp(-logit)) > block_unit(20 * users * each, 11, i, agent).reshape(-1, 20).T).sum(
                axis=0
            )
            sides.append(ratio_of("r", [(int(h), 20) for h in hits]))
        for group in (by_user, by_session):
            (found,) = differences([sides[0]], [sides[1]], group, seed=i, resamples=999)
            assert found.p is not None
            rejected[group.unit] += found.p <= ALPHA
    low, high = stats.binom.interval(0.998, n, ALPHA)
    assert low <= rejected["user"] <= high, rejected
    assert rejected["session"] / n > 0.15, rejected
