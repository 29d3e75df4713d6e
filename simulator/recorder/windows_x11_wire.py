"""The X11 protocol as far as questions go: connect, send many requests at once, read their replies.

Written out, since python-xlib waits for ever on a server that hangs, and takes 11 µs for a reply where this takes 4
(a look at a desktop of 25 windows has some 300 of them). Here every wait ends: after 2 s it is an error.

Source: X Window System Protocol, X Consortium Standard, X Version 11 (appendix B, encoding).
"""

from __future__ import annotations

import os
import re
import socket
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path

__all__ = ["TIMEOUT_S", "Wire", "XLost", "cookie"]

TIMEOUT_S = 2.0
_BATCH = 256  # requests sent before replies are read, so that neither side's buffers fill up
_LARGEST = 1 << 24  # of one reply, bytes
_DISPLAY = re.compile(r"(?:(?P<way>tcp|unix)/)?(?P<host>[-:\w.\[\]]*):(?P<number>\d+)(?:\.(?P<screen>\d+))?")
_LOCAL, _WILD, _INTERNET, _INTERNET6 = 256, 65535, 0, 6
_METHOD = b"MIT-MAGIC-COOKIE-1"
_ERROR, _REPLY, _GENERIC_EVENT = 0, 1, 35


class XLost(OSError):
    """The X server is not there, does not let us in, or has stopped answering."""


class Wire:
    """One connection. Any method may raise ``OSError``; then the connection is of no more use.

    Args:
        name: of the display: ``:0``, ``:0.1``, ``host:10``.
        timeout_s: the longest wait for anything.

    Attributes:
        root: the root window of the display's screen.
        screen: its number.
        mask: which bits of a window's number its program chose; the others say which program.
    """

    def __init__(self, name: str, *, timeout_s: float = TIMEOUT_S) -> None:
        match = _DISPLAY.fullmatch(name)
        if match is None:
            raise XLost("not the name of an X display")
        number, self.screen = int(match["number"]), int(match["screen"] or 0)
        self._socket = _connect(match["way"], match["host"].strip("[]"), number, timeout_s)
        self._serial = 0  # of the last request answered
        self._buffer, self._at = b"", 0  # what has been received, and how much of it read
        try:
            self.root, self.mask = self._greet(number, self.screen)
        except BaseException:
            self._socket.close()
            raise

    def close(self) -> None:
        """Hang up."""
        self._socket.close()

    def ask(self, requests: Sequence[bytes]) -> list[bytes | None]:
        """The reply to each request, its 32 bytes of head included; None where the server answered with an error.

        Every request must be of a kind that has a reply. Events, which come unasked, are thrown away.
        """
        replies: list[bytes | None] = []
        for start in range(0, len(requests), _BATCH):
            batch = requests[start : start + _BATCH]
            self._socket.sendall(b"".join(batch))
            replies += self._replies(len(batch))
        return replies

    def extension(self, name: bytes) -> int | None:
        """The major opcode of an extension, or None where the server has none of that name."""
        padded = name + b"\0" * (-len(name) % 4)
        (reply,) = self.ask([struct.pack("=BBHHxx", 98, 0, 2 + len(padded) // 4, len(name)) + padded])
        return reply[9] if reply is not None and reply[8] else None

    def _replies(self, count: int) -> Iterator[bytes | None]:
        for _ in range(count):
            self._serial = (self._serial + 1) & 0xFFFF
            while True:
                head = self._read(32)
                kind = head[0]
                if kind == _REPLY or kind & 0x7F == _GENERIC_EVENT:
                    head += self._read(4 * struct.unpack_from("=I", head, 4)[0])
                if kind > _REPLY:
                    continue  # an event
                if struct.unpack_from("=H", head, 2)[0] != self._serial:
                    raise XLost("an answer to another question")
                yield head if kind == _REPLY else None
                break

    def _read(self, size: int) -> bytes:
        if size > _LARGEST:
            raise XLost("an answer of impossible length")
        while len(self._buffer) - self._at < size:
            part = self._socket.recv(1 << 16)
            if not part:
                raise XLost("the server hung up")
            self._buffer, self._at = self._buffer[self._at :] + part, 0
        self._at += size
        return self._buffer[self._at - size : self._at]

    def _greet(self, number: int, screen: int) -> tuple[int, int]:
        method, secret = cookie(self._socket, number)
        order = b"l" if struct.pack("=H", 1)[0] else b"B"
        hello = struct.pack("=cxHHHHxx", order, 11, 0, len(method), len(secret))
        self._socket.sendall(hello + method + b"\0" * (-len(method) % 4) + secret + b"\0" * (-len(secret) % 4))
        head = self._read(8)
        body = self._read(4 * struct.unpack_from("=H", head, 6)[0])
        if head[0] != 1:
            raise XLost("the server does not let us in")
        vendor, screens, formats = struct.unpack_from("=H", body, 16)[0], body[20], body[21]
        at = 32 + vendor + -vendor % 4 + 8 * formats
        for _ in range(min(screen, screens - 1)):
            at = _after_screen(body, at)
        return struct.unpack_from("=I", body, at)[0], struct.unpack_from("=I", body, 8)[0]


def cookie(wire: socket.socket, number: int) -> tuple[bytes, bytes]:
    """Method and secret for a display from the authority file, empty where it holds none.

    Entries for this very host or address go first, then those for any, then those for another name of this host: people
    change it while they are logged in.
    """
    path = os.environ.get("XAUTHORITY") or Path.home() / ".Xauthority"
    try:
        raw = Path(path).read_bytes()
    except OSError:
        return b"", b""
    host, address = socket.gethostname().encode(), b""
    if wire.family != socket.AF_UNIX:
        address = socket.inet_pton(wire.family, wire.getpeername()[0].partition("%")[0])
    near = wire.family == socket.AF_UNIX or address[:1] == b"\x7f" or address == b"\0" * 15 + b"\1"
    best: tuple[int, bytes] | None = None
    for family, owner, display, method, secret in _entries(raw):
        if method != _METHOD or display not in (b"", b"%d" % number):
            continue
        if (family == _LOCAL and near and owner == host) or (family in (_INTERNET, _INTERNET6) and owner == address):
            rank = 0
        elif family == _WILD:
            rank = 1
        elif family == _LOCAL and near:
            rank = 2
        else:
            continue
        if best is None or rank < best[0]:
            best = rank, secret
    return (b"", b"") if best is None else (_METHOD, best[1])


def _entries(raw: bytes) -> Iterator[tuple[int, bytes, bytes, bytes, bytes]]:
    """Family, address, display number, method and secret of each entry; what is cut off at the end is left out."""
    at = 0
    while at + 2 <= len(raw):
        family = int.from_bytes(raw[at : at + 2])
        at += 2
        fields = []
        for _ in range(4):
            size = int.from_bytes(raw[at : at + 2])
            fields.append(raw[at + 2 : at + 2 + size])
            at += 2 + size
        if at > len(raw):
            return
        yield family, fields[0], fields[1], fields[2], fields[3]


def _connect(way: str | None, host: str, number: int, timeout_s: float) -> socket.socket:
    if way == "tcp" or (way is None and host not in ("", "unix")):
        return socket.create_connection((host, 6000 + number), timeout_s)
    path = f"/tmp/.X11-unix/X{number}"
    wire = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        wire.settimeout(timeout_s)
        wire.connect(path if os.path.exists(path) else f"\0{path}")
    except BaseException:
        wire.close()
        raise
    return wire


def _after_screen(body: bytes, at: int) -> int:
    depths, at = body[at + 39], at + 40
    for _ in range(depths):
        at += 8 + 24 * struct.unpack_from("=H", body, at + 2)[0]
    return at
