"""``proact dataset noise``: scenarios with stretches that have nothing to do with the work, beside clean twins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from simulator.cli.parameters import AsJson
from simulator.cli.speak import Voice, counted, plain
from simulator.core.errors import Exit

if TYPE_CHECKING:
    from simulator.session.noise.pair import Made

__all__ = ["noise"]


def noise(
    scenario: Annotated[Path, Parameter(help="A scenario, a session, or a folder of many; only read.")],
    out: Annotated[Path, Parameter(help="A folder that is not there yet, or empty: gets noisy/ and clean/.")],
    /,
    *,
    rate: Annotated[float, Parameter(help="Share of the noisy session's rows that are noise, 0 to 0.9.")] = 0.25,
    seed: Annotated[int, Parameter(help="Of all that is drawn; the same seed makes the same bytes.")] = 0,
    kinds: Annotated[
        str,
        Parameter(help="Which, with commas: switch (other work), idle (still screen, empty desktop), browse."),
    ] = "switch,idle,browse",
    donors: Annotated[
        list[Path] | None,
        Parameter(
            name="--from",
            help="A recording to take other work and browsing from; may be given several times. Default: those of "
            "the repository.",
            negative="",
        ),
    ] = None,
    spare_windows: Annotated[
        bool, Parameter(help="No noise inside windows of need; they keep their length.", negative="")
    ] = False,
    json: AsJson = False,
) -> int:
    """Put noise into scenarios, beside clean twins.

    Noise: stretches that have nothing to do with the work.

    The twins differ in noise and in nothing else: OUT/clean/NAME is the session as it is; OUT/noisy/NAME has other
    work, still screens and browsing in between, and all times of needs, acts and gaps move along. A window of need that
    is interrupted is longer by what came in. Which rows are noise is kept where no agent sees it. OUT/noise.json says
    of what it was made.
    """
    from simulator.session.noise import Options, twins

    voice = Voice(as_json=json)
    chosen = tuple(kind.strip() for kind in kinds.split(",") if kind.strip())
    options = Options(rate=rate, seed=seed, kinds=chosen, spare_windows=spare_windows)
    made = twins(scenario, out, options, donors or ())
    for pair in made:
        voice.record("twins", **asdict(pair))
    if not json:
        voice.say(_table(made))
        voice.say(plain(f"{counted(len(made), 'pair')} in {out}: play {out / 'noisy'} and {out / 'clean'}"))
    voice.record("done", out=str(out), pairs=len(made))
    return Exit.DONE


def _table(made: Sequence[Made]) -> Any:
    from rich.table import Table

    table = Table(box=None, show_edge=False, pad_edge=False, padding=(0, 2, 0, 0))
    for head in ("name", "rows", "noise", "share", "of it", "windows interrupted"):
        table.add_column(head, justify="left" if head in ("name", "of it") else "right")
    for pair in made:
        kinds = ", ".join(f"{kind} {n}" for kind, n in pair.kinds.items()) or "-"
        share = f"{pair.rate:.1%}"
        table.add_row(plain(pair.name), str(pair.n_rows), str(pair.n_noise), share, kinds,
                      f"{pair.n_interrupted} of {pair.n_windows}")  # fmt: skip
    return table
