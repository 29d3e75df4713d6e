"""``python -m tests.endpoint.replaying CASSETTE FOLDER``: a unit whose agent asks a model, replayed from a cassette."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Any

from simulator.core.types import Decision, Event, Label, Observation, Offer, Setup
from simulator.endpoint.chat import Endpoint
from simulator.endpoint.together import together
from simulator.endpoint.types import EndpointError, Message, ModelChoice
from simulator.runs.unit import UnitPlan
from tests.worlds import Notebook, plan, screen

__all__ = ["Asker", "Remembering", "unit"]


class Asker:
    """Asks once, then three times at once where it saw ``b``; ``a`` is passed over without asking."""

    concurrent = "stateless"

    def __init__(self, choice: ModelChoice, *, swallows: bool = False) -> None:
        self._choice, self._swallows = choice, swallows

    async def open(self, setup: Setup) -> None:
        self.endpoint = Endpoint(self._choice, scope=setup.session)

    async def close(self) -> None:
        await self.endpoint.close()

    async def decide(self, observation: Observation) -> Decision:
        app, meter = str(observation.snapshot.app), observation.meter
        if app == "a":
            return Decision()
        try:
            said = [await self._ask(app, 0, meter)]
            if app == "b":
                said += await together(*[partial(self._ask, app, i, meter) for i in range(3)])
        except EndpointError:
            raise
        except Exception:
            if not self._swallows:
                raise
            return Decision()
        return Decision(tuple(Offer("Translation", text) for text in dict.fromkeys(said)))

    async def _ask(self, app: str, i: int, meter: Any) -> str:
        message = Message("user", (f"Is help wanted with {app}?",))
        return (await self.endpoint.chat([message], meter=meter, params={"seed": i})).text


class Remembering(Notebook):
    """A memory that asks a model at each write, and is handed no meter."""

    inline = False

    def __init__(self, choice: ModelChoice) -> None:
        super().__init__(inline=False)
        self._endpoint = Endpoint(choice, scope="memory")

    async def observe(self, event: Event) -> None:
        await self._endpoint.chat([Message("user", (f"Remember {event.app}.",))])
        await super().observe(event)

    async def feedback(self, event: Event, label: Label) -> None:
        await super().feedback(event, label)

    async def close(self) -> None:
        await self._endpoint.close()


def unit(choice: ModelChoice, windows: str = "aabbcdb", *, remembers: bool = False, **more: Any) -> UnitPlan:
    """A unit of it, charged by what was recorded."""
    memory: Any = partial(Remembering, choice) if remembers else Notebook
    given = {"clock": "modelled", "latency": "cassette", "memory": memory, **more}
    return plan(screen(windows), Asker(choice), **given)


if __name__ == "__main__":
    from tests.worlds import play

    cassette, folder = map(Path, sys.argv[1:])
    play(unit(ModelChoice("m", cassette=cassette), remembers=True), folder)
