"""What is remembered of a user's past: memories, the embedder they share, and the view through which agents read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.core.lazy import door

if TYPE_CHECKING:
    from memory.base import make_memory, memories
    from memory.embed import HashEmbedder
    from memory.view import CausalityError, LabelBook, View

__all__ = ["CausalityError", "HashEmbedder", "LabelBook", "View", "make_memory", "memories"]
__getattr__ = door(
    __name__,
    {
        "memory.base": ["make_memory", "memories"],
        "memory.embed": ["HashEmbedder"],
        "memory.view": ["CausalityError", "LabelBook", "View"],
    },
)
