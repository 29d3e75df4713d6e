"""``proact dataset privacy``: look through a recording of yourself, redact it, decide about single pictures."""

from __future__ import annotations

from cyclopts import App

__all__ = ["privacy"]

privacy = App(name="privacy", help="Find, redact and review what is private in recorded sessions.")
privacy.command("simulator.cli.exclusions:try_rules", name="test", help="Say what exclusion rules make of a window.")
