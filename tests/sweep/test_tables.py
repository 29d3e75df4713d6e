"""The tables of a summary: nothing hostile gets through, everything that was counted is there."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.sweep import latex, tables
from simulator.sweep.gates import parse
from simulator.sweep.summary import summarise
from tests.sweep.handmade import Made, sessions, varied

HOSTILE = "".join(map(chr, range(32, 127))) + "äß“…–€日\u202e\n\t\\input{/etc/passwd}$$&&%%##{}~~^^--??`!`"
COMMANDS = {
    "textbackslash", "textasciicircum", "textasciitilde", "textless", "textgreater", "textbar", "textquotedbl",
    "textquotesingle", "textasciigrave", "textendash", "textemdash", "textellipsis", "ttfamily",
    "times", "pm", "rightarrow", "{", "}", "$", "&", "#", "%", "_",
}  # fmt: skip
OF_TABLES = COMMANDS | {
    "documentclass", "usepackage", "pagestyle", "begin", "end", "footnotesize", "centering", "caption", "toprule",
    "midrule", "bottomrule", "textbf", "underline", "dagger", "scriptsize", "uparrow", "downarrow", "medskip", ",",
    "\\", "endfirsthead", "endhead", "endlastfoot", "textit", "setlength",
    "tabcolsep", "shortstack",
}  # fmt: skip


def parsed(text: str, allowed: set[str]) -> None:
    """A strict reader of LaTeX: known commands alone, braces and maths in pairs, no character that acts by itself."""
    depth, maths, at = 0, False, 0
    while at < len(text):
        c = text[at]
        assert ord(c) < 128, hex(ord(c))
        if c == "\\":
            name = re.match(r"[A-Za-z]+|.", text[at + 1 :], re.DOTALL)
            assert name is not None
            assert name[0] in allowed, name[0]
            at += 1 + len(name[0])
            continue
        if c == "{":
            depth += 1
        elif c == "}":
            depth -= 1
            assert depth >= 0
        elif c == "$":
            maths = not maths
        assert c not in "%#~", text[max(0, at - 20) : at + 20]
        assert maths or c not in "^_", text[max(0, at - 20) : at + 20]
        at += 1
    assert depth == 0
    assert not maths


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = Made(tmp_path_factory.mktemp("tables"), {"data": ["d"], "memory": ["none", HOSTILE, "=cmd|x"]})
    base = sessions(7)
    for n, memory in enumerate(("none", HOSTILE, "=cmd|x")):
        hits = [min(4, (i + 1) * n % 5) for i in range(7)]
        made.cell({"data": "d", "memory": memory}, varied(base, hits=hits, vain=[n] * 7, errors=[n] * 7))
    summarise(made.write(name="hostile & 50%_{}"))
    return made.folder


@pytest.fixture(scope="module")
def summary(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "summary.json").read_text()))


@given(st.text())
@settings(max_examples=300)
def test_no_text_is_a_command_of_latex(text: str) -> None:
    parsed(latex.escaped(text), COMMANDS)


def test_every_printable_character_is_printed_by_latex_as_it_is() -> None:
    for c in map(chr, range(33, 127)):
        said = latex.escaped(c)
        assert said.strip("{}") == c or said.startswith("\\") or said[0] == c, c


def test_the_document_is_one_that_latex_reads(folder: Path, summary: dict[str, Any]) -> None:
    text = (folder / "summary.tex").read_text()
    body = text.partition("\\begin{document}")[2]
    parsed(body.replace(" & ", " "), OF_TABLES)
    rows = re.search(r"\\endlastfoot\n(.*)\\end\{longtable\}", body, re.DOTALL)
    assert rows is not None
    lines = [line for line in rows[1].splitlines() if line != r"\midrule"]
    assert len(lines) == len(summary["cells"])
    columns = re.search(r"\\begin\{longtable\}\{(l+r+)\}", body)
    assert columns is not None
    for line in lines:
        assert line.endswith(r" \\")
        assert len(re.findall(r"(?<!\\)&", line)) == len(columns[1]) - 1


def test_latex_compiles_it_where_there_is_one(folder: Path, tmp_path: Path) -> None:
    program = next((p for p in ("tectonic", "pdflatex", "lualatex", "xelatex") if shutil.which(p)), None)
    if program is None:
        pytest.skip("no LaTeX on this machine; the strict reader stands for it")
    shutil.copy(folder / "summary.tex", tmp_path)
    told = [] if program == "tectonic" else ["-interaction=nonstopmode", "-halt-on-error"]
    subprocess.run([program, *told, "summary.tex"], cwd=tmp_path, check=True, capture_output=True, timeout=60)


def figure(value: float | None, **said: Any) -> dict[str, Any]:
    return {"value": value, "low": None, "high": None, "best": False, "rank": 3, "like_best": False, **said}


@pytest.mark.parametrize(
    ("given_", "shown"),
    [
        (figure(None), r"\textendash{}"),
        (figure(0.5, best=True, rank=1, like_best=True), r"\textbf{0.500}"),
        (figure(0.5, rank=2), r"\underline{0.500}"),
        (figure(0.5, like_best=True), r"0.500$^{\dagger}$"),
        (figure(-0.5), r"$-$0.500"),
        (figure(0.5, low=0.4, high=0.6), r"0.500\,{\scriptsize$\pm0.100$}"),
        (figure(0.5, low=0.3, high=0.6), r"0.500\,{\scriptsize$^{+0.100}_{-0.200}$}"),
        (figure(4602.5, low=4440.86, high=4808.81), r"4602\,{\scriptsize$^{+206}_{-162}$}"),
    ],
)
def test_a_figure_in_latex(given_: dict[str, Any], shown: str) -> None:
    assert latex._figure(given_) == shown


def test_csv_holds_every_figure_of_every_cell(folder: Path, summary: dict[str, Any]) -> None:
    rows = list(csv.DictReader(io.StringIO((folder / "summary.csv").read_text())))
    assert [row["memory"] for row in rows] == [tables.unobeyed(cell["values"]["memory"]) for cell in summary["cells"]]
    for row, cell in zip(rows, summary["cells"], strict=True):
        assert row["errors"] == str(cell["counts"]["error"])
        for name, told in cell["metrics"].items():
            assert row[name] == ("" if told["value"] is None else repr(told["value"]))
            assert row[f"{name} low"] == ("" if told["low"] is None else repr(told["low"]))
            assert row[f"{name} reason"] == (told["reason"] or "")
    effects = list(csv.DictReader(io.StringIO((folder / "effects.csv").read_text())))
    assert [row["gain"] for row in effects] == [
        "" if e["gain"] is None else repr(e["gain"]) for e in summary["effects"]
    ]


def test_markdown_tables_stay_tables_whatever_axes_are_called(folder: Path, summary: dict[str, Any]) -> None:
    lines = (folder / "summary.md").read_text().splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("| memory"))
    width = len(re.findall(r"(?<!\\)\|", lines[first]))
    assert all(
        len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) == width
        for line in lines[first + 2 : first + 2 + len(summary["cells"])]
    )
    assert "<ins>" in "".join(lines)
    assert not re.search(r"(?<!\\)<(?!/?ins>)", "\n".join(lines))


@given(st.text(max_size=30))
def test_no_text_is_markup_in_markdown(text: str) -> None:
    shown = tables._md(text)
    assert "\n" not in shown
    assert not re.search(r"(?<!\\)(?:\\\\)*[|<`*_\[]", shown)


def test_every_table_counts_errors(folder: Path) -> None:
    assert " 21 / " in (folder / "summary.md").read_text() or " 14 / " in (folder / "summary.md").read_text()
    assert "& 14/" in (folder / "summary.tex").read_text()
    assert "errors" in (folder / "summary.csv").read_text().partition("\n")[0]


def test_money_and_tokens_have_columns_in_latex_where_they_are_known(summary: dict[str, Any]) -> None:
    assert "tokens" not in latex.table(summary)
    cells = [{**cell, "tokens": {"in": 5, "out": 2}, "cost": None} for cell in summary["cells"]]
    cells[0]["tokens"] = None
    cells[1]["cost"] = 0.125
    said = latex.table({**summary, "cells": cells})
    assert r"\shortstack[r]{p95\\(ms)} & tokens & cost & $n$" in said
    assert r"& \textendash{} & \textendash{} & 7 &" in said
    assert "& 7 & 0.125 & 7 &" in said


def test_no_spreadsheet_takes_a_value_for_a_formula(tmp_path: Path) -> None:
    values = ["=cmd()", "+1+1", "-2+3", "@SUM(A1)", "-", "-0.5"]
    made = Made(tmp_path, {"memory": values})
    for nth, value in enumerate(values):
        made.cell({"memory": value}, sessions(2))
        made.cells[-1]["name"] = f"c{nth}"
    summarise(made.write(metrics=["F1_rt"]))
    rows = csv.DictReader((tmp_path / "summary.csv").read_text().splitlines())
    assert [row["memory"] for row in rows] == ["'=cmd()", "'+1+1", "'-2+3", "'@SUM(A1)", "-", "-0.5"]
    for name in ("summary.csv", "effects.csv"):
        cells = [cell for row in csv.reader((tmp_path / name).read_text().splitlines()) for cell in row]
        assert not any(cell.startswith(("=", "+", "@")) for cell in cells), name


def test_cells_of_one_name_are_told_apart_by_their_ids(tmp_path: Path) -> None:
    made = Made(tmp_path, {"memory": ["a/b", "a, b", "c"]})
    for value in ("a/b", "a, b", "c"):
        made.cell({"memory": value}, sessions(2))
    for cell in made.cells[:2]:
        cell["name"] = "a-b"  # as a study's plan calls both
    summed = summarise(made.write(metrics=["F1_rt"]), [parse("F1_rt<2")])
    ids = [cell["id"] for cell in summed.summary["cells"]]
    assert [failure.cell for failure in summed.failed] == [f"a-b-{ids[0]}", f"a-b-{ids[1]}", "c"]


def test_a_metric_named_twice_is_one(tmp_path: Path) -> None:
    made = Made(tmp_path, {"memory": ["none", "rag"]})
    made.cell({"memory": "none"}, varied(sessions(6), hits=[0, 1, 1, 1, 2, 0]))
    made.cell({"memory": "rag"}, varied(sessions(6), hits=[2, 3, 3, 2, 3, 3]))
    summary = summarise(made.write(metrics=["F1_rt", "F1_rt"])).summary
    assert [m["name"] for m in summary["metrics"]] == ["F1_rt"]
    (effect,) = summary["effects"]
    assert effect["adjusted"] == effect["p"]
