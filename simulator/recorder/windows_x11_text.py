"""Names of X11 windows: bytes with a type, decoded whatever their writers put into them."""

from __future__ import annotations

__all__ = ["class_of", "compound_text", "latin_or_utf8"]

_SETS_96 = {  # final byte of ESC - F: a right half of 96 characters
    "A": "iso8859-1", "B": "iso8859-2", "C": "iso8859-3", "D": "iso8859-4", "F": "iso8859-7", "G": "iso8859-6",
    "H": "iso8859-8", "L": "iso8859-5", "M": "iso8859-9", "V": "iso8859-10", "b": "iso8859-15", "f": "iso8859-16",
}  # fmt: skip
_SETS_94_2 = {"A": "gb2312", "B": "euc_jp", "C": "euc_kr"}  # final byte of ESC $ ( F and ESC $ ) F: two bytes a sign


def latin_or_utf8(data: bytes) -> str:
    """Text of type STRING: Latin-1 by rule, UTF-8 in many programs, and hardly any Latin-1 text is valid UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")


def class_of(data: bytes) -> str | None:
    """The class in ``WM_CLASS``, whose two strings end in NUL each: instance, class.

    The instance is not asked for: Chromium puts the path of its profile there.
    """
    parts = data.split(b"\0")
    name = parts[1] if len(parts) > 1 and parts[1] else parts[0]
    return latin_or_utf8(name) if name else None


def compound_text(data: bytes) -> str:
    """Text of type COMPOUND_TEXT (ISO 2022 as X uses it); what has no known set becomes ``U+FFFD``.

    Source: Compound Text Encoding, X Consortium Standard, version 1.1.
    """
    left, right, text = "ascii", "iso8859-1", []
    for number, piece in enumerate(data.split(b"\x1b")):
        rest = piece
        if number > 0:
            if piece.startswith(b"%G"):  # UTF-8 up to ESC % @
                text.append(piece[2:].decode("utf-8", "replace"))
                continue
            rest, left, right = _designate(piece, left, right)
        text.append(_decode(rest, left, right))
    return "".join(text)


def _designate(piece: bytes, left: str, right: str) -> tuple[bytes, str, str]:
    """What follows an escape: the text after its designation, and the sets for the lower and upper half."""
    head = piece[:3].decode("latin-1")
    final = head[2:3]
    match head[:2]:
        case "$(":
            return piece[3:], _SETS_94_2.get(final, ""), right
        case "$)":
            return piece[3:], left, _SETS_94_2.get(final, "")
        case "%@":
            return piece[2:], left, right
        case _ if head[:1] == "-":
            return piece[2:], left, _SETS_96.get(head[1:2], "")
        case _ if head[:1] == "(":
            return piece[2:], "ascii", right
        case _ if head[:1] == ")":
            return piece[2:], left, ""
    return piece[1:], left, right


def _decode(data: bytes, left: str, right: str) -> str:
    text, start = [], 0
    for end in range(1, len(data) + 1):  # stretches of bytes from one half
        if end == len(data) or (data[end] ^ data[start]) & 0x80:
            part, codec = data[start:end], right if data[start] & 0x80 else left
            if codec in _SETS_94_2.values():
                part = bytes(byte | 0x80 for byte in part)
            text.append(part.decode(codec, "replace") if codec else "\ufffd")
            start = end
    return "".join(text)
