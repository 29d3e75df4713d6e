"""What a release says of itself: what it holds, how it was made, what was taken out, what to take care of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from textwrap import fill

from simulator.core.calendar import from_utc_ns
from simulator.core.taxonomy import category
from simulator.core.types import SECOND
from simulator.privacy.rules import BLIND_SPOTS
from simulator.session.reader import Reader
from simulator.session.schema import GAP_REASONS

__all__ = ["TERMS", "datasheet"]

_BOTH = """\
You may use this recording for research on assistance by computer. You may not try to find out who was recorded, and
you do not join it with other data for that. Should the person who was recorded withdraw, you delete your copies as
soon as you are told. It comes as it is, without warranty.
"""
TERMS: Mapping[str, str] = {
    "public": f"Terms of use\n\n{_BOTH}You may pass it on unchanged, with this text.\n",
    "restricted": f"Terms of use (restricted)\n\n{_BOTH}"
    "You may not pass it on. You keep it where only people who have agreed to these terms can read it, and delete it\n"
    "when your work with it ends.\n",
}
"""The terms that come with a release unless others are named."""


def datasheet(
    reader: Reader, tier: str, counts: Mapping[str, Mapping[str, int]], *, titles: str, calendar: bool, name: str
) -> str:
    """The page, in Markdown.

    Args:
        reader: the session that it was made from.
        tier: ``public`` or ``restricted``.
        counts: ``kept``, ``removed``, ``found`` and ``pictures``, see ``release.Released``.
        titles: what became of titles: ``keep``, ``number`` or ``drop``.
        calendar: whether the release says when it was recorded.
        name: of the release.
    """
    return "\n".join(_lines(reader, tier, counts, titles, calendar, name)) + "\n"


def _lines(
    reader: Reader, tier: str, counts: Mapping[str, Mapping[str, int]], titles: str, calendar: bool, name: str
) -> Iterator[str]:
    header = reader.header
    yield from (f"# Datasheet: {name}", "", f"Tier: {tier}. Terms: see LICENSE.txt.", "", "## What it holds", "")
    minutes, period = header.end_ns / SECOND / 60, header.period_ns / SECOND
    yield f"* One person's computer screen over {minutes:.1f} min, a row every {period:g} s"
    yield "* `session.db`: the recording, with tables as proact's docs/sessions.md describes them"
    yield "* `events.csv`: what is known of each event, as `proact dataset import --side` reads it"
    if calendar and header.utc_anchor_ns is not None:
        yield f"* Recorded on {from_utc_ns(header.utc_anchor_ns).date().isoformat()} (UTC)"
    yield from _table("there", counts["kept"])
    yield from _table("class of application", _classes(reader), "rows")
    yield from _table("not recorded", _missing(reader), "seconds")
    yield from ("", "## How it was made", "", _MADE[header.meta.get("recorder") == "import"], "")
    yield "To be said by whoever releases it: who was recorded and why, and how they agreed to that and to this."
    yield from ("", "## What was taken out", "")
    yield "* Text read from pictures (OCR), process numbers, names of the user, the session and the raters: always"
    yield f"* Titles of windows: {_TITLES[titles]}"
    yield "* Calendar times: " + ("kept" if calendar else "taken out; instants count from the first row")
    if tier == "public":
        yield "* All sentences that people wrote or said, and facts about the person"
    n_pictures = sum(counts["pictures"].values())
    yield f"* {n_pictures - counts['kept'].get('pictures', 0):,} of {n_pictures:,} distinct pictures"
    yield from _table("left out", counts["removed"])
    yield from _table("pictures of the session, by state of review", counts["pictures"])
    yield from _table("replaced by its kind in texts", counts["found"])
    yield from ("", "## What to take care of", "", fill(BLIND_SPOTS, 120), "")
    yield "A title, a picture or the order of windows may tell who somebody is to those who know them. The person may"
    yield "withdraw: who passes this on keeps a list of whom they gave it to."


_MADE = {
    False: (
        "Recorded by proact: pixels of the screen, name and title of the window in front. Windows that the person had\n"
        "excluded were filled before a picture was stored, or nothing was recorded (gap `excluded`)."
    ),
    True: "Recorded by another program and imported by proact.",
}
_TITLES = {
    "keep": "kept, with what the rules find replaced",
    "number": "numbered; equal titles have equal numbers",
    "drop": "taken out",
}


def _table(head: str, counts: Mapping[str, int], of: str = "n") -> Iterator[str]:
    """What there is any of, most first; nothing for nothing."""
    rows = sorted((item for item in counts.items() if item[1]), key=lambda item: (-item[1], item[0]))
    if rows:
        yield from ("", f"| {head} | {of} |", "|---|---:|")
        yield from (f"| {key} | {n:,} |" for key, n in rows)


def _classes(reader: Reader) -> Counter[str]:
    kinds: Counter[str] = Counter()
    for app, title, n in reader.stream("SELECT app_name, window_title, COUNT(*) FROM screenshots GROUP BY 1, 2"):
        kinds[category(app, title) or "unknown"] += n
    return kinds


def _missing(reader: Reader) -> Counter[str]:
    seconds: Counter[str] = Counter()
    for gap in reader.header.gaps:
        seconds[gap.reason if gap.reason in GAP_REASONS else "missing"] += (gap.end_ns - gap.start_ns) // SECOND
    return seconds
