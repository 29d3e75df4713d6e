"""Texts to vectors by a model: a registry, a sentence model, a static one, and whatever an endpoint serves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.core.lazy import door

if TYPE_CHECKING:
    from memory.embedders.base import EmbedderChoice, Kept, embedder_choice, embedders, make_embedder
    from memory.embedders.minilm import MiniLM
    from memory.embedders.wordpiece import WordPiece

__all__ = ["EmbedderChoice", "Kept", "MiniLM", "WordPiece", "embedder_choice", "embedders", "make_embedder"]
__getattr__ = door(
    __name__,
    {
        "memory.embedders.base": ["EmbedderChoice", "Kept", "embedder_choice", "embedders", "make_embedder"],
        "memory.embedders.minilm": ["MiniLM"],
        "memory.embedders.wordpiece": ["WordPiece"],
    },
)
