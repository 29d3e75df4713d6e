"""Scenario files (the reader follows)."""

from __future__ import annotations

from simulator.session.play import Play

__all__ = ["Play"]
