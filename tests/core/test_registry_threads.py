"""Two threads that ask a registry at once both find what is there."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from types import ModuleType
from typing import Protocol

import pytest

from simulator.core.registry import Registry


class Fitting(Protocol):
    """A thing that fits."""

    def fit(self) -> None:
        """Fit."""


def test_who_asks_while_another_thread_imports_waits_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on = threading.Event(), threading.Event()
    gate = ModuleType("proact_gate_of_a_test")
    things: Registry[Fitting] = Registry("thing", "proact.no_such_group", ("proact_slow_things",), "fit")
    gate.begun, gate.go_on, gate.things = begun, go_on, things  # type: ignore[attr-defined]
    (tmp_path / "proact_slow_things.py").write_text(
        "import proact_gate_of_a_test as gate\n"
        "gate.begun.set()\n"
        "gate.go_on.wait(5)\n"
        "@gate.things.register('late')\n"
        "class Late:\n"
        "    def fit(self): ...\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(sys.modules, gate.__name__, gate)
    found: list[str] = []

    def ask() -> None:
        found.append(things.get("late").__name__)

    first, second = threading.Thread(target=ask), threading.Thread(target=ask)
    first.start()
    assert begun.wait(5)
    second.start()
    second.join(0.02)
    assert found == []
    go_on.set()
    first.join(5)
    second.join(5)
    sys.modules.pop("proact_slow_things", None)
    assert found == ["Late", "Late"]
