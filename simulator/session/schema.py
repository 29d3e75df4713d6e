"""The tables of a recorded session: ``session.db``, one SQLite file a session.

A superset of what ProAgentBench describes (App. A.1-A.2) and LifeTrace writes. ``captured_ns``, ``opens_ns``,
``start_ns`` and so on count from the session's anchor (``meta.utc_anchor_ns``, UTC of ``captured_ns`` 0 where it is
known); ``tick`` k is due at ``k * meta.period_ns``. A gap covers the ticks ``from_tick`` to ``to_tick``, both
included. Unknown is NULL. Paths are relative to the session's folder and POSIX.
"""

from __future__ import annotations

__all__ = ["APPLICATION_ID", "COLUMNS", "DDL", "FILE_NAME", "GAP_REASONS", "VERSION"]

FILE_NAME = "session.db"
APPLICATION_ID = 0x70416374  # "pAct"
VERSION = 1

GAP_REASONS = ("suspend", "overload", "permission", "blank", "locked", "excluded", "disk_full", "display_lost",
               "clock_step", "paused", "missing")  # fmt: skip

COLUMNS = (
    "id", "tick", "captured_ns", "wall_utc_ms", "tz_offset_min", "late_ms", "monitor", "file_path", "file_hash",
    "pixels_hash", "file_size", "width", "height", "scale", "app_name", "window_title", "window_class", "pid",
    "window_x", "window_y", "window_w", "window_h", "focus_changed", "change_score", "event_id", "text",
    "scene_description", "privacy_level", "privacy_action", "created_at",
)  # fmt: skip

DDL = """
CREATE TABLE screenshots (
  id INTEGER PRIMARY KEY, tick INTEGER NOT NULL, captured_ns INTEGER NOT NULL, wall_utc_ms INTEGER,
  tz_offset_min INTEGER, late_ms REAL, monitor INTEGER NOT NULL DEFAULT 0, file_path TEXT, file_hash TEXT,
  pixels_hash TEXT, file_size INTEGER, width INTEGER, height INTEGER, scale REAL, app_name TEXT, window_title TEXT,
  window_class TEXT, pid INTEGER, window_x INTEGER, window_y INTEGER, window_w INTEGER, window_h INTEGER,
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
  verdict TEXT, note TEXT, created_at TEXT);
CREATE TABLE profile (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
"""
