"""The sentence model, loaded once."""

from __future__ import annotations

import pytest

from memory.embedders.minilm import MiniLM
from simulator.core.errors import UsageError


def made(engine: str) -> MiniLM:
    """The model, or the reason why it cannot be had here."""
    try:
        return MiniLM(engine)
    except UsageError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session", params=["onnx", "int8", "numpy"])
def minilm(request: pytest.FixtureRequest) -> MiniLM:
    return made(request.param)


@pytest.fixture(scope="session")
def exact() -> MiniLM:
    return made("onnx")
