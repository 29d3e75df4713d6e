"""A scorer of somebody else's that is faulty is told in one sentence: whose, what is wrong, what is right."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scorers.base import Metric, Score, Unit, score_run
from simulator.cli import _call
from simulator.core.errors import UsageError
from simulator.play import run
from tests.logs import D, log, need, truth

DESKTOP = Path(__file__).resolve().parents[2] / "scenarios" / "desktop"
Figure: Any = Score  # what checks of types would find is to be found without them
METRIC = Metric("mine", "offers / offers", "0-1", "0-1", "up")
UNIT = Unit("s", log([D(12, 14, ["Debug"])]), truth(60, [need("A", 10, 30)]))


class Whole:
    """Keeps to all that is promised."""

    protocols: Any = ("stream",)
    needs_truth: Any = False
    metrics: Any = (METRIC,)

    def tally(self, unit: Unit, context: Any) -> Any:
        return 1

    def figures(self, tallies: Any) -> Any:
        return [Figure(METRIC, 1.0, len(tallies))]

    def explain(self, tally: Any) -> Any:
        return {}

    def reference(self, tallies: Any) -> Any:
        return {}


def _but(**other: Any) -> Any:
    return type("Mine", (Whole,), other)()


def _without(name: str) -> Any:
    return type("Mine", (), {k: v for k, v in vars(Whole).items() if k != name and not k.startswith("__")})()


def test_one_that_keeps_to_it_is_scored() -> None:
    assert score_run([UNIT], "stream", names=[Whole()])["details"]["mine"]["scorer"] == "Whole"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("protocols", "it has no protocols: a tuple of what it is meant for, out of 'stream', 'moments', 'trajectory'"),
        ("needs_truth", "it has no needs_truth: True where it reads what was needed"),
        ("metrics", "it has no metrics: a tuple of Metric"),
        ("tally", r"it has no method tally: tally\(self, unit, context\) counts one session"),
        ("figures", "it has no method figures"),
        ("explain", "it has no method explain: .* {} for nothing"),
        ("reference", "it has no method reference"),
    ],
)
def test_what_is_missing_is_named_and_what_it_would_be(name: str, said: str) -> None:
    with pytest.raises(UsageError, match=f"scorer 'Mine': {said}"):
        score_run([UNIT], "stream", names=[_without(name)])


def _metric(**other: Any) -> tuple[Metric]:
    given = {"name": "mine", "formula": "f", "unit": "s", "range": "0-1", "direction": "up"}
    return (Metric(**(given | other)),)


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"protocols": "stream"}, "protocols is 'stream'; it is to be a tuple"),
        ({"protocols": ("streem",)}, "out of 'stream', 'moments', 'trajectory'"),
        ({"needs_truth": "no"}, "needs_truth is 'no'; it is to be True where"),
        ({"metrics": [METRIC]}, "metrics is to be a tuple of Metric"),
        ({"metrics": ("mine",)}, "metrics is to be a tuple of Metric"),
        ({"metrics": (METRIC, METRIC)}, "two metrics are called 'mine'"),
        ({"metrics": _metric(range="from 0 to 1")}, "'mine': its range is 'from 0 to 1'; such as '0-1'"),
        ({"metrics": _metric(range="1-0")}, "its range '1-0' is empty"),
        ({"metrics": _metric(direction="more")}, "its direction is 'more'; 'up'"),
        ({"metrics": _metric(formula=" ")}, "its formula is to say something"),
        ({"metrics": _metric(version=0)}, "its version is to be a whole number from 1"),
        ({"metrics": _metric(protocols="stream")}, "its protocols are 'stream'"),
        ({"metrics": _metric(protocols=("moments",))}, "no metric is for protocol 'stream'"),
        ({"figures": lambda self, tallies: None}, r"figures\(\) is to give a list of Score"),
        ({"figures": lambda self, tallies: []}, r"figures\(\) gave nothing; each of its metrics is due once"),
        ({"figures": lambda self, tallies: [Figure(METRIC, None, 0)]}, r"figures\(\) failed at .*foreign.*:\d+: V"),
        ({"figures": lambda self, tallies: [Figure(METRIC, 1.0)]}, r"figures\(\) failed at .*argument: 'n'"),
        ({"figures": lambda self, tallies: [Figure(METRIC, "1", 1)]}, r"figures\(\) failed at .*TypeError"),
        ({"figures": lambda self, tallies: [Figure(METRIC, np.int64(1), 1)]}, "a int64; a plain number is due"),
        ({"figures": lambda self, tallies: [Figure(METRIC, 1.2, 1)]}, "came out as 1.2, and its range is '0-1'"),
        ({"figures": lambda self, tallies: [Figure(METRIC, 1.0, -1)]}, "mine: n is '-1'; the number of events"),
        ({"figures": lambda self, tallies: [Figure(METRIC, 1.0, 1, None, {"a": {1}})]}, "extra cannot be written"),
        ({"tally": lambda self, unit, context: unit.offers}, r"tally\(\) of unit 's' failed at .*AttributeError"),
        ({"explain": lambda self, tally: None}, r"what explain\(\) gives is to be a mapping"),
        ({"explain": lambda self, tally: {"offers": []}}, "says 'offers', a name that is taken"),
        ({"explain": lambda self, tally: {"x": np.int64(1)}}, "cannot be written as JSON"),
        ({"reference": lambda self, tallies: 1 / 0}, r"reference\(\) failed at .*ZeroDivisionError"),
        ({"pooled": lambda self, tallies: [tallies.x]}, r"pooled\(\) failed at .*AttributeError"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_in_a_sentence(other: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=f"^scorer 'Mine': .*{said}"):
        score_run([UNIT], "stream", names=[_but(**other)])


def test_from_the_command_line_it_is_no_fault_of_proacts_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(DESKTOP, "silent", "none", out=tmp_path / "run")
    file = tmp_path / "mine.py"
    file.write_text("class Mine:\n    def tally(self, unit, context):\n        return 1\n", encoding="utf-8")
    capsys.readouterr()
    assert _call(["score", str(tmp_path / "run"), "--scorer", f"{file}:Mine"]) == 2
    assert capsys.readouterr().err.startswith("proact: scorer 'Mine': it has no protocols: a tuple of")
