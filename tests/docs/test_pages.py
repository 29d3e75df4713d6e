"""What the pages show runs: code, commands, scenario files; and what they list is what there is."""

from __future__ import annotations

import importlib.util
import inspect
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from agents.base import agents
from agents.remote_protocol import KINDS, Answer, Health, observation_body, read, setup_body, unknown_fields
from agents.testing import observe
from memory.base import memories
from scorers.base import catalogue
from simulator.cli import _call
from simulator.core.protocols import History, Meter
from simulator.core.taxonomy import CLASSES
from simulator.core.types import Event, MemoryItem, Setup, Snapshot
from simulator.runs.config import CLOCKS, PROTOCOLS
from simulator.session.scenario import plays
from simulator.session.scenario_file import ScenarioFile
from simulator.session.schema import COLUMNS, GAP_REASONS
from simulator.timing.meter import STAGES

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = (
    "sessions",
    "pira",
    "describing",
    "agents",
    "remote-agents",
    "memories",
    "memory-adapters",
    "scores",
    "comparing",
    "sweeps",
    "presets",
    "python",
    "generating",
    "writing-a-scorer",
)
TEXT = {page: (DOCS / f"{page}.md").read_text(encoding="utf-8") for page in PAGES}
BLOCK = re.compile(
    r"(?P<file><!-- file: (?P<name>\S+) -->\n)?(?P<printed><!-- printed -->\n)?^```(?P<kind>\w*)\n(?P<body>.*?)^```",
    re.M | re.S,
)


def _tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_regenerate_files", DOCS / "regenerate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _blocks(page: str, *kinds: str) -> list[str]:
    return [b["body"] for b in BLOCK.finditer(TEXT[page]) if b["kind"] in kinds and b["file"] is None]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that looks like a checkout to whoever follows a page."""
    shutil.copytree(DOCS / "examples", tmp_path / "docs" / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "scenarios").symlink_to(ROOT / "scenarios")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if name in ("stuck", "heard", "last_question", "over_http", "remote_agent") or name.startswith("proact_user_"):
            del sys.modules[name]


def _check_printed(where: str, shown: str, printed: str) -> None:
    """That lines shown are lines printed, one after the other, with nothing left out but where that is said."""
    lines = [line.rstrip() for line in printed.splitlines() if line.strip()]
    at, may_skip = 0, False
    for line in (line for line in shown.splitlines() if line.strip()):
        if line == "…":
            may_skip = True
            continue
        assert line in lines[at:], f"{where} shows what is not printed: {line}\n{printed}"
        found = lines.index(line, at)
        assert may_skip or found == at, f"{where} leaves out, and does not say so: {lines[at]}"
        at, may_skip = found + 1, False
    assert may_skip or at == len(lines), f"{where} leaves out the end, and does not say so"


@pytest.mark.parametrize("page", PAGES)
def test_code_and_commands_of_a_page_run_in_their_order(
    page: str, place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A block marked as printed is what the command before it prints; a line with an ellipsis stands for any number."""
    n, printed = 0, ""
    monkeypatch.setenv("COLUMNS", "80")
    for block in BLOCK.finditer(TEXT[page]):
        if block["file"] is not None:
            continue
        if block["printed"] is not None:
            _check_printed(f"{page}.md", block["body"], printed)
            n += 1
        if block["kind"] == "python":
            exec(compile(block["body"], f"{page}.md", "exec"), {"__name__": "page"})
            n += 1
        for line in block["body"].splitlines() if block["kind"] == "sh" else ():
            words = shlex.split(line)
            assert words[0] == "proact", f"{page}.md: only proact's own commands are run: {line}"
            capsys.readouterr()
            code, said = _call(words[1:]), capsys.readouterr()
            assert code == 0, f"{line}\n{said.err}"
            printed = said.out
            n += 1
    assert n > (0 if page == "python" else 2), "the page shows nothing that runs"


@pytest.mark.parametrize("page", PAGES)
def test_a_block_that_is_not_run_says_so_by_its_kind(page: str) -> None:
    assert {b["kind"] for b in BLOCK.finditer(TEXT[page])} <= {"python", "sh", "yaml", "csv", "text"}


def test_scenario_pieces_are_scenarios(place: Path) -> None:
    pieces = _blocks("sessions", "yaml")
    assert len(pieces) == 3
    for piece in pieces:
        file = place / "docs" / "examples" / "piece.yaml"
        file.write_text(piece, encoding="utf-8")
        assert all(play.truth.known or play.truth.intents is not None for play in plays([file]))


@pytest.mark.parametrize("page", PAGES)
def test_files_shown_are_the_files_that_there_are(page: str) -> None:
    assert _tool().with_files(TEXT[page]) == TEXT[page], "run `make docs`"


def test_every_example_is_shown_on_a_page() -> None:
    shown = {b["name"] for page in PAGES for b in BLOCK.finditer(TEXT[page]) if b["file"]}
    there = {f"examples/{p.name}" for p in (DOCS / "examples").iterdir() if p.is_file()}
    assert shown == there


def _missing(page: str, names: Any) -> list[str]:
    """Which names stand in no `code` of the page, blocks apart."""
    said = " ".join(re.findall(r"`([^`]+)`", BLOCK.sub("", TEXT[page])))
    return [name for name in names if not re.search(rf"(?<![\w@]){re.escape(name)}(?![\w@])", said)]


def test_the_page_on_sessions_names_every_key_column_reason_and_class() -> None:
    example = yaml.safe_load((DOCS / "examples" / "desk.yaml").read_text(encoding="utf-8"))
    assert set(ScenarioFile.model_fields) - set(example) == {"profiles"}, "the example shows every key but this one"
    assert not _missing("sessions", [*COLUMNS, *GAP_REASONS, *CLASSES, "profiles"])


def test_the_page_on_agents_names_all_that_an_agent_meets() -> None:
    meets = [*STAGES, *Snapshot._fields, *CLOCKS]
    meets += [n for p in (Meter, History) for n in vars(p) if not n.startswith("_")]
    meets += ["open", "rehearse", "finish", "cancel", "close", "inline", "background", "concurrent"]
    assert not _missing("agents", [*meets, *agents.names()])


def test_the_page_on_memories_names_every_memory_option_and_field() -> None:
    options = [p for name in memories.names() for p in inspect.signature(memories.get(name)).parameters]
    assert not _missing(
        "memories", [n for n in (*memories.names(), *options, *MemoryItem.__slots__) if n != "embedder"]
    )


def test_the_page_on_scores_names_only_metrics_that_there_are() -> None:
    from simulator.cli.show import CLASSES as SIX
    from simulator.cli.show import HEADLINES

    known = {metric.name for _, metric in catalogue()}
    assert not _missing("scores", [*HEADLINES["stream"], *SIX, *PROTOCOLS])
    named = set(re.findall(r"`([A-Za-z_]+(?:_rt|_s|_per_hour)|[a-z_]+@[a-z0-9_]+)`", TEXT["scores"]))
    assert named
    assert {n for n in named if n not in known} == set()


def test_the_page_on_remote_agents_shows_calls_and_answers_as_they_are() -> None:
    health, opened, decide, decision = (yaml.safe_load(block) for block in _blocks("remote-agents", "yaml"))
    assert unknown_fields(read(Health, health, "health")) == []
    assert unknown_fields(read(Answer, decision, "decide")) == []
    assert set(decision) == set(Answer.model_fields)
    assert set(decision["usage"]) == {"tokens_in", "tokens_out", "reasoning", "cached", "images", "cost"}
    assert _shape(setup_body(Setup("s", "u", {"languages": ""}, [""], 0))) == _shape(opened)
    seen = observe(items=[MemoryItem("", 0.5)], events=[Event("e", "u", 0, 1)], profile={"languages": ""})
    assert _shape({"id": None, **observation_body(seen, [MemoryItem("", 0.5)], "", None)}) == _shape(decide)


def _shape(value: Any) -> Any:
    """The names in it."""
    if isinstance(value, dict):
        return {name: _shape(inner) for name, inner in value.items()}
    return _shape(value[0]) if isinstance(value, list) else None


def test_the_page_on_remote_agents_names_every_parameter_and_kind_of_error() -> None:
    from agents.remote import Remote
    from agents.remote_stdio import Stdio

    parameters = [p for cls in (Remote, Stdio) for p in inspect.signature(cls).parameters]
    assert not _missing("remote-agents", [*parameters, *KINDS])
