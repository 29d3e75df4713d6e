"""Pages in a browser: what a run decided beside what was on the screen, while it runs and afterwards.

``Web(Place([folder]))`` serves them. Page modules (``pages.PAGES``) hand in their routes, ``Hub`` tells open pages what
is new, ``Pictures`` shows what was recorded. Plain files under ``static``, nothing built, nothing asked of other hosts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.core.lazy import door

if TYPE_CHECKING:
    from simulator.web.hub import Hub
    from simulator.web.pictures import Pictures
    from simulator.web.place import NotHere, Place
    from simulator.web.server import Web

__all__ = ["Hub", "NotHere", "Pictures", "Place", "Web"]

__getattr__ = door(
    __name__,
    {
        "simulator.web.hub": ["Hub"],
        "simulator.web.pictures": ["Pictures"],
        "simulator.web.place": ["NotHere", "Place"],
        "simulator.web.server": ["Web"],
    },
)
