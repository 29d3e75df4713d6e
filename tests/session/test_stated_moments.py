"""A scenario may state what protocol ``moments`` asks, and where its truth comes from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from simulator.core.errors import InputError
from simulator.core.types import SECOND
from simulator.play import run
from simulator.session.scenario import plays
from simulator.session.store import Writer
from simulator.session.truth import Moment, read


def _scenario(folder: Path, **truth: Any) -> Path:
    with Writer(folder, session="s", user="u") as writer:
        writer.add_rows(("tick", "captured_ns", "app_name"), [(i, i * SECOND, "x") for i in range(20)])
        writer.close(end_ns=20 * SECOND)
    file = folder / "scenario.yaml"
    file.write_text(yaml.safe_dump({"protocol": "moments", "truth": truth}), encoding="utf-8")
    return file


NEED = {"opens_s": 3, "closes_s": 9, "intention": "Translation", "query": "what is that"}
ASKED = [{"t_s": 12, "positive": False}, {"t_s": 3.5, "positive": True, "intention": "translation", "query": "what"}]


def test_moments_and_rule_are_read_as_stated_in_order_of_time(tmp_path: Path) -> None:
    (play,) = plays([_scenario(tmp_path, opportunities=[NEED], moments=ASKED, rule="people said so")])
    assert play.truth.moments == (
        Moment(3_500_000_000, True, "Translation", "what"),
        Moment(12 * SECOND, False),
    )
    assert play.truth.rule == "scenario: people said so"
    assert play.truth.known


@pytest.mark.parametrize(
    ("truth", "words"),
    [
        ({"assists": [], "moments": ASKED}, "moments stand beside opportunities"),
        (
            {"opportunities": [], "moments": [{"t_s": 20, "positive": True}]},
            r"\[0\].t_s: '20.0': a moment within",
        ),
        ({"opportunities": [], "moments": [*ASKED, ASKED[0]]}, r"moments\[2\].t_s: '12.0': each instant once"),
        ({"opportunities": [], "moments": [{"t_s": -1, "positive": True}]}, "t_s"),
        ({"opportunities": [], "moments": [{"t_s": float("nan"), "positive": True}]}, "t_s"),
        ({"opportunities": [], "moments": [{"t_s": 1, "positive": 1}]}, "positive"),
        ({"opportunities": [], "moments": [{"t_s": 1, "positve": True}]}, "did you mean 'positive'"),
        ({"opportunities": [], "moments": [{"t_s": 1, "positive": True, "intention": "Flying"}]}, "unknown intention"),
        ({"opportunities": [], "rule": ""}, "rule"),
    ],
)
def test_a_wrong_moment_is_one_sentence(tmp_path: Path, truth: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        plays([_scenario(tmp_path, **truth)])


@pytest.mark.parametrize(("protocol", "n"), [("moments", 2), ("stream", 20)])
def test_a_run_asks_what_is_stated_and_other_protocols_know_nothing_of_it(
    tmp_path: Path, protocol: str, n: int
) -> None:
    file = _scenario(tmp_path / "s", opportunities=[NEED], moments=ASKED)
    done = run([file], agent="oracle", protocol=protocol, out=tmp_path / "run", clock="modelled",
               latency="profile:instant")  # fmt: skip
    assert done.scores is not None
    assert done.scores["counts"]["decisions"] == n
    (kept,) = (tmp_path / "run").rglob("truth.json")
    assert len(read(kept).moments) == (2 if protocol == "moments" else 0)
    if protocol == "moments":
        assert done.scores["scores"]["accuracy"] == 1.0
