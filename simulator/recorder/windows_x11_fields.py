"""What a client of an X11 desktop says of itself: title, class, process, sort, whether it is minimised."""

from __future__ import annotations

import socket
from collections.abc import Mapping, Sequence

from simulator.recorder import processes
from simulator.recorder.windows import Window, one_line
from simulator.recorder.windows_x11_link import Link, Place, Property
from simulator.recorder.windows_x11_text import class_of

__all__ = ["FIELDS", "MANAGED", "first", "is_hidden", "numbers", "window_of"]

MANAGED = "WM_STATE"
"""The property by which a window manager marks the windows that it looks after."""

_OWNER = "WM_TRANSIENT_FOR"
_SHADOW = "_GTK_FRAME_EXTENTS"
_WIDEST_SHADOW = 64  # pixels; nobody hides behind a wider one

FIELDS = (
    MANAGED, "_NET_WM_STATE", "_NET_WM_DESKTOP", "_NET_WM_NAME", "WM_NAME", "WM_CLASS", "_NET_WM_PID",
    "WM_CLIENT_MACHINE", "_NET_WM_WINDOW_TYPE", _OWNER, _SHADOW,
)  # fmt: skip
"""The properties that the functions here read."""

_TYPES = [
    *["NORMAL", "DIALOG", "DOCK", "DESKTOP", "TOOLBAR", "MENU", "UTILITY", "SPLASH"],
    *["DROPDOWN_MENU", "POPUP_MENU", "TOOLTIP", "NOTIFICATION", "COMBO", "DND"],
]
_ICONIC = 3
_EVERY_DESKTOP = 0xFFFFFFFF


def window_of(link: Link, client: int, fields: Mapping[str, Property], place: Place | None) -> Window:
    """A client as a window.

    Args:
        link: the server.
        client: its number.
        fields: its properties, of ``FIELDS``.
        place: of the frame around it; None where it has none on the screen.
    """
    title, cut = _title(link, fields)
    if _SHADOW in fields and link.composited():  # else there is paint on them
        place = _without_shadow(place, numbers(fields[_SHADOW]))
    named, pid = fields.get("WM_CLASS"), _pid(link, fields)
    wm_class = class_of(named.data) if named is not None else None
    if pid is None and wm_class is None:
        pid = link.owner(client)
    app = wm_class or (processes.name(pid) if pid is not None else None)
    return Window(
        app=one_line(app)[0] if app is not None else None,
        title=title,
        window_class=one_line(wm_class)[0] if wm_class is not None else None,
        pid=pid,
        x=place.x if place else None,
        y=place.y if place else None,
        width=place.width if place else None,
        height=place.height if place else None,
        private=pid is not None and processes.started_private(pid),
        key=client,
        title_cut=cut,
        kind=_kind(link, fields),
        owner=first(fields.get(_OWNER)) or None,
    )


def is_hidden(link: Link, fields: Mapping[str, Property], desktop: int | None) -> bool:
    """Whether a mapped window is not on the screen all the same: some managers keep minimised ones mapped.

    Args:
        link: the server.
        fields: its properties, of ``FIELDS``.
        desktop: the one that is shown, where windows of others may be mapped; else None.
    """
    states = numbers(fields.get("_NET_WM_STATE"))
    if link.atom("_NET_WM_STATE_SHADED") in states:
        return False  # its title bar is there
    if link.atom("_NET_WM_STATE_HIDDEN") in states or first(fields.get(MANAGED)) == _ICONIC:
        return True
    own = first(fields.get("_NET_WM_DESKTOP"))
    return desktop is not None and own is not None and own not in (desktop, _EVERY_DESKTOP)


def _title(link: Link, fields: Mapping[str, Property]) -> tuple[str | None, bool]:
    for name in ("_NET_WM_NAME", "WM_NAME"):
        value = fields.get(name)
        if value is not None and value.data:
            title, cut = one_line(link.text(value))
            return title, cut or value.more
    return ("" if "_NET_WM_NAME" in fields or "WM_NAME" in fields else None), False


def _pid(link: Link, fields: Mapping[str, Property]) -> int | None:
    pid = first(fields.get("_NET_WM_PID"))
    if not pid or pid > 2**31:
        return None
    machine = fields.get("WM_CLIENT_MACHINE")
    here = machine is None or not machine.data or link.text(machine).split(".")[0] == socket.gethostname().split(".")[0]
    return pid if here else None  # of another machine: the number means somebody else here


def _kind(link: Link, fields: Mapping[str, Property]) -> str:
    for number in numbers(fields.get("_NET_WM_WINDOW_TYPE")):
        for word in _TYPES:
            if number == link.atom(f"_NET_WM_WINDOW_TYPE_{word}"):
                return word.lower()
    return "normal" if MANAGED in fields else "popup"


def _without_shadow(place: Place | None, extents: Sequence[int]) -> Place | None:
    """The place without the see-through edges that programs with title bars of their own keep around them."""
    if place is None or len(extents) != 4 or max(extents) > _WIDEST_SHADOW:
        return place
    left, right, top, bottom = extents
    width, height = place.width - left - right, place.height - top - bottom
    return Place(place.x + left, place.y + top, width, height) if width > 0 and height > 0 else place


def numbers(value: Property | None) -> tuple[int, ...]:
    """The numbers of a property, none where it is not there or holds something else."""
    return () if value is None else value.numbers


def first(value: Property | None) -> int | None:
    """The first of its numbers, or None."""
    return value.numbers[0] if value is not None and value.numbers else None
