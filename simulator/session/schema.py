"""The tables of a recorded session: ``session.db``, one SQLite file a session.

A superset of what ProAgentBench describes (App. A.1-A.2) and LifeTrace writes. ``captured_ns``, ``opens_ns``,
``start_ns`` and so on count from the session's anchor (``meta.utc_anchor_ns``, UTC of ``captured_ns`` 0 where it is
known); ``tick`` k is due at ``k * meta.period_ns``. A gap covers the ticks ``from_tick`` to ``to_tick``, both
included. ``window_x`` … and ``monitor_x`` … are places on the desktop that all monitors lie on. Unknown is NULL. Paths
are relative to the session's folder and POSIX. ``masks`` are rectangles that were
filled in a tick's picture before anybody saw it, in pixels of the picture; ``notes`` say what is odd about ticks that
were recorded all the same (``NOTE_KINDS``). ``annotations`` hold what models, rules and people said of events
afterwards (``simulator.annotate``); no run reads them. ``labels`` are what people said: verdicts at an instant, and
windows from ``at_ns`` to ``closes_ns`` in which help was needed (``simulator.annotate.labelling``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from simulator.core.types import SECOND

__all__ = [
    "ACCEPTED",
    "APPLICATION_ID",
    "COLUMNS",
    "DDL",
    "DRAFTS",
    "FAR_NS",
    "FILE_NAME",
    "GAP_REASONS",
    "KINDS",
    "LATER_COLUMNS",
    "LATER_LABELS",
    "LEAST_PERIOD_NS",
    "LOCK",
    "LONGEST_PATH",
    "MARKED",
    "NOTE_KINDS",
    "TABLE_OF_ANNOTATIONS",
    "VERSION",
    "Kind",
]

FILE_NAME = "session.db"
APPLICATION_ID = 0x70416374  # "pAct"
VERSION = 1

FAR_NS = 7 * 86_400 * SECOND  # rows further apart, with no gap between, are a wrong time and not a still screen
LEAST_PERIOD_NS = SECOND // 1000
LONGEST_PATH = 4096  # characters

GAP_REASONS = ("suspend", "overload", "permission", "blank", "locked", "excluded", "disk_full", "display_lost",
               "clock_step", "paused", "missing")  # fmt: skip

NOTE_KINDS = ("blank", "clock_step", "monitors", "resumed")

COLUMNS = (
    "id", "tick", "captured_ns", "wall_utc_ms", "tz_offset_min", "late_ms", "monitor", "file_path", "file_hash",
    "pixels_hash", "file_size", "width", "height", "scale", "monitor_x", "monitor_y", "app_name", "window_title",
    "window_class", "pid", "window_x", "window_y", "window_w", "window_h", "focus_changed", "change_score",
    "event_id", "text", "scene_description", "privacy_level", "privacy_action", "created_at",
)  # fmt: skip

LATER_COLUMNS = ("monitor_x", "monitor_y")
"""Of them, those that recordings of earlier versions lack."""

LATER_LABELS = ("closes_ns", "acted_ns", "weight", "origin", "replaces", "state")
"""Columns of ``labels`` that recordings of earlier versions lack: whoever marks windows adds them."""

DRAFTS = ("draft", "undone")
"""What ``labels.state`` says of windows that their labeller has not closed; of closed ones ``closed``."""

MARKED, ACCEPTED = "label", "accepted offer"
"""What ``labels.origin`` says: a person marked the window, or took over an offer that was called useful."""

LOCK = ".recording.lock"
"""The file that whoever writes a session holds: recording, compacting, redacting, labelling, forgetting."""

TABLE_OF_ANNOTATIONS = """
CREATE TABLE annotations (
  id INTEGER PRIMARY KEY, event_id INTEGER, start_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL,
  annotator TEXT NOT NULL, source TEXT NOT NULL, model TEXT, prompt_hash TEXT, asked_hash TEXT, status TEXT NOT NULL,
  reason TEXT, assistance INTEGER, platform TEXT, type TEXT, summary TEXT, conversation TEXT, query TEXT,
  intention TEXT, confidence REAL, rationale TEXT, repaired TEXT, official INTEGER NOT NULL DEFAULT 0,
  created_at TEXT);
"""

DDL = f"""
CREATE TABLE screenshots (
  id INTEGER PRIMARY KEY, tick INTEGER NOT NULL, captured_ns INTEGER NOT NULL, wall_utc_ms INTEGER,
  tz_offset_min INTEGER, late_ms REAL, monitor INTEGER NOT NULL DEFAULT 0, file_path TEXT, file_hash TEXT,
  pixels_hash TEXT, file_size INTEGER, width INTEGER, height INTEGER, scale REAL, monitor_x INTEGER,
  monitor_y INTEGER, app_name TEXT, window_title TEXT, window_class TEXT, pid INTEGER, window_x INTEGER,
  window_y INTEGER, window_w INTEGER, window_h INTEGER,
  focus_changed INTEGER, change_score REAL, event_id INTEGER, text TEXT, scene_description TEXT,
  privacy_level TEXT, privacy_action TEXT, created_at TEXT);
CREATE TABLE gaps (
  id INTEGER PRIMARY KEY, from_tick INTEGER NOT NULL, to_tick INTEGER NOT NULL, reason TEXT NOT NULL, detail TEXT);
CREATE TABLE events (
  id INTEGER PRIMARY KEY, start_time TEXT, end_time TEXT, start_tick INTEGER, end_tick INTEGER, start_ns INTEGER,
  end_ns INTEGER, app_name TEXT, window_title TEXT, is_llm_event INTEGER, event_summary TEXT,
  detailed_description TEXT, conversation TEXT, llm_platform TEXT, user_intention TEXT, intention_confidence REAL,
  excluded TEXT);
CREATE TABLE opportunities (
  id TEXT PRIMARY KEY, opens_ns INTEGER NOT NULL, closes_ns INTEGER NOT NULL, acted_ns INTEGER,
  intention TEXT NOT NULL, query TEXT, event_id INTEGER, weight REAL NOT NULL DEFAULT 1.0,
  origin TEXT NOT NULL DEFAULT 'recorded');
CREATE TABLE labels (
  id INTEGER PRIMARY KEY, event_id INTEGER, at_ns INTEGER, rater TEXT, help INTEGER, intention TEXT, query TEXT,
  verdict TEXT, note TEXT, created_at TEXT, closes_ns INTEGER, acted_ns INTEGER, weight REAL, origin TEXT,
  replaces INTEGER, state TEXT);
CREATE TABLE masks (
  id INTEGER PRIMARY KEY, tick INTEGER NOT NULL, monitor INTEGER NOT NULL, x INTEGER NOT NULL, y INTEGER NOT NULL,
  w INTEGER NOT NULL, h INTEGER NOT NULL, reason TEXT NOT NULL);
CREATE TABLE notes (
  id INTEGER PRIMARY KEY, tick INTEGER NOT NULL, monitor INTEGER, kind TEXT NOT NULL, detail TEXT);
{TABLE_OF_ANNOTATIONS}
CREATE TABLE profile (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
"""


class Kind(NamedTuple):
    """What may stand in a column: INTEGER, REAL or TEXT, and whether NULL may."""

    name: str
    needed: bool

    @property
    def stored(self) -> tuple[str, ...]:
        """What SQLite's ``typeof`` may say of a value that fits."""
        own = {"INTEGER": ("integer",), "REAL": ("real", "integer"), "TEXT": ("text",)}[self.name]
        return own if self.needed else (*own, "null")

    def fits(self, value: object) -> bool:
        """Whether a value as read fits; SQLite itself keeps whatever it was given."""
        if value is None:
            return not self.needed
        return type(value) is {"INTEGER": int, "REAL": float, "TEXT": str}[self.name] or (
            self.name == "REAL" and type(value) is int
        )

    @property
    def words(self) -> str:
        """What is wanted, for a sentence."""
        return {"INTEGER": "an integer", "REAL": "a number", "TEXT": "a text"}[self.name]


def _kinds() -> Iterator[tuple[str, dict[str, Kind]]]:
    for table, columns in re.findall(r"CREATE TABLE (\w+) \((.*?)\);", DDL, re.DOTALL):
        found = re.findall(r"(\w+) (INTEGER|REAL|TEXT)( NOT NULL| PRIMARY KEY)?", columns)
        yield table, {name: Kind(kind, bool(need)) for name, kind, need in found}


KINDS: Mapping[str, Mapping[str, Kind]] = dict(_kinds())
