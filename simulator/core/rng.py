"""Random numbers by name: the only place that chance comes from.

Every draw is a function of the run's seed and a tuple of names (session, snapshot, purpose), never of a shared
stream: leaving out one session or asking in another order changes no other draw. Integers only, so a draw is the
same in every process, on every machine and under every ``PYTHONHASHSEED``.
"""

from __future__ import annotations

from hashlib import blake2b

__all__ = ["below", "draw_u64", "unit"]

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
