"""The worked examples of the published rules are tests."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import simulator.core
import simulator.runs
import simulator.timing

MODULES = sorted(
    module.name
    for package in (simulator.core, simulator.timing, simulator.runs)
    for module in pkgutil.iter_modules(package.__path__, package.__name__ + ".")
)


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_are_true(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


@pytest.mark.parametrize("name", ["simulator.timing.kernel", "simulator.timing.mailbox", "simulator.core.durations"])
def test_the_rules_have_examples(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).attempted > 0
