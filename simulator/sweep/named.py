"""Studies that come with proact, by name: those of the papers, and ours."""

from __future__ import annotations

from pathlib import Path

from simulator.sweep.papers import file_name
from simulator.sweep.study import load

__all__ = ["FOLDER", "about", "find", "names"]

FOLDER = Path(__file__).with_name("presets")
_PREFIXES = ("paper", "pira")


def names() -> list[str]:
    """Of all, those of the papers first."""
    found = sorted(file.stem for file in FOLDER.glob("*.yaml"))
    named = [_name(stem) for stem in found]
    return sorted(named, key=lambda name: (":" not in name, name))


def find(name: str) -> Path | None:
    """The study file of a preset; None where there is none of that name."""
    return FOLDER / f"{file_name(name)}.yaml" if name in names() else None


def about() -> dict[str, str]:
    """What each asks, in a sentence."""
    return {name: load(FOLDER / f"{file_name(name)}.yaml").description or "" for name in names()}


def _name(stem: str) -> str:
    head, _, rest = stem.partition("-")
    return f"{head}:{rest}" if head in _PREFIXES else stem
