from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.core.errors import UsageError
from simulator.timing.mailbox import POLICIES, Mailbox, Policy, parse_policy

POLICY = st.builds(
    lambda name, n: Policy(name, n if POLICIES[name][0] else 1), st.sampled_from(sorted(POLICIES)), st.integers(1, 4)
)
INSTANTS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 1)), max_size=25)
"""Of each instant: how many snapshots happen, and whether the agent is idle at its end."""


def _waits(policy: Policy, waiting: list[int], new: int, seen: int, idle: int) -> list[int]:
    """What waits once ``new``, the ``seen``-th snapshot, has come: the policy as its table says it."""
    match policy.name:
        case "queue_all":
            return [*waiting, new]
        case "drop_oldest":
            return [*waiting, new][-(policy.n + idle) :]
        case "drop_newest":
            return [*waiting, new][: policy.n + idle]
        case "stride":
            return waiting if seen % policy.n else [new]
    return [new]


@given(POLICY, INSTANTS)
def test_each_policy_keeps_what_its_table_says(policy: Policy, instants: list[tuple[int, int]]) -> None:
    box, waiting, n, taken = Mailbox(policy), list[int](), 0, list[tuple[int, int]]()
    expected: list[tuple[int, int]] = []
    since = 0
    for arrivals, idle in instants:
        for _ in range(arrivals):
            before = len(waiting)
            waiting = _waits(policy, waiting, n, n, idle)
            since += before + 1 - len(waiting)
            box.put(n, idle)
            n += 1
        assert list(box.waiting) == waiting
        if idle and waiting:
            expected.append((waiting.pop(0), since))
            since = 0
            taken.append(box.take())
    assert taken == expected
    assert box.n_dropped == n - len(taken) - len(waiting), "each snapshot is seen, waits, or is counted as dropped"
    assert sum(dropped for _, dropped in taken) + since == box.n_dropped


@given(POLICY)
def test_a_policy_is_spelled_as_it_is_read(policy: Policy) -> None:
    assert parse_policy(policy.text) == policy


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("latest", "did you mean 'latest_only'"),
        ("latest_only:2", "takes no number"),
        ("stride", "needs a whole number from 1"),
        ("stride:", "needs a whole number"),
        ("stride:0", "needs a whole number"),
        ("overlap:-1", "needs a whole number"),
        ("overlap:1.5", "needs a whole number"),
        ("overlap:²", "needs a whole number"),
        ("", "is unknown"),
    ],
)
def test_what_is_no_policy_is_refused(text: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        parse_policy(text)
