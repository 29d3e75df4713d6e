"""Which recording a session is of: the same for every version of it, whatever file, name or scenario it goes by.

Versions of one recording hang together: to count them as several sessions would make any figure look surer than it is.
"""

from __future__ import annotations

from hashlib import sha256

from simulator.session.reader import Reader

__all__ = ["PERSON", "RECORDING", "recording_of"]

RECORDING = "recording"
"""Key of ``meta``: what a session was derived from, by whoever derived it (noise twins, importers)."""
PERSON = "person"
"""Key of ``meta``: who was recorded, where several users of a data set are one person."""

_ROWS = 10_000  # read of a session; enough to tell any two apart, and bounded where a session is of days
_SHOWN = ("COALESCE(pixels_hash, file_hash)", "app_name", "window_title")


def recording_of(reader: Reader, said: str | None = None) -> str:
    """The recording that a session is of.

    What the scenario says, else what the session's ``meta`` says it was made from, else the SHA-256 of what its rows
    show and when: pixels, application and title, which stay when a session is renamed, copied, annotated or compacted.
    A session that shows nothing is told apart by user and name.

    Args:
        reader: the session.
        said: key ``recording`` of the scenario.

    Raises:
        InputError: the file is damaged.
    """
    known = said or reader.header.meta.get(RECORDING)
    if known:
        return known
    header, shows = reader.header, False
    whole = sha256(str(sum(header.monitors.values())).encode())
    sql = f"SELECT captured_ns, {', '.join(_SHOWN)} FROM screenshots ORDER BY id LIMIT {_ROWS}"
    for row in reader.stream(sql):
        whole.update(repr(row).encode())
        shows = shows or any(value is not None for value in row[1:])
    if not shows:
        whole.update(repr((header.user, header.session)).encode())
    return whole.hexdigest()
