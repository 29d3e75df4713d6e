"""The start-up check on import names: ``agents``, ``memory`` and the like are words that others use too.

The folders of this project are imported under their own names, and ``agents`` is also the import name of
another distribution (``docs/decisions/001-import-names.md``). Where two of them meet in one environment, half of
the house would be somebody else's: better one clear sentence before anything runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from simulator.core.errors import UsageError, quote

__all__ = ["ROOTS", "check", "home_of"]

ROOTS = ("simulator", "agents", "memory", "scorers")


def home_of(root: str) -> Path | None:
    """The folder that holds the package of that name, None where Python finds none.

    A folder without ``__init__.py`` (a namespace package) is never ours and counts as not found.
    """
    try:
        spec = find_spec(root)
    except ValueError:  # a module put into sys.modules by hand has no spec
        return None
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).resolve().parent.parent


def check(roots: Sequence[str] = ROOTS) -> None:
    """Make sure that all four roots of the house are found under one folder, the one this module runs from.

    Takes well under 5 ms; the metadata of installed distributions are read only to name a culprit.

    Raises:
        UsageError: one line that names what hides which package, whose it is, and the way out.
    """
    home = Path(__file__).resolve().parents[2]
    for root in roots:
        found = home_of(root)
        if found == home:
            continue
        if found is None:
            raise UsageError(
                f"the package {quote(root)} of proact is not found beside 'simulator' in {home}: install proact anew"
            )
        raise UsageError(
            f"the package {quote(root)} of proact is hidden by {_owner(root)} in {found}: "
            "give proact a virtual environment of its own "
            "(an agent built on that package can run in its own process)"
        )


def _owner(root: str) -> str:
    """Which distribution an import name belongs to, in words; a plain folder on the path belongs to none."""
    from importlib.metadata import packages_distributions  # slow: reads the metadata of everything installed

    others = sorted({name for name in packages_distributions().get(root, ()) if name != "proact"})
    if not others:
        return "a folder on Python's path"
    return f"the distribution {', '.join(quote(name) for name in others)}"
