"""One look at an X11 desktop, by EWMH where a window manager keeps it, else by the tree of windows itself.

A frame is a child of the root window: what the window manager wraps around a client, or the client itself. Frames are
what has a place on the screen; clients carry title, class and process.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from simulator.recorder.windows import Window
from simulator.recorder.windows_x11_fields import FIELDS, MANAGED, first, is_hidden, numbers, window_of
from simulator.recorder.windows_x11_link import Link, Place, Property

__all__ = ["foreground", "visible"]

_DEPTH = 4  # levels between a frame and its client: two or three are common
_CHILDREN = 64  # of one window that are looked through for clients
_LOWEST_LETTERS = 8  # pixels

_CHECK, _ACTIVE, _LIST = "_NET_SUPPORTING_WM_CHECK", "_NET_ACTIVE_WINDOW", "_NET_CLIENT_LIST"
_DESKTOP, _SAVER = "_NET_CURRENT_DESKTOP", "_SCREENSAVER_STATUS"
# These keep windows of other desktops mapped, for their previews; with all others what is mapped is on the screen, on a
# second monitor perhaps, which some give a desktop of its own.
_KEEP_MAPPED = ("gnome shell", "mutter", "muffin", "kwin")


@dataclass(frozen=True, slots=True)
class _Manager:
    """A window manager that keeps EWMH and is alive.

    Args:
        check: a window of its own.
        clients: what it manages.
        desktop: the one that is shown, where it keeps windows of others mapped.
    """

    check: int
    clients: tuple[int, ...]
    desktop: int | None


def foreground(link: Link) -> Window | None:
    """The active window; without a window manager, the one that keys go to."""
    top = _of_root(link, [_CHECK, _ACTIVE])
    active = top.get(_ACTIVE) if _manager(link, top) is not None else None
    client = first(active) if active is not None else _focused(link)
    if not client:
        return None
    frame = _climb(link, [client]).get(client)
    fields = link.properties([client], FIELDS)[client]
    if frame is None or fields is None:
        return None  # closed since the manager named it
    return window_of(link, client, fields, link.places([frame]).get(frame))


def visible(link: Link) -> tuple[list[Window], bool]:
    """The windows front to back, titles that show elsewhere before them, and whether xscreensaver has locked."""
    top = _of_root(link, [_CHECK, _LIST, _DESKTOP, _SAVER])
    manager = _manager(link, top)
    managed = manager.clients if manager is not None else ()
    places = _frames(link)
    clients = _clients(link, list(places), managed)
    all_ = dict.fromkeys([*(client for frame in places for client in clients[frame]), *managed])
    there = {client: fields for client, fields in link.properties(all_, FIELDS).items() if fields is not None}
    desktop = manager.desktop if manager is not None else None
    shown = {client: place for frame, place in places.items() for client in clients[frame] if client in there}
    shown = {client: place for client, place in shown.items() if not is_hidden(link, there[client], desktop)}
    windows = [window_of(link, client, there[client], place) for client, place in shown.items()]
    hidden = [
        window_of(link, client, there[client], None) for client in managed if client in there.keys() - shown.keys()
    ]
    locked = first(top.get(_SAVER)) == link.atom("LOCK")
    return _titles_elsewhere(link, manager, windows, hidden) + windows, locked


def _of_root(link: Link, names: Sequence[str]) -> Mapping[str, Property]:
    return link.properties([link.root], names)[link.root] or {}


def _manager(link: Link, top: Mapping[str, Property]) -> _Manager | None:
    """The window manager, or None; properties of a dead one may still stand on the root."""
    check = first(top.get(_CHECK))
    if not check:
        return None
    found = link.properties([check], [_CHECK, "_NET_WM_NAME"])[check]
    if found is None or first(found.get(_CHECK)) != check:
        return None
    name = link.text(found["_NET_WM_NAME"]).casefold() if "_NET_WM_NAME" in found else ""
    desktop = first(top.get(_DESKTOP)) if name.startswith(_KEEP_MAPPED) else None
    return _Manager(check, numbers(top.get(_LIST)), desktop)


def _frames(link: Link) -> dict[int, Place]:
    """The frames that are mapped and at least partly on the screen, front to back, and where they are."""
    frames = link.shown(reversed(link.trees([link.root])[link.root][1]))
    places = link.places([link.root, *frames])
    screen = places.pop(link.root)
    return {frame: place for frame, place in places.items() if _overlap(place, screen)}


def _titles_elsewhere(
    link: Link, manager: _Manager | None, windows: Sequence[Window], hidden: Sequence[Window]
) -> list[Window]:
    """Windows at the places where something else shows their titles, or may.

    A panel's task bar shows windows that are minimised or on another desktop. A window of the manager's own may be a
    bar of tabs or the list that one steps through with Alt and Tab, and shows all.
    """
    if manager is None:
        return []
    managed = dict.fromkeys(manager.clients)
    known = [window for window in windows if window.key in managed and window.kind not in ("dock", "desktop")]
    own = [window for window in windows if window.key not in managed and _is_own(link, manager, window)]
    docks = [window for window in windows if window.kind == "dock"]
    return [
        replace(window, x=panel.x, y=panel.y, width=panel.width, height=panel.height, kind="listed")
        for panels, titles in ((own, [*known, *hidden]), (docks, hidden))
        for panel in panels
        for window in titles
    ]


def _is_own(link: Link, manager: _Manager, window: Window) -> bool:
    """Whether a window is the manager's and a title has room on it; edges are marked with thin windows too."""
    room = min(window.width or 0, window.height or 0) >= _LOWEST_LETTERS
    return room and isinstance(window.key, int) and link.same_program(window.key, manager.check)


def _focused(link: Link) -> int:
    """The client that has the keys: of the focused window and its ancestors the first that bears a mark or a class."""
    window = focus = link.focus()
    for _ in range(3 * _DEPTH):
        if not window or window == link.root:
            break
        fields = link.properties([window], [MANAGED, "WM_CLASS"])[window]
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
        marks = link.properties([window for window, _ in level], [MANAGED])
        marked = [(window, frame) for window, frame in level if marks[window]]
        found += marked
        done = {frame for _, frame in marked}
        rest = [(window, frame) for window, frame in level if frame not in done]
        trees = link.trees([window for window, _ in rest])
        level = [(child, frame) for w, frame in rest for child in trees.get(w, (0, ()))[1][::-1][:_CHILDREN]]
    return found


def _overlap(place: Place, screen: Place) -> bool:
    return (
        place.x < screen.width and place.y < screen.height and place.x + place.width > 0 and place.y + place.height > 0
    )
