"""ONNX models written by hand: as much of the format as one network needs (protocol buffers, 60 lines).

The ``onnx`` package would do it too, and weighs 20 MB; ONNX Runtime reads what it does not write.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

__all__ = ["Graph"]

_KINDS = {np.dtype("f4"): 1, np.dtype("u1"): 2, np.dtype("i8"): 7}
_OPSET, _IR = 17, 8
MICROSOFT = "com.microsoft"
"""The domain of ONNX Runtime's own, fused operators."""


class Graph:
    """A network in the making: constants, then operators in order, then ``model``."""

    def __init__(self) -> None:
        self._nodes: list[bytes] = []
        self._constants: list[bytes] = []
        self._n = 0

    def constant(self, values: Any) -> str:
        """A tensor of fixed values (float32, uint8 or int64); its name."""
        array = np.ascontiguousarray(values)
        name = self._name()
        dims = b"".join(_number(1, size) for size in array.shape)
        kind = _number(2, _KINDS[array.dtype.newbyteorder("=")])
        self._constants.append(dims + kind + _bytes(8, name) + _bytes(9, array.tobytes()))
        return name

    def op(self, kind: str, *takes: str, outputs: int = 1, name: str = "", domain: str = "",
           **attributes: float | int) -> list[str]:  # fmt: skip
        """An operator; the names of what it gives, of which the first may be chosen."""
        gives = [name if name and not i else self._name() for i in range(outputs)]
        said = [_bytes(1, name) for name in takes] + [_bytes(2, name) for name in gives] + [_bytes(4, kind)]
        said += [_bytes(5, _attribute(name, value)) for name, value in attributes.items()]
        if domain:
            said.append(_bytes(7, domain))
        self._nodes.append(b"".join(said))
        return gives

    def model(self, takes: tuple[str, Sequence[str | int]], gives: tuple[str, Sequence[str | int]]) -> bytes:
        """The file, with one input and one output of float32, each a name and a shape (a word is any size)."""
        graph = [_bytes(1, node) for node in self._nodes] + [_bytes(2, "proact")]
        graph += [_bytes(5, constant) for constant in self._constants]
        graph += [_bytes(11, _value(*takes)), _bytes(12, _value(*gives))]
        opsets = [_bytes(8, _bytes(1, domain) + _number(2, n)) for domain, n in (("", _OPSET), (MICROSOFT, 1))]
        return b"".join([_number(1, _IR), _bytes(7, b"".join(graph)), *opsets])

    def _name(self) -> str:
        self._n += 1
        return f"t{self._n}"


def _attribute(name: str, value: float | int) -> bytes:
    if isinstance(value, float):
        return _bytes(1, name) + _varint(2 << 3 | 5) + struct.pack("<f", value) + _number(20, 1)
    return _bytes(1, name) + _number(3, value) + _number(20, 2)


def _value(name: str, shape: Sequence[str | int]) -> bytes:
    dims = b"".join(_bytes(1, _bytes(2, d) if isinstance(d, str) else _number(1, d)) for d in shape)
    return _bytes(1, name) + _bytes(2, _bytes(1, _number(1, 1) + _bytes(2, dims)))


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: str | bytes) -> bytes:
    raw = value.encode() if isinstance(value, str) else value
    return _varint(field << 3 | 2) + _varint(len(raw)) + raw


def _varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)
