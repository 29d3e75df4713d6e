"""Embedders by name; vectors kept by text; what a run tells of its embedder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from memory.embed import HashEmbedder
from memory.embedders.base import Kept, embedder_choice, make_embedder
from simulator.cli import _call
from simulator.core.errors import Exit, ProactError, UsageError
from simulator.play.player import Played, run
from simulator.play.scoring import score_folder
from simulator.runs.folder import read_units
from simulator.timing.meter import SilentMeter, charging

ROOT = Path(__file__).resolve().parents[3]
SESSION = ROOT / "scenarios" / "coding_error"
OWN = '''
import numpy as np
class Lengths:
    """Texts by their length."""
    identity, dimension = "lengths/2", 2
    def __init__(self, turn: float = 0.0) -> None:
        self.turn = turn
    def embed(self, texts):
        at = np.array([len(t) + self.turn for t in texts])
        return np.stack([np.cos(at), np.sin(at)], axis=1)
'''


class Counting:
    identity, dimension = "counting/2", 2

    def __init__(self, *rows: Sequence[float]) -> None:
        self.rows, self.asked = rows, list[list[str]]()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked.append(list(texts))
        return np.array(self.rows or [[0.6, 0.8]] * len(texts), dtype=np.float32)


def played(tmp_path: Path, name: str, **rules: Any) -> Played:
    return run(SESSION, out=tmp_path / name, clock="modelled", latency="fixed:100ms", **rules)


def header(done: Played) -> dict[str, Any]:
    ((_, log, _),) = read_units(done.folder)
    return dict(log.header)


def test_a_text_is_embedded_once() -> None:
    inner = Counting()
    kept = Kept(inner)
    assert kept.embed(["a", "b", "a"]).shape == (3, 2)
    kept.embed(["b", "c"])
    assert inner.asked == [["a", "b"], ["c"]]
    assert kept.embed([]).shape == (0, 2)


def test_a_full_store_is_emptied_and_gives_the_same() -> None:
    inner = Counting()
    kept = Kept(inner, room=2)
    before = kept.embed(["a", "b"])
    np.testing.assert_array_equal(kept.embed(["c", "a", "d", "e"])[1], before[0])
    assert kept.embed(["a"]).shape == (1, 2)
    assert inner.asked[1:] == [["c", "d", "e"], ["a"]]


def test_units_share_histories_and_no_decision_is_faster_for_another_units_texts() -> None:
    inner = Counting()
    first, second = Kept(inner, shared=True), Kept(inner, shared=True)
    meter = SilentMeter()
    first.embed(["in a history"])
    token = charging.set(meter)
    first.embed(["at a decision"])
    charging.reset(token)
    second.embed(["in a history"])  # found
    second.embed(["at a decision"])
    assert inner.asked == [["in a history"], ["at a decision"], ["at a decision"]]
    token = charging.set(meter)
    Kept(inner, shared=True).embed(["in a history"])  # a unit that has not met it pays for it
    charging.reset(token)
    assert inner.asked[-1] == ["in a history"]


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ([[3.0, 4.0]], "rows of unit length"),
        ([[float("nan"), 1.0]], "rows of unit length"),
        ([[1.0, 0.0], [0.0, 1.0]], "1 rows of one length are wanted"),
        ([[]], "1 rows of one length are wanted"),
        ([[1.0, 0.0, 0.0]], "its dimension is 2, and 3 came"),
        ([["a", "b"]], "rows of numbers are wanted"),
        ([None], "1 rows of one length are wanted"),
    ],
)
def test_rows_that_are_no_unit_vectors_are_an_error(rows: Any, why: str) -> None:
    class Gives(Counting):
        def embed(self, texts: Sequence[str]) -> Any:
            return list(self.rows)

    with pytest.raises(ProactError, match=f"embedder counting/2: {why}"):
        Kept(Gives(*rows)).embed(["a"])


def test_the_default_is_hashing_with_its_own_store() -> None:
    assert isinstance(make_embedder(), HashEmbedder)
    assert embedder_choice().facts == {"name": "hash512-v1", "dimension": 512, "weights": None}


def test_a_wrong_word_is_told() -> None:
    with pytest.raises(UsageError, match="unknown embedder 'minlm'; did you mean 'minilm'"):
        make_embedder("minlm")
    with pytest.raises(UsageError, match="has no parameter 'choice'"):
        make_embedder("endpoint:choice=x")


def test_a_class_of_ones_own_embeds_and_makes_another_run(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(OWN)
    plain, own = played(tmp_path, "a"), played(tmp_path, "b", embedder=f"{file}:Lengths")
    assert header(plain)["embedder"]["name"] == "hash512-v1"
    said = header(own)["embedder"]
    assert (said["name"], said["dimension"], len(said["code"])) == ("Lengths", 2, 64)
    assert own.scores is not None
    assert own.scores["run"]["embedder"] == "Lengths"
    assert own.scores["embedder"]["name"] == "hash512-v1"  # what scoring compares texts with
    with pytest.raises(UsageError, match="the memory 'graph' embeds nothing"):
        played(tmp_path, "c", memory="graph", embedder="hash")
    assert "embedder" not in header(played(tmp_path, "d", memory="graph"))
    assert header(played(tmp_path, "e", memory="rag+graph"))["embedder"]["name"] == "hash512-v1"


def test_parameters_are_part_of_the_run(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(OWN)
    facts = [embedder_choice(f"{file}:Lengths:turn={turn}").facts for turn in (0.5, 1.5)]
    assert facts[0] != facts[1]


def test_scores_are_taken_with_another_embedder_and_not_saved(tmp_path: Path) -> None:
    done = played(tmp_path, "a", memory="none")
    before = (done.folder / "scores.json").read_bytes()
    file = tmp_path / "mine.py"
    file.write_text(OWN)
    again = score_folder(done.folder, embedder=f"{file}:Lengths", save=False)
    assert again["embedder"]["name"] == "Lengths"
    words = ["score", str(done.folder), "--embedder", f"{file}:Lengths", "--scorer", "realtime:matcher=embedding>=0.5"]
    assert _call(words) == Exit.DONE
    assert (done.folder / "scores.json").read_bytes() == before
    assert json.loads(before)["embedder"]["dimension"] == 512
