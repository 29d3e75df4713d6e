"""Random numbers by name: the only place that chance comes from.

Every draw is a function of the run's seed and a tuple of names (session, snapshot, purpose), never of a shared
stream: leaving out one session or asking in another order changes no other draw. Integers only, so a draw is the
same in every process, on every machine and under every ``PYTHONHASHSEED``.

One draw at a time costs a hash. Where millions are due, a ``block`` costs one: its numbers follow from the hash by
counting, so they do not depend on how numpy draws, and a shorter block is the beginning of a longer one.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # blocks import it where they are made: whoever draws one number needs no numpy
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["below", "block", "block_below", "block_unit", "draw_u64", "unit"]

Name = str | int


def draw_u64(seed: int, *names: Name) -> int:
    """An integer in [0, 2**64), fixed by the seed and the names.

    Names are joined with their type, so ``("1",)`` and ``(1,)`` differ and ``("a", "b")`` is not ``("ab",)``.
    """
    key = "\x1f".join(f"{'i' if isinstance(n, int) else 's'}{n}" for n in (seed, *names))
    return int.from_bytes(blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def below(n: int, seed: int, *names: Name) -> int:
    """An integer in [0, n); the bias of the mapping is under n / 2**64."""
    if n <= 0:
        raise ValueError(f"n must be positive, not {n}")
    return draw_u64(seed, *names) * n >> 64


def unit(seed: int, *names: Name) -> float:
    """A float in [0, 1) with 53 exact bits."""
    return (draw_u64(seed, *names) >> 11) * 2.0**-53


def block(count: int, seed: int, *names: Name) -> NDArray[np.uint64]:
    """``count`` integers in [0, 2**64) at once, fixed by the seed and the names.

    Number i is the i-th of SplitMix64 (Steele, Lea, Flood 2014: a Weyl sequence through Stafford's mixer 13) whose
    state starts at ``draw_u64(seed, *names)``.
    """
    import numpy as np

    start = np.uint64(draw_u64(seed, *names))
    with np.errstate(over="ignore"):  # the sequence wraps by design
        z = np.arange(1, count + 1, dtype=np.uint64)
        z *= np.uint64(0x9E3779B97F4A7C15)
        z += start
        z ^= z >> np.uint64(30)
        z *= np.uint64(0xBF58476D1CE4E5B9)
        z ^= z >> np.uint64(27)
        z *= np.uint64(0x94D049BB133111EB)
        z ^= z >> np.uint64(31)
    return z


def block_below(n: int, count: int, seed: int, *names: Name) -> NDArray[np.int64]:
    """``count`` integers in [0, n), n up to 2**32; the bias of the mapping is under n / 2**64, as in ``below``."""
    import numpy as np

    if not 0 < n <= 1 << 32:
        raise ValueError(f"n must be from 1 to 2**32, not {n}")
    z, half, by = block(count, seed, *names), np.uint64(32), np.uint64(n)
    low = (z & np.uint64(0xFFFFFFFF)) * by >> half  # z * n >> 64 by halves: the product needs 96 bits
    z >>= half
    z *= by
    z += low
    z >>= half
    return z.astype(np.int64)


def block_unit(count: int, seed: int, *names: Name) -> NDArray[np.float64]:
    """``count`` floats in [0, 1) with 53 exact bits each."""
    import numpy as np

    return (block(count, seed, *names) >> np.uint64(11)).astype(np.float64) * 2.0**-53
