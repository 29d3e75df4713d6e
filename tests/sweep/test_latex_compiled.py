"""``summary.tex`` compiled by LaTeX itself, where it is installed."""

from __future__ import annotations

import shutil
import string
import subprocess
from pathlib import Path

import pytest

from simulator.sweep import latex, layout_files
from simulator.sweep.layouts import LAYOUTS
from simulator.sweep.summary import summarise
from tests.sweep.handmade import Made, sessions
from tests.sweep.test_layouts import laid, raw

PDFLATEX = shutil.which("pdflatex")
PACKAGES = ("article.cls", "booktabs.sty", "longtable.sty", "geometry.sty", "graphicx.sty", "xcolor.sty")
AFTER = ("&", r"\textbf", "$", "{", "%", "_", "[x]", "* a", "---", "\"'`", "~^<>|", "ß漢🙂→±…–—×")


def lacking() -> str:
    """Why nothing can be compiled here; empty where all is there."""
    if PDFLATEX is None:
        return "pdflatex is not installed (Debian: texlive-latex-base, texlive-latex-recommended)"
    found = [subprocess.run(["kpsewhich", name], capture_output=True, check=False).returncode == 0 for name in PACKAGES]
    return "" if all(found) else "LaTeX lacks booktabs (Debian: texlive-latex-recommended)"


WHY = lacking()


def compiled(text: str, folder: Path) -> str:
    """What LaTeX says of a document; it stops at the first error."""
    assert PDFLATEX is not None
    (folder / "table.tex").write_text(text, encoding="utf-8")
    words = [PDFLATEX, "-no-shell-escape", "-interaction=nonstopmode", "-halt-on-error", "table.tex"]
    done = subprocess.run(words, cwd=folder, capture_output=True, check=False, timeout=50)
    said = done.stdout.decode("utf-8", "replace")
    assert done.returncode == 0, said[-2000:]
    assert (folder / "table.pdf").stat().st_size > 1000
    return said


@pytest.mark.skipif(bool(WHY), reason=WHY)
@pytest.mark.timeout(60)
def test_a_summary_with_odd_names_and_many_cells_is_compiled(tmp_path: Path) -> None:
    memories = [f"m{n}" for n in range(len(AFTER))]
    made = Made(tmp_path, {"memory": memories, "agent": ["a", "b"]})
    for agent in "ab":
        for n, memory in enumerate(memories):
            made.cell({"memory": memory, "agent": agent}, sessions(8, hits=1 + n % 4))
    summary = summarise(made.write(baseline={"memory": "m0"})).summary
    for cell, odd in zip(summary["cells"], AFTER * 2, strict=True):
        cell["values"]["memory"] = odd
    summary["study"]["name"] = string.printable
    summary["caveats"].append("".join(map(chr, range(32, 0x250))))
    said = compiled(latex.document(summary), tmp_path)
    assert "LaTeX Warning: Command" not in said
    assert "Missing character" not in said


@pytest.mark.skipif(bool(WHY), reason=WHY)
@pytest.mark.timeout(60)
def test_what_a_paper_copies_is_compiled_with_the_packages_that_are_named(tmp_path: Path) -> None:
    made = Made(tmp_path, {"memory": ["none", "rag"]})
    made.cell({"memory": "none"}, sessions(8, hits=1))
    made.cell({"memory": "rag"}, sessions(8, hits=3))
    table = latex.table(summarise(made.write(baseline={"memory": "none"})).summary)
    head = "\\documentclass{article}\\usepackage{booktabs,longtable}\\begin{document}\n"
    compiled(f"{head}{table}\\end{{document}}\n", tmp_path)


@pytest.mark.skipif(bool(WHY), reason=WHY)
@pytest.mark.timeout(60)
def test_tables_in_a_papers_layout_are_compiled(tmp_path: Path) -> None:
    tables = [layout_files.latex(laid(raw(preset))) for preset in sorted(LAYOUTS)]
    head = "\\documentclass{article}\\usepackage{booktabs,graphicx,xcolor}\\begin{document}\n"
    said = compiled("\n".join([head, *tables, "\\end{document}\n"]), tmp_path)
    assert "Overfull \\hbox" not in said, "none is wider than the page"


@pytest.mark.skipif(bool(WHY), reason=WHY)
@pytest.mark.timeout(60)
@pytest.mark.parametrize("more", [0, 6], ids=["four axes", "ten axes"])
def test_a_table_of_many_axes_loses_no_column_at_the_pages_edge(more: int, tmp_path: Path) -> None:
    named = {
        "agent": {"a": "self-consistency", "b": "zero-shot"},
        "memory": {"m": "rag:documents=events", "n": "none"},
        "latency": {"l": "profile:paper-zero-shot", "k": "token:rtt=200ms,prefill=100us,image=80ms,decode=20ms"},
        "model": {"q": "qwen3-vl-32b-instruct", "r": "small"},
    }
    named |= {f"parameter_{n}": {"y": "some-longer-value", "z": "short"} for n in range(more)}
    made = Made(tmp_path, {axis: list(values) for axis, values in named.items()})
    for n in range(4):
        chosen = {axis: list(values)[(n >> i % 2) % 2] for i, (axis, values) in enumerate(named.items())}
        made.cell(chosen, sessions(8, hits=1 + n))
    summary = summarise(made.write()).summary
    for cell in summary["cells"]:
        cell["values"] = {axis: named[axis][value] for axis, value in cell["values"].items()}
    text = latex.document(summary)
    for _ in range(3):  # as its first line says
        said = compiled(text, tmp_path)
    assert "Overfull \\hbox" not in said
    assert all(f"& {name}" in text for name in ("errors", "$n$", r"\shortstack[r]{p95"))
