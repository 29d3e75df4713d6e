"""The windows of sway, by its socket: native Wayland programs and those under Xwayland alike.

sway tells of no menus, notifications and panels, and places are in its layout's units, which are pixels only where an
output is not scaled.
"""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Callable, Mapping
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
        """The windows on all outputs, floating ones first, then the tiled ones."""
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
    found = [item for item in _leaves(tree) if item[0].get("focused") is True]
    return _window(*found[0]) if found else None


def on_screen(tree: Mapping[str, Any]) -> list[Window]:
    """The windows that are to be seen, front to back, of a ``get_tree`` answer; tabs behind others are not."""
    shown = [item for item in _leaves(tree) if item[0].get("visible") is True]
    return [_window(*item) for item in sorted(shown, key=_depth)]


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


def _leaves(tree: Mapping[str, Any]) -> list[tuple[Mapping[str, Any], bool]]:
    """Nodes that are windows, most recently focused first, and whether each floats or lies in one that does."""
    found: list[tuple[Mapping[str, Any], bool]] = []
    stack: list[tuple[Mapping[str, Any], bool]] = [(tree, False)]  # not recursion: a tree may be of any depth
    while stack:
        node, floats = stack.pop()
        floats = floats or node.get("type") == "floating_con"
        inside = [n for key in ("nodes", "floating_nodes") for n in _list(node.get(key)) if isinstance(n, dict)]
        if not inside and node.get("type") in ("con", "floating_con") and "pid" in node:
            found.append((node, floats))
        rank = {number: place for place, number in enumerate(_list(node.get("focus"))) if isinstance(number, int)}
        inside.sort(key=lambda n: rank.get(_int(n.get("id")) or 0, len(rank)), reverse=True)
        stack += [(n, floats) for n in inside]
    return found


def _depth(item: tuple[Mapping[str, Any], bool]) -> int:
    """Which layer a window is in: full screen, floating, tiled."""
    node, floats = item
    return 0 if node.get("fullscreen_mode") else 1 if floats else 2


def _window(node: Mapping[str, Any], floats: bool) -> Window:
    x11 = node.get("window_properties")
    wm_class = _text(x11.get("class")) if isinstance(x11, dict) else None
    app_id, pid = _text(node.get("app_id")), _int(node.get("pid"))
    title = _text(node.get("name"))
    line, cut = one_line(title) if title is not None else (None, False)
    rect, bar = node.get("rect"), node.get("deco_rect")
    x, y, width, height = (_int(rect.get(key)) if isinstance(rect, dict) else None for key in _SIDES)
    above = _int(bar.get("height")) if isinstance(bar, dict) else None
    if above and y is not None and height is not None:
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


_SIDES = ("x", "y", "width", "height")


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _int(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
