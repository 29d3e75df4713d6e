"""The screen through the desktop's portal (Wayland); being built."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from simulator.core.errors import UsageError
from simulator.recorder.frames import Screen

__all__ = ["choose_portal"]


def choose_portal(env: Mapping[str, str]) -> Callable[[], Screen]:
    """A screen behind the sharing dialog.

    Raises:
        UsageError: not built yet.
    """
    raise UsageError("--portal is not built yet")
