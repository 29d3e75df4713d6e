"""The windows of an X11 desktop, by EWMH where a window manager keeps it, else from the tree of windows itself.

A frame is a child of the root window: what the window manager wraps around a client, or the client itself. Frames are
what has a place on the screen; clients carry title, class and process.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from simulator.core.operators import operators
from simulator.core.types import SECOND
from simulator.recorder import processes
from simulator.recorder.lockers import LockHint, is_locker
from simulator.recorder.windows import Window, one_line
from simulator.recorder.windows_x11_link import Link, Place, Property
from simulator.recorder.windows_x11_text import class_of
from simulator.recorder.windows_x11_wire import TIMEOUT_S
from simulator.timing.clock import boot_ns

__all__ = ["X11Windows"]

_RETRY_NS = SECOND  # between attempts to reach a server that is not there
_DEPTH = 4  # levels between a frame and its client: two or three are common
_CHILDREN = 64  # of one window that are looked through for clients

_CHECK, _ACTIVE, _MANAGER_STATE = "_NET_SUPPORTING_WM_CHECK", "_NET_ACTIVE_WINDOW", "WM_STATE"
_LIST, _DESKTOP, _SAVER = "_NET_CLIENT_LIST", "_NET_CURRENT_DESKTOP", "_SCREENSAVER_STATUS"
_SHADOW = "_GTK_FRAME_EXTENTS"
_WIDEST_SHADOW = 64  # pixels; nobody hides behind a wider one
_ICONIC = 3
_EVERY_DESKTOP = 0xFFFFFFFF
_TYPES = [
    *["NORMAL", "DIALOG", "DOCK", "DESKTOP", "TOOLBAR", "MENU", "UTILITY", "SPLASH"],
    *["DROPDOWN_MENU", "POPUP_MENU", "TOOLTIP", "NOTIFICATION", "COMBO", "DND"],
]
_FIELDS = (
    _MANAGER_STATE, "_NET_WM_STATE", "_NET_WM_DESKTOP", "_NET_WM_NAME", "WM_NAME", "WM_CLASS", "_NET_WM_PID",
    "WM_CLIENT_MACHINE", "_NET_WM_WINDOW_TYPE", _SHADOW,
)  # fmt: skip
# These keep windows of other desktops mapped, for their previews; with all others what is mapped is on the screen, on a
# second monitor perhaps, which some give a desktop of its own.
_KEEP_MAPPED = ("gnome shell", "mutter", "muffin", "kwin")

_T = TypeVar("_T")


class X11Windows:
    """The windows of one X display, on a connection of its own that is opened when first asked.

    Args:
        display: its name, such as ``:0``.
        now: nanoseconds, for the pauses between attempts to connect.
        hint: what the session manager says of the lock.
        timeout_s: the longest wait for an answer of the server.
    """

    name = "x11"

    def __init__(
        self,
        display: str,
        *,
        now: Callable[[], int] = boot_ns,
        hint: LockHint | None = None,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        self._name, self._now, self._timeout_s = display, now, timeout_s
        self._hint = LockHint(now=now) if hint is None else hint
        self._link: Link | None = None
        self._retry_ns: int | None = None
        self._foreign = False  # an X server within Wayland: what it shows is not what is on the screen
        self._locker: bool | None = None

    def foreground(self) -> Window | None:
        """The active window; without a window manager, the one that keys go to."""
        return self._ask(_foreground)

    def visible(self) -> list[Window] | None:
        """Frames that are mapped, front to back, with menus and pop-ups.

        First come titles that show elsewhere, of kind ``listed``: where there is a panel, those of windows that are
        iconified or on another desktop; where the window manager shows a window of its own (tab bar, list of windows),
        those of all that it manages.
        """
        found = self._ask(_visible)
        self._locker = None if found is None else found[1] or any(is_locker(window.app) for window in found[0])
        return None if found is None else found[0]

    def locked(self) -> bool | None:
        """Whether a locker that we know was seen at the last ``visible``, or logind says so.

        False without logind means only that no known locker was there.
        """
        if self._locker is None:
            self.visible()
        hint = self._hint.locked()
        return hint if self._locker is None else self._locker or bool(hint)

    def close(self) -> None:
        """Hang up."""
        self._hang_up()
        self._hint.close()

    def _ask(self, look: Callable[[Link], _T]) -> _T | None:
        for _ in range(2):  # a server that was restarted since the last tick costs none
            try:
                link = self._connect()
                if link is None or self._foreign:
                    return None
                return look(link)
            except TimeoutError:  # it hangs: asking again at once would only wait again
                self._hang_up()
                self._retry_ns = self._now() + _RETRY_NS
                return None
            except Exception as error:  # noqa: BLE001 - a server may answer anything, and a recorder goes on
                operators().info("the X server was lost", error=type(error).__name__)
                if self._link is None:  # it could not even be reached
                    self._retry_ns = self._now() + _RETRY_NS
                    return None
                self._hang_up()
        return None

    def _hang_up(self) -> None:
        if self._link is not None:
            self._link.close()
        self._link = None

    def _connect(self) -> Link | None:
        if self._link is None:
            if self._retry_ns is not None and self._now() < self._retry_ns:
                return None
            self._link = Link(self._name, timeout_s=self._timeout_s)
            self._foreign, self._retry_ns = self._link.is_xwayland(), None
        return self._link


def _foreground(link: Link) -> Window | None:
    top = link.properties([link.root], [_CHECK, _ACTIVE])[link.root] or {}
    active = top.get(_ACTIVE) if _manager(link, top) is not None else None
    client = _first(active) if active is not None else _focused(link)
    if not client:
        return None
    frame = _climb(link, [client]).get(client)
    fields = link.properties([client], _FIELDS)[client]
    if frame is None or fields is None:
        return None  # closed since the manager named it
    return _window(link, client, fields, link.places([frame]).get(frame))


def _visible(link: Link) -> tuple[list[Window], bool]:
    """The windows front to back, and whether xscreensaver says that it locked."""
    top = link.properties([link.root], [_CHECK, _LIST, _DESKTOP, _SAVER])[link.root] or {}
    manager, check = _manager(link, top), _first(top.get(_CHECK))
    keeps = manager is not None and manager.casefold().startswith(_KEEP_MAPPED)
    desktop = _first(top.get(_DESKTOP)) if keeps else None
    frames = link.shown(reversed(link.trees([link.root])[link.root][1]))
    places = link.places([link.root, *frames])
    screen = places.pop(link.root)
    frames = [frame for frame in frames if frame in places and _overlap(places[frame], screen)]
    listed = _numbers(top.get(_LIST)) if manager is not None else ()
    clients = _clients(link, frames, listed)
    fields = link.properties(dict.fromkeys([*(c for frame in frames for c in clients[frame]), *listed]), _FIELDS)
    there = {client: of for client, of in fields.items() if of is not None}
    shown = {
        client: places[frame]
        for frame in frames
        for client in clients[frame]
        if client in there and not _is_hidden(link, there[client], desktop)
    }
    windows = [_window(link, client, there[client], place) for client, place in shown.items()]
    away = [_window(link, client, there[client], None) for client in listed if client in there and client not in shown]
    known = [window for window in windows if window.key in listed]
    own = [w for w in windows if check and w.key not in listed and link.same_program(int(w.key or 0), check)]
    docks = [window for window in windows if window.kind == "dock"]
    saver = top.get(_SAVER)
    locked = saver is not None and _first(saver) == link.atom("LOCK")
    return _listed_on(own, known + away) + _listed_on(docks, away) + windows, locked


def _listed_on(panels: Sequence[Window], windows: Sequence[Window]) -> list[Window]:
    """Windows at the places of the panels that may show their titles."""
    return [
        replace(window, x=panel.x, y=panel.y, width=panel.width, height=panel.height, kind="listed")
        for panel in panels
        for window in windows
    ]


def _manager(link: Link, top: dict[str, Property]) -> str | None:
    """The name of the window manager that keeps EWMH, or None; properties of a dead one may still stand on the root."""
    check = _first(top.get(_CHECK))
    if not check:
        return None
    found = link.properties([check], [_CHECK, "_NET_WM_NAME"])[check]
    if found is None or _first(found.get(_CHECK)) != check:
        return None
    name = found.get("_NET_WM_NAME")
    return "" if name is None else link.text(name)


def _focused(link: Link) -> int:
    """The client that has the keys: of the focused window and its ancestors the first that bears a mark or a class."""
    window = focus = link.focus()
    for _ in range(3 * _DEPTH):
        if not window or window == link.root:
            break
        fields = link.properties([window], [_MANAGER_STATE, "WM_CLASS"])[window]
        tree = link.trees([window]).get(window)
        if fields is None or tree is None:
            return 0
        if fields:
            return window
        focus, window = window, tree[0]
    return focus


def _clients(link: Link, frames: Sequence[int], listed: Sequence[int]) -> dict[int, list[int]]:
    """The clients within each frame, in front first; the frame itself where there is none.

    Some managers keep several in one frame, as tabs. All are taken, since the tabs show their titles.

    Args:
        link: the server.
        frames: windows of the root.
        listed: what the window manager lists, lowest first.
    """
    found: dict[int, list[int]] = {frame: [] for frame in frames}
    for client, frame in _climb(link, reversed(listed)).items():
        if frame in found:
            found[frame].append(client)
    bare = [frame for frame in frames if not found[frame]]
    for client, frame in _descend(link, bare):
        found[frame].append(client)
    return {frame: clients or [frame] for frame, clients in found.items()}


def _climb(link: Link, windows: Iterable[int]) -> dict[int, int]:
    """The frame around each window that still exists."""
    at = {window: window for window in windows}
    frames: dict[int, int] = {}
    for _ in range(3 * _DEPTH):
        if not at:
            break
        trees = link.trees(dict.fromkeys(at.values()))
        frames |= {w: here for w, here in at.items() if here in trees and trees[here][0] == link.root}
        at = {w: trees[here][0] for w, here in at.items() if w not in frames and here in trees and trees[here][0]}
    return frames


def _descend(link: Link, frames: Sequence[int]) -> list[tuple[int, int]]:
    """Windows within frames that bear a manager's mark, each with its frame: for managers that list no clients."""
    found: list[tuple[int, int]] = []
    level = [(frame, frame) for frame in frames]
    for _ in range(_DEPTH):
        if not level:
            break
        marks = link.properties([window for window, _ in level], [_MANAGER_STATE])
        marked = [(window, frame) for window, frame in level if marks[window]]
        found += marked
        done = {frame for _, frame in marked}
        rest = [(window, frame) for window, frame in level if frame not in done]
        trees = link.trees([window for window, _ in rest])
        level = [(child, frame) for w, frame in rest for child in trees.get(w, (0, ()))[1][::-1][:_CHILDREN]]
    return found


def _is_hidden(link: Link, fields: dict[str, Property], desktop: int | None) -> bool:
    """Whether a mapped window is not on the screen all the same: some managers keep minimised ones mapped."""
    states = _numbers(fields.get("_NET_WM_STATE"))
    if link.atom("_NET_WM_STATE_SHADED") in states:
        return False  # its title bar is there
    if link.atom("_NET_WM_STATE_HIDDEN") in states or _first(fields.get(_MANAGER_STATE)) == _ICONIC:
        return True
    own = _first(fields.get("_NET_WM_DESKTOP"))
    return desktop is not None and own is not None and own not in (desktop, _EVERY_DESKTOP)


def _window(link: Link, client: int, fields: dict[str, Property], place: Place | None) -> Window:
    title, cut = _title(link, fields)
    place = _without_shadow(place, _numbers(fields.get(_SHADOW)))
    named = fields.get("WM_CLASS")
    wm_class = class_of(named.data) if named is not None else None
    if wm_class is not None:
        wm_class, _ = one_line(wm_class)
    pid = _pid(link, fields)
    if pid is None and wm_class is None:
        pid = link.owner(client)
    return Window(
        app=wm_class or (processes.name(pid) if pid is not None else None),
        title=title,
        window_class=wm_class,
        pid=pid,
        x=place.x if place else None,
        y=place.y if place else None,
        width=place.width if place else None,
        height=place.height if place else None,
        private=pid is not None and processes.started_private(pid),
        key=client,
        title_cut=cut,
        kind=_kind(link, fields),
    )


def _title(link: Link, fields: dict[str, Property]) -> tuple[str | None, bool]:
    for name in ("_NET_WM_NAME", "WM_NAME"):
        value = fields.get(name)
        if value is not None and value.data:
            title, cut = one_line(link.text(value))
            return title, cut or value.more
    return ("" if "_NET_WM_NAME" in fields or "WM_NAME" in fields else None), False


def _pid(link: Link, fields: dict[str, Property]) -> int | None:
    pid = _first(fields.get("_NET_WM_PID"))
    if not pid or pid > 2**31:
        return None
    machine = fields.get("WM_CLIENT_MACHINE")
    here = machine is None or not machine.data or link.text(machine).split(".")[0] == socket.gethostname().split(".")[0]
    return pid if here else None  # of another machine: the number means somebody else here


def _kind(link: Link, fields: dict[str, Property]) -> str:
    for number in _numbers(fields.get("_NET_WM_WINDOW_TYPE")):
        for word in _TYPES:
            if number == link.atom(f"_NET_WM_WINDOW_TYPE_{word}"):
                return word.lower()
    return "normal" if _MANAGER_STATE in fields else "popup"


def _without_shadow(place: Place | None, extents: Sequence[int]) -> Place | None:
    """The place without the see-through edges that programs with title bars of their own keep around them."""
    if place is None or len(extents) != 4 or max(extents) > _WIDEST_SHADOW:
        return place
    left, right, top, bottom = extents
    width, height = place.width - left - right, place.height - top - bottom
    return Place(place.x + left, place.y + top, width, height) if width > 0 and height > 0 else place


def _overlap(place: Place, screen: Place) -> bool:
    return (
        place.x < screen.width and place.y < screen.height and place.x + place.width > 0 and place.y + place.height > 0
    )


def _numbers(value: Property | None) -> tuple[int, ...]:
    return () if value is None else value.numbers


def _first(value: Property | None) -> int | None:
    return value.numbers[0] if value is not None and value.numbers else None
