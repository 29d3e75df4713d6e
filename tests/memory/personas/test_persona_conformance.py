"""Every option of personas keeps the rules of a memory."""

from __future__ import annotations

from typing import Any

import pytest

from memory.personas import PersonaMemory
from tests.conformance.memory_conformance import MemoryConformance

OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"linkage": "ward", "scoring": "code", "lag_s": 0, "refresh": 3},
    {"cap": 2, "cap_policy": "keep_largest", "max_texts": 3, "groups": 2},
    {"cap": 1, "cap_policy": "merge_small", "refresh": 1, "lag_s": 0},
    {"cap": 2, "max_items": 1, "every_s": 30, "lag_s": 15},
    {"kinds": "assistance", "match": "text", "refresh": 3, "lag_s": 0},
)


class TestPersonasConform(MemoryConformance):
    @pytest.fixture(autouse=True, params=range(len(OPTIONS)))
    def _options(self, request: pytest.FixtureRequest) -> None:
        self.options = OPTIONS[request.param]

    def make(self) -> Any:
        return PersonaMemory(**self.options)
