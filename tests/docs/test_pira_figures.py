"""What the page on PIRA says that noise comes to is what the commands on it give."""

from __future__ import annotations

import re
from pathlib import Path

from simulator.play import compare
from simulator.play.player import run
from simulator.session.noise import Options, twins

ROOT = Path(__file__).resolve().parents[2]


def shown(value: float) -> str:
    """As the page writes figures: without the zero before the point."""
    return re.sub(r"^(-?)0\.", r"\1.", f"{value:.3f}")


def test_what_noise_comes_to_is_as_printed(tmp_path: Path) -> None:
    page = " ".join((ROOT / "docs/pira.md").read_text(encoding="utf-8").partition("### What it comes to")[2].split())
    made = twins(ROOT / "scenarios", tmp_path / "twins", Options(rate=0.25, seed=1))
    n_rows = sum(pair.n_rows + pair.n_noise for pair in made)
    rows = (
        f"The 13 scenarios of the repository, `--rate 0.25 --seed 1` ({sum(p.n_noise for p in made)} of {n_rows:,} rows"
    )
    assert rows in page
    windows = f"{sum(p.n_interrupted for p in made)} of {sum(p.n_windows for p in made)} windows are interrupted"
    assert windows in page
    for twin in ("clean", "noisy"):
        played = run([tmp_path / "twins" / twin], "prior", clock="modelled", latency="fixed:350ms", out=tmp_path / twin)
        assert played.scores is not None
        scores = played.scores["scores"]
        figures = " | ".join(shown(scores[m]) for m in ("P_rt", "R_rt", "F1_rt", "F1_rt@timing"))
        assert f"| `prior` | {twin} | {figures} | {scores['false_alarms_per_hour']:.1f} |" in page
    (found,) = compare([tmp_path / "clean", tmp_path / "noisy"], force=True)
    (row,) = (row for row in found.rows if row.metric == "F1_rt")
    d, standing = row.found, row.standing
    assert d is not None
    ends = f"[{shown(d.interval.low)}, {shown(d.interval.high)}]"  # type: ignore[union-attr]
    assert f"F1_rt {shown(d.difference or 0)}, 95 % interval {ends} over {found.n_sessions} sessions" in page
    assert f"worse in {standing['worse']} of them, better in {standing['better']};" in page
    assert f"corrected for the whole table, p {shown(row.adjusted or 0)}." in page
