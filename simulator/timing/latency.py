"""What a call costs when it is not measured: latency models, spelled ``kind:parameters`` on the command line.

A model maps facts of a call to integer nanoseconds; chance is keyed by run seed, session, snapshot and purpose, so the
draw for one decision depends on no other. Shapes are integer tables, never ``exp`` of a float: the same on any machine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from types import MappingProxyType
from typing import Protocol

from simulator.core.durations import parse_duration, show_duration
from simulator.core.errors import UsageError, nearest, quote
from simulator.core.rng import draw_u64

__all__ = ["PROFILES", "Call", "Empirical", "Fixed", "LatencyModel", "Profile", "Replayed", "Token", "parse_latency"]

_U64 = 1 << 64
_WRITES = ("observe", "feedback")
_NO_TOKENS: Mapping[str, int] = MappingProxyType({})
LOGNORMAL_PERMILLE = (339, 429, 488, 536, 578, 616, 653, 688, 722, 756, 789, 823, 857, 891, 927, 963, 1000, 1039, 1079,
                      1122, 1167, 1215, 1267, 1323, 1385, 1453, 1531, 1622, 1730, 1866, 2048, 2329, 2954)  # fmt: skip


class Call:
    """The facts of a call that may bear on its cost. ``what`` is decide, finish, observe or feedback; ``replayed_ns``
    the recorded time of its calls to models.
    """

    __slots__ = ("replayed_ns", "session", "snapshot", "tokens", "what")

    def __init__(self, session: str, snapshot: int, what: str, tokens: Mapping[str, int] = _NO_TOKENS,
                 replayed_ns: int = 0) -> None:  # fmt: skip
        self.session, self.snapshot, self.what, self.tokens = session, snapshot, what, tokens
        self.replayed_ns = replayed_ns


class LatencyModel(Protocol):
    """A named, reproducible cost. ``text`` is its spelling, and goes into the run's identity."""

    @property
    def text(self) -> str:
        """As on the command line."""
        ...

    def charge_ns(self, call: Call, seed: int) -> int:
        """Nanoseconds that this call costs."""
        ...


@dataclass(frozen=True, slots=True)
class Fixed:
    """``fixed:350ms``, ``fixed:350ms+20ms``: every decision costs the first, every memory write the second (0 s)."""

    decide_ns: int
    write_ns: int = 0

    @property
    def text(self) -> str:
        """As on the command line."""
        write = f"+{show_duration(self.write_ns)}" if self.write_ns else ""
        return f"fixed:{show_duration(self.decide_ns)}{write}"

    def charge_ns(self, call: Call, seed: int) -> int:
        """See ``LatencyModel``."""
        return self.write_ns if call.what in _WRITES else self.decide_ns


def _quantile(table: Sequence[int], u: int) -> int:
    """Linear interpolation in an increasing table of equally likely steps; ``u`` is 64 random bits. Integers only."""
    at = u * (len(table) - 1)
    i, rest = at >> 64, at & (_U64 - 1)
    return table[i] + ((table[i + 1] - table[i]) * rest >> 64) if i + 1 < len(table) else table[i]


@dataclass(frozen=True, slots=True)
class Profile:
    """``profile:NAME``: a named, versioned distribution around a median; memory writes cost nothing in it."""

    name: str
    median_ns: int
    shape_permille: tuple[int, ...]
    source: str

    @property
    def text(self) -> str:
        """As on the command line."""
        return f"profile:{self.name}"

    def charge_ns(self, call: Call, seed: int) -> int:
        """See ``LatencyModel``."""
        if call.what in _WRITES:
            return 0
        u = draw_u64(seed, "latency", call.session, call.snapshot, call.what)
        return self.median_ns * _quantile(self.shape_permille, u) // 1000


_CONSTANT = (1000, 1000)
_OURS = "ours, v1: lognormal, sigma 0.5, cut at its 1.5 % and 98.5 % points"
_PAPER = "ProAgentBench App. F.3: only a mean is printed, so a constant"
PROFILES: dict[str, Profile] = {
    p.name: p
    for p in (
        Profile("instant", 0, _CONSTANT, "ours, v1: no charge; the upper bound"),
        Profile("200ms", 200_000_000, LOGNORMAL_PERMILLE, _OURS),
        Profile("1s", 1_000_000_000, LOGNORMAL_PERMILLE, _OURS),
        Profile("2s", 2_000_000_000, LOGNORMAL_PERMILLE, _OURS),
        Profile("5s", 5_000_000_000, LOGNORMAL_PERMILLE, _OURS),
        Profile("22s", 22_000_000_000, LOGNORMAL_PERMILLE, _OURS),
        Profile("paper-zero-shot", 5_000_000_000, _CONSTANT, f"{_PAPER}; printed as an upper bound, 'under 5 s'"),
        Profile("paper-cot", 22_000_000_000, _CONSTANT, f"{_PAPER}; Qwen3-VL-Plus, 'approximately 22 s'"),
        Profile("paper-cot-text", 13_500_000_000, _CONSTANT, f"{_PAPER}; DeepSeek-V3.2 and Qwen3-Max, 13-14 s"),
    )
}


@dataclass(frozen=True, slots=True)
class Empirical:
    """``from:RUN``: resampled from the service times of an earlier run, decisions and memory writes apart."""

    run: str
    decide_ns: tuple[int, ...]
    write_ns: tuple[int, ...]

    @property
    def text(self) -> str:
        """The run's folder, with a digest of its times: another run in that folder is another model."""
        times = sha256(repr((self.decide_ns, self.write_ns)).encode()).hexdigest()[:12]
        return f"from:{self.run}@{times}"

    def charge_ns(self, call: Call, seed: int) -> int:
        """See ``LatencyModel``."""
        table = self.write_ns if call.what in _WRITES else self.decide_ns
        if not table:
            return 0
        return table[draw_u64(seed, "latency", call.session, call.snapshot, call.what) * len(table) >> 64]


@dataclass(frozen=True, slots=True)
class Token:
    """``token:rtt=200ms,prefill=100us,image=80ms,decode=20ms``: round trip, each input token, each image, each output
    token (reasoning included). A hardware-free clock: only as true as its parameters.
    """

    rtt_ns: int
    prefill_ns: int
    image_ns: int
    decode_ns: int

    @property
    def text(self) -> str:
        """As on the command line."""
        parts = ("rtt", self.rtt_ns), ("prefill", self.prefill_ns), ("image", self.image_ns), ("decode", self.decode_ns)
        return "token:" + ",".join(f"{k}={show_duration(v)}" for k, v in parts)

    def charge_ns(self, call: Call, seed: int) -> int:
        """See ``LatencyModel``."""
        if call.what in _WRITES:
            return 0
        tokens = call.tokens.get
        return (
            self.rtt_ns
            + self.prefill_ns * max(0, tokens("in", 0) - tokens("cached", 0))
            + self.image_ns * tokens("images", 0)
            + self.decode_ns * (tokens("out", 0) + tokens("reasoning", 0))
        )


@dataclass(frozen=True, slots=True)
class Replayed:
    """``cassette``: what the calls to models took when they were recorded, and nothing else: calls made one after the
    other add up, those made together take the longest, and a decision without one costs 0.
    """

    text: str = "cassette"

    def charge_ns(self, call: Call, seed: int) -> int:
        """See ``LatencyModel``."""
        return call.replayed_ns


def _said(piece: str) -> tuple[str, str]:
    """A parameter and its length of time."""
    name, equals, value = piece.partition("=")
    if not equals:
        raise ValueError(f"{quote(piece)} is no parameter with a length of time, such as rtt=200ms")
    return name, value


def parse_latency(text: str) -> Fixed | Profile | Token | Replayed:
    """Read ``fixed:…``, ``profile:…``, ``token:…`` or ``cassette`` (``from:RUN`` needs a run:
    ``runs.journal.empirical``).

    Raises:
        UsageError: not a latency model.
    """
    kind, _, rest = text.partition(":")
    try:
        if kind == "fixed":
            decide, plus, write = rest.partition("+")
            return Fixed(parse_duration(decide), parse_duration(write) if plus else 0)
        if kind == "token":
            given = dict(_said(piece) for piece in rest.split(",") if piece)
            unknown = set(given) - {"rtt", "prefill", "image", "decode"}
            if unknown:
                raise ValueError(f"'{min(unknown)}' is not one of rtt, prefill, image, decode")
            return Token(*(parse_duration(given.get(k, "0s")) for k in ("rtt", "prefill", "image", "decode")))
    except ValueError as error:
        raise UsageError(f"latency {quote(text)}: {error}") from error
    if kind == "profile":
        if rest not in PROFILES:
            own = f"no such profile; {nearest(rest, PROFILES)}; a length of your own is fixed:8s"
            raise UsageError(f"latency {quote(text)}: {own}")
        return PROFILES[rest]
    if text == "cassette":
        return Replayed()
    raise UsageError(
        f"latency {quote(text)} is unknown; write fixed:350ms, profile:NAME, token:rtt=…,…, from:RUN or cassette"
    )
