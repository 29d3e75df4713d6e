"""What every agent must keep to, as tests that others can run on their own class.

::

    from tests.conformance.agent_conformance import AgentConformance

    class TestMine(AgentConformance):
        def make(self):
            return Mine()

No plugin of pytest is needed. An agent that calls a model should be made with a stub of it.
"""

from __future__ import annotations

import asyncio
import inspect
import math
from collections.abc import Coroutine
from typing import Any, TypeVar

import pytest

from agents.testing import FakeHistory, FakeMeter, observe
from simulator.core.intentions import INTENTIONS
from simulator.core.types import SECOND, Decision, Event, Label, MemoryItem, Observation, Offer, Setup

T = TypeVar("T")

WINDOWS = (("code", "main.py – parser"), ("chromium", "asyncio guide"), ("wps", "季度报告"), (None, None), ("code", ""))


def stream(n: int = 60) -> list[Observation]:
    """A user who changes the window every ten seconds, with a memory that knows a little."""
    item = MemoryItem("In code, “main.py”: help needed", 0.9, ("old/1",), -SECOND, "Coding/Programming", 0.8, "why?", 9)
    event = Event("old/1", "user", -20 * SECOND, -10 * SECOND, "code", "main.py")
    label = Label("old/1", "user", True, -10 * SECOND, "Coding/Programming", "why does it fail?")
    out = []
    for i in range(n):
        app, title = WINDOWS[i // 10 % len(WINDOWS)]
        out.append(
            observe(i, app=app, title=title, since_ns=i // 10 * 10 * SECOND, items=[item], labels=[(event, label)])
        )
    return out


class AgentConformance:
    """Subclass it, say how to ``make`` the agent, and let pytest collect the subclass."""

    def make(self) -> Any:
        """A new agent."""
        raise NotImplementedError

    # Helpers.

    @staticmethod
    def run(work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run(work)

    @staticmethod
    def setup(seed: int = 7) -> Setup:
        return Setup("session-1", "user", {"occupation": "engineer"}, INTENTIONS, seed)

    def play(self, observations: list[Observation], agent: Any = None, *, finish: bool = False) -> list[Decision]:
        agent = self.make() if agent is None else agent

        async def work() -> list[Decision]:
            await _call(agent, "open", self.setup())
            decisions = [await agent.decide(o) for o in observations]
            if finish:
                decisions.append(await agent.finish(observations[-1]))
            await _call(agent, "close")
            return decisions

        return self.run(work())

    # Rules.

    def test_every_answer_is_a_decision_whose_offers_can_be_scored(self) -> None:
        for decision in self.play(stream()):
            assert isinstance(decision, Decision), f"returned {type(decision).__name__}"
            for offer in decision.offers:
                assert isinstance(offer, Offer)
                assert isinstance(offer.intention, str)
                assert offer.intention.strip(), "an offer names no intention"
                assert isinstance(offer.text, str)
                sure = offer.confidence
                assert sure is None or (math.isfinite(sure) and 0 <= sure <= 1), f"confidence {sure!r}"

    def test_the_same_observations_and_seed_give_the_same_decisions(self) -> None:
        assert self.play(stream()) == self.play(stream())

    def test_little_is_no_reason_to_fail(self) -> None:
        bare = observe(0)
        bare.history = FakeHistory()
        odd = observe(1, app="\ud800", title="x" * 10_000, items=[MemoryItem("", math.inf, ("gone",))])
        (one, two, *_) = self.play([bare, odd, observe(2, title="\x00\n")])
        assert isinstance(one, Decision)
        assert isinstance(two, Decision)

    def test_snapshots_may_be_missing_between_two_observations(self) -> None:
        assert len(self.play([*stream(1), *stream(500)[400:]])) == 101

    def test_an_inline_agent_never_suspends(self) -> None:
        agent = self.make()
        if not getattr(agent, "inline", False):
            pytest.skip("does not declare to be inline")
        works = [agent.decide(o) for o in stream(12)]
        if hasattr(agent, "open"):
            works.insert(0, agent.open(self.setup()))
        if hasattr(agent, "rehearse"):
            works.append(agent.rehearse(stream(1)[0], Label("e", "user", True, SECOND, "Translation")))
        for work in works:
            with pytest.raises(StopIteration):
                work.send(None)

    def test_decisions_declared_stateless_do_not_depend_on_each_other(self) -> None:
        if getattr(self.make(), "concurrent", None) != "stateless":
            pytest.skip("does not declare stateless decisions")
        forward = self.play(stream())
        assert self.play(stream()[::-1])[::-1] == forward

    def test_optional_methods_are_coroutines(self) -> None:
        agent = self.make()
        for name in ("open", "close", "cancel", "finish", "rehearse"):
            method = getattr(agent, name, None)
            assert method is None or inspect.iscoroutinefunction(method), f"{name} is not async"

    def test_nothing_is_spent_below_zero(self) -> None:
        meter = FakeMeter()
        seen = observe(3, app="code", title="main.py", meter=meter)
        self.play([seen])
        assert all(n >= 0 for n in meter.used.values())
        assert all(cost is None or cost >= 0 for cost in meter.costs)
        assert meter.waited_ns >= 0

    def test_a_trajectory_may_be_finished(self) -> None:
        agent = self.make()
        if not hasattr(agent, "finish"):
            pytest.skip("has no final answer")
        assert isinstance(self.play(stream(5), agent, finish=True)[-1], Decision)


async def _call(agent: Any, name: str, *args: Any) -> None:
    method = getattr(agent, name, None)
    if method is not None:
        await method(*args)
