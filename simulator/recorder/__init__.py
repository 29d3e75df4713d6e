"""Recording a real desktop at one snapshot a second: pixels, the window in front, what is left out, the session.

``proact record`` puts these together: ``Recorder(folder, KeptScreen(screens.choose()), windows.choose(), …)``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.core.lazy import door

if TYPE_CHECKING:
    from simulator.recorder.exclusions import Exclusions
    from simulator.recorder.frames import Frame, Monitor, Screen, ScreenLost
    from simulator.recorder.recorder import Recorder
    from simulator.recorder.screens import KeptScreen
    from simulator.recorder.shots import Budget, Shot, Summary
    from simulator.recorder.windows import Window, Windows

__all__ = ["Budget", "Exclusions", "Frame", "KeptScreen", "Monitor", "Recorder", "Screen", "ScreenLost", "Shot",
           "Summary", "Window", "Windows"]  # fmt: skip

__getattr__ = door(
    __name__,
    {
        "simulator.recorder.exclusions": ["Exclusions"],
        "simulator.recorder.frames": ["Frame", "Monitor", "Screen", "ScreenLost"],
        "simulator.recorder.recorder": ["Recorder"],
        "simulator.recorder.screens": ["KeptScreen"],
        "simulator.recorder.shots": ["Budget", "Shot", "Summary"],
        "simulator.recorder.windows": ["Window", "Windows"],
    },
)
