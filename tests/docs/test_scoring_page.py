"""docs/scoring.md lists the metrics that there are, as the scorers say them."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from scorers.base import catalogue
from scorers.explaining_needs import MISSED
from scorers.feedback import SAID
from scorers.offers import Verdict

DOCS = Path(__file__).resolve().parents[2] / "docs"


def _tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_regenerate_metrics", DOCS / "regenerate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TOOL = _tool()
PAGE = (DOCS / "scoring.md").read_text(encoding="utf-8")


def test_the_metrics_on_the_page_are_up_to_date() -> None:
    assert TOOL.with_metrics(PAGE) == PAGE, "run `make docs`"


def test_the_check_can_fail() -> None:
    assert TOOL.with_metrics(PAGE.replace("on\\_time / surfaced", "surfaced / on\\_time")) == PAGE
    with pytest.raises(ValueError, match="no block costs"):
        TOOL.with_metrics(PAGE.replace("<!-- costs -->", ""))


def test_every_metric_stands_on_the_page() -> None:
    """Whole, or as an ending behind the name that it shares."""
    entries = [re.findall(r"`([^`]+)`", line.split("[")[0]) for line in PAGE.splitlines() if line.startswith("* `")]
    told = set()
    for first, *endings in entries:
        bases = [first, *(first[:at] for at in range(len(first)) if first[at] == "@")]
        told |= {first, *(base + ending for base in bases for ending in endings)}
    assert [metric.name for _, metric in catalogue() if metric.name not in told] == []


def test_every_word_of_the_scorers_is_defined() -> None:
    for word in (*(v.value for v in Verdict), *SAID):
        assert f"`{word}`" in PAGE, word
    cli = (DOCS / "cli.md").read_text(encoding="utf-8")
    for word in MISSED:
        assert f"`{word}`" in cli, word
