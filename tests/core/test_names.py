"""Names of folders are fit for any file system, and each is there once."""

from __future__ import annotations

import doctest

from hypothesis import given
from hypothesis import strategies as st

from simulator.core import names
from simulator.core.names import free, plain


def test_the_examples_hold() -> None:
    assert doctest.testmod(names).failed == 0


@given(st.text())
def test_a_plain_name_leads_nowhere_else_and_is_never_empty(text: str) -> None:
    name = plain(text)
    assert 0 < len(name) <= 80
    assert not set(name) & set('/\\:*?"<>|\0')
    assert not name.startswith(".")


@given(st.lists(st.sampled_from(["a", "A", "a-2", "b"]), max_size=12))
def test_no_two_free_names_are_alike_in_any_case_of_letters(wanted: list[str]) -> None:
    taken: set[str] = set()
    given = [free(name, taken) for name in wanted]
    assert len({name.casefold() for name in given}) == len(given)
    assert {name.casefold() for name in given} == taken
