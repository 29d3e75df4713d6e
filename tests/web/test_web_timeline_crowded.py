"""A timeline on which more happened than can be drawn sign by sign."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from simulator.web.place import Place, id_of
from tests.replays import SAID, play, record

MANY = """(n) => { const run = timeline.session.runs[0], [hit, wrong] = run.data.offers;
  run.data.offers = Array.from({ length: n }, (_, i) => { const t = (i * 60) / n;
    return { ...(i % 50 === 7 ? hit : wrong), captured_s: t, arrived_s: t }; }); }"""
INKED = """(() => { const d = timeline.drawing, lane = d.lanes.find((l) => l.kind === "offers");
  const base = document.querySelector("#base"), k = base.width / d.width, copy = document.createElement("canvas");
  copy.width = base.width; copy.height = base.height;
  const g = copy.getContext("2d", { willReadFrequently: true });
  g.drawImage(base, 0, 0);
  const { data } = g.getImageData(0, Math.round((lane.top + 3) * k), base.width, Math.round(18 * k));
  const ground = g.getImageData(2, Math.round((lane.top + lane.inner - 2) * k), 1, 1).data;
  let inked = 0;
  for (let i = 0; i < data.length; i += 4) {
    if (Math.hypot(...[0, 1, 2].map((c) => data[i + c] - ground[c])) > 60) inked += 1;
  }
  return inked / (data.length / 4); })()"""


@pytest.mark.parametrize("n", [600, 20_000])
def test_a_lane_is_the_fuller_the_more_offers_it_holds(
    page: Any, served: Callable[..., str], tmp_path: Path, n: int, shot: Callable[[Any, str], None]
) -> None:
    play(record(tmp_path / "day"), tmp_path / "runs/scripted", SAID)
    page.goto(f"{served(Place([tmp_path / 'runs']))}/run/{id_of(tmp_path / 'runs/scripted')}/day")
    page.wait_for_selector("#whole:not([hidden])")
    few = page.evaluate(INKED)
    page.evaluate(MANY, n)
    page.keyboard.press("w")
    page.keyboard.press("0")
    page.wait_for_timeout(200)
    many = page.evaluate(INKED)
    shot(page, f"crowded-{n}")
    assert few < 0.1
    assert many > 0.8
