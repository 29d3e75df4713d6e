"""How far the review of a session is, read without changing anything."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from simulator.core.faults import told
from simulator.privacy.states import State, least
from simulator.session.reader import connect
from simulator.session.schema import FILE_NAME

__all__ = ["standing"]


def standing(session: Path) -> dict[str, Any]:
    """Pictures by state, rows whose picture is deleted, and what is left to do; all counts.

    ``decisions`` are the pictures about which something is decided that is not carried out; ``removals`` are old files
    that a redaction was stopped before it could remove.

    Raises:
        InputError: no session, or a damaged one.
    """
    file = (session.parent if session.name == FILE_NAME else session) / FILE_NAME
    db = connect(file)
    try:
        with told(file):
            tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            pictures: Counter[str] = Counter()
            sql = (
                "SELECT GROUP_CONCAT(DISTINCT COALESCE(privacy_action, 'unreviewed')) FROM screenshots"
                " WHERE file_path IS NOT NULL GROUP BY file_path"
            )
            pictures.update(str(least(states)) for (states,) in db.execute(sql))
            gone = "SELECT COUNT(*) FROM screenshots WHERE file_path IS NULL AND privacy_action = ?"
            waiting = "SELECT why, COUNT(*) FROM privacy_flags GROUP BY why ORDER BY why"
            return {
                "pictures": {str(s): pictures[s] for s in (State.UNREVIEWED, State.PASSED, State.REDACTED)},
                "deleted_rows": db.execute(gone, (State.DELETED,)).fetchone()[0],
                "waiting": dict(db.execute(waiting)) if "privacy_flags" in tables else {},
                **{
                    name: db.execute(f"SELECT COUNT({what}) FROM privacy_{name}").fetchone()[0]
                    if f"privacy_{name}" in tables
                    else 0
                    for name, what in (("decisions", "DISTINCT file_path"), ("removals", "*"))
                },
            }
    finally:
        db.close()
