"""What is asked of an X server about windows: many at once, so that a look takes a handful of round trips.

A question about a window that is gone has the answer None, or none at all.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from simulator.recorder.windows import TITLE_LIMIT
from simulator.recorder.windows_x11_text import compound_text, latin_or_utf8
from simulator.recorder.windows_x11_wire import TIMEOUT_S, Wire

__all__ = ["Link", "Place", "Property"]

_WORDS = TITLE_LIMIT  # longest property read, in units of four bytes: a sign of UTF-8 has at most four
_ANY = 0
_VIEWABLE, _INPUT_ONLY = 2, 2
_BY_POINTER = 1  # the focus is wherever the pointer is
_PID_OF_CLIENT = 2

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Property:
    """A property of a window: ``data`` where it holds bytes, ``numbers`` where it holds 32-bit numbers."""

    kind: int
    data: bytes = b""
    numbers: tuple[int, ...] = ()
    more: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """Where a window is, relative to its parent, its border included."""

    x: int
    y: int
    width: int
    height: int


class Link:
    """One connection. Any method may raise ``OSError`` when the server is gone; then the link is of no more use.

    Args:
        name: of the display, such as ``:0``.
        timeout_s: the longest wait for an answer.
    """

    def __init__(self, name: str, *, timeout_s: float = TIMEOUT_S) -> None:
        self._wire = Wire(name, timeout_s=timeout_s)
        self.root = self._wire.root
        self._atoms: dict[str, int] = {}
        try:
            self._owners = self._wire.extension(b"X-Resource")
        except BaseException:
            self._wire.close()
            raise

    def close(self) -> None:
        """Hang up."""
        self._wire.close()

    def is_xwayland(self) -> bool:
        """Whether this is the X server within a Wayland session, which knows X programs only."""
        if self._wire.extension(b"XWAYLAND") is not None:
            return True
        randr = self._wire.extension(b"RANDR")  # servers before 22 tell by the names of their outputs only
        if randr is None:
            return False
        (found,) = self._wire.ask([struct.pack("=BBHI", randr, 25, 2, self.root)])
        if found is None:
            return False
        (stamp,) = struct.unpack_from("=I", found, 12)
        controllers, outputs = struct.unpack_from("=HH", found, 16)
        numbers = struct.unpack_from(f"={outputs}I", found, 32 + 4 * controllers)
        asked = [struct.pack("=BBHII", randr, 9, 3, output, stamp) for output in numbers]
        return any(reply is not None and _output_name(reply).startswith(b"XWAYLAND") for reply in self._wire.ask(asked))

    def atom(self, name: str) -> int:
        """The number of an atom; asked once a connection, since a restarted server counts anew."""
        if name not in self._atoms:
            self.learn([name])
        return self._atoms[name]

    def learn(self, names: Iterable[str]) -> None:
        """Ask for the numbers of many atoms at once."""
        new = [name for name in names if name not in self._atoms]
        for name, reply in zip(new, self._wire.ask([_intern(name) for name in new]), strict=True):
            self._atoms[name] = 0 if reply is None else struct.unpack_from("=I", reply, 8)[0]

    def properties(self, windows: Iterable[int], names: Sequence[str]) -> dict[int, dict[str, Property] | None]:
        """The named properties of each window: those that exist; None for a window that does not."""
        self.learn(names)
        atoms = [self._atoms[name] for name in names]
        all_ = list(windows)
        asked = [struct.pack("=BBHIIIII", 20, 0, 6, w, atom, _ANY, 0, _WORDS) for w in all_ for atom in atoms]
        replies = iter(self._wire.ask(asked))
        found: dict[int, dict[str, Property] | None] = {}
        for window in all_:
            mine = [(name, next(replies)) for name in names]
            there = [(name, reply) for name, reply in mine if reply is not None]
            if len(there) < len(mine):
                found[window] = None
                continue
            found[window] = {n: value for n, reply in there if (value := _property(reply)) is not None}
        return found

    def trees(self, windows: Iterable[int]) -> dict[int, tuple[int, Sequence[int]]]:
        """Parent (0 for the root's) and children, lowest first, of each window that exists."""
        return self._each(windows, lambda w: struct.pack("=BBHI", 15, 0, 2, w), _tree)

    def shown(self, windows: Iterable[int]) -> list[int]:
        """Those that can be seen as far as they lie on the screen: mapped, ancestors too, and no mere input areas."""
        found = self._each(windows, lambda w: struct.pack("=BBHI", 3, 0, 2, w), _is_shown)
        return [window for window, shown in found.items() if shown]

    def places(self, windows: Iterable[int]) -> dict[int, Place]:
        """Where those that still exist are."""
        return self._each(windows, lambda w: struct.pack("=BBHI", 14, 0, 2, w), _place)

    def focus(self) -> int:
        """The window that keys go to, 0 for none; where they go to whatever the pointer is over, that one."""
        focus = self._number(struct.pack("=BBH", 43, 0, 1), 8)
        if focus == _BY_POINTER:
            return self._number(struct.pack("=BBHI", 38, 0, 2, self.root), 12)
        return 0 if focus == self.root else focus

    def composited(self) -> bool:
        """Whether a compositor puts the screen together from the windows' pictures, so that some may be see-through.

        Source: Extended Window Manager Hints, Compositing Managers.
        """
        selection = self.atom(f"_NET_WM_CM_S{self._wire.screen}")
        return self._number(struct.pack("=BBHI", 23, 0, 2, selection), 8) != 0

    def owner(self, window: int) -> int | None:
        """The process that made the window, as the server knows it from the socket; None if it does not."""
        if self._owners is None:
            return None
        (reply,) = self._wire.ask([struct.pack("=BBHIII", self._owners, 4, 4, 1, window, _PID_OF_CLIENT)])
        if reply is None or len(reply) < 48:
            return None
        answers, _, _, size, pid = struct.unpack_from("=I20xIIII", reply, 8)
        return pid if answers and size >= 4 and pid > 0 else None

    def same_program(self, one: int, other: int) -> bool:
        """Whether two windows were made over one connection."""
        return (one ^ other) & ~self._wire.mask == 0

    def text(self, value: Property) -> str:
        """A property as text by its type."""
        if value.kind == self.atom("UTF8_STRING"):
            return value.data.decode("utf-8", "replace")
        if value.kind == self.atom("COMPOUND_TEXT"):
            return compound_text(value.data)
        return latin_or_utf8(value.data)

    def _each(self, windows: Iterable[int], ask: Callable[[int], bytes], read: Callable[[bytes], _T]) -> dict[int, _T]:
        """What is read of the reply about each window that exists, in their order."""
        all_ = list(windows)
        replies = self._wire.ask([ask(window) for window in all_])
        return {window: read(reply) for window, reply in zip(all_, replies, strict=True) if reply is not None}

    def _number(self, request: bytes, at: int) -> int:
        (reply,) = self._wire.ask([request])
        return 0 if reply is None else int(struct.unpack_from("=I", reply, at)[0])


def _intern(name: str) -> bytes:
    data = name.encode()
    padded = data + b"\0" * (-len(data) % 4)
    return struct.pack("=BBHHxx", 16, 0, 2 + len(padded) // 4, len(data)) + padded


def _property(reply: bytes) -> Property | None:
    kind, left, count = struct.unpack_from("=III", reply, 8)
    if not kind:
        return None
    match reply[1]:
        case 8:
            return Property(kind, data=reply[32 : 32 + count], more=left > 0)
        case 32:
            return Property(kind, numbers=struct.unpack_from(f"={count}I", reply, 32), more=left > 0)
    return Property(kind)


def _tree(reply: bytes) -> tuple[int, Sequence[int]]:
    parent, count = struct.unpack_from("=IH", reply, 12)
    return parent, struct.unpack_from(f"={count}I", reply, 32)


def _is_shown(reply: bytes) -> bool:
    return reply[26] == _VIEWABLE and struct.unpack_from("=H", reply, 12)[0] != _INPUT_ONLY


def _place(reply: bytes) -> Place:
    x, y, width, height, border = struct.unpack_from("=hhHHH", reply, 12)
    return Place(x, y, width + 2 * border, height + 2 * border)


def _output_name(reply: bytes) -> bytes:
    controllers, modes, _, clones, size = struct.unpack_from("=HHHHH", reply, 26)
    start = 36 + 4 * (controllers + modes + clones)
    return reply[start : start + size]
