"""``proact dataset release``: a recorded session as a new one that may be passed on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from simulator.cli.parameters import AsJson
from simulator.cli.speak import Voice, plain
from simulator.core.errors import Exit

if TYPE_CHECKING:
    from simulator.privacy.release import Released

__all__ = ["release"]


def release(
    session: Annotated[Path, Parameter(help="A recorded session that is closed; it is only read.")],
    out: Annotated[Path, Parameter(help="A folder that is not there yet, or empty.")],
    /,
    *,
    tier: Annotated[
        Literal["public", "restricted"], Parameter(help="For everybody, or for those who signed the terms.")
    ] = "public",
    titles: Annotated[
        Literal["keep", "number", "drop"] | None,
        Parameter(help="Of windows; default: public numbers them, restricted keeps them after the rules."),
    ] = None,
    pictures: Annotated[
        bool | None, Parameter(help="Reviewed pictures come along; default: in restricted only.")
    ] = None,
    unreviewed: Annotated[
        Literal["refuse", "leave-out", "accept"],
        Parameter(help="Pictures that nobody reviewed; accept in restricted only."),
    ] = "refuse",
    calendar: Annotated[
        bool | None, Parameter(help="It says when it was recorded; default: in restricted only.")
    ] = None,
    user: Annotated[str, Parameter(help="The name that stands for the user's.")] = "participant",
    licence: Annotated[Path | None, Parameter(help="File with the terms; default: those of the tier.")] = None,
    rules: Annotated[Path | None, Parameter(help="A file of more rules for texts.")] = None,
    json: AsJson = False,
) -> int:
    """Make a session ready to be passed on.

    OUT gets a new database of chosen columns: without OCR text, names and process numbers, texts put through the rules
    of `dataset privacy`, pictures written anew. Beside it the terms, a datasheet that says what was taken out, and
    `events.csv`. `public` leaves out all sentences that people wrote, calendar times and pictures, and numbers titles.
    """
    from simulator.core.files import read_text
    from simulator.privacy.release import Options
    from simulator.privacy.release import release as write
    from simulator.privacy.rules import load_rules

    voice = Voice(as_json=json)
    text = None if licence is None else read_text(licence)
    options = Options(tier, titles, pictures, unreviewed, calendar, user, text)
    made = write(session, out, options, rules=load_rules(rules))
    voice.say(_table(made))
    voice.say(plain(f"released into {out}; read its DATASHEET.md, and look at everything once before it leaves"))
    voice.record("done", out=str(out), tier=tier, **made.as_dict())
    return Exit.DONE


def _table(made: Released) -> Any:
    from rich.table import Table

    table = Table(box=None, show_edge=False, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    for part, counts in made.as_dict().items():
        for key, n in counts.items():
            if n:
                table.add_row(plain(part), plain(key), plain(f"{n:,}"))
    return table
