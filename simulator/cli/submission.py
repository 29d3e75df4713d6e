"""``proact dataset submission``: a run over trajectories as the file that PIRA-Bench's leaderboard takes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from simulator.cli.parameters import AsJson
from simulator.cli.speak import Voice, counted, plain
from simulator.core.errors import Exit, UsageError, quote

if TYPE_CHECKING:
    from simulator.play.submission import Submission

__all__ = ["submission"]

_SHOWN = 5


def submission(
    run: Annotated[Path, Parameter(help="A run folder of protocol trajectory.")],
    out: Annotated[Path, Parameter(help="The file to write; a submission that is there is replaced.")],
    /,
    *,
    which: Annotated[
        Literal["retained", "ever"],
        Parameter(name="--set", help="Intents not taken back by the end, or all that were ever offered."),
    ] = "retained",
    partial: Annotated[
        bool, Parameter(help="Write it although samples are missing, and say which.", negative="")
    ] = False,
    json: AsJson = False,
) -> int:
    """Write a run as PIRA-Bench takes it.

    What an agent predicted over trajectories, as the leaderboard's JSON.

    Names of trajectories and profiles are those that the import saw. A run that was interrupted, or in which a profile
    failed, is refused: an empty list would say that nothing is wanted. Nothing is sent anywhere.
    """
    from simulator.core.folders import ensure_apart
    from simulator.play.submission import ensure_free
    from simulator.play.submission import submission as read
    from simulator.runs.folder import write_json

    voice = Voice(as_json=json)
    ensure_apart(run, out)
    ensure_free(out)
    found = read(run, which)
    _tell(found, voice)
    if found.missing and not partial:
        trajectory, profile, why = found.missing[0]
        raise UsageError(
            f"{counted(len(found.missing), 'sample')} missing, such as {quote(trajectory)}, {quote(profile)} ({why}): "
            "the same `proact run` finishes them; --partial writes what there is"
        )
    if not found.intents:
        raise UsageError(f"{run}: no sample was finished, there is nothing to write")
    out.parent.mkdir(parents=True, exist_ok=True)
    write_json(out, found.intents)
    voice.say(
        plain(
            f"{counted(len(found.intents), 'trajectory').replace('ys', 'ies')}, {counted(found.n_samples, 'sample')}, "
            f"{counted(found.n_intents, 'intent')} ({which}) in {out}"
        )
    )
    voice.record(
        "done", out=str(out), trajectories=len(found.intents), samples=found.n_samples, intents=found.n_intents,
        set=which, missing=len(found.missing), with_failures=len(found.odd),
    )  # fmt: skip
    return Exit.DONE


def _tell(found: Submission, voice: Voice) -> None:
    for trajectory, profile, why in found.missing:
        voice.record("missing", trajectory=trajectory, profile=profile, why=why)
    for trajectory, profile, n in found.odd:
        voice.record("failures", trajectory=trajectory, profile=profile, decisions=n)
    for trajectory, profile, why in found.missing[:_SHOWN]:
        voice.tell(f"missing: {trajectory}, {profile} ({why})", "yellow")
    for trajectory, profile, n in found.odd[:_SHOWN]:
        voice.tell(f"{trajectory}, {profile}: {counted(n, 'decision')} failed and said nothing", "yellow")
    for many, what in ((found.missing, "missing"), (found.odd, "with failed decisions")):
        if len(many) > _SHOWN:
            voice.tell(f"… and {len(many) - _SHOWN} more {what}", "yellow")
