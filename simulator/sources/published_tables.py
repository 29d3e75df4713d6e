"""ProactiveBench's result tables (``eval/results/*.csv``): rates back to the whole numbers that they were made of.

Their script divides by sums to which it adds 1e-8, so that nothing is divided by zero. That leaves a trace in the
printed digits, of which only one set of whole numbers is capable: a recovered row is exact, not a guess.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from simulator.core.errors import InputError
from simulator.core.files import csv_rows
from simulator.sources.foreign import Ledger, natural

__all__ = ["EPSILON", "RATES", "Published", "Row", "printed_alike", "rates", "recover", "tables"]

EPSILON = 1e-8
RATES = ("Recall", "Precision", "Accuracy", "False-Alarm", "F1-Score")
_COLUMNS = ("Category", *RATES, "Total Events")
MOST_EVENTS = 100_000


@dataclass(frozen=True, slots=True)
class Published:
    """The whole numbers of one row: proposals accepted and rejected, silences accepted and rejected."""

    tp: int
    fp: int
    tn: int
    fn: int
    epsilon: float

    @property
    def proposals(self) -> int:
        """The denominator of precision."""
        return self.tp + self.fp


@dataclass(frozen=True, slots=True)
class Row:
    """A row as printed: ``texts`` in the order of ``RATES``."""

    model: str
    category: str
    texts: tuple[str, ...]
    events: int


def rates(tp: int, fp: int, tn: int, fn: int, epsilon: float = EPSILON) -> tuple[float, ...]:
    """The five rates in the order of ``RATES``, as their script computes them.

    ``False-Alarm`` is FP / (TP + FP), the complement of precision, and not FP / (FP + TN). With ``epsilon`` 0 an empty
    denominator gives 0, as theirs does.

    >>> [round(r, 4) for r in rates(111, 112, 4, 0)]
    [1.0, 0.4978, 0.5066, 0.5022, 0.6647]
    """

    def over(part: float, whole: float) -> float:
        return part / (whole + epsilon) if whole + epsilon else 0.0

    recall, precision = over(tp, tp + fn), over(tp, tp + fp)
    return (
        recall,
        precision,
        over(tp + tn, tp + fp + tn + fn),
        over(fp, tp + fp),
        over(2 * precision * recall, precision + recall),
    )


def printed_alike(text: str, value: float) -> bool:
    """Whether a number, printed as that text is, gives the text."""
    digits = len(text.partition(".")[2])
    return repr(value) == text or ("e" not in text.casefold() and f"{value:.{digits}f}" == text)


def recover(row: Row) -> list[Published]:
    """All sets of whole numbers that give every printed digit of the row, with their epsilon or else without one."""
    for epsilon in (EPSILON, 0.0):
        if found := list(_solutions(row, epsilon)):
            return found
    return []


def _solutions(row: Row, epsilon: float) -> Iterator[Published]:
    _, precision, accuracy, _, _ = map(float, row.texts)
    right = round(accuracy * row.events)
    for proposals in range(row.events + 1):
        tp = round(precision * proposals)
        tn = right - tp
        counts = (tp, proposals - tp, tn, row.events - proposals - tn)
        if min(counts) >= 0 and all(map(printed_alike, row.texts, rates(*counts, epsilon))):
            yield Published(*counts, epsilon)


def tables(folder: Path, ledger: Ledger) -> dict[str, list[Row]]:
    """The rows of every table in a folder, by model (the file's name); what cannot be read is counted.

    Raises:
        InputError: no such folder, or no table in it.
    """
    files = natural(folder.glob("*.csv")) if folder.is_dir() else []
    if not files:
        raise InputError(folder, "there is no table (.csv) in such a folder")
    out: dict[str, list[Row]] = {}
    for file in files:
        if not file.read_bytes()[:4096].strip():
            ledger.add("left out", "tables that are empty", file.name)
            continue
        try:
            found = [_row(file, number, row) for number, row in csv_rows(file, _COLUMNS)]
        except InputError as error:
            ledger.add("left out", "tables that cannot be read", f"{file.name}: {error.want}")
            continue
        out[file.stem] = found
        ledger.add("kept", "rows of tables", n=len(found))
    return out


def _row(file: Path, number: int, row: Mapping[str, str]) -> Row:
    texts: Sequence[str] = [row.get(name, "") for name in RATES]
    where = f"{file}, line {number}"
    for name, text in zip(RATES, texts, strict=True):
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not 0 <= value <= 1:
            raise InputError(where, "a rate from 0 to 1 is wanted", field=name, value=text)
    try:
        events = int(row["Total Events"])
    except (KeyError, ValueError):
        events = -1
    if not 0 <= events <= MOST_EVENTS:
        raise InputError(where, f"a whole number up to {MOST_EVENTS}", field="Total Events")
    return Row(file.stem, row.get("Category", ""), tuple(texts), events)
