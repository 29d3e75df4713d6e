"""Figures as SVG: the same bytes from the same numbers, and every number of others marked as theirs."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from simulator.core.errors import UsageError
from simulator.figures import Sheet, draw_corpus
from simulator.figures.palette import shorts
from simulator.figures.panel import Line
from simulator.figures.rows import bars
from simulator.session.describe_corpus import pooled
from simulator.session.describe_parts import Part, Pictured, Request

SVG = "{http://www.w3.org/2000/svg}"


def words(file: Path) -> str:
    return " | ".join("".join(e.itertext()).strip() for e in ElementTree.parse(file).iter(f"{SVG}text"))


def numbers(times_s: list[float]) -> dict[str, Any]:
    at, requests = 0.0, [Request(0, "Translation")]
    for t in times_s:
        at += t
        requests.append(Request(round(at * 1e9), "Error Correction"))
    part = Part(Path("p"), "p", "sam", True, "UTC", 10**12, (), "none", tuple(requests), "stated", Counter(),
                Pictured(), None)  # fmt: skip
    return pooled([part])


def test_the_same_numbers_make_the_same_bytes(tmp_path: Path) -> None:
    given = numbers([3.0 * 1.2**i for i in range(60)])
    one, other = draw_corpus(given, tmp_path / "a"), draw_corpus(given, tmp_path / "b")
    assert [f.read_bytes() for f in one] == [f.read_bytes() for f in other]
    assert [f.name for f in one] == ["figure-2.svg", "figure-3.svg"]
    assert b"<dc:date>" not in one[0].read_bytes()


def test_what_others_published_is_marked_and_n_stands_in_the_titles(tmp_path: Path) -> None:
    second, third = draw_corpus(numbers([3.0 * 1.2**i for i in range(60)]), tmp_path)
    assert "times between requests, n = 60" in words(second)
    assert "α = 1.50 (published, other data)" in words(second)
    assert "0.787 (other data)" in words(second)
    assert "intentions of requests, n = 61" in words(third)
    assert "published, other data" in words(third)


def test_what_cannot_be_drawn_says_why(tmp_path: Path) -> None:
    second, third = map(words, draw_corpus(numbers([]), tmp_path))
    assert "2 needed" in second
    assert "not looked at" in second
    assert "no events" in third or "intentions of requests, n = 1" in third


def test_figures_of_made_up_users_say_synthetic_and_others_do_not(tmp_path: Path) -> None:
    given = numbers([3.0] * 9)
    assert all("synthetic" not in words(file).lower() for file in draw_corpus(given, tmp_path))
    made = [Part(Path("p"), "p", user, True, "UTC", 10**12, (), "none", (), "stated", Counter(), Pictured(), None)
            for user in ("synthetic-001", "synthetic-002", "sam")]  # fmt: skip
    for file in draw_corpus(pooled(made), tmp_path):
        assert "SYNTHETIC: 2 of 3 users made up by proact dataset generate" in words(file)


def test_without_pictures_no_room_is_left_for_them(tmp_path: Path) -> None:
    given = numbers([3.0] * 9)
    times = {"times_to_event_s": [9.0], "window_s": 60, "median_time_to_event_s": 9.0, "requests_looked_at": 1}
    looked = given | {"time_to_event": times | {"embedder": "hash"}}
    without, having = (draw_corpus(g, tmp_path / str(n))[0] for n, g in enumerate((given, looked)))
    tall = [float(ElementTree.parse(file).getroot().attrib["height"].removesuffix("pt")) for file in (without, having)]
    assert tall[0] < 0.6 * tall[1]
    assert "not looked at (--pictures)" in words(without)
    assert "median 9 s" in words(having)


def test_no_words_lie_on_bars() -> None:
    with Sheet([["a", "b"]]) as sheet:
        bars(sheet["a"], ["x", "y"], [9, 1], beside=[1, 9])
        bars(sheet["b"], ["x", "y"], [-0.7, 0.7], told=["-0.70", "0.70"])
        sheet.svg()
        axes, other = sheet._figure.axes
        legend = axes.get_legend().get_window_extent()
        assert legend.y1 < axes.xaxis.label.get_window_extent().y0
        assert [text.xy[0] for text in other.texts] == [0, 0.7]


def test_a_name_that_would_be_mathematics_is_drawn_as_it_is(tmp_path: Path) -> None:
    with Sheet([["a"]]) as sheet:
        bars(sheet["a"], ["$x_1$ & <b>", "long " * 20], [1, 2])
        file = sheet.save(tmp_path / "x.svg")
    assert "$x_1$ & <b>" in words(file)


def test_names_with_parameters_are_told_apart_where_there_is_no_room_for_them() -> None:
    long = ["none", "rag:documents=help,template=paper", "rag:documents=help,template=paper+graph", "my.py:Mine:k=3"]
    assert shorts(long, 18) == ["none", "rag", "rag+graph", "my.py:Mine"]
    assert shorts(["rag:k=3", "graph"], 18) == ["rag:k=3", "graph"]
    alike = ["rag:documents=help,template=paper", "rag"]
    assert shorts(alike, 18) == ["rag:documents=hel…", "rag"]


def test_lines_of_one_sheet_leave_no_trace_on_the_next(tmp_path: Path) -> None:
    import matplotlib

    before = dict(matplotlib.rcParams)
    with Sheet([["a"]]) as sheet:
        sheet["a"].lines([Line("x", [1, 2], [1, 2])], log_x=True)
    assert dict(matplotlib.rcParams) == before


def test_without_the_extra_one_sentence_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(UsageError, match=r"pip .*install .*\[figures\]'"):
        Sheet([["a"]])
