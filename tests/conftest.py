"""What all tests share: hypothesis runs the same examples everywhere, nothing of the caller's settings leaks in."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "gate", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow], max_examples=50
)
settings.register_profile("long", deadline=None, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "gate"))

# The processes that tests start read what the first of them compiled, also where the caller's shell forbids that.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys, addresses and defaults of whoever runs the tests must not change what they find."""
    for name in list(os.environ):
        if name.startswith(("PROACT_", "OPENAI_")):
            monkeypatch.delenv(name)
