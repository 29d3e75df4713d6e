"""Matching against exhaustive search, its ties, its speed, and the content matchers."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from scorers.matching import AnyContent, Right, Windows, content, match, maximum
from scorers.offers import Verdict, judge
from simulator.core.errors import UsageError
from simulator.core.rng import below
from simulator.core.types import SECOND
from simulator.runs.records import LoggedOffer
from simulator.session.truth import Opportunity


@dataclass(frozen=True)
class Words:
    intention: str
    text: str = ""
    query: str | None = None


class Letters:
    """An embedder of two dimensions: letters a and b."""

    identity, dimension = "letters 2", 2

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = np.array([[t.count("a"), t.count("b")] for t in texts], np.float32)
        lengths: NDArray[np.float32] = np.sqrt((rows * rows).sum(axis=1, keepdims=True))
        return (rows / np.maximum(lengths, 1e-9)).astype(np.float32)


def offer(seq: int, captured: int, arrived: int, intention: str) -> LoggedOffer:
    return LoggedOffer(seq, captured, captured, captured, arrived, intention)


NEEDS = st.lists(
    st.tuples(
        st.integers(0, 12), st.sampled_from([2, 4, 4, 5, 9]), st.sampled_from("ab"), st.sampled_from([0.5, 1, 1, 2])
    ),
    max_size=4,
).map(lambda ns: [Opportunity(str(i), o, o + d, c, weight=w) for i, (o, d, c, w) in enumerate(ns)])
OFFERS = st.lists(
    st.tuples(st.integers(0, 15), st.integers(0, 4), st.sampled_from("ab")), max_size=5
).map(lambda os: [offer(i, max(0, a - lag), a, c) for i, (a, lag, c) in enumerate(sorted(os))])  # fmt: skip


def fits(need: Opportunity, said: LoggedOffer) -> bool:
    return need.opens_ns <= said.actionable_ns < need.closes_ns and need.intention == said.intention


def worth(need: Opportunity, said: LoggedOffer) -> Fraction:
    length = need.closes_ns - need.opens_ns
    return Fraction(need.weight) * (1 - Fraction(said.actionable_ns - need.opens_ns, 2 * length))


def best(needs: Sequence[Opportunity], offers: Sequence[LoggedOffer]) -> tuple[int, Fraction]:
    if not needs:
        return 0, Fraction(0)
    found = best(needs[1:], offers)
    for j, said in enumerate(offers):
        if fits(needs[0], said):
            n, total = best(needs[1:], [*offers[:j], *offers[j + 1 :]])
            found = max(found, (n + 1, total + worth(needs[0], said)))
    return found


def arrivals(offers: Sequence[LoggedOffer]) -> NDArray[np.int64]:
    return np.array([o.actionable_ns for o in offers], np.int64)


def by_category(offers: Sequence[LoggedOffer], needs: Sequence[Opportunity]) -> Right:
    return content("category", None).right(offers, needs)


@given(NEEDS, OFFERS)
def test_no_matching_serves_more_or_is_worth_more(needs: list[Opportunity], offers: list[LoggedOffer]) -> None:
    found = match(Windows.of(needs), arrivals(offers), by_category(offers, needs))
    pairs = [(needs[i], offers[j]) for i, j in enumerate(found) if j is not None]
    assert len({id(o) for _, o in pairs}) == len(pairs)
    assert all(fits(n, o) for n, o in pairs)
    assert (len(pairs), sum((worth(n, o) for n, o in pairs), Fraction(0))) == best(needs, offers)


@given(st.lists(st.integers(0, 6), max_size=4), st.lists(st.integers(0, 14), max_size=5, unique=True))
def test_among_equals_earlier_offers_go_to_earlier_windows(opens: list[int], times: list[int]) -> None:
    # Windows of one length and weight: all pairings of the same offers are worth the same.
    needs = [Opportunity(str(i), o, o + 8, "a") for i, o in enumerate(sorted(opens))]
    offers = [offer(j, t, t, "a") for j, t in enumerate(sorted(times))]
    found = [j for j in match(Windows.of(needs), arrivals(offers), by_category(offers, needs)) if j is not None]
    assert found == sorted(found)


@given(NEEDS, OFFERS)
def test_each_offer_is_one_thing_as_the_definitions_say(needs: list[Opportunity], offers: list[LoggedOffer]) -> None:
    needs = sorted(needs, key=lambda n: (n.opens_ns, n.id))
    served = {j for j in match(Windows.of(needs), arrivals(offers), by_category(offers, needs)) if j is not None}
    for j, judged in enumerate(judge(offers, needs, content("category", None), early_ns=5)):
        o = offers[j]
        open_now = [n for n in needs if n.opens_ns <= o.actionable_ns < n.closes_ns]
        right = [n for n in needs if n.intention == o.intention]
        if j in served:
            expected = Verdict.ON_TIME
        elif any(n in right for n in open_now):
            expected = Verdict.REDUNDANT
        elif any(n.opens_ns <= o.captured_ns < n.closes_ns <= o.actionable_ns for n in right):
            expected = Verdict.STALE
        elif any(o.actionable_ns < n.opens_ns <= o.actionable_ns + 5 for n in right):
            expected = Verdict.EARLY
        else:
            expected = Verdict.WRONG_CONTENT if open_now else Verdict.FALSE_ALARM
        assert judged.verdict == expected
        assert (judged.need is None) == (expected is Verdict.FALSE_ALARM)


def test_ties_go_by_time() -> None:
    # Windows of one length: both pairings are worth the same, so the earlier offer goes to the window opened earlier.
    needs = [Opportunity("late", 2, 12, "a"), Opportunity("soon", 0, 10, "a")]
    offers = [offer(0, 3, 3, "a"), offer(1, 4, 4, "a")]
    assert match(Windows.of(needs), arrivals(offers), by_category(offers, needs)) == [1, 0]


def test_windows_are_half_open() -> None:
    need = [Opportunity("n", 10, 20, "a")]
    for arrived, matched in ((9, None), (10, 0), (19, 0), (20, None)):
        said = [offer(0, 0, arrived, "a")]
        assert match(Windows.of(need), arrivals(said), by_category(said, need)) == [matched]


def test_a_deadline_includes_its_last_instant() -> None:
    need = [Opportunity("n", 10, 100, "a")]
    for arrived, matched in ((15, 0), (16, None)):
        said = [offer(0, 0, arrived, "a")]
        assert match(Windows.of(need, deadline_ns=5), arrivals(said), by_category(said, need)) == [matched]


@pytest.mark.parametrize(("span_s", "length_s"), [(28_800, 30), (28_800, 300), (2_880, 30)])
def test_two_thousand_windows_and_five_thousand_offers_match_quickly(span_s: int, length_s: int) -> None:
    opens = [below(span_s * SECOND, 1, "opens", i) for i in range(2000)]
    needs = [
        Opportunity(f"{i}", o, o + (1 + below(2 * length_s, 1, "length", i)) * SECOND, "a") for i, o in enumerate(opens)
    ]
    times = np.array([below(span_s * SECOND, 1, "offer", j) for j in range(5000)], np.int64)
    began = time.process_time()
    found = match(Windows.of(needs), times, AnyContent().right([], needs))
    assert time.process_time() - began < 2
    assert sum(j is not None for j in found) > 1800


def test_hopelessly_many_offers_in_one_window_are_no_burden() -> None:
    times = np.arange(1_000_000, dtype=np.int64)
    assert match(Windows.of([Opportunity("n", 10, 900_000, "a")]), times, AnyContent().right([], [])) == [10]


def test_sets_match_as_many_as_they_can() -> None:
    said = [Words("a", "aaab"), Words("b", "ab"), Words("c", "b")]
    wanted = [Words("x", query="ab"), Words("y", query="aab")]
    right = content("embedding>=0.9", Letters()).right(said, wanted)
    # "aaab" fits only "aab" (cosine .99), "ab" fits both: taking it for "aab" would leave "ab" alone.
    assert maximum(right, 2, 3) == [1, 0]


def test_categories_match_by_alias_and_by_their_own_name() -> None:
    said = [Words("information retrieval"), Words("Reply to  mail")]
    right = content("category", None).right(said, [Words("Information Lookup"), Words("reply to mail"), Words("other")])
    both = np.arange(2)
    assert [right(i, both).tolist() for i in range(3)] == [[True, False], [False, True], [False, False]]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("categry", "did you mean 'category'"),
        ("embedding>=high", "not a number"),
        ("embedding>=0", r"must lie in \(0, 1\]"),
        ("embedding>=nan", r"must lie in \(0, 1\]"),
    ],
)
def test_a_wrong_matcher_is_refused_with_a_sentence(name: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        content(name, Letters())


def test_similarity_without_an_embedder_is_refused() -> None:
    with pytest.raises(UsageError, match="needs an embedder"):
        content("embedding>=0.8", None)


@given(NEEDS, OFFERS)
def test_the_order_of_needs_changes_nothing(needs: list[Opportunity], offers: list[LoggedOffer]) -> None:
    turned = list(reversed(needs))
    first = match(Windows.of(needs), arrivals(offers), by_category(offers, needs))
    second = match(Windows.of(turned), arrivals(offers), by_category(offers, turned))[::-1]
    total = [
        sum((worth(needs[i], offers[j]) for i, j in enumerate(f) if j is not None), Fraction(0))
        for f in (first, second)
    ]
    assert total[0] == total[1]
    distinct = {(n.opens_ns, n.closes_ns) for n in needs}
    if len(distinct) == len(needs) and all(a.actionable_ns < b.actionable_ns for a, b in pairwise(offers)):
        assert first == second
