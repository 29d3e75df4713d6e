"""A model server on this machine that answers each strategy's question in its form, and knows nothing of the screen."""

from __future__ import annotations

import json

from tests.endpoint.faults import LAST, FaultServer, Wire, chunk

__all__ = ["WRITES", "helpful"]

_LINES = "1. Need help: {help}\n2. Intention category: {category}\n3. Offer: look at it together"
_THREAD = {"action": "CREATE", "intent_id": None, "intent": "translate the report", "category": "Translation",
           "delete_intent_id": None, "why": "so"}  # fmt: skip
_INTENTS = {"intents": [{"intent": "look up the weather", "category": "Information Lookup"}]}

WRITES = (
    "The user works in a few windows in turn, with the same material each time, and is glad of short help now and then."
)
"""What it writes of a cluster of moments: nothing that it was told."""


def helpful() -> FaultServer:
    """Serves at ``url("helps")``: help is wanted by two questions of three, their length says of which category."""
    return FaultServer(helps=_helps)


async def _helps(wire: Wire) -> None:
    asked = json.dumps(wire.asked.json)
    if "CREATE" in asked and "RESUME" in asked:
        said = json.dumps(_THREAD)
    elif "Need help" in asked:
        n = len(asked)
        said = _LINES.format(help="No" if n % 3 == 0 else "Yes", category=("Translation", "Information Lookup")[n % 2])
    elif "You describe one side of a computer user" in asked:
        said = WRITES
    else:
        said = json.dumps(_INTENTS)
    await wire.stream(chunk(said), chunk(finish="stop"), *LAST)
