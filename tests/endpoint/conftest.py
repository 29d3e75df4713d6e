from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.endpoint.faults import FaultServer
from tests.endpoint.llama import serving


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with FaultServer() as running:
        yield running


@pytest.fixture(scope="session")
def llama() -> Iterator[str]:
    with serving() as base_url:
        yield base_url
