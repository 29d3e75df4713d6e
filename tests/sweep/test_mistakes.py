"""Mistakes in a study that are told before anything is played, and in a dry run too."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agents.base import agents
from simulator.cli import _call
from simulator.core.errors import InputError, UsageError
from simulator.core.traits import trait
from simulator.endpoint.types import ModelChoice
from simulator.play.player import run
from simulator.sweep.estimate import estimate
from simulator.sweep.idle_axes import unread_axes
from simulator.sweep.planning import look
from simulator.sweep.sweeping import Asked, plan_of, prepared
from simulator.web.index_data import Index
from tests.endpoint.faults import FaultServer
from tests.sweep.small import LATENCY, swept, world, write

ROOT = Path(__file__).resolve().parents[2]


def dry(file: Path, out: Path, **asked: Any) -> Any:
    said = Asked(out=out, **asked)
    plan = plan_of(prepared(file, said), said, dry=True)
    look(plan, again=False)
    return plan


def test_a_gate_of_no_metric_is_told_wherever_it_stands(tmp_path: Path) -> None:
    file = world(tmp_path, n=1, fail_if=["F1_rtt<1"])
    with pytest.raises(InputError, match=r"fail_if: 'F1_rtt<1': there is no such metric; did you mean 'F1_rt'\?") as it:
        dry(file, tmp_path / "out")
    assert len(str(it.value)) < 250, "the hundred others are not told"
    write(tmp_path, fail_if=["f1_rt<0", "scheduled_latency@p95>1e9"])
    dry(file, tmp_path / "out")
    with pytest.raises(UsageError, match=r"^--fail-if 'F2<1': there is no such metric; "):
        dry(file, tmp_path / "out", fail_if=["F2<1"])


@pytest.mark.parametrize(
    ("axes", "said"),
    [
        ({"agent": "prior", "policy": "cancel_in_flight"}, "cannot play policy cancel_in_flight"),
        ({"agent": "naive"}, "answers in protocol trajectory only"),
        ({"agent": "prior", "memory": "shuffled-user"}, "nobody but 'user-0' is in this run"),
    ],
)
def test_a_cell_that_cannot_be_played_is_told_by_a_dry_run_too(axes: dict[str, Any], said: str, tmp_path: Path) -> None:
    file = world(tmp_path, n=1, axes={"memory": "none", "latency": LATENCY, **axes})
    with pytest.raises(InputError, match=said):
        dry(file, tmp_path / "out")


def test_all_that_is_wrong_with_the_words_of_a_study_is_told_at_once(tmp_path: Path) -> None:
    file = world(tmp_path, n=1, axes={"agent": ["silnt", "prior"], "memory": ["none", "nne"], "latency": LATENCY},
                 metrics=["F1_rtt"], fail_if=["F1_rt is bad", "R_rtt<1"])  # fmt: skip
    with pytest.raises(InputError) as caught:
        dry(file, tmp_path / "out", fail_if=["P_rtt<1"])
    told = str(caught.value).splitlines()
    assert len(told) == 6, told
    assert all(one in str(caught.value) for one in ("'silnt'", "'nne'", "'F1_rtt'", "is bad", "'R_rtt<1'", "'P_rtt<1'"))
    axes = {"agent": ["prior", "silent"], "memory": ["none", "rag"], "latency": LATENCY}
    write(tmp_path, axes=axes, exclude=[{}, {"memry": "rag"}], baseline={"agent": "always"})
    with pytest.raises(InputError) as caught:
        dry(file, tmp_path / "out")
    assert [line.split(": ")[1] for line in str(caught.value).splitlines()] == [
        "exclude[0]", "exclude[1].memry", "baseline.agent"]  # fmt: skip
    write(tmp_path, axes={**axes, "agent": ["naive", "prior"], "policy": ["latest_only", "cancel_in_flight"]})
    with pytest.raises(InputError) as caught:
        dry(file, tmp_path / "out")
    assert len(str(caught.value).splitlines()) == 2, "a sentence for each kind of fault, not for each cell"


@pytest.mark.parametrize(
    ("axis", "values", "said"),
    [
        ("window", ["60s", "banana", "-5s"], ("banana", "-5s")),
        ("embedder", ["hash", "nosuch"], ("nosuch",)),
        ("latency", ["measured", "banana"], ("banana",)),
        ("policy", ["latest_only", "banana"], ("banana",)),
        ("speed", ["2", "banana"], ("banana",)),
    ],
)
def test_a_value_is_looked_at_even_where_its_axis_says_nothing(
    axis: str, values: list[str], said: tuple[str, ...], tmp_path: Path
) -> None:
    protocol = "moments" if axis == "policy" else "stream"
    axes = {"agent": "prior", "memory": "none", "clock": "measured", "protocol": protocol}
    file = world(tmp_path, n=1, axes={**axes, axis: values}, metrics=[])
    with pytest.raises(InputError) as caught:
        dry(file, tmp_path / "out")
    assert all(value in str(caught.value) for value in said)
    write(tmp_path, axes={**axes, axis: values[0]}, metrics=[])
    assert dry(file, tmp_path / "out").n_units == 1


@pytest.mark.parametrize("memory", ["personas:writer=model", "rag+personas:writer=model"])
def test_a_dry_run_tells_that_a_memory_asks_a_model(memory: str, tmp_path: Path) -> None:
    file = world(tmp_path, n=1, axes={"agent": "silent", "memory": memory, "latency": LATENCY})
    assert estimate(dry(file, tmp_path / "out"), 1, 1).calls is None
    write(tmp_path, axes={"agent": "silent", "memory": memory.split(":")[0], "latency": LATENCY})
    assert estimate(dry(file, tmp_path / "out"), 1, 1).calls == 0


@pytest.mark.parametrize(
    ("memory", "calls"), [("personas:writer=model", 30), ("personas:cap=2,writer=model+rag", 4), ("rag+personas", 0)]
)
def test_a_dry_run_counts_what_a_frozen_memory_asks_before_a_session_with_a_past(
    memory: str, calls: int, tmp_path: Path
) -> None:
    axes = {"agent": "silent", "protocol": "moments", "latency": LATENCY, "memory": memory}
    file = world(tmp_path, n=2, axes=axes, metrics=[])
    with_a_past = Path(__file__).resolve().parents[2] / "scenarios" / "translation"
    for sessions, found in (([], 0), ([with_a_past], calls)):
        assert estimate(dry(file, tmp_path / "out", sessions=sessions), 1, 1).calls == found
    write(tmp_path, axes={**axes, "memory_mode": "online"}, metrics=[])
    assert estimate(dry(file, tmp_path / "out", sessions=[with_a_past]), 1, 1).calls == (None if calls else 0)


def test_a_dry_run_counts_the_moments_that_there_are_and_what_is_asked_once(tmp_path: Path) -> None:
    axes = {"agent": "zero-shot", "memory": "none", "protocol": "moments", "latency": LATENCY}
    file = world(tmp_path, n=2, axes=axes, metrics=[])
    found = estimate(dry(file, tmp_path / "out"), 1, 1)
    assert found.decisions is not None
    assert found.decisions <= 4  # a need a session, and a moment without one
    write(tmp_path, axes={**axes, "agent": "naive", "protocol": "trajectory"}, metrics=[])
    assert estimate(dry(file, tmp_path / "out"), 1, 1).calls == 2


ENDS = """import os
{at_import}

class Ends:
    def __init__(self):
        os._exit(3)

    async def decide(self, observation):
        return None
"""


@pytest.mark.parametrize("at_import", ["", "from os import _exit; _exit(3)"])
def test_an_agent_that_ends_the_process_while_it_is_made_is_told(at_import: str, tmp_path: Path) -> None:
    (tmp_path / "ends.py").write_text(ENDS.format(at_import=at_import))
    file = world(tmp_path, n=1, axes={"agent": "ends.py:Ends", "memory": "none", "latency": LATENCY})
    done = subprocess.run(
        [sys.executable, "-m", "simulator.cli", "sweep", file.name, "--out", "out", "--engine", "inline"],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "'ends.py:Ends'" in done.stderr
    assert "os._exit(3), which would end proact itself" in " ".join(done.stderr.split())


def test_what_an_agent_may_say_of_itself_is_not_held_against_its_class(tmp_path: Path) -> None:
    file = world(tmp_path, n=1, axes={"agent": "remote:url=http://127.0.0.1:1,stateless=true", "memory": "none",
                                      "latency": LATENCY, "policy": "overlap:2"})  # fmt: skip
    dry(file, tmp_path / "out")


def test_runs_that_were_named_by_other_axes_are_there_in_a_dry_run_too(tmp_path: Path) -> None:
    file = world(tmp_path, n=2, axes={"agent": "silent", "memory": ["none", "rag"], "latency": LATENCY})
    swept(file, tmp_path / "out")
    write(tmp_path, axes={"agent": ["silent", "always"], "memory": ["none", "rag"], "latency": LATENCY})
    plan = dry(file, tmp_path / "out")
    assert (plan.n_units, plan.n_missing) == (8, 4)
    write(tmp_path, axes={"agent": "silent", "memory": "none", "latency": LATENCY})
    assert dry(file, tmp_path / "out").n_missing == 0


def test_a_server_is_asked_which_model_is_meant_before_anything_is_played(tmp_path: Path) -> None:
    file = world(tmp_path, n=1, axes={"agent": ["zero-shot", "silent"], "memory": "none", "latency": LATENCY})
    with FaultServer() as server:
        with pytest.raises(UsageError, match=r"nothing is played: .* serves 2 models; name one with --model"):
            swept(file, tmp_path / "out", model=ModelChoice(None, server.url("many_models")))
        assert not list((tmp_path / "out").rglob("unit.json"))
        gone = server.url("ok")
        swept(file, tmp_path / "out", model=ModelChoice("m", gone))
        assert len(list((tmp_path / "out").rglob("unit.json"))) == 2
    swept(file, tmp_path / "out", model=ModelChoice("m", gone))  # nothing is missing: nobody is asked
    with pytest.raises(UsageError, match=r"nothing is played: .* cannot be reached"):
        swept(file, tmp_path / "other", model=ModelChoice("m", gone))


def test_a_memory_that_could_ask_a_model_and_was_given_none_needs_no_server(tmp_path: Path) -> None:
    file = world(tmp_path, n=1, axes={"agent": "prior", "memory": "personas", "latency": LATENCY})
    swept(file, tmp_path / "out")
    assert len(list((tmp_path / "out").rglob("unit.json"))) == 1


def test_what_the_command_line_set_is_told_as_such(tmp_path: Path) -> None:
    file = world(tmp_path, n=1, axes={"agent": "silent", "memory": ["none", "rag"]}, baseline={"memory": "none"})
    with pytest.raises(
        InputError, match=r"axes\.memory \(set on the command line\): unknown memory 'grpah'; did you mean"
    ):
        dry(file, tmp_path / "out", set_={"memory": ["grpah"]})
    with pytest.raises(
        InputError, match=r"baseline\.memory: 'none': no value of that axis as it is set on the command"
    ):
        dry(file, tmp_path / "out", set_={"memory": ["rag"]})


def test_a_second_value_behind_an_option_is_told_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert _call(["sweep", "memory-ablation", "--sessions", "a", "b"]) == 2
    assert (
        "nothing takes the word 'b'; an option that may be given several times has one value" in capsys.readouterr().err
    )


def test_an_axis_that_changed_nothing_is_told_in_the_summary(tmp_path: Path) -> None:
    axes = {"agent": ["always", "silent"], "memory": "none", "latency": LATENCY, "timeout": ["10s", "5min"]}
    done, _ = swept(world(tmp_path, n=2, axes=axes), tmp_path / "out")
    assert done.summary is not None
    told = [one for one in done.summary.summary["caveats"] if "changed no figure" in one]
    assert [one.partition(" changed")[0] for one in told] == ["timeout"], told
    assert "wherever it varies" in told[0]


READS = """from simulator import SILENT

class Reads:
    async def decide(self, observation):
        return SILENT

class Blind(Reads):
    reads_window = False
"""


def test_agents_that_do_not_read_the_window_are_played_once_which_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = tmp_path / "reads.py"
    code.write_text(READS)
    said_of = ["prior", f"{code}:Blind", f"{code}:Reads"]
    axes = {"agent": said_of, "memory": "none", "latency": LATENCY, "window": ["10s", "5min"]}
    file = world(tmp_path, n=1, axes=axes)
    assert _call(["sweep", str(file), "--out", str(tmp_path / "out"), "--dry-run"]) == 0
    said = "window says nothing to 2 of 4 cells; such a cell is played once"
    assert said in " ".join(capsys.readouterr().out.replace("│", " ").split())
    done, watch = swept(file, tmp_path / "out")
    assert (len(watch.units), unread_axes(prepared(file, Asked()).grid.axes, done.plan.cells)) == (4, [said])
    write(tmp_path, axes={**axes, "agent": "silent"})
    cells = dry(file, tmp_path / "other").cells
    assert (len(cells), unread_axes(prepared(file, Asked()).grid.axes, cells)) == (
        1, ["window says nothing to any cell; such a cell is played once"])  # fmt: skip


@pytest.mark.parametrize("name", [n for n in agents.names() if not trait(agents.get(n), "reads_window", True)])
def test_ours_that_say_so_do_not_read_the_window(name: str, tmp_path: Path) -> None:
    world(tmp_path, n=1)
    words = name
    if name == "scripted":
        (tmp_path / "script.jsonl").write_text('{"t_s": 7, "intention": "Translation", "text": "x"}\n')
        words = f"scripted:{tmp_path / 'script.jsonl'}"
    logs = []
    for window in ("1s", "5min"):
        out = tmp_path / window
        run(tmp_path / "sessions", words, "rag", clock="modelled", latency=LATENCY, seed=0, out=out, window=window)
        logs.append((out / "units" / "s0" / "decisions.jsonl").read_text().partition("\n")[2])
    assert logs[0] == logs[1]


def test_tokens_are_unknown_where_calls_are(tmp_path: Path) -> None:
    axes = {"agent": "zero-shot", "memory": "none", "latency": LATENCY}
    file = world(tmp_path, n=1, axes=axes)
    assert estimate(dry(file, tmp_path / "out"), 1, 1).tokens_in is not None
    made = {"clean": ["sessions"], "noise": {"noise": {"of": "clean"}}}
    plan = dry(write(tmp_path, axes=axes, sessions=None, data=made), tmp_path / "out")
    told = estimate(plan, 1, 1)
    assert (told.calls, told.tokens_in, told.tokens_out) == (None, None, None)


def test_a_run_that_its_study_has_no_more_is_marked_in_the_list_of_runs(tmp_path: Path) -> None:
    axes = {"agent": "silent", "memory": ["none", "rag"], "latency": LATENCY}
    swept(world(tmp_path, n=1, axes=axes), tmp_path / "out")
    runs = [(path.name, path, path.name) for path in sorted((tmp_path / "out" / "runs").iterdir())]
    index = Index()
    rows, _ = index.rows(runs, budget_s=5)
    assert not any("gone" in row for row in rows)
    swept(write(tmp_path, axes={**axes, "memory": ["none", "graph"]}), tmp_path / "out")
    rows, _ = index.rows(runs, budget_s=5)
    assert {row["name"].partition("-")[0]: row.get("gone") for row in rows} == {"none": None, "rag": True}
