"""Asking language and vision models over OpenAI-compatible HTTP, with every wait on record, live or from a cassette."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.core.lazy import door

if TYPE_CHECKING:
    from simulator.endpoint.chat import Endpoint
    from simulator.endpoint.types import EndpointError, Message, Model, ModelChoice, Reply, Stamps, Usage

__all__ = ["Endpoint", "EndpointError", "Message", "Model", "ModelChoice", "Reply", "Stamps", "Usage"]

__getattr__ = door(
    __name__,
    {
        "simulator.endpoint.chat": ["Endpoint"],
        "simulator.endpoint.types": ["EndpointError", "Message", "Model", "ModelChoice", "Reply", "Stamps", "Usage"],
    },
)
