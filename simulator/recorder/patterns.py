"""The bounded regular expressions of ``simulator.core.patterns``, by the name under which the recorder asks."""

from __future__ import annotations

from simulator.core.patterns import PIECE, PatternError, compile_pattern, folded, pieces

__all__ = ["PIECE", "PatternError", "compile_pattern", "folded", "pieces"]
