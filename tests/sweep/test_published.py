"""Every number of others is the one they printed, has its source and is marked."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from simulator.sweep.papers import NAME, PLAYED, SCALE, published, published_of

FACTS = Path(__file__).resolve().parents[2] / "../shared/facts"
needs_facts = pytest.mark.skipif(not FACTS.is_dir(), reason="the notes on the papers lie outside the repository")
SHORT = {"ZS": "zero-shot", "CoT": "cot", "SC": "self-consistency"}
WHEN = ("accuracy", "precision", "recall", "F1", "intention_accuracy", "semantic_similarity")
MEMORIES = tuple(PLAYED.values())
PRESETS = ("paper:table2", "paper:fig7", "paper:table6", "paper:fig9", "pira:naive-vs-pirf", "clean-vs-noise")


def printed(preset: str, **place: str) -> dict[str, float]:
    """Numbers of a place, by metric and whatever else tells them apart."""
    found = {}
    for number in published(preset)[1]:
        if all(number.place.get(axis) == value for axis, value in place.items()):
            assert number.value is not None
            found[number.metric] = number.value
    return found


@needs_facts
def test_table_2_is_the_one_in_the_notes_number_by_number() -> None:
    text = (FACTS / "proagentbench.md").read_text(encoding="utf-8")
    table = text[text.index("Table 2 (Acc") : text.index("Table 5 (full")].replace(
        "Table 2 (Acc/P/R/F1 | IntAcc/SemSim): ", ""
    )
    n = 0
    for model in filter(None, table.strip().rstrip(".").split(". ")):
        name = model.split()[0]
        for short, numbers in re.findall(r"(ZS|CoT|SC) ([\d./|]+)", model):
            told = [float(x) for x in re.split(r"[/|]", numbers.rstrip("."))]
            assert printed("paper:table2", model=name, agent=SHORT[short]) == dict(zip(WHEN, told, strict=True)), name
            n += 1
    assert n == 18 == len(published("paper:table2")[1]) / len(WHEN)


@needs_facts
def test_table_6_is_the_one_in_the_notes_number_by_number() -> None:
    text = (FACTS / "proagentbench.md").read_text(encoding="utf-8")
    table = text[text.index("): GPT-4o-mini text Acc") : text.index("Oddities to know")]
    names = {"Acc": "accuracy", "F1": "F1", "Int": "intention_accuracy", "Sim": "semantic_similarity"}
    n = 0
    model = modality = ""
    for word in re.finditer(
        r"(GPT-4o-mini|Qwen3-VL-Plus|Qwen3-VL-8B)|\b(text|mm)\b|(?:(Acc|F1|Int|Sim|Cl) )?([\d.]+(?:/[\d.]+)+)", table
    ):
        model = word[1] or model
        modality = {"text": "text", "mm": "image"}.get(word[2] or "", modality)
        if word[4]:
            metric = names.get(word[3], "accuracy")
            told = [float(x) for x in word[4].rstrip(".").split("/")]
            for memory, value in zip(MEMORIES, told, strict=True):
                assert printed("paper:table6", model=model, modality=modality, memory=memory)[metric] == value
                n += 1
    assert printed("paper:table6", memory="none") == {"accuracy": 50.6}
    assert n == len(published("paper:table6")[1]) - 1 == 60


@needs_facts
def test_the_rows_of_pira_bench_are_those_in_the_notes() -> None:
    text = (FACTS / "pira-bench.md").read_text(encoding="utf-8")
    agents = {"Naive": "naive", "PIRF": "pirf", "Human": "people"}
    rows = re.findall(
        r"^\| (Naive|PIRF|Human) \| (\S+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|", text, re.M
    )
    for setting, model, *numbers in rows:
        of = printed("pira:naive-vs-pirf", agent=agents[setting], model="" if model == "-" else model)
        assert list(of.values()) == [float(x) for x in numbers]
    assert len(rows) == 5 == len(published("pira:naive-vs-pirf")[1]) / 5
    assert "clean P/F1 92.23/84.46 -> noised 50.52/54.68; Gemini clean P 85.28 -> 53.05" in text
    assert printed("clean-vs-noise", data="clean", model="GPT-5.2") == {"P": 92.23, "F1_avg": 84.46}
    assert printed("clean-vs-noise", data="noise", model="GPT-5.2") == {"P": 50.52, "F1_avg": 54.68}
    assert printed("clean-vs-noise", data="clean", model="Gemini-3.1-Pro") == {"P": 85.28}
    assert printed("clean-vs-noise", data="noise", model="Gemini-3.1-Pro") == {"P": 53.05}


@needs_facts
def test_latencies_and_averages_are_those_in_the_notes() -> None:
    text = (FACTS / "proagentbench.md").read_text(encoding="utf-8")
    assert "ZS <5 s, memory <2 s, CoT 13-22 s, SC 3-7 s" in text
    anchors = (FACTS / "latency-anchors.md").read_text(encoding="utf-8")
    assert '22 s" (Qwen3-VL-Plus), 13–14 s (DeepSeek-V3.2, Qwen3-Max), self-consistency 3–7 s' in anchors
    ends = {
        (n.place["agent"], n.place["memory"], n.place["model"]): (n.low, n.high) for n in published("paper:fig9")[1]
    }
    assert ends == {
        ("zero-shot", "none", "most models"): (0, 5),
        ("cot", "none", "Qwen3-VL-Plus"): (22, 22),
        ("cot", "none", "Deepseek-V3.2 and Qwen3-Max"): (13, 14),
        ("self-consistency", "none", "most models"): (3, 7),
        **{("zero-shot", memory, "most models"): (0, 2) for memory in MEMORIES},
    }
    assert "KG .537->.601, RAG .550" in text
    averages = {n.place["memory"]: n.value for n in published("paper:fig7")[1]}
    assert averages == {"none": 53.7, "graph": 60.1, PLAYED["rag"]: 55.0}


@pytest.mark.parametrize("preset", PRESETS)
def test_every_number_has_a_paper_a_table_and_the_mark(preset: str) -> None:
    rows = published_of(preset)
    assert rows
    for row in rows:
        assert re.search(r"\(arXiv 26\d\d\.\d{5} v\d\), ", row["source"])
        assert row["mark"] == NAME == "published, other data"
        assert row["row"]


def test_numbers_in_a_summary_are_in_the_unit_of_our_metric() -> None:
    (one,) = (r for r in published_of("paper:table2") if r["row"] == "GPT-4o-mini, cot" and r["column"] == "accuracy")
    assert (one["value"], one["low"], one["high"], one["said"]) == (0.557, 0.557, 0.557, "55.7")
    (two,) = (r for r in published_of("paper:fig9") if r["row"] == "Deepseek-V3.2 and Qwen3-Max, cot, none")
    assert (two["value"], two["low"], two["high"]) == (None, 13000, 14000)
    assert SCALE["service_time@mean"] * 13000 == 13


def test_a_study_of_ones_own_has_no_numbers_of_others() -> None:
    assert published_of(None) == published_of("policies") == published_of("mine") == []


def test_a_range_is_never_shown_as_one_number() -> None:
    for number in published("paper:fig9")[1]:
        assert (number.value is None) == (number.low < number.high)
