"""Ready scenarios of others, each as one session with its scenario file.

::

    OUT/import.json             of what source, and what was kept, repaired and left out, and why
    OUT/<case>/session.db       what was on screen
    OUT/<case>/scenario.yaml    profile, truth and protocol, as the source states them
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from simulator.core.errors import InputError
from simulator.core.names import free
from simulator.core.types import SECOND
from simulator.session import importing_account as account
from simulator.session.import_session import Pictures, Stretch, write_session
from simulator.session.importing_account import ACCOUNT, Report, write_new
from simulator.session.importing_user import Into, ensure_period, sieve
from simulator.sources.formats import Case, Cases

__all__ = ["all_cases"]

_DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)  # ten times as quick where the library was built with it


def all_cases(found: Cases, into: Into, name: str, apart: Callable[[Path], None], report: Report) -> None:
    """Write every case and the account.

    Args:
        found: of one source.
        into: where to; its split and its gap are of no concern here.
        name: of the format; the account is told under it.
        apart: refuses a folder that is not apart from the source.
        report: gets what was done.

    Raises:
        InputError: OUT holds something else.
    """
    source = into.digest(found.digest)
    names: set[str] = set()
    anew = False
    for case in found.each:
        case.name = free(case.name, names)
        apart(into.out / case.name)
        if not report.sessions:
            _ensure_own(into.out)
            account.begin(into.out / ACCOUNT, source)
        anew |= _write(case, into)
        report.sessions.append(Path(case.name))
        report.scenarios.append(Path(case.name) / "scenario.yaml")
    lines = account.lines_of(name, found.ledger)
    if not report.sessions:
        report.lines += lines
        return
    report.unchanged &= not anew
    report.notes[name] = dict(sorted(found.notes.items()))
    report.lines += account.close(into.out / ACCOUNT, source, lines, anew=anew)


def _ensure_own(out: Path) -> None:
    if not (out / ACCOUNT).exists() and any(not p.name.startswith(".") for p in out.iterdir()):
        want = (
            "it holds something else; ready scenarios get a folder of their own, so choose another place to import to"
        )
        raise InputError(out, want)


def _write(case: Case, into: Into) -> bool:
    foreign = case.recording
    ensure_period(foreign)
    stretch = Stretch(foreign.shots, foreign.events, foreign.period_ns or SECOND, case.segmentation)
    stretch.until_ns = max((e.end_ns or 0 for e in foreign.events), default=0)
    stretch.ensure_events(foreign)
    if case.scenario.get("truth", "recorded") == "recorded":  # else no event decides what is scored
        sieve(foreign, [stretch], pictures=into.images != "none")
    home = into.out / case.name
    digest = into.digest(foreign.digest, case.name)
    anew = write_session(home, stretch, foreign, into.zone_of(foreign), digest, Pictures(into.images, foreign.ledger))
    write_new(home / "scenario.yaml", _scenario(case))
    return anew


def _scenario(case: Case) -> str:
    said: dict[str, Any] = {"session": ".", "name": case.name, **case.scenario, "segmentation": case.segmentation}
    remarks = ["Made by `proact dataset import`; importing again leaves this file as you edit it.", *case.remarks]
    head = "".join(f"# {line}\n" for remark in remarks for line in remark.splitlines())
    return head + yaml.dump(said, Dumper=_DUMPER, allow_unicode=True, sort_keys=False, width=110)
