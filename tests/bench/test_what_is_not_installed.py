"""Benches name the alternatives that they cannot run, and measure the rest."""

from __future__ import annotations

import sys

import pytest

from bench import pgvector
from bench.alternatives import alternatives
from bench.graph_others import Dicts, Networkx, Sqlite


def test_a_graph_that_is_not_installed_is_named_and_the_rest_is_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "usearch.index", None)
    figures = alternatives(600, 10)
    assert capsys.readouterr().err == "not measured: usearch is not installed: python -m pip install usearch\n"
    assert figures["faiss_hnsw_600_recall"] > 0.9
    assert figures["faiss_hnsw_filtered_afterwards_100_of_10_users_recall"] < 0.9, (
        "a filter behind a graph loses answers"
    )
    assert 0 < figures["lists_600_p50_ms"] <= figures["lists_600_p50_first_ms"]
    assert not any(name.startswith("usearch") for name in figures)


def test_without_faiss_its_graph_is_named_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("usearch.index", "faiss"):
        monkeypatch.setitem(sys.modules, name, None)
    assert "sqlite_blobs_300_p50_ms" in alternatives(300, 10)
    assert "needs faiss" in capsys.readouterr().err


def test_without_pgvector_one_sentence_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(pgvector, "binaries", lambda: None)
    assert pgvector.measure() == {}
    (sentence,) = capsys.readouterr().err.splitlines()
    assert sentence.startswith("not measured: there is no PostgreSQL with pgvector here: apt-get install ")


def test_the_ways_to_keep_counts_answer_alike(tmp_path_factory: pytest.TempPathFactory) -> None:
    kept = (Dicts(), Networkx(), Sqlite(tmp_path_factory.mktemp("counts")))
    for counts in kept:
        for need in ("A", None, "B", "A"):
            counts.count(["app x", "word y"], need)
        counts.count(["word y"], "B")
        assert counts.shares("app x") == {"A": 0.5, "B": 0.25}
        assert counts.shares("word y") == {"A": 0.4, "B": 0.4}
        assert counts.shares("word z") == {}
