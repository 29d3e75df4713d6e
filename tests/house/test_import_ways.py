"""Which way imports may go: the table of ``docs/architecture.md``, held against every file."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HOUSES = ("simulator", "agents", "memory", "scorers")
ANYTHING = HOUSES

# A room (the longest prefix counts) and what it may import beside itself.
WAYS: dict[str, tuple[str, ...]] = {
    "simulator": ("simulator.core",),
    "simulator.core": (),
    "simulator.timing": ("simulator.core",),
    "simulator.screen": ("simulator.core", "simulator.timing"),
    "simulator.endpoint": ("simulator.core", "simulator.timing", "simulator.screen"),
    "simulator.session": ("simulator.core", "simulator.timing", "simulator.screen", "simulator.sources"),
    "simulator.sources": ("simulator.core", "simulator.timing", "simulator.screen", "simulator.session"),
    "simulator.runs": (
        "simulator.core",
        "simulator.timing",
        "simulator.screen",
        "simulator.endpoint",
        "simulator.session",
        "simulator.sources",
        "memory.view",  # the one way to read a memory as of now; it knows memories by protocol only
    ),
    "simulator.recorder": (
        "simulator.core",
        "simulator.timing",
        "simulator.screen",
        "simulator.session",
        "simulator.sources",
    ),
    "simulator.privacy": (
        "simulator.core",
        "simulator.timing",
        "simulator.screen",
        "simulator.session",
        "simulator.runs.runlog",
        "memory.journal",  # the one who knows how a memory's store is read and forgotten in
    ),
    "simulator.annotate": (
        "simulator.core",
        "simulator.timing",
        "simulator.screen",
        "simulator.session",
        "simulator.sources",
        "simulator.endpoint",
    ),
    "simulator.figures": ("simulator.core",),
    "simulator.workload": ("simulator.core", "simulator.screen", "simulator.session"),
    "simulator.play": ANYTHING,
    "simulator.report": ANYTHING,
    "simulator.sweep": ANYTHING,
    "simulator.web": ANYTHING,
    "simulator.cli": ANYTHING,
    "memory": ("simulator.core", "simulator.timing", "simulator.endpoint"),
    "agents": ("simulator.core", "simulator.screen", "simulator.endpoint", "memory.base"),
    "scorers": (
        "simulator.core",
        "simulator.endpoint",
        "simulator.runs.records",
        "simulator.runs.runlog",
        "simulator.runs.gate",
        "simulator.session.truth",
    ),
}
# Rooms at the top: they see everything, nobody below sees them.
TOP = ("simulator.cli", "simulator.play", "simulator.report", "simulator.sweep", "simulator.web")


def _modules(root: Path = ROOT) -> Iterator[tuple[str, Path]]:
    for house in HOUSES:
        for path in sorted((root / house).rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


def _under(name: str, prefix: str) -> bool:
    return name == prefix or name.startswith(prefix + ".")


def _room(module: str) -> str:
    return max((room for room in WAYS if _under(module, room)), key=len)


def _imports(module: str, source: str, known: frozenset[str], *, package: bool) -> Iterator[tuple[int, str]]:
    """Line and full name of everything of ours that a file imports, a submodule where one is meant."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = module.split(".")[: len(module.split(".")) - node.level + package]
                base = ".".join([*above, *filter(None, [base])])
            names = [f"{base}.{a.name}" if f"{base}.{a.name}" in known else base for a in node.names]
        else:
            continue
        yield from ((node.lineno, name) for name in names if name.split(".")[0] in HOUSES)


def _violations(module: str, source: str, known: frozenset[str], *, package: bool = False) -> list[str]:
    room = _room(module)
    allowed = (*WAYS[room], room if room != "simulator" else module)
    return [
        f"{module}:{line} imports {name}; {room} may import {', '.join(WAYS[room]) or 'nothing of ours'}"
        for line, name in _imports(module, source, known, package=package)
        if not any(_under(name, a) for a in allowed) or (any(_under(name, t) for t in TOP) and room not in TOP)
    ]


def test_every_import_goes_an_allowed_way() -> None:
    files = list(_modules())
    known = frozenset(name for name, _ in files)
    found = [
        line
        for name, path in files
        # a door names what lies behind it for type checkers; doors are checked by test_doors
        if not (path.name == "__init__.py" and name in HOUSES)
        for line in _violations(name, path.read_text(encoding="utf-8"), known, package=path.name == "__init__.py")
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("simulator.core.types", "from simulator.timing import clock"),
        ("scorers.realtime", "import agents.prior"),
        ("scorers.realtime", "from simulator.runs.engine import run"),
        ("scorers.realtime", "from memory import rag"),
        ("agents.prior", "from memory.rag import Rag"),
        ("agents.prior", "from memory import rag"),
        ("memory.rag", "import simulator.session.truth"),
        ("simulator.runs.engine", "def f():\n    from agents import prior"),
        ("simulator.session.reader", "from simulator.cli import main"),
        ("simulator.core.types", "from ..timing import clock"),
    ],
)
def test_a_forbidden_import_is_found(module: str, source: str) -> None:
    known = frozenset({"simulator.timing.clock", "memory.rag", "agents.prior"})
    assert _violations(module, source, known)


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("agents.prior", "from memory.base import MEMORIES\nfrom simulator.core import types"),
        ("scorers.realtime", "from simulator.runs.records import RunLog\nfrom scorers.matching import match"),
        ("simulator.cli.run", "import agents, memory, scorers\nfrom simulator.web import server"),
        ("simulator.core.types", "from .protocols import Agent\nimport json"),
    ],
)
def test_an_allowed_import_is_not(module: str, source: str) -> None:
    assert _violations(module, source, frozenset({"simulator.core.types", "memory.base"})) == []


def test_every_room_is_in_the_table() -> None:
    rooms = {f"simulator.{p.name}" for p in (ROOT / "simulator").iterdir() if (p / "__init__.py").is_file()}
    assert rooms <= set(WAYS), f"no import rule for {sorted(rooms - set(WAYS))}"
