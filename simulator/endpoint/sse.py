"""Server-sent events, from bytes as they come to the payload of each event.

Source: HTML Living Standard, 9.2.6, as far as model servers use it: ``data:`` lines, joined by line feeds, end with a
blank line; comments and other fields are passed over. Lines may end with CR LF or LF.
"""

from __future__ import annotations

__all__ = ["MOST_OF_A_LINE", "MOST_OF_A_REPLY", "Events", "TooLong"]

MOST_OF_A_LINE = 10_000_000
"""Bytes of one line or event, and of a whole reply: no answer is as long, and nobody fills our memory."""
MOST_OF_A_REPLY = 50_000_000
_BOM = b"\xef\xbb\xbf"


class TooLong(Exception):
    """A line, an event or a reply is longer than anything that is an answer."""


class Events:
    """Takes bytes, gives the payloads of the events that they complete."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._data: list[bytes] = []
        self._size = self._whole = 0
        self._begun = False

    def feed(self, piece: bytes) -> list[bytes]:
        """The payloads (without ``data:``) of events that end in this piece, in order.

        Raises:
            TooLong: over ``MOST_OF_A_LINE`` or ``MOST_OF_A_REPLY``.
        """
        self._whole += len(piece)
        if self._whole > MOST_OF_A_REPLY:
            raise TooLong(f"over {MOST_OF_A_REPLY // 1_000_000} MB")
        self._rest += piece
        if b"\n" not in piece:
            self._check(len(self._rest))
            return []
        *lines, rest = self._rest.split(b"\n")
        self._rest = rest
        self._check(max(len(rest), *map(len, lines)))
        found: list[bytes] = []
        for line in lines:
            self._line(bytes(line), found)
        return found

    def end(self) -> list[bytes]:
        """The stream is over: what an unterminated last event holds. (Some servers forget the last blank line.)"""
        found: list[bytes] = []
        self._line(bytes(self._rest), found)
        self._line(b"", found)
        self._rest.clear()
        return found

    def _line(self, line: bytes, found: list[bytes]) -> None:
        if not self._begun:
            self._begun, line = True, line.removeprefix(_BOM)
        line = line.removesuffix(b"\r")
        if not line:
            if self._data:
                found.append(b"\n".join(self._data))
                self._data, self._size = [], 0
        elif line.startswith(b"data:"):
            said = line[6:] if line[5:6] == b" " else line[5:]
            self._size += len(said)
            self._check(self._size)
            self._data.append(said)

    def _check(self, size: int) -> None:
        if size > MOST_OF_A_LINE:
            raise TooLong(f"a line of over {MOST_OF_A_LINE // 1_000_000} MB")
