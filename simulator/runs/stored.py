"""The border to what a run folder holds: files that were edited, or that something else wrote, are no fault of ours."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from simulator.core.errors import InputError
from simulator.core.operators import operators

__all__ = ["UNFIT", "stored"]

UNFIT = (KeyError, IndexError, TypeError, ValueError, AttributeError, RecursionError, ArithmeticError)
"""What is raised when a file of another form is taken for one of ours."""


@contextmanager
def stored(where: Path | str) -> Iterator[None]:
    """Read stored files and show what they hold. Readers check what is cheap to check and name the field; what else
    does not fit is told here, of all that is read. Should it be a bug of ours: ``PROACT_LOG=info`` says where.

    Args:
        where: what is read, for the sentence.

    Raises:
        InputError: it is not of the form that proact writes.
    """
    try:
        yield
    except UNFIT as error:
        ways = [f"{Path(at.filename).name}:{at.lineno}" for at in traceback.extract_tb(error.__traceback__)[-5:]]
        operators().info("files of another form", kind=type(error).__name__, at=" ".join(ways))
        raise InputError(where, "a file there is not of the form that proact writes; was it edited?") from error
