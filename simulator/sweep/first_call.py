"""Before hours of playing: is each server that the study asks there, and is it clear which of its models is meant?"""

from __future__ import annotations

import anyio

from simulator.core.errors import UsageError
from simulator.core.types import SECOND
from simulator.endpoint.types import EndpointError, ModelChoice
from simulator.sweep.axes import maker_of
from simulator.sweep.planning import Plan
from simulator.sweep.types import Cell

__all__ = ["ask_servers"]

_PATIENCE_S = 20


def ask_servers(plan: Plan) -> None:
    """Ask each server once for its list of models, where a unit that asks it is to be played.

    A server need not have such a list: where the model is named, it is enough that somebody answers.

    Raises:
        UsageError: nobody answers, or the model that is meant cannot be told.
    """
    cells = [plan.cells[i] for i in dict.fromkeys(run.cell for run in plan.runs if run.missing)]
    wanted = [choice for cell in cells if (choice := _asked(cell)) is not None and choice.replays is None]
    for choice in {(one.base_url, one.model): one for one in wanted}.values():
        anyio.run(_ask, choice)


def _asked(cell: Cell) -> ModelChoice | None:
    """The model of a cell that asks one.

    A memory that is given the run's model need not ask it, so where none was chosen it is no reason to look for one.
    """
    agent, memory = maker_of("agent", cell.choice["agent"]), maker_of("memory", cell.choice["memory"])
    choice = cell.choice.get("model")
    if isinstance(choice, ModelChoice):
        return choice if agent.wants_model is not None or memory.wants_model is not None else None
    return ModelChoice() if agent.wants_model is not None else None


async def _ask(choice: ModelChoice) -> None:
    from simulator.endpoint.transport import Transport, only_model  # most studies ask no model

    server = Transport(choice)
    try:
        with anyio.fail_after(min(_PATIENCE_S, choice.timeout_ns / SECOND)):
            listed = await server.get("/models")
        if choice.model is None:
            only_model(listed, server.where, server.key)
    except TimeoutError:
        if choice.model is None:
            raise UsageError(f"{server.where} does not say which models it serves; name one with --model") from None
    except EndpointError as error:
        if choice.model is None or error.kind == "connection":
            raise UsageError(f"nothing is played: {error.sentence}") from error
    finally:
        await server.close()
