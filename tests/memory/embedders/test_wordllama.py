"""The static vectors, where their package is installed; what is said where it is not."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from memory.embedders.base import embedder_choice
from memory.embedders.wordllama import WordLlama
from simulator.core.errors import UsageError

HERE = importlib.util.find_spec("wordllama") is not None


@pytest.mark.skipif(HERE, reason="wordllama is installed")
def test_a_missing_package_is_told() -> None:
    with pytest.raises(UsageError, match="install wordllama"):
        WordLlama()


@pytest.mark.skipif(not HERE, reason="the optional package wordllama is not installed")
def test_rows_have_unit_length_and_a_blank_text_is_zeros() -> None:
    rows = WordLlama(64).embed(["a word", " ", "another"])
    np.testing.assert_allclose((rows**2).sum(axis=1), [1, 0, 1], atol=1e-6)


def test_what_its_weights_derive_from_is_said_where_it_is_listed() -> None:
    assert "Llama 2" in (WordLlama.__doc__ or "").split("\n\n")[0]
    assert "Llama 2 Community License" in WordLlama.licence


def test_its_header_names_weights_and_dimension() -> None:
    facts = embedder_choice("wordllama:dimension=128").facts
    assert (facts["dimension"], facts["weights"][:8]) == (128, "64b47a2d")
    with pytest.raises(UsageError, match="dimension must be one of 64, 128, 256"):
        embedder_choice("wordllama:dimension=100")
