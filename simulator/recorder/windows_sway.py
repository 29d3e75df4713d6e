"""The windows of sway, by its socket: native Wayland programs and those under Xwayland alike.

sway tells of no menus, notifications and panels, and places are in its layout's units, which are pixels only where an
output is not scaled.
"""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from simulator.core.operators import operators
from simulator.core.types import SECOND
from simulator.recorder import processes
from simulator.recorder.lockers import LockHint, a_locker_runs
from simulator.recorder.windows import Window, one_line
from simulator.timing.clock import boot_ns

__all__ = ["SwayWindows", "focused", "on_screen"]

_MAGIC = b"i3-ipc"
_HEAD = struct.Struct("=II")
_GET_TREE = 4
_TIMEOUT_S = 1.0
_LARGEST = 1 << 25  # of a tree in bytes; 200 windows take some 300 KB
_LOCK_EVERY_NS = 5 * SECOND


@dataclass(frozen=True, slots=True)
class _Leaf:
    node: Mapping[str, Any]
    parent: Mapping[str, Any]
    floats: bool


class SwayWindows:
    """The windows of the sway that listens at ``path``; each question is a connection of its own (about 1 ms).

    Args:
        path: as in ``SWAYSOCK``.
        now: nanoseconds, for what is sampled seldom.
        hint: what the session manager says of the lock.
    """

    name = "sway"

    def __init__(self, path: str, *, now: Callable[[], int] = boot_ns, hint: LockHint | None = None) -> None:
        self._path, self._now = path, now
        self._hint = LockHint(now=now) if hint is None else hint
        self._lock_seen: tuple[int, bool] | None = None

    def foreground(self) -> Window | None:
        """The focused window; None on an empty workspace, while a panel or launcher has the keys, or without sway."""
        tree = self._tree()
        return None if tree is None else focused(tree)

    def visible(self) -> list[Window] | None:
        """The windows on all outputs: tabs behind others, full screen, floating, tiled."""
        tree = self._tree()
        return None if tree is None else on_screen(tree)

    def locked(self) -> bool | None:
        """Whether a screen locker runs or logind says locked; False means only that no known locker runs."""
        now = self._now()
        if self._lock_seen is None or now - self._lock_seen[0] >= _LOCK_EVERY_NS:
            self._lock_seen = now, a_locker_runs()
        return self._lock_seen[1] or bool(self._hint.locked())

    def close(self) -> None:
        """Let the question to logind go; no connection is kept."""
        self._hint.close()

    def _tree(self) -> Mapping[str, Any] | None:
        try:
            found = json.loads(_request(self._path, _GET_TREE))
        except (
            OSError,
            ValueError,
            RecursionError,
        ) as error:  # not there, slow, or not sway: UnicodeDecodeError is a ValueError
            operators().info("sway does not answer", error=type(error).__name__)
            return None
        return found if isinstance(found, dict) else None


def focused(tree: Mapping[str, Any]) -> Window | None:
    """The window that has the focus, of a ``get_tree`` answer."""
    for leaf in _leaves(tree):
        if leaf.node.get("focused") is True:
            return _window(leaf.node)
    return None


def on_screen(tree: Mapping[str, Any]) -> list[Window]:
    """The windows that are to be seen, front to back, of a ``get_tree`` answer.

    Of a window that lies behind another in tabs or a stack, the bar with its title is to be seen: that bar is what is
    listed then, as ``kind`` ``tab``.
    """
    leaves = _leaves(tree)
    shown = sorted((leaf for leaf in leaves if leaf.node.get("visible") is True), key=_layer)
    tabs = [tab for leaf in leaves if leaf.node.get("visible") is False and (tab := _tab(leaf)) is not None]
    return tabs + [_window(leaf.node) for leaf in shown]


def _request(path: str, kind: int) -> bytes:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as wire:
        wire.settimeout(_TIMEOUT_S)
        wire.connect(path)
        wire.sendall(_MAGIC + _HEAD.pack(0, kind))
        head = _read(wire, len(_MAGIC) + _HEAD.size)
        size, _ = _HEAD.unpack(head[len(_MAGIC) :])
        if not head.startswith(_MAGIC) or size > _LARGEST:
            raise ValueError("not an answer of sway")
        return _read(wire, size)


def _read(wire: socket.socket, size: int) -> bytes:
    parts: list[bytes] = []
    while size > 0:
        part = wire.recv(min(size, 1 << 16))
        if not part:
            raise ConnectionError("the answer ended early")
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _leaves(tree: Mapping[str, Any]) -> list[_Leaf]:
    """The windows of a tree, most recently focused first."""
    found: list[_Leaf] = []
    stack = [_Leaf(tree, {}, False)]  # not recursion: a tree may be of any depth
    while stack:
        node = stack.pop()
        inside = _inside(node.node)
        floats = node.floats or node.node.get("type") == "floating_con"
        if not inside and node.node.get("type") in ("con", "floating_con") and "pid" in node.node:
            found.append(_Leaf(node.node, node.parent, floats))
        rank = {number: place for place, number in enumerate(_list(node.node.get("focus"))) if isinstance(number, int)}
        inside.sort(key=lambda n: rank.get(_int(n.get("id")) or 0, len(rank)), reverse=True)
        stack += [_Leaf(child, node.node, floats) for child in inside]
    return found


def _inside(node: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [n for key in ("nodes", "floating_nodes") for n in _list(node.get(key)) if isinstance(n, dict)]


def _layer(leaf: _Leaf) -> int:
    """Which layer a window is in: full screen, floating, tiled."""
    return 0 if leaf.node.get("fullscreen_mode") else 1 if leaf.floats else 2


def _tab(leaf: _Leaf) -> Window | None:
    """The title bar of a window that lies behind another; None where there is none to be seen."""
    bar, around = _rect(leaf.node.get("deco_rect")), _rect(leaf.parent.get("rect"))
    x, y, width, height = bar
    if not width or not height or x is None or y is None or around[0] is None or around[1] is None:
        return None
    if not any(other.node.get("visible") is True for other in _leaves(leaf.parent)):
        return None  # all of it is out of sight, on another workspace
    return replace(_window(leaf.node), x=around[0] + x, y=around[1] + y, width=width, height=height, kind="tab")


def _window(node: Mapping[str, Any]) -> Window:
    x11 = node.get("window_properties")
    wm_class = _text(x11.get("class")) if isinstance(x11, dict) else None
    app_id, pid = _text(node.get("app_id")), _int(node.get("pid"))
    title = _text(node.get("name"))
    line, cut = one_line(title) if title is not None else (None, False)
    x, y, width, height = _rect(node.get("rect"))
    above = _rect(node.get("deco_rect"))[3]
    if above and y is not None and height is not None:  # the title bar lies on top of what sway calls the rectangle
        y, height = y - above, height + above
    return Window(
        app=app_id or wm_class or (processes.name(pid) if pid else None),
        title=line,
        window_class=wm_class,
        pid=pid,
        x=x,
        y=y,
        width=width,
        height=height,
        private=pid is not None and processes.started_private(pid),
        key=_int(node.get("id")),
        title_cut=cut,
        kind="normal",
    )


def _rect(value: object) -> tuple[int | None, int | None, int | None, int | None]:
    if not isinstance(value, dict):
        return None, None, None, None
    return _int(value.get("x")), _int(value.get("y")), _int(value.get("width")), _int(value.get("height"))


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _int(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
