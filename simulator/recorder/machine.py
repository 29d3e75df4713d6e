"""What a recording notes of the machine it is made on: zone, boot, and what the recording costs it."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from simulator.core.calendar import from_utc_ns
from simulator.timing.clock import real_ns

__all__ = ["Usage", "boot_id", "offset_min", "zone"]

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_STATM = Path("/proc/self/statm")


def zone(env: Mapping[str, str] = os.environ, root: Path = Path("/")) -> str:
    """IANA name of the zone that this machine shows its times in; ``UTC`` where it cannot be told.

    Args:
        env: the environment; ``TZ`` wins where it names a zone.
        root: where ``etc/localtime`` and ``etc/timezone`` lie.
    """
    names = [env.get("TZ", "").lstrip(":")]
    link = root / "etc" / "localtime"
    if link.is_symlink():
        names.append(os.readlink(link).partition("zoneinfo/")[2])
    told = root / "etc" / "timezone"
    if told.is_file():
        names.append(told.read_text(encoding="utf-8", errors="replace").strip())
    return next((name for name in names if name and _is_zone(name)), "UTC")


def _is_zone(name: str) -> bool:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True


def offset_min(utc_ns: int, zone: str) -> int:
    """Minutes that the zone's clocks are ahead of UTC at that instant."""
    moment: datetime = from_utc_ns(utc_ns).astimezone(ZoneInfo(zone))
    offset = moment.utcoffset()
    return 0 if offset is None else int(offset.total_seconds() // 60)


def boot_id() -> str | None:
    """What names the time since this machine was started; None where the system has no such name."""
    try:
        return _BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:
        return None


class Usage:
    """What this process takes of the machine, since the making.

    Attributes:
        rss_bytes: memory held when it was last looked at (on macOS the most ever held); None where the system does not
            tell.
    """

    def __init__(self) -> None:
        self._begun, self._used = real_ns(), _cpu_s()
        self.rss_bytes = _rss_bytes()

    def look(self) -> None:
        """Look at the memory again. Blocks."""
        self.rss_bytes = _rss_bytes()

    def cpu_percent(self) -> float:
        """Share of one core, of all threads and finished children, on average."""
        seconds = (real_ns() - self._begun) / 1e9
        return 100 * (_cpu_s() - self._used) / seconds if seconds > 0 else 0.0


def _rss_bytes() -> int | None:
    try:
        return int(_STATM.read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        pass
    if sys.platform == "darwin":
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return None


def _cpu_s() -> float:
    return sum(os.times()[:4])
